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
use crate::bits::{BitStr, BitString, copy_shifted, window57};
use crate::counts::golomb;
use crate::policy::BackspaceCode;

/// The most bits that one store inserts: a word less the seven that may be pending.
const FIELD_MAX_BITS: u64 = 56;

/// Counts below this have codes that may fit a field.
const COUNT_END: u64 = 1 << 28;

/// The most bits of the controls besides the zeros of a Golomb quotient.
const CONTROLS_MAX_BITS: u64 = 3 * 129 + 64;

/// Appends one frame, or fails for want of memory and changes nothing.
#[inline(always)]
pub(super) fn append_frame(
    frames: &mut BitString,
    controls: Controls,
    backspace: &BackspaceCode,
    literal: BitStr<'_>,
    value: BitStr<'_>,
) -> Result<(), TryReserveError> {
    let ((literal_bytes, literal_start), (value_bytes, value_start)) = (literal.parts(), value.parts());
    let (literal_len, value_len) = (literal.len(), value.len());
    let field = controls_field(controls, backspace);
    if let Some((field, width)) = field
        && width + literal_len + value_len <= FIELD_MAX_BITS
    {
        reserve(frames, 0)?;
        let mut end = End::of(frames);
        let field = field << literal_len | short_field(literal_bytes, literal_start, literal_len);
        let field = field << value_len | short_field(value_bytes, value_start, value_len);
        // SAFETY: `reserve` made room for the slack, which is longer than a field.
        unsafe { end.insert(field, width + literal_len + value_len) };
        // SAFETY: all inserted through `end`.
        unsafe { end.commit(frames) };
        return Ok(());
    }
    let (literal, value) = (
        (literal_bytes, literal_start, literal_len),
        (value_bytes, value_start, value_len),
    );
    append_long(
        frames,
        controls.lead,
        controls.block_start,
        controls.suffix,
        controls.width,
        backspace,
        literal.0,
        literal.1,
        literal.2,
        value.0,
        value.1,
        value.2,
    )
}

/// Appends the frame of a record that fits one field, where there is room for it; false where that is not so, and
/// nothing has changed. The literal is the end of `key`, which `previous` becomes.
#[inline(always)]
pub(super) fn append_short(
    frames: &mut BitString,
    previous: &mut BitString,
    controls: Controls,
    backspace: &BackspaceCode,
    key: BitStr<'_>,
    value: BitStr<'_>,
) -> bool {
    let (literal_len, value_len) = (controls.suffix, value.len());
    if (controls.lead | literal_len | value_len) >= COUNT_END {
        return false;
    }
    let (lead, lead_width) = match backspace {
        BackspaceCode::ExpGolomb { order: 0 } => short_code(controls.lead),
        _ => lead_code(controls.lead, controls.block_start, backspace),
    };
    let (suffix, suffix_width) = short_code(literal_len);
    let (width, width_width) = match controls.width {
        Some(width) => short_code(width),
        None => (0, 0),
    };
    let field_width = lead_width + suffix_width + width_width + literal_len + value_len;
    let (bytes, _) = frames.parts_mut();
    if field_width > FIELD_MAX_BITS || bytes.capacity() - bytes.len() < SLACK_BYTES {
        return false;
    }
    let Some(key_end) = previous.advance_short(literal_len, key) else {
        return false;
    };
    let field = (lead << suffix_width | suffix) << width_width | width;
    let field = field << literal_len | key_end & !(u64::MAX << literal_len);
    let (value_bytes, value_start) = value.parts();
    let field = field << value_len | last_field(value_bytes, value_start + value_len, value_len);
    let mut end = End::of(frames);
    // SAFETY: the slack is longer than a field.
    unsafe { end.insert(field, field_width) };
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    true
}

/// The order-0 code of a count up to [`COUNT_END`] as a number and its width.
#[inline(always)]
fn short_code(n: u64) -> (u64, u64) {
    let c = n + 1;
    // With its lowest bit set it is not zero for the compiler either, and as wide.
    (c, 1 + 2 * u64::from((c | 1).ilog2()))
}

