//! A plain bitmap over the record ordinals of one table: the records that are dead.
//!
//! ```text
//! words   ..0110  1111..1  1111..1  0011..     one bit a record, LSB first; set: dead
//! full        0        1        1       0      one bit a word: all its records are dead
//! ```
//!
//! Bits past the last record are always zero, so the last word is full only if it has 64 records. Testing a record takes
//! one load; finding the next dead one looks at 64 records at a time, finding a live one across a run of dead records at
//! 4,096; the number of dead records is kept as bits change. On disk a set has a form of its own; this is the form in
//! memory.
//!
//! ```
//! use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
//! let mut dead = OrdinalBitmap::new(200);
//! dead.insert_range(10..150);
//! assert!(dead.contains(10) && !dead.contains(150));
//! assert_eq!((dead.next_live(10), dead.next_dead(0), dead.dead_count()), (150, 10, 140));
//! ```

use std::ops::Range;

use crate::elias_fano::to_index;

/// A set of ordinals below a record count. See the module.
///
/// Inserting needs `&mut self`; every reading method may be called from any thread at once.
#[derive(Clone, PartialEq, Eq)]
pub struct OrdinalBitmap {
    record_count: u64,
    dead_count: u64,
    words: Vec<u64>,
    full: Vec<u64>,
}

impl OrdinalBitmap {
    /// An empty set over ordinals `0..record_count`. Takes an eighth of a byte a record.
    pub fn new(record_count: u64) -> Self {
        let word_count = to_index(record_count.div_ceil(64));
        Self {
            record_count,
            dead_count: 0,
            words: vec![0; word_count],
            full: vec![0; word_count.div_ceil(64)],
        }
    }

    /// A set from its words, as [`words`](Self::words) gives them; `None` if there are too many or too few, or
    /// if a bit past the last record is set.
    pub fn from_words(record_count: u64, words: Vec<u64>) -> Option<Self> {
        if words.len() as u64 != record_count.div_ceil(64) {
            return None;
        }
        if let Some(&last) = words.last()
            && last & !low_mask(record_count - (words.len() as u64 - 1) * 64) != 0
        {
            return None;
        }
        let dead_count = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut set = Self {
            record_count,
            dead_count,
            full: vec![0; words.len().div_ceil(64)],
            words,
        };
        (0..set.words.len()).for_each(|index| set.note_full(index));
        Some(set)
    }

    /// Sets the word's bit of `full` if all of it is dead.
    #[inline]
    fn note_full(&mut self, word_index: usize) {
        self.full[word_index / 64] |= u64::from(self.words[word_index] == u64::MAX) << (word_index % 64);
    }

    /// The record count the set was made for.
    pub fn record_count(&self) -> u64 {
        self.record_count
    }

    /// How many ordinals are in the set.
    pub fn dead_count(&self) -> u64 {
        self.dead_count
    }

    /// How many are not.
    pub fn live_count(&self) -> u64 {
        self.record_count - self.dead_count
    }

    /// Puts `ordinal` into the set; whether it was not there before.
    ///
    /// # Panics
    ///
    /// If there is no such record.
    #[inline]
    pub fn insert(&mut self, ordinal: u64) -> bool {
        assert!(
            ordinal < self.record_count,
            "ordinal {ordinal} of {}",
            self.record_count
        );
        let (index, bit) = (to_index(ordinal / 64), 1 << (ordinal % 64));
        let fresh = self.words[index] & bit == 0;
        self.words[index] |= bit;
        self.note_full(index);
        self.dead_count += u64::from(fresh);
        fresh
    }

    /// Puts all of `ordinals` into the set; how many were not there before. An empty range changes nothing.
    ///
    /// # Panics
    ///
    /// If the range ends past the last record.
    pub fn insert_range(&mut self, ordinals: Range<u64>) -> u64 {
        if ordinals.is_empty() {
            return 0;
        }
        assert!(
            ordinals.end <= self.record_count,
            "ordinals {ordinals:?} of {}",
            self.record_count
        );
        let before = self.dead_count;
        let (first, last) = (ordinals.start / 64, (ordinals.end - 1) / 64);
        for index in first..=last {
            let from = ordinals.start.saturating_sub(index * 64);
            let until = (ordinals.end - index * 64).min(64);
            let word = &mut self.words[to_index(index)];
            let added = low_mask(until) & !low_mask(from) & !*word;
            *word |= added;
            self.dead_count += u64::from(added.count_ones());
            self.note_full(to_index(index));
        }
        self.dead_count - before
    }

