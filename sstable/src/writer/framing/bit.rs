//! Frames of bits: controls, literal and value as one field of at most 56 bits where they fit.
//!
//! ```text
//! key 0110 behind 0101, value 1, no common width
//!
//!     backspace 2, suffix 2, width 1       011 011 010              9 bits of controls
//!     literal 10, value 1                  011 011 010 10 1         12 bits: one field
//!     insert at bit 21                     pending pppp p | field << 52 >> 5, stored as one big-endian word
//! ```
//!
//! The bits of the last, incomplete byte stay in a register while a frame is written (`pending`), so nothing is read
//! back. A field of 56 bits and seven pending ones fill a word. What does not fit is inserted piece by piece; long
//! strings are copied at byte positions of the output, shifted over whole words.

#![expect(
    unsafe_code,
    reason = "stores over the reserved slack of a vector, where slices would check each"
)]

use std::collections::TryReserveError;

use super::{Controls, SLACK_BYTES};
use crate::bits::{BitStr, BitString, copy_shifted};
use crate::counts::golomb;
use crate::policy::BackspaceCode;

/// The most bits that one store inserts: a word less the seven that may be pending.
const FIELD_MAX_BITS: u64 = 56;

/// The most bits of the controls besides the zeros of a Golomb quotient.
const CONTROLS_MAX_BITS: u64 = 3 * 129 + 64;

/// Appends one frame, or fails for want of memory and changes nothing.
#[inline(always)]
pub(super) fn append_frame(
    frames: &mut BitString,
    controls: Controls,
    backspace: BackspaceCode,
    literal: BitStr<'_>,
    value: BitStr<'_>,
) -> Result<(), TryReserveError> {
    let body = literal.len() + value.len();
    let Some((field, width)) = controls_field(controls, backspace) else {
        return append_long(frames, controls, backspace, literal, value);
    };
    reserve(frames, body)?;
    let mut end = End::of(frames);
    if width + body <= FIELD_MAX_BITS {
        let field = field << literal.len() | short_field(literal);
        // SAFETY: `reserve` made room for controls, body and the slack.
        unsafe { end.insert(field << value.len() | short_field(value), width + body) };
    } else {
        // SAFETY: as above.
        unsafe { end.insert(field, width) };
        // SAFETY: as above.
        unsafe { end.copy(literal) };
        // SAFETY: as above.
        unsafe { end.copy(value) };
    }
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    Ok(())
}

/// As [`append_frame`], for a literal and a value that are adjacent: one copy for both.
#[inline(always)]
pub(super) fn append_joined(
    frames: &mut BitString,
    controls: Controls,
    backspace: BackspaceCode,
    body: BitStr<'_>,
) -> Result<(), TryReserveError> {
    append_frame(frames, controls, backspace, body, BitStr::default())
}

/// Appends bits as they are.
pub(super) fn append_raw(frames: &mut BitString, units: BitStr<'_>) -> Result<(), TryReserveError> {
    reserve(frames, units.len())?;
    let mut end = End::of(frames);
    // SAFETY: `reserve` made room for the units and the slack.
    unsafe { end.copy(units) };
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    Ok(())
}

/// The controls as one field, at most [`FIELD_MAX_BITS`] wide; `None` where they are wider.
#[inline(always)]
fn controls_field(controls: Controls, backspace: BackspaceCode) -> Option<(u64, u64)> {
    let (lead, lead_width) = match (controls.block_start, backspace) {
        (true, _) | (false, BackspaceCode::ExpGolomb { order: 0 }) => order_0(controls.lead)?,
        (false, BackspaceCode::ExpGolomb { order }) => {
            let high = order_0(controls.lead >> order)?;
            let low = controls.lead & ((1 << order) - 1);
            (high.0 << order | low, high.1 + u64::from(order))
        }
        (false, BackspaceCode::Golomb { modulus }) => golomb::short_field(controls.lead, modulus)?,
    };
    let (suffix, suffix_width) = order_0(controls.suffix)?;
    let (value, value_width) = match controls.width {
        Some(width) => order_0(width)?,
        None => (0, 0),
    };
    let width = lead_width + suffix_width + value_width;
    (width <= FIELD_MAX_BITS).then(|| ((lead << suffix_width | suffix) << value_width | value, width))
}

/// The order-0 code of a count below 2^28 as a number and its width; `None` for greater ones.
#[inline(always)]
fn order_0(n: u64) -> Option<(u64, u64)> {
    let c = n.wrapping_add(1);
    (n < 1 << 28).then(|| (c, 127 - 2 * u64::from(c.leading_zeros())))
}

/// All bits of a string of at most [`FIELD_MAX_BITS`], as a number.
#[inline(always)]
fn short_field(string: BitStr<'_>) -> u64 {
    // Two shifts, because the whole window of an empty string goes.
    string.window57(0) >> 1 >> (63 - string.len())
}

