//! Finding the n-th one from a word on: the inner loop of a selection in a dense group.
//!
//! The loop counts the ones of each word, which takes one instruction on every processor of the last fifteen years
//! and a dozen on the oldest that the compiler has to reckon with. So the same body is compiled twice, and the
//! faster one is taken where the processor has what it needs.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls a function compiled for instructions that were asked for just before"
    )
)]

use super::layout::DENSE_SCAN_WORDS;
use super::select_in_word::select_in_word;

/// Position, counted from the start of `words`, of the one that has `rank` ones between itself and position `first`
/// (below 64); `None` if it is not within the longest span of a dense group.
#[inline]
pub(super) fn scan(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction that the function is compiled for.
        return unsafe { scan_popcnt(words, first, rank) };
    }
    scan_portable(words, first, rank)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn scan_popcnt(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    scan_portable(words, first, rank)
}

#[inline(always)]
pub(super) fn scan_portable(words: &[[u8; 8]], first: u32, mut rank: u32) -> Option<u64> {
    let mut mask = u64::MAX << first;
    for (index, word) in words.iter().take(DENSE_SCAN_WORDS).enumerate() {
        let word = u64::from_le_bytes(*word) & mask;
        mask = u64::MAX;
        let ones = word.count_ones();
        if rank < ones {
            return Some(index as u64 * 64 + u64::from(select_in_word(word, rank)));
        }
        rank -= ones;
    }
    None
}