    /// Whether `ordinal` is in the set; false past the last record.
    #[inline]
    pub fn contains(&self, ordinal: u64) -> bool {
        let word = self.words.get(to_index(ordinal / 64)).copied().unwrap_or(0);
        word >> (ordinal % 64) & 1 == 1
    }

    /// The first ordinal from `from` on that is not in the set; the record count if there is none. Steps over runs
    /// of dead records 4,096 at a time.
    #[inline]
    pub fn next_live(&self, from: u64) -> u64 {
        if from >= self.record_count {
            return self.record_count;
        }
        let start = to_index(from / 64);
        let live = !self.words[start] & !low_mask(from % 64);
        let (index, live) = if live != 0 {
            (start, live)
        } else {
            let Some(index) =
                first_zero_from(&self.full, start + 1).filter(|&index| index < self.words.len())
            else {
                return self.record_count;
            };
            (index, !self.words[index])
        };
        // Bits past the last record are zero, which reads as live: hence the minimum.
        (index as u64 * 64 + u64::from(live.trailing_zeros())).min(self.record_count)
    }

    /// The last ordinal below `end` that is not in the set. Steps over runs of dead records 4,096 at a time.
    #[inline]
    pub fn previous_live(&self, end: u64) -> Option<u64> {
        let last = end.min(self.record_count).checked_sub(1)?;
        let start = to_index(last / 64);
        let live = !self.words[start] & low_mask(last % 64 + 1);
        let (index, live) = if live != 0 {
            (start, live)
        } else {
            let index = last_zero_before(&self.full, start)?;
            (index, !self.words[index])
        };
        Some(index as u64 * 64 + u64::from(live.ilog2()))
    }

    /// The first ordinal from `from` on that is in the set; the record count if there is none.
    #[inline]
    pub fn next_dead(&self, from: u64) -> u64 {
        if from >= self.record_count {
            return self.record_count;
        }
        let start = to_index(from / 64);
        let mut mask = !low_mask(from % 64);
        for (index, word) in self.words[start..].iter().enumerate() {
            let found = word & mask;
            if found != 0 {
                return (start + index) as u64 * 64 + u64::from(found.trailing_zeros());
            }
            mask = u64::MAX;
        }
        self.record_count
    }

    /// Puts everything of `other` into the set.
    ///
    /// # Panics
    ///
    /// If the record counts differ: sets of different tables are not to be mixed.
    pub fn union_with(&mut self, other: &Self) {
        assert_eq!(
            self.record_count, other.record_count,
            "sets of tables of different sizes"
        );
        let mut dead_count = 0;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
            dead_count += u64::from(word.count_ones());
        }
        self.dead_count = dead_count;
        (0..self.words.len()).for_each(|index| self.note_full(index));
    }

    /// The ordinals of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |word| {
                Some(word & (word - 1)).filter(|&rest| rest != 0)
            })
            .map(move |rest| index as u64 * 64 + u64::from(rest.trailing_zeros()))
        })
    }

    /// The words, LSB first, bits past the last record zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl std::fmt::Debug for OrdinalBitmap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "OrdinalBitmap({} of {} dead)",
            self.dead_count, self.record_count
        )
    }
}

/// The lowest `bits` bits, of at most 64.
#[inline]
fn low_mask(bits: u64) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The first zero bit at `from` or behind it. Bits behind the last word of `bits` do not count.
#[inline]
fn first_zero_from(bits: &[u64], from: usize) -> Option<usize> {
    let mut mask = !low_mask(from as u64 % 64);
    for (index, word) in bits.iter().enumerate().skip(from / 64) {
        let zeros = !word & mask;
        if zeros != 0 {
            return Some(index * 64 + zeros.trailing_zeros() as usize);
        }
        mask = u64::MAX;
    }
    None
}

