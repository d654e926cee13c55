//! Frames of bytes: three controls in one word, then two short copies.
//!
//! ```text
//! "cart" -> "22" behind "car"
//!
//!     store the word 0x00_02_01_00          00 01 02 00 | .. .. .. ..
//!     copy 't' as one word over it          00 01 02 't' xx xx xx xx xx xx xx
//!     copy "22" as one word over it         00 01 02 't' '2' '2' xx xx xx xx xx xx
//!     count six bytes                       what lies behind is slack, and written again by the next frame
//! ```
//!
//! One reservation covers the frame and [`SLACK_BYTES`] behind it, so every store may be wider than what it stands
//! for. Counts of 128 and more, literals and values of more than 32 bytes leave the straight path.

#![expect(
    unsafe_code,
    reason = "stores over the reserved slack of a vector, where slices would check each"
)]

use std::collections::TryReserveError;
use std::ptr;

use super::{ByteSpan, Controls, SLACK_BYTES};
use crate::bits::advance_bytes;
use crate::counts::varint;

/// The widest copy that is not a library call.
const SHORT_COPY_MAX_BYTES: usize = 32;

/// The longest controls.
const CONTROLS_MAX_BYTES: usize = 3 * varint::LEN_MAX_BYTES;

/// Counts below this take one byte.
const COUNT_END: u64 = 0x80;

/// Room for any frame of counts of one byte, and the slack behind it.
const SHORT_ROOM_BYTES: usize = 3 + 2 * 0x7f + SLACK_BYTES;

const _: () = assert!(
    SLACK_BYTES >= SHORT_COPY_MAX_BYTES,
    "over-copies end in the slack"
);

/// Appends one frame, or fails for want of memory and changes nothing.
#[inline(always)]
pub(super) fn append_frame(
    frames: &mut Vec<u8>,
    controls: Controls,
    literal: ByteSpan<'_>,
    value: ByteSpan<'_>,
) -> Result<(), TryReserveError> {
    reserve(frames, literal.len() + value.len())?;
    let start = frames.len();
    // SAFETY: the vector has `start` bytes, so this points into it or one behind.
    let frame = unsafe { frames.as_mut_ptr().add(start) };
    // SAFETY: `reserve` made room for controls, literal, value and the slack; each call writes what it says and at
    // most the slack behind it.
    let end = unsafe { put_controls(frame, controls) };
    // SAFETY: as above, behind the controls.
    let end = unsafe { put_span(end, literal) };
    // SAFETY: as above, behind the literal.
    let end = unsafe { put_span(end, value) };
    let len = start + (end.addr() - frame.addr());
    // SAFETY: the bytes up to `end` are written, and lie within the capacity.
    unsafe { frames.set_len(len) };
    Ok(())
}

/// Appends the frame of a record whose counts take a byte each, where there is room for any such; false where that is
/// not so, and nothing has changed. The literal is the end of `key`, which `previous` becomes.
#[inline(always)]
pub(super) fn append_short(
    frames: &mut Vec<u8>,
    previous: &mut Vec<u8>,
    controls: Controls,
    key: &[u8],
    value: &[u8],
) -> bool {
    let Controls { lead, suffix, .. } = controls;
    let width = value.len() as u64;
    let controls_len = 2 + usize::from(controls.width.is_some());
    let start = frames.len();
    if key.len() > previous.capacity() {
        return false;
    }
    if (lead | suffix | width) >= COUNT_END || frames.capacity() - start < SHORT_ROOM_BYTES {
        return false;
    }
    // A width that is not said lies behind the controls, and is written over.
    let word = lead | suffix << 8 | width << 16;
    // SAFETY: the vector has `start` bytes, so this points into it or one behind.
    let frame = unsafe { frames.as_mut_ptr().add(start) };
    // SAFETY: eight of the bytes that are left.
    unsafe { frame.cast::<[u8; 8]>().write(word.to_le_bytes()) };
    // SAFETY: as above.
    let literal = unsafe { frame.add(controls_len) };
    #[expect(clippy::cast_possible_truncation, reason = "below COUNT_END")]
    let suffix = suffix as usize;
    if let (0..=8, Some(last)) = (suffix, key.last_chunk()) {
        let word = u64::from_le_bytes(*last) >> ((64 - 8 * suffix) & 63);
        // SAFETY: as above.
        unsafe { literal.cast::<[u8; 8]>().write(word.to_le_bytes()) };
    } else {
        // SAFETY: as above; the suffix is at most as long as a count of one byte says.
        unsafe { put_bytes(literal, &key[key.len() - suffix..]) };
    }
    // SAFETY: as above.
    let end = unsafe { literal.add(suffix) };
    // SAFETY: as above, with the value.
    unsafe { put_bytes(end, value) };
    let len = start + controls_len + suffix + value.len();
    // SAFETY: all bytes up to `len` are written, within the capacity.
    unsafe { frames.set_len(len) };
    advance_bytes(previous, key.len() - suffix, key);
    true
}

