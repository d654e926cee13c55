//! Finding the n-th one from a word on: the inner loop of a selection in a dense group.
//!
//! The loop counts the ones of each word, which takes one instruction on every processor of the last fifteen years
//! and a dozen on the oldest that the compiler has to reckon with. So the same body is compiled for each, and the
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
    if has_fast_bit_instructions() {
        // SAFETY: the processor has the instructions that the function is compiled for.
        return unsafe { scan_with_deposit(words, first, rank) };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction that the function is compiled for.
        return unsafe { scan_with_count(words, first, rank) };
    }
    scan_portable(words, first, rank)
}

/// Whether the processor counts ones and deposits bits in a few cycles. Those that have vector AES do; some older
/// ones know the deposit instruction, and take hundreds of cycles for it.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_fast_bit_instructions() -> bool {
    std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("vaes")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn scan_with_deposit(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    scan_by(words, first, rank, |word, rank| {
        std::arch::x86_64::_pdep_u64(1 << rank, word).trailing_zeros()
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn scan_with_count(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    scan_by(words, first, rank, select_in_word)
}

/// The same without special instructions.
pub(super) fn scan_portable(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    scan_by(words, first, rank, select_in_word)
}

#[inline(always)]
fn scan_by(
    words: &[[u8; 8]],
    first: u32,
    mut rank: u32,
    select_in_word: impl Fn(u64, u32) -> u32,
) -> Option<u64> {
    let mut mask = u64::MAX << first;
    let mut position = 0;
    for word in &words[..words.len().min(DENSE_SCAN_WORDS)] {
        let word = u64::from_le_bytes(*word) & mask;
        mask = u64::MAX;
        let ones = word.count_ones();
        if rank < ones {
            return Some(position + u64::from(select_in_word(word, rank)));
        }
        rank -= ones;
        position += 64;
    }
    None
}
