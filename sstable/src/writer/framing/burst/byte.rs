//! Bursts of byte frames.
//!
//! ```text
//! retained 7 of 8, literal 'k', value "12345678"
//!
//! word     0x00_00_01_01        backspace 1, suffix 1 (and the value's length where frames say it), one store
//! copy     32 bytes from the literal on, one more for each further 32; what lies behind is written again
//! ```
#![expect(
    unsafe_code,
    reason = "stores into reserved memory behind the end of a vector"
)]

use super::{BODY_REACH_BYTES, Readable};
use crate::unit::Byte;
use crate::writer::framing::FrameWriter;

/// Bytes copied at a time.
const CHUNK: usize = 32;
/// Counts of one byte are below this.
const COUNT_END: usize = 128;
/// The longest literal and value: two counts of one byte.
const BODY_MAX: usize = 2 * (COUNT_END - 1);
/// Bytes an append may touch behind the end of the frames.
const ROOM: usize = 8 + BODY_MAX + CHUNK;

const _: () = assert!((BODY_MAX + CHUNK) as u64 <= BODY_REACH_BYTES);

/// See [`Burst`](super::Burst).
///
/// Invariant: `base..base + capacity` is the allocation of the writer's frames, `at <= capacity`, and
/// `at_end + ROOM <= capacity` unless `at_end` is 0.
#[derive(Debug)]
pub struct ByteBurst<'w> {
    writer: &'w mut FrameWriter<Byte>,
    /// Start of the frames.
    base: *mut u8,
    /// End of the frames, in bytes behind the base.
    at: usize,
    /// While `at` is below this there is room for any record that a burst takes.
    at_end: usize,
    key_units: u64,
    pub(super) records_until_block: u32,
}

impl<'w> ByteBurst<'w> {
    #[inline(always)]
    pub(super) fn new(writer: &'w mut FrameWriter<Byte>) -> Self {
        Self {
            base: writer.frames.as_mut_ptr(),
            at: writer.frames.len(),
            at_end: writer.frames.capacity().saturating_sub(ROOM),
            key_units: writer.key_units,
            records_until_block: writer.records_until_block,
            writer,
        }
    }

    #[inline(always)]
    pub(super) fn commit(self) {
        // SAFETY: `append` wrote every byte below `at`, which is at most the capacity.
        unsafe { self.writer.frames.set_len(self.at) };
        self.writer.end_burst(self.records_until_block, self.key_units);
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
        let body = end.wrapping_sub(start);
        let suffix = key_units.wrapping_sub(retained);
        let value = body.wrapping_sub(suffix);
        let block_start = self.records_until_block == 0;
        let mut lead = self.key_units.wrapping_sub(retained);
        if block_start {
            lead = retained;
        }
        // Three counts of one byte; so the body is short.
        if (lead | suffix | value) >= COUNT_END as u64 || self.at >= self.at_end {
            return false;
        }
        // The body is shorter than that reach, so `end` is not before `start` either.
        if !readable.holds_body(start) {
            return false;
        }
        if block_start {
            if !self.writer.start_block(self.at as u64) {
                return false;
            }
            self.records_until_block = self.writer.policy.records_per_block.get();
        }
        self.records_until_block -= 1;
        self.key_units = key_units;
        let (controls, controls_len) = if COMMON {
            (lead | suffix << 8, 2)
        } else {
            (lead | suffix << 8 | value << 16, 3)
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the length of a slice; at most BODY_MAX"
        )]
        let (start, body) = (start as usize, body as usize);
        // SAFETY: `at < at_end`, so ROOM bytes from `at` on lie in the allocation.
        let out = unsafe { self.base.add(self.at) };
        // SAFETY: eight of those bytes.
        unsafe { out.cast::<u64>().write_unaligned(controls.to_le()) };
        self.at += controls_len;
        // SAFETY: ROOM holds controls and body, and the reach holds the body and a chunk from `start` on.
        unsafe { self.copy(readable.bytes(), start, body) };
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
        if self.at >= self.at_end || records > self.records_until_block {
            return false;
        }
        let readable = readable.bytes();
        if start > end || end.saturating_add(CHUNK as u64) > readable.len() as u64 {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "below the length of a slice")]
        let (start, len) = (start as usize, len as usize);
        if len > BODY_MAX {
            if len > self.at_end - self.at {
                return false;
            }
            // SAFETY: `at < at_end`, within the allocation.
            let out = unsafe { self.base.add(self.at) };
            let from = readable[start..start + len].as_ptr();
            // SAFETY: `at + len <= at_end`, within the allocation, which is another object than a borrowed slice.
            unsafe { std::ptr::copy_nonoverlapping(from, out, len) };
            self.at += len;
        } else {
            // SAFETY: `at < at_end`, so ROOM holds the frames; `start <= end` and `end + CHUNK <= readable.len()`.
            unsafe { self.copy(readable, start, len) };
        }
        self.records_until_block -= records;
        self.key_units = key_units;
        true
    }

    /// Puts `len` bytes of `readable` behind the frames, and up to a chunk of what follows them.
    ///
    /// # Safety
    /// `len` and a chunk behind it lie in the allocation from `at` on, and in `readable` from `start` on.
    #[inline(always)]
    unsafe fn copy(&mut self, readable: &[u8], start: usize, len: usize) {
        // SAFETY: the caller's promise.
        let out = unsafe { self.base.add(self.at) };
        // SAFETY: the caller's promise.
        let from = unsafe { readable.as_ptr().add(start) };
        // SAFETY: the caller's promise; the writer's buffer and `readable` are different borrows.
        unsafe { copy_chunk(from, out) };
        let mut copied = CHUNK;
        while copied < len {
            // SAFETY: `copied < len`, so the chunk ends less than a chunk behind `len`.
            let from = unsafe { from.add(copied) };
            // SAFETY: likewise.
            let out = unsafe { out.add(copied) };
            // SAFETY: as the two before.
            unsafe { copy_chunk(from, out) };
            copied += CHUNK;
        }
        self.at += len;
    }
}

/// Copies 32 bytes by two loads and two stores.
///
/// # Safety
/// Both ranges lie in allocations of their own.
#[inline(always)]
unsafe fn copy_chunk(from: *const u8, out: *mut u8) {
    // SAFETY: the caller's promise. A constant length becomes wide loads and stores.
    unsafe { std::ptr::copy_nonoverlapping(from, out, CHUNK) };
}