/// Copies bytes, short ones by two loads that may overlap.
///
/// # Safety
///
/// `bytes.len()` bytes can be written at `to`, in another object.
#[inline(always)]
unsafe fn put_bytes(to: *mut u8, bytes: &[u8]) {
    if let (8..=16, Some(first), Some(last)) =
        (bytes.len(), bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
    {
        // SAFETY: the first eight bytes that the caller gives.
        unsafe { to.cast::<[u8; 8]>().write(*first) };
        // SAFETY: the last eight of them begin here.
        let tail = unsafe { to.add(bytes.len() - 8) };
        // SAFETY: as said.
        unsafe { tail.cast::<[u8; 8]>().write(*last) };
    } else if let (16..=32, Some(first), Some(last)) =
        (bytes.len(), bytes.first_chunk::<16>(), bytes.last_chunk::<16>())
    {
        // SAFETY: the first 16 bytes that the caller gives.
        unsafe { to.cast::<[u8; 16]>().write(*first) };
        // SAFETY: the last 16 of them begin here.
        let tail = unsafe { to.add(bytes.len() - 16) };
        // SAFETY: as said.
        unsafe { tail.cast::<[u8; 16]>().write(*last) };
    } else if let (4..8, Some(first), Some(last)) =
        (bytes.len(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        // SAFETY: the first four bytes that the caller gives.
        unsafe { to.cast::<[u8; 4]>().write(*first) };
        // SAFETY: the last four of them begin here.
        let tail = unsafe { to.add(bytes.len() - 4) };
        // SAFETY: as said.
        unsafe { tail.cast::<[u8; 4]>().write(*last) };
    } else {
        // SAFETY: the caller's bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }
}

/// As [`append_frame`], for a literal and a value that are adjacent: one copy for both.
#[inline(always)]
pub(super) fn append_joined(
    frames: &mut Vec<u8>,
    controls: Controls,
    body: ByteSpan<'_>,
) -> Result<(), TryReserveError> {
    reserve(frames, body.len())?;
    let start = frames.len();
    // SAFETY: the vector has `start` bytes, so this points into it or one behind.
    let frame = unsafe { frames.as_mut_ptr().add(start) };
    // SAFETY: `reserve` made room for controls, body and the slack.
    let end = unsafe { put_controls(frame, controls) };
    // SAFETY: as above, behind the controls.
    let end = unsafe { put_span(end, body) };
    let len = start + (end.addr() - frame.addr());
    // SAFETY: the bytes up to `end` are written, and lie within the capacity.
    unsafe { frames.set_len(len) };
    Ok(())
}

/// Makes room for controls, `body_len` bytes and the slack.
#[inline(always)]
fn reserve(frames: &mut Vec<u8>, body_len: usize) -> Result<(), TryReserveError> {
    let room = CONTROLS_MAX_BYTES + SLACK_BYTES + body_len;
    match frames.capacity() - frames.len() >= room {
        true => Ok(()),
        false => grow(frames, room),
    }
}

#[cold]
#[inline(never)]
fn grow(frames: &mut Vec<u8>, room: usize) -> Result<(), TryReserveError> {
    frames.try_reserve(room)
}

/// Writes the controls and gives their end.
///
/// # Safety
///
/// [`CONTROLS_MAX_BYTES`] bytes can be written at `to`.
#[inline(always)]
unsafe fn put_controls(to: *mut u8, controls: Controls) -> *mut u8 {
    let width = controls.width.unwrap_or(0);
    if (controls.lead | controls.suffix | width) < 0x80 {
        let word = controls.lead | controls.suffix << 8 | width << 16;
        // SAFETY: eight of the bytes that the caller gives.
        unsafe { to.cast::<[u8; 8]>().write(word.to_le_bytes()) };
        // SAFETY: two or three of the bytes just written.
        return unsafe { to.add(2 + usize::from(controls.width.is_some())) };
    }
    // SAFETY: the same contract.
    unsafe { put_long_controls(to, controls.lead, controls.suffix, controls.width) }
}

/// [`put_controls`] where a count takes more than one byte.
#[inline(never)]
unsafe fn put_long_controls(to: *mut u8, lead: u64, suffix: u64, width: Option<u64>) -> *mut u8 {
    let mut bytes = [0u8; CONTROLS_MAX_BYTES];
    let mut len = 0;
    for count in [Some(lead), Some(suffix), width].into_iter().flatten() {
        len += varint::put(&mut bytes[len..], count);
    }
    // SAFETY: the caller gives room for the longest controls, and the array is another object.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, len) };
    // SAFETY: the end of what was just written.
    unsafe { to.add(len) }
}

/// Copies a span and gives its end.
///
/// # Safety
///
/// As many bytes as the span has, and [`SHORT_COPY_MAX_BYTES`] more, can be written at `to`.
#[inline(always)]
unsafe fn put_span(to: *mut u8, span: ByteSpan<'_>) -> *mut u8 {
    let (readable, start, len) = span.parts();
    if len <= SHORT_COPY_MAX_BYTES {
        if let Some(wide) = readable[start..].first_chunk::<SHORT_COPY_MAX_BYTES>() {
            // SAFETY: the caller gives these bytes.
            unsafe { to.cast::<[u8; SHORT_COPY_MAX_BYTES]>().write(*wide) };
        } else if let (0..=8, Some(last)) = (len, readable[..start + len].last_chunk()) {
            // The span ends with the readable bytes: load the eight that end there, and drop those before it. An
            // empty span shifts by nothing and stores slack.
            let word = u64::from_le_bytes(*last) >> ((64 - 8 * len) & 63);
            // SAFETY: eight of the bytes that the caller gives.
            unsafe { to.cast::<[u8; 8]>().write(word.to_le_bytes()) };
        } else {
            // SAFETY: the same contract.
            unsafe { put_exactly(to, span.as_bytes()) };
        }
    } else {
        // SAFETY: the caller gives as many bytes as there are, in another object.
        unsafe { ptr::copy_nonoverlapping(readable[start..start + len].as_ptr(), to, len) };
    }
    // SAFETY: the end of what was written, within the caller's bytes.
    unsafe { to.add(len) }
}

/// Copies at most 32 bytes that nothing readable surrounds, by two loads that may overlap.
///
/// # Safety
///
/// [`SHORT_COPY_MAX_BYTES`] can be written at `to`.
#[inline(always)]
unsafe fn put_exactly(to: *mut u8, bytes: &[u8]) {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        // SAFETY: the first 16 bytes that the caller gives.
        unsafe { to.cast::<[u8; 16]>().write(*first) };
        // SAFETY: `bytes` has 16 to 32 bytes, so this ends within the caller's 32.
        let tail = unsafe { to.add(bytes.len() - 16) };
        // SAFETY: as said.
        unsafe { tail.cast::<[u8; 16]>().write(*last) };
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // SAFETY: the first 8 bytes that the caller gives.
        unsafe { to.cast::<[u8; 8]>().write(*first) };
        // SAFETY: `bytes` has 8 to 15 bytes, so this ends within the caller's 32.
        let tail = unsafe { to.add(bytes.len() - 8) };
        // SAFETY: as said.
        unsafe { tail.cast::<[u8; 8]>().write(*last) };
    } else {
        for (index, &byte) in bytes.iter().enumerate() {
            // SAFETY: fewer than eight bytes, within the caller's 32.
            let at = unsafe { to.add(index) };
            // SAFETY: as said.
            unsafe { at.write(byte) };
        }
    }
}
