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

use std::hint::select_unpredictable;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

use super::layout::DENSE_SCAN_WORDS;
use super::select_in_word::select_in_word;

/// Position, counted from the start of `words`, of the one that has `rank` ones between itself and position `first`
/// (below 64); `None` if it is not within the longest span of a dense group.
#[inline]
pub(super) fn scan(words: &[[u8; 8]], first: u32, rank: u32) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    match BIT_INSTRUCTIONS.load(Ordering::Relaxed) {
        // SAFETY: the processor has the instructions that the function is compiled for.
        DEPOSIT => return unsafe { scan_with_deposit(words, first, rank) },
        // SAFETY: the processor has the instruction that the function is compiled for.
        COUNT => return unsafe { scan_with_count(words, first, rank) },
        UNKNOWN => detect(),
        _ => {}
    }
    scan_portable(words, first, rank)
}

/// What [`detect`] found: one byte to ask for instead of three features.
#[cfg(target_arch = "x86_64")]
static BIT_INSTRUCTIONS: AtomicU8 = AtomicU8::new(UNKNOWN);
#[cfg(target_arch = "x86_64")]
const UNKNOWN: u8 = 0;
#[cfg(target_arch = "x86_64")]
const NONE: u8 = 1;
#[cfg(target_arch = "x86_64")]
const COUNT: u8 = 2;
#[cfg(target_arch = "x86_64")]
const DEPOSIT: u8 = 3;

/// Asks the processor what it has.
#[cfg(target_arch = "x86_64")]
#[cold]
fn detect() {
    let found = if has_fast_bit_instructions() {
        DEPOSIT
    } else if std::arch::is_x86_feature_detected!("popcnt") {
        COUNT
    } else {
        NONE
    };
    BIT_INSTRUCTIONS.store(found, Ordering::Relaxed);
}

/// Whether the processor counts ones and deposits bits in a few cycles. Those that have vector AES do; some older
/// ones know the deposit instruction, and take hundreds of cycles for it.
#[cfg(target_arch = "x86_64")]
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

/// Words among which the one is found without a branch.
///
/// A loop that stops at the word would stop at another one each time, and each time be predicted wrongly. Groups of
/// [`ENTRIES_PER_SAMPLE`](super::layout::ENTRIES_PER_SAMPLE) entries that lie evenly have two to three bits an entry
/// in the high half, so that their ones are within so many words.
const HALVED_WORDS: usize = 16;

#[inline(always)]
fn scan_by(
    words: &[[u8; 8]],
    first: u32,
    rank: u32,
    select_in_word: impl Fn(u64, u32) -> u32,
) -> Option<u64> {
    let words = &words[..words.len().min(DENSE_SCAN_WORDS)];
    // From here on ranks count from the first word's first one.
    let rank = rank + (u64::from_le_bytes(*words.first()?) & !(u64::MAX << first)).count_ones();
    if let Some(near) = words.first_chunk::<HALVED_WORDS>() {
        let (index, rank) = halve(near, rank);
        let word = u64::from_le_bytes(near[index]);
        if rank < word.count_ones() {
            return Some(64 * index as u64 + u64::from(select_in_word(word, rank)));
        }
    }
    scan_word_by_word(words, rank, select_in_word)
}

/// The word that holds the one of a rank, or the last, and the rank in it: half of the words, a quarter, and so on.
#[inline(always)]
fn halve(words: &[[u8; 8]; HALVED_WORDS], mut rank: u32) -> (usize, u32) {
    let mut index = 0;
    let mut half = HALVED_WORDS / 2;
    while half > 0 {
        let ones: u32 = words[index..index + half]
            .iter()
            .map(|word| u64::from_le_bytes(*word).count_ones())
            .sum();
        let passed = ones <= rank;
        index += select_unpredictable(passed, half, 0);
        rank -= select_unpredictable(passed, ones, 0);
        half /= 2;
    }
    (index, rank)
}

#[inline(always)]
fn scan_word_by_word(
    words: &[[u8; 8]],
    mut rank: u32,
    select_in_word: impl Fn(u64, u32) -> u32,
) -> Option<u64> {
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let ones = word.count_ones();
        if rank < ones {
            return Some(64 * index as u64 + u64::from(select_in_word(word, rank)));
        }
        rank -= ones;
    }
    None
}
