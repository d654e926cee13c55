//! Checking a whole sequence: one pass over all parts.

use super::layout::{ENTRIES_PER_SAMPLE, to_index};
use super::view::{damaged, word_at};
use super::{DENSE, DENSE_SPAN, EliasFanoError, EliasFanoIter, EliasFanoPart, EliasFanoView};

impl EliasFanoView<'_> {
    /// Checks everything: the sequence does not decrease and ends with the universe, there are as many ones as
    /// entries, the unused bits are zero, samples and sparse positions are those that the builder writes.
    /// One pass over all parts; allocates nothing.
    pub fn validate(&self) -> Result<(), EliasFanoError> {
        use EliasFanoPart::{Entries, High, Low, Sparse};
        let parts = &self.parts;
        let ones: u64 = parts
            .high
            .chunks_exact(8)
            .map(|word| u64::from(word_at(word, 0).count_ones()))
            .sum();
        if ones != parts.entries {
            return Err(damaged(High, 0, parts.entries, ones));
        }
        let high_bits = (parts.universe >> parts.low_width) + parts.entries;
        check_padding(High, parts.high, high_bits)?;
        check_padding(Low, parts.low, parts.entries * u64::from(parts.low_width))?;

        let mut iter = EliasFanoIter::from_start(*self);
        let (mut previous, mut sparse_len) = (0, 0);
        for group in 0..parts.entries.div_ceil(ENTRIES_PER_SAMPLE) {
            let start = group * ENTRIES_PER_SAMPLE;
            let end = parts.entries.min(start + ENTRIES_PER_SAMPLE);
            let first = iter.peek_position().unwrap_or(u64::MAX);
            let (mut last, mut listed) = (first, true);
            for index in start..end {
                last = iter.peek_position().unwrap_or(u64::MAX);
                listed &= self.sparse_at(sparse_len + (index - start)) == Some(last);
                match iter.next() {
                    Some(Ok(entry)) if entry >= previous => previous = entry,
                    Some(Ok(entry)) => return Err(damaged(Entries, index, previous, entry)),
                    Some(Err(error)) => return Err(error),
                    None => return Err(damaged(High, index, parts.entries, index)),
                }
            }
            let expected = if last - first < DENSE_SPAN {
                DENSE
            } else {
                sparse_len
            };
            let sample = self.sample(group);
            if sample.first != first {
                return Err(damaged(EliasFanoPart::Samples, group, first, sample.first));
            }
            if sample.sparse != expected {
                return Err(damaged(EliasFanoPart::Samples, group, expected, sample.sparse));
            }
            if expected != DENSE {
                if !listed {
                    return Err(damaged(
                        Sparse,
                        sparse_len,
                        first,
                        self.sparse_at(sparse_len).unwrap_or(DENSE),
                    ));
                }
                sparse_len += end - start;
            }
        }
        if previous != parts.universe {
            return Err(damaged(Entries, parts.entries - 1, parts.universe, previous));
        }
        if parts.sparse.len() as u64 != sparse_len * 8 {
            return Err(damaged(
                Sparse,
                sparse_len,
                sparse_len,
                parts.sparse.len() as u64 / 8,
            ));
        }
        Ok(())
    }
}

/// Checks that the bits from `used_bits` on are zero.
fn check_padding(part: EliasFanoPart, words: &[u8], used_bits: u64) -> Result<(), EliasFanoError> {
    if used_bits.is_multiple_of(64) {
        return Ok(());
    }
    let index = to_index(used_bits / 64);
    let word = word_at(words, index);
    let used = word & (u64::MAX >> (64 - used_bits % 64));
    if word == used {
        Ok(())
    } else {
        Err(damaged(part, index as u64, used, word))
    }
}
