//! One entry of the Elias-Fano directory, taken apart.
//!
//! The sequence keeps entry `j` as its low `l` bits, in a row of their own, and its upper half as the distance between ones: the one of
//! entry `j` is bit `(j >> l) + j` of the upper bits. So `select(j)`, the position of the `j`-th one, gives the upper half as
//! `select(j) - j`. A sample for every 256 entries says where to begin counting.

use tephradb::tables::{DENSE, ENTRIES_PER_SAMPLE, EliasFanoView};

/// Bits of the upper halves shown before and behind the one.
const WINDOW_BITS: u64 = 20;

/// How one entry is found.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) index: u64,
    pub(super) entry_count: u64,
    pub(super) universe: u64,
    pub(super) low_width: u32,
    /// The sample: its number, the position of its first one, its place in `sparse` if its group is sparse.
    pub(super) sample: u64,
    pub(super) sample_first: u64,
    pub(super) sparse_place: Option<u64>,
    /// Position of the entry's one in the upper bits.
    pub(super) position: u64,
    /// Upper bits around the one, and the position of the first of them.
    pub(super) window: Vec<bool>,
    pub(super) window_start: u64,
    pub(super) upper_bit_count: u64,
    pub(super) low: u64,
    pub(super) value: u64,
}

/// Takes an entry apart; `None` where the directory's bytes make no sense.
pub(super) fn take_apart(directory: &EliasFanoView<'_>, index: u64) -> Option<Entry> {
    let parts = directory.parts();
    let value = directory.select(index).ok()?;
    let position = (value >> parts.low_width).checked_add(index)?;
    let sample = index / ENTRIES_PER_SAMPLE;
    let sample_at = usize::try_from(sample).ok()?.checked_mul(16)?;
    let sample_first = word_at(parts.samples, sample_at)?;
    let sparse_place = Some(word_at(parts.samples, sample_at + 8)?).filter(|&place| place != DENSE);
    let upper_bit_count = (parts.universe >> parts.low_width).checked_add(parts.entries)?;
    let window_start = position.saturating_sub(WINDOW_BITS);
    let window_end = upper_bit_count.min(position.saturating_add(WINDOW_BITS + 1));
    let bit = |at: u64| -> Option<bool> {
        let word = word_at(parts.high, usize::try_from(at / 64).ok()?.checked_mul(8)?)?;
        Some(word >> (at % 64) & 1 == 1)
    };
    let window = (window_start..window_end)
        .map(bit)
        .collect::<Option<Vec<bool>>>()?;
    let low_mask = if parts.low_width == 0 {
        0
    } else {
        u64::MAX >> (64 - parts.low_width)
    };
    Some(Entry {
        index,
        entry_count: parts.entries,
        universe: parts.universe,
        low_width: parts.low_width,
        sample,
        sample_first,
        sparse_place,
        position,
        window,
        window_start,
        upper_bit_count,
        low: value & low_mask,
        value,
    })
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}