/// The last zero bit before `end`.
#[inline]
fn last_zero_before(bits: &[u64], end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    let mut mask = low_mask(last as u64 % 64 + 1);
    for index in (0..=last / 64).rev() {
        let zeros = !bits[index] & mask;
        if zeros != 0 {
            return Some(index * 64 + zeros.ilog2() as usize);
        }
        mask = u64::MAX;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::OrdinalBitmap;

    #[test]
    fn agrees_with_a_tree_set() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let record_count = random.random_range(0..400u64);
            let (mut bitmap, mut tree) = (OrdinalBitmap::new(record_count), BTreeSet::new());
            for _ in 0..random.random_range(0..40) {
                if record_count == 0 {
                    break;
                }
                let ordinal = random.random_range(0..record_count);
                if random.random_range(0..3) > 0 {
                    assert_eq!(bitmap.insert(ordinal), tree.insert(ordinal), "seed {seed}");
                } else {
                    let range = ordinal..random.random_range(ordinal..=record_count.min(ordinal + 150));
                    let fresh = range.clone().filter(|&ordinal| tree.insert(ordinal)).count() as u64;
                    assert_eq!(bitmap.insert_range(range), fresh, "seed {seed}");
                }
            }
            assert_eq!(bitmap.dead_count(), tree.len() as u64, "seed {seed}");
            assert!(bitmap.iter().eq(tree.iter().copied()), "seed {seed}");
            for from in 0..record_count + 130 {
                assert_eq!(bitmap.contains(from), tree.contains(&from), "seed {seed}, {from}");
                let dead = tree.range(from..).next().copied().unwrap_or(record_count);
                assert_eq!(bitmap.next_dead(from), dead, "seed {seed}, {from}");
                let live = (from..record_count).find(|ordinal| !tree.contains(ordinal));
                assert_eq!(
                    bitmap.next_live(from),
                    live.unwrap_or(record_count),
                    "seed {seed}, {from}"
                );
                let before = (0..from.min(record_count)).rfind(|ordinal| !tree.contains(ordinal));
                assert_eq!(bitmap.previous_live(from), before, "seed {seed}, {from}");
            }
            let again = OrdinalBitmap::from_words(record_count, bitmap.words().to_vec());
            assert_eq!(again.as_ref(), Some(&bitmap), "seed {seed}");
        }
    }

    #[test]
    fn long_dead_runs_are_stepped_over_both_ways() {
        let record_count = 50_000;
        for (from, until) in [
            (0, 50_000),
            (1, 49_999),
            (64, 45_056),
            (4_096, 8_192),
            (4_095, 8_193),
            (63, 66),
        ] {
            let mut bitmap = OrdinalBitmap::new(record_count);
            bitmap.insert_range(from..until);
            let mut single = OrdinalBitmap::new(record_count);
            (from..until).for_each(|ordinal| assert!(single.insert(ordinal)));
            let mut united = OrdinalBitmap::new(record_count);
            united.union_with(&bitmap);
            let rebuilt =
                OrdinalBitmap::from_words(record_count, bitmap.words().to_vec()).expect("its own words");
            for set in [&bitmap, &single, &united, &rebuilt] {
                for probe in [from, from + 1, (from + until) / 2, until - 1] {
                    assert_eq!(set.next_live(probe), until, "{from}..{until} from {probe}");
                    assert_eq!(
                        set.previous_live(probe + 1),
                        from.checked_sub(1),
                        "{from}..{until} from {probe}"
                    );
                }
                assert_eq!(set, &bitmap);
            }
        }
    }

    #[test]
    fn unions_and_counts() {
        let (mut one, mut other) = (OrdinalBitmap::new(130), OrdinalBitmap::new(130));
        one.insert_range(0..70);
        other.insert_range(60..130);
        one.union_with(&other);
        assert_eq!(
            (one.dead_count(), one.live_count(), one.next_live(0)),
            (130, 0, 130)
        );
    }

    #[test]
    fn foreign_words_are_refused() {
        assert_eq!(OrdinalBitmap::from_words(65, vec![0]), None);
        assert_eq!(OrdinalBitmap::from_words(65, vec![0, 2]), None);
        assert_eq!(
            OrdinalBitmap::from_words(64, vec![u64::MAX]).map(|set| set.dead_count()),
            Some(64)
        );
        assert_eq!(
            OrdinalBitmap::from_words(0, vec![]).map(|set| set.live_count()),
            Some(0)
        );
    }
}