/// The code of a lead under any policy, as a number and its width; a width that fits no field where it is too wide.
#[inline(never)]
fn lead_code(lead: u64, block_start: bool, backspace: &BackspaceCode) -> (u64, u64) {
    let controls = Controls {
        lead,
        block_start,
        suffix: 0,
        width: None,
    };
    // Less the one bit of an empty suffix.
    controls_field(controls, backspace)
        .map_or((0, FIELD_MAX_BITS + 1), |(field, width)| (field >> 1, width - 1))
}

/// The `len` bits of `bytes` before bit `end`, at most [`FIELD_MAX_BITS`], as a number. One load that ends with them:
/// nothing behind the string is read, so it may end with its memory.
#[inline(always)]
fn last_field(bytes: &[u8], end: u64, len: u64) -> u64 {
    last_word(&bytes[..byte_index(end + 7)]) >> (end.wrapping_neg() & 7) & !(u64::MAX << len)
}

/// The last eight bytes as a number; all of them where there are fewer.
#[inline(always)]
fn last_word(bytes: &[u8]) -> u64 {
    if let Some(last) = bytes.last_chunk() {
        return u64::from_be_bytes(*last);
    }
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_be_bytes(*first)) << (8 * (len - 4)) | u64::from(u32::from_be_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u16::from_be_bytes(*first)) << (8 * (len - 2)) | u64::from(u16::from_be_bytes(*last))
    } else {
        u64::from(bytes.first().copied().unwrap_or(0))
    }
}

/// As [`append_frame`], for a literal and a value that are adjacent: one copy for both.
#[inline(always)]
pub(super) fn append_joined(
    frames: &mut BitString,
    controls: Controls,
    backspace: &BackspaceCode,
    body: BitStr<'_>,
) -> Result<(), TryReserveError> {
    append_frame(frames, controls, backspace, body, BitStr::default())
}

/// Appends bits as they are.
pub(super) fn append_raw(frames: &mut BitString, units: BitStr<'_>) -> Result<(), TryReserveError> {
    reserve(frames, units.len())?;
    let mut end = End::of(frames);
    let (bytes, start) = units.parts();
    // SAFETY: `reserve` made room for the units and the slack.
    unsafe { end.copy(bytes, start, units.len()) };
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    Ok(())
}

