//! Frames of bytes: three controls in one word, then two short copies.
//!
//! ```text
//! "cart" -> "22" behind "car"      word 0x00_02_01_00, stored little-endian: 00 01 02 (00 ..)
//!                                  then 't' at 3, then "22" at 4; what a store wrote behind is written again
//! ```

use std::collections::TryReserveError;

use super::{ByteSpan, Controls};
use crate::counts::varint;

/// Appends the controls by the plain codes.
fn push_controls(frames: &mut Vec<u8>, controls: Controls) {
    varint::push(frames, controls.lead);
    varint::push(frames, controls.suffix);
    if let Some(width) = controls.width {
        varint::push(frames, width);
    }
}

#[inline]
pub(super) fn append_frame(
    frames: &mut Vec<u8>,
    controls: Controls,
    literal: ByteSpan<'_>,
    value: ByteSpan<'_>,
) -> Result<(), TryReserveError> {
    let (literal, value) = (literal.as_bytes(), value.as_bytes());
    frames.try_reserve(3 * varint::LEN_MAX_BYTES + literal.len() + value.len() + super::SLACK_BYTES)?;
    push_controls(frames, controls);
    frames.extend_from_slice(literal);
    frames.extend_from_slice(value);
    Ok(())
}

#[inline]
pub(super) fn append_joined(
    frames: &mut Vec<u8>,
    controls: Controls,
    body: ByteSpan<'_>,
) -> Result<(), TryReserveError> {
    append_frame(frames, controls, body, ByteSpan::default())
}
