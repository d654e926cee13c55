//! Bursts of bit frames.
//!
//! ```text
//! backspace 2   suffix 3    value 13        literal and value
//! 011           00100       0001110         1.. ...          one field of at most 56 bits, or controls and then
//!                                                            the body by fields of 56
//!
//! bits in hand  the last byte of the frames, 0 to 7 bits, stays in a register; each field is put behind them and
//!               eight bytes are stored: what lies behind is written again
//! ```
#![expect(
    unsafe_code,
    reason = "stores into reserved memory behind the end of a vector"
)]

use super::{BODY_REACH_BYTES, Readable};
use crate::policy::BackspaceCode;
use crate::unit::Bit;
use crate::writer::framing::FrameWriter;

/// Bits put behind up to 7 others at a time.
const FIELD_MAX: u32 = 56;
/// Longer bodies go the writer's way, which knows wide copies.
const BODY_MAX: usize = 1024;
/// Bytes an append may touch behind the last complete byte of the frames.
const ROOM: usize = 8 + 8 + BODY_MAX / 8 + 8;

const _: () = assert!((1 + BODY_MAX / 8 + 8) as u64 <= BODY_REACH_BYTES);

/// See [`Burst`](super::Burst).
///
/// Invariant: `base..base + capacity` is the allocation of the writer's bytes, `at <= capacity`, and
/// `at_end + ROOM <= capacity` unless `at_end` is 0.
#[derive(Debug)]
pub struct BitBurst<'w> {
    writer: &'w mut FrameWriter<Bit>,
    /// Start of the frames.
    base: *mut u8,
    /// Complete bytes of the frames.
    at: usize,
    /// While `at` is below this there is room for any record that a burst takes.
    at_end: usize,
    /// The bits behind the complete bytes, left-aligned; zeros behind them.
    hand: u64,
    /// How many: 0 to 7.
    held: u32,
    key_units: u64,
    pub(super) records_until_block: u32,
}

/// An order-0 exponential-Golomb code of a count below 2^27, and its length: the number itself is the code.
#[inline(always)]
fn code(n: u64) -> (u64, u32) {
    let c = n + 1;
    (c, 127 - 2 * c.leading_zeros())
}

impl<'w> BitBurst<'w> {
    #[inline(always)]
    pub(super) fn new(writer: &'w mut FrameWriter<Bit>) -> Self {
        let (bytes, len) = writer.frames.raw_parts_mut();
        let len = *len;
        let (at, held) = ((len / 8) as usize, (len % 8) as u32);
        let hand = bytes.get(at).map_or(0, |&last| u64::from(last) << 56);
        // Only the default code of backspaces is known here.
        let has_default_code = writer.policy.backspace == BackspaceCode::default();
        let at_end = if has_default_code {
            bytes.capacity().saturating_sub(ROOM)
        } else {
            0
        };
        Self {
            base: bytes.as_mut_ptr(),
            at,
            at_end,
            hand,
            held,
            key_units: writer.key_units,
            records_until_block: writer.records_until_block,
            writer,
        }
    }

    #[inline(always)]
    pub(super) fn commit(self) {
        let (bytes, len) = self.writer.frames.raw_parts_mut();
        // The store behind a field covers the byte of the bits in hand, with zeros behind them.
        // SAFETY: `put` wrote every byte below this, which is at most the capacity.
        unsafe { bytes.set_len(self.at + usize::from(self.held > 0)) };
        *len = self.at as u64 * 8 + u64::from(self.held);
        self.writer.end_burst(self.records_until_block, self.key_units);
    }

    /// Puts the low `width` bits of `field` behind the frames; the bits above them are zero, `width` is 1 to
    /// [`FIELD_MAX`].
    ///
    /// # Safety
    /// Eight bytes behind `at` lie in the allocation.
    #[inline(always)]
    unsafe fn put(&mut self, field: u64, width: u32) {
        let bits = self.held + width;
        let word = self.hand | field << (64 - bits);
        // SAFETY: the caller's promise.
        let out = unsafe { self.base.add(self.at) };
        // SAFETY: the caller's promise.
        unsafe { out.cast::<u64>().write_unaligned(word.to_be()) };
        self.at += (bits / 8) as usize;
        self.held = bits % 8;
        self.hand = word << (bits & !7);
    }

