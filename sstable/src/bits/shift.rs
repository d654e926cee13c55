//! Bits that start inside a byte as whole bytes: copied to a byte position, or compared with bytes.
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

/// Bytes shifted at once: one bound to check, and vectors where the processor has them.
pub(super) const BLOCK_LEN_BYTES: usize = 64;

/// Writes `from.len() - 1` bytes to `to`, each made of two neighbours; `shift` is 1 to 7.
#[inline(always)]
unsafe fn shift_lanes(to: *mut u8, from: &[u8], shift: u64) {
    let whole = from.len() - 1;
    let mut at = 0;
    while let Some(block) = from[at..].first_chunk::<{ BLOCK_LEN_BYTES + 1 }>() {
        let shifted = shift_block(block, shift);
        // SAFETY: the block and a byte more lie in `from`, so that `at + BLOCK_LEN_BYTES <= whole`.
        let to = unsafe { to.add(at) };
        // SAFETY: as said; words are little-endian in memory on every target this crate accepts.
        unsafe { to.cast::<[u64; BLOCK_LEN_BYTES / 8]>().write_unaligned(shifted) };
        at += BLOCK_LEN_BYTES;
    }
    while at < whole {
        // SAFETY: `at < whole`.
        let to = unsafe { to.add(at) };
        // SAFETY: as said.
        unsafe { to.write(from[at] << shift | from[at + 1] >> (8 - shift)) };
        at += 1;
    }
}

/// The bytes of a block, each made of itself and the one behind it; `shift` is 1 to 7.
#[inline(always)]
fn shift_block(block: &[u8; BLOCK_LEN_BYTES + 1], shift: u64) -> [u64; BLOCK_LEN_BYTES / 8] {
    let high_lanes = LANES * (0xff << shift & 0xff);
    let low_lanes = LANES * (0xff >> (8 - shift));
    let (here, next) = (block.first_chunk(), block.last_chunk());
    let (here, next): (&[u8; BLOCK_LEN_BYTES], &[u8; BLOCK_LEN_BYTES]) =
        (here.expect("a byte less"), next.expect("a byte less"));
    let (here, next) = (words(here), words(next));
    std::array::from_fn(|lane| here[lane] << shift & high_lanes | next[lane] >> (8 - shift) & low_lanes)
}

#[inline(always)]
fn words(bytes: &[u8; BLOCK_LEN_BYTES]) -> [u64; BLOCK_LEN_BYTES / 8] {
    let words = bytes.as_chunks::<8>().0;
    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
}

/// How many blocks of [`BLOCK_LEN_BYTES`] from bit `start` of `bytes` on, which is inside a byte, are the same as `aligned`'s, before the
/// first that differs or for which there are not enough bytes.
pub(super) fn common_blocks(bytes: &[u8], start: u64, aligned: &[u8]) -> usize {
    let from = &bytes[byte_of(start).min(bytes.len())..];
    #[cfg(target_arch = "x86_64")]
    if aligned.len() >= WIDE_FROM_BYTES && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature.
        return unsafe { common_lanes_avx2(from, start & 7, aligned) };
    }
    common_lanes(from, start & 7, aligned)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn common_lanes_avx2(from: &[u8], shift: u64, aligned: &[u8]) -> usize {
    common_lanes(from, shift, aligned)
}

/// [`common_blocks`] of bytes from the one on in which the bits start.
#[inline(always)]
fn common_lanes(from: &[u8], shift: u64, aligned: &[u8]) -> usize {
    let mut count = 0;
    for block in aligned.as_chunks::<BLOCK_LEN_BYTES>().0 {
        let Some(from) = from[count * BLOCK_LEN_BYTES..].first_chunk() else {
            break;
        };
        let (shifted, block) = (shift_block(from, shift), words(block));
        let differing = shifted.iter().zip(block).fold(0, |all, (a, b)| all | (a ^ b));
        if differing != 0 {
            break;
        }
        count += 1;
    }
    count
}
