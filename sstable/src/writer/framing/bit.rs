//! Frames of bits: controls, literal and value as one field where they fit a word.

use std::collections::TryReserveError;

use super::Controls;
use crate::bits::{BitStr, BitString};
use crate::counts::golomb;
use crate::policy::BackspaceCode;

/// The most bits of the controls besides the zeros of a Golomb quotient.
const CONTROLS_MAX_BITS: u64 = 3 * 129 + 64;

/// Appends the controls by the plain codes.
fn push_controls(frames: &mut BitString, controls: Controls, backspace: BackspaceCode) {
    match controls.block_start {
        true => golomb::push(frames, controls.lead),
        false => golomb::push_backspace(frames, controls.lead, backspace),
    }
    golomb::push(frames, controls.suffix);
    if let Some(width) = controls.width {
        golomb::push(frames, width);
    }
}

#[inline]
pub(super) fn append_frame(
    frames: &mut BitString,
    controls: Controls,
    backspace: BackspaceCode,
    literal: BitStr<'_>,
    value: BitStr<'_>,
) -> Result<(), TryReserveError> {
    let quotient = match backspace {
        BackspaceCode::Golomb { modulus } => controls.lead / modulus,
        BackspaceCode::ExpGolomb { .. } => 0,
    };
    frames.try_reserve(
        CONTROLS_MAX_BITS + quotient + literal.len() + value.len() + 8 * super::SLACK_BYTES as u64,
    )?;
    push_controls(frames, controls, backspace);
    frames.push_str(literal);
    frames.push_str(value);
    Ok(())
}

#[inline]
pub(super) fn append_joined(
    frames: &mut BitString,
    controls: Controls,
    backspace: BackspaceCode,
    body: BitStr<'_>,
) -> Result<(), TryReserveError> {
    append_frame(frames, controls, backspace, body, BitStr::default())
}

pub(super) fn append_raw(frames: &mut BitString, units: BitStr<'_>) -> Result<(), TryReserveError> {
    frames.try_reserve(units.len())?;
    frames.push_str(units);
    Ok(())
}