    /// See [`Burst::append`](super::Burst::append).
    #[inline(always)]
    pub(super) fn append<const COMMON: bool>(
        &mut self,
        retained: u64,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        const COUNT_END: u64 = 1 << 27;
        let body = end.wrapping_sub(start);
        let suffix = key_units.wrapping_sub(retained);
        let value = body.wrapping_sub(suffix);
        let block_start = self.records_until_block == 0;
        let mut lead = self.key_units.wrapping_sub(retained);
        if block_start {
            lead = retained;
        }
        if (lead | suffix | value) >= COUNT_END || body > BODY_MAX as u64 || self.at >= self.at_end {
            return false;
        }
        // Eight bytes can be read from any bit of the body, which is shorter than that reach: so `end` is not before
        // `start` either.
        if !readable.holds_body(start / 8) {
            return false;
        }
        let readable = readable.bytes();
        let (mut controls, mut controls_len) = code(lead);
        let (suffix_code, suffix_len) = code(suffix);
        controls_len += suffix_len;
        controls = controls << suffix_len | suffix_code;
        if !COMMON {
            let (value_code, value_len) = code(value);
            controls = controls << value_len | value_code;
            controls_len += value_len;
        }
        if controls_len > FIELD_MAX {
            return false;
        }
        if block_start {
            if !self.writer.start_block(self.at as u64 * 8 + u64::from(self.held)) {
                return false;
            }
            self.records_until_block = self.writer.policy.records_per_block.get();
        }
        self.records_until_block -= 1;
        self.key_units = key_units;
        // SAFETY: the reach begins there.
        let first = unsafe { window(readable, start) };
        #[expect(clippy::cast_possible_truncation, reason = "at most BODY_MAX")]
        let body = body as u32;
        if body + controls_len <= FIELD_MAX && body > 0 {
            let field = controls << body | first >> (64 - body);
            // SAFETY: `at < at_end`, and ROOM holds the field.
            unsafe { self.put(field, controls_len + body) };
            return true;
        }
        // SAFETY: as above.
        unsafe { self.put(controls, controls_len) };
        // SAFETY: ROOM holds controls and body; eight bytes can be read from each bit before `end`.
        unsafe { self.copy(readable, start, body) };
        true
    }

    /// See [`Burst::append_run`](super::Burst::append_run).
    #[inline(always)]
    pub(super) fn append_run(
        &mut self,
        records: u32,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        let len = end.wrapping_sub(start);
        if len > BODY_MAX as u64 || self.at >= self.at_end || records > self.records_until_block {
            return false;
        }
        let readable = readable.bytes();
        if start > end || end / 8 + 8 > readable.len() as u64 {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most BODY_MAX")]
        let len = len as u32;
        // SAFETY: `at < at_end`, so ROOM holds the frames; eight bytes can be read from each bit before `end`.
        unsafe { self.copy(readable, start, len) };
        self.records_until_block -= records;
        self.key_units = key_units;
        true
    }

    /// Puts `len` bits of `readable` behind the frames.
    ///
    /// # Safety
    /// They and eight bytes behind them lie in the allocation, and eight bytes can be read from each of them on.
    #[inline(always)]
    unsafe fn copy(&mut self, readable: &[u8], start: u64, len: u32) {
        let mut left = len;
        let mut from = start;
        while left > FIELD_MAX {
            // SAFETY: the caller's promise.
            let bits = unsafe { window(readable, from) };
            // SAFETY: the caller's promise.
            unsafe { self.put(bits >> (64 - FIELD_MAX), FIELD_MAX) };
            from += u64::from(FIELD_MAX);
            left -= FIELD_MAX;
        }
        if left > 0 {
            // SAFETY: the caller's promise.
            let bits = unsafe { window(readable, from) };
            // SAFETY: the caller's promise.
            unsafe { self.put(bits >> (64 - left), left) };
        }
    }
}

/// At least 57 bits from `at` on, left-aligned.
///
/// # Safety
/// `at / 8 + 8 <= readable.len()`.
#[inline(always)]
unsafe fn window(readable: &[u8], at: u64) -> u64 {
    let byte = (at / 8) as usize;
    // SAFETY: the caller's promise.
    let from = unsafe { readable.as_ptr().add(byte) };
    // SAFETY: the caller's promise.
    let word = unsafe { from.cast::<u64>().read_unaligned() };
    u64::from_be(word) << (at & 7)
}