/// The controls as one field, at most [`FIELD_MAX_BITS`] wide; `None` where they are wider.
#[inline(always)]
fn controls_field(controls: Controls, backspace: &BackspaceCode) -> Option<(u64, u64)> {
    let (lead, lead_width) = match (controls.block_start, backspace) {
        (true, _) | (false, BackspaceCode::ExpGolomb { order: 0 }) => order_0(controls.lead)?,
        (false, &BackspaceCode::ExpGolomb { order }) => {
            let high = order_0(controls.lead >> order)?;
            let low = controls.lead & ((1 << order) - 1);
            (high.0 << order | low, high.1 + u64::from(order))
        }
        (false, &BackspaceCode::Golomb { modulus }) => golomb::short_field(controls.lead, modulus)?,
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
    (n < COUNT_END).then(|| (c, 127 - 2 * u64::from(c.leading_zeros())))
}

/// The `len` bits of `bytes` from bit `start` on, at most [`FIELD_MAX_BITS`], as a number.
#[inline(always)]
fn short_field(bytes: &[u8], start: u64, len: u64) -> u64 {
    // Two shifts, because the whole window of an empty string goes.
    window57(bytes, start) >> 1 >> (63 - len)
}

/// [`append_frame`] of a frame that does not fit one field.
///
/// It takes the parts of controls and strings: given whole ones, they would lie in memory for every frame, whether
/// it is long or not, and that costs a short one a third of its time.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see its documentation")]
fn append_long(
    frames: &mut BitString,
    lead: u64,
    block_start: bool,
    suffix: u64,
    width: Option<u64>,
    backspace: &BackspaceCode,
    literal_bytes: &[u8],
    literal_start: u64,
    literal_len: u64,
    value_bytes: &[u8],
    value_start: u64,
    value_len: u64,
) -> Result<(), TryReserveError> {
    let controls = Controls {
        lead,
        block_start,
        suffix,
        width,
    };
    let quotient = match backspace {
        BackspaceCode::Golomb { modulus } if !block_start => lead / *modulus,
        _ => 0,
    };
    reserve(frames, CONTROLS_MAX_BITS + quotient + literal_len + value_len)?;
    let mut end = match controls_field(controls, backspace) {
        Some((field, width)) => {
            let mut end = End::of(frames);
            // SAFETY: `reserve` made room for controls, literal, value and the slack.
            unsafe { end.insert(field, width) };
            end
        }
        None => {
            push_controls(frames, controls, backspace);
            End::of(frames)
        }
    };
    // SAFETY: as above.
    unsafe { end.copy(literal_bytes, literal_start, literal_len) };
    // SAFETY: as above.
    unsafe { end.copy(value_bytes, value_start, value_len) };
    // SAFETY: all inserted through `end`.
    unsafe { end.commit(frames) };
    Ok(())
}

/// Appends the controls by the plain codes, within the capacity.
#[cold]
fn push_controls(frames: &mut BitString, controls: Controls, backspace: &BackspaceCode) {
    match controls.block_start {
        true => golomb::push(frames, controls.lead),
        false => golomb::push_backspace(frames, controls.lead, *backspace),
    }
    golomb::push(frames, controls.suffix);
    if let Some(width) = controls.width {
        golomb::push(frames, width);
    }
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
        let last = u64::from(bytes.last().copied().unwrap_or(0)) << 56;
        // The bits behind the length are zero, so the last byte is pending as it is, or whole and none of it is.
        let is_inside = u64::from(*len & 7 != 0);
        Self {
            at: *len,
            pending: last & is_inside.wrapping_neg(),
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
        let word = self.pending | field << 1 << (63 - width - used);
        // SAFETY: the caller vouches for the byte and seven behind it.
        let to = unsafe { self.base.add(byte_index(self.at)) };
        // SAFETY: as said.
        unsafe { to.cast::<[u8; 8]>().write(word.to_be_bytes()) };
        self.at += width;
        self.pending = word << ((used + width) & !7);
    }

    /// Copies `len` bits of `bytes` from bit `start` on.
    ///
    /// # Safety
    ///
    /// They and eight bytes more can be written from the byte in which the end lies.
    #[inline(always)]
    unsafe fn copy(&mut self, bytes: &[u8], start: u64, len: u64) {
        if len <= FIELD_MAX_BITS {
            // SAFETY: the same contract.
            unsafe { self.insert(short_field(bytes, start, len), len) };
        } else {
            // SAFETY: the same contract.
            unsafe { self.copy_long(bytes, start, len) };
        }
    }

    /// [`End::copy`] of bits that do not fit a field: to a byte position, then whole bytes, then the rest.
    unsafe fn copy_long(&mut self, bytes: &[u8], start: u64, len: u64) {
        let head = self.at.wrapping_neg() & 7;
        let whole = (len - head) / 8;
        let tail = head + 8 * whole;
        // SAFETY: at most seven bits of the string.
        unsafe { self.insert(short_field(bytes, start, head), head) };
        // SAFETY: the end lies at a byte now, within what the caller vouches for.
        let to = unsafe { self.base.add(byte_index(self.at)) };
        // SAFETY: the caller vouches for the string's whole bytes.
        unsafe { copy_shifted(to, bytes, start + head, byte_index(8 * whole)) };
        self.at += 8 * whole;
        self.pending = 0;
        // SAFETY: at most seven bits of the string.
        unsafe { self.insert(short_field(bytes, start + tail, len - tail), len - tail) };
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