/// [`append_frame`] where the controls do not fit a field.
#[cold]
#[inline(never)]
fn append_long(
    frames: &mut BitString,
    controls: Controls,
    backspace: BackspaceCode,
    literal: BitStr<'_>,
    value: BitStr<'_>,
) -> Result<(), TryReserveError> {
    let quotient = match backspace {
        BackspaceCode::Golomb { modulus } if !controls.block_start => controls.lead / modulus,
        _ => 0,
    };
    reserve(frames, CONTROLS_MAX_BITS + quotient + literal.len() + value.len())?;
    match controls.block_start {
        true => golomb::push(frames, controls.lead),
        false => golomb::push_backspace(frames, controls.lead, backspace),
    }
    golomb::push(frames, controls.suffix);
    if let Some(width) = controls.width {
        golomb::push(frames, width);
    }
    let mut end = End::of(frames);
    // SAFETY: `reserve` made room for controls, literal, value and the slack.
    unsafe { end.copy(literal) };
    // SAFETY: as above.
    unsafe { end.copy(value) };
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    Ok(())
}

/// Makes room for short controls, `body` bits and the slack.
#[inline(always)]
fn reserve(frames: &mut BitString, body: u64) -> Result<(), TryReserveError> {
    let (bytes, _) = frames.parts_mut();
    let room = byte_index(body) + 2 * SLACK_BYTES;
    match bytes.capacity() - bytes.len() >= room {
        true => Ok(()),
        false => grow(bytes, room),
    }
}

#[cold]
#[inline(never)]
fn grow(bytes: &mut Vec<u8>, room: usize) -> Result<(), TryReserveError> {
    bytes.try_reserve(room)
}

/// The byte in which bit `bit` lies. Bits lie in memory, so it fits.
#[inline(always)]
const fn byte_index(bit: u64) -> usize {
    (bit >> 3) as usize
}

/// The end of growing frames, while one is written.
struct End {
    base: *mut u8,
    at: u64,
    /// The bits of the last, incomplete byte, at the top.
    pending: u64,
}

impl End {
    #[inline(always)]
    fn of(frames: &mut BitString) -> Self {
        let (bytes, len) = frames.parts_mut();
        // The bits behind the length are zero, so the last byte is pending as it is.
        let pending = if *len & 7 == 0 {
            0
        } else {
            bytes.last().copied().unwrap_or(0)
        };
        Self {
            at: *len,
            pending: u64::from(pending) << 56,
            base: bytes.as_mut_ptr(),
        }
    }

    /// Inserts the low `width` bits of a field that has no others, at most [`FIELD_MAX_BITS`].
    ///
    /// # Safety
    ///
    /// Eight bytes from the one in which the end lies can be written.
    #[inline(always)]
    unsafe fn insert(&mut self, field: u64, width: u64) {
        let used = self.at & 7;
        // Two shifts, because a field of no bits leaves the word.
        let word = self.pending | field << 1 << (63 - width) >> used;
        // SAFETY: the caller vouches for the byte and seven behind it.
        let to = unsafe { self.base.add(byte_index(self.at)) };
        // SAFETY: as said.
        unsafe { to.cast::<[u8; 8]>().write(word.to_be_bytes()) };
        self.at += width;
        self.pending = word << ((used + width) & !7);
    }

    /// Copies a string.
    ///
    /// # Safety
    ///
    /// Its bytes and eight more can be written from the byte in which the end lies.
    #[inline(always)]
    unsafe fn copy(&mut self, string: BitStr<'_>) {
        if string.len() <= FIELD_MAX_BITS {
            // SAFETY: the same contract.
            unsafe { self.insert(short_field(string), string.len()) };
        } else {
            // SAFETY: the same contract.
            unsafe { self.copy_long(string) };
        }
    }

    /// [`End::copy`] of a string that does not fit a field: to a byte position, then whole bytes, then the rest.
    #[inline(never)]
    unsafe fn copy_long(&mut self, string: BitStr<'_>) {
        let head = self.at.wrapping_neg() & 7;
        let whole = (string.len() - head) / 8;
        let tail = head + 8 * whole;
        // SAFETY: at most seven bits of the string.
        unsafe { self.insert(short_field(string.slice(0, head)), head) };
        // SAFETY: the end lies at a byte now, within what the caller vouches for.
        let to = unsafe { self.base.add(byte_index(self.at)) };
        // SAFETY: the caller vouches for the string's whole bytes.
        unsafe { copy_shifted(to, string.slice(head, tail)) };
        self.at += 8 * whole;
        self.pending = 0;
        // SAFETY: at most seven bits of the string.
        unsafe { self.insert(short_field(string.slice(tail, string.len())), string.len() - tail) };
    }

    /// Makes what was inserted part of the frames.
    ///
    /// # Safety
    ///
    /// `self` is the end of these frames, and all bits up to it were inserted within the capacity.
    #[inline(always)]
    unsafe fn commit(self, frames: &mut BitString) {
        let (bytes, len) = frames.parts_mut();
        *len = self.at;
        // SAFETY: every insertion stored the byte in which it ended, zeros behind its last bit.
        unsafe { bytes.set_len(byte_index(self.at + 7)) };
    }
}
