//! Copying bits to a byte position: whole bytes out of a string that starts inside a byte.
//!
//! ```text
//! from     aaabbbbb cccddddd eeefffff        start 3, 16 bits
//! to       bbbbbccc dddddeee                 to[i] = from[i] << 3 | from[i + 1] >> 5
//! ```
//!
//! Each byte needs two neighbours and no carry, so eight of them are made at once in a word, lane by lane: shift the
//! word, and mask what came from the lane beside. No byte is swapped, and a compiler can make vectors of it.

#![expect(
    unsafe_code,
    reason = "writes memory that is reserved and not yet part of a vector"
)]

use super::window::byte_of;

/// A byte in each lane of a word.
const LANES: u64 = 0x0101_0101_0101_0101;

/// Copies `whole` bytes out of `bytes`, from bit `start` on, to memory.
///
/// # Safety
///
/// `whole` bytes can be written at `to`, and nobody else sees them.
#[inline]
pub(crate) unsafe fn copy_shifted(to: *mut u8, bytes: &[u8], start: u64, whole: usize) {
    let from = &bytes[byte_of(start)..];
    let shift = start & 7;
    if shift == 0 || whole == 0 {
        let from = &from[..whole];
        // SAFETY: the caller gives the bytes; a reader of `bytes` exists, so they are another object.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, whole) };
        return;
    }
    let from = &from[..=whole];
    #[cfg(target_arch = "x86_64")]
    if whole >= WIDE_FROM_BYTES && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature; the caller gives the bytes.
        unsafe { shift_lanes_avx2(to, from, shift) };
        return;
    }
    // SAFETY: the caller gives the bytes.
    unsafe { shift_lanes(to, from, shift) };
}

/// Lengths below this are not worth asking the processor.
#[cfg(target_arch = "x86_64")]
const WIDE_FROM_BYTES: usize = 64;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn shift_lanes_avx2(to: *mut u8, from: &[u8], shift: u64) {
    // SAFETY: the same contract.
    unsafe { shift_lanes(to, from, shift) };
}

/// Writes `from.len() - 1` bytes to `to`, each made of two neighbours; `shift` is 1 to 7.
#[inline(always)]
unsafe fn shift_lanes(to: *mut u8, from: &[u8], shift: u64) {
    let whole = from.len() - 1;
    let high_lanes = LANES * (0xff << shift & 0xff);
    let low_lanes = LANES * (0xff >> (8 - shift));
    let shifted = |at: usize| {
        let here = load_le(from, at);
        let next = load_le(from, at + 1);
        here << shift & high_lanes | next >> (8 - shift) & low_lanes
    };
    let mut at = 0;
    while at + 32 <= whole {
        let words = [shifted(at), shifted(at + 8), shifted(at + 16), shifted(at + 24)];
        // SAFETY: `at + 32 <= whole`.
        let to = unsafe { to.add(at) };
        // SAFETY: as said; words are little-endian in memory on every target this crate accepts.
        unsafe { to.cast::<[u64; 4]>().write_unaligned(words) };
        at += 32;
    }
    while at < whole {
        // SAFETY: `at < whole`.
        let to = unsafe { to.add(at) };
        // SAFETY: as said.
        unsafe { to.write(from[at] << shift | from[at + 1] >> (8 - shift)) };
        at += 1;
    }
}

#[inline(always)]
fn load_le(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes are left"))
}
