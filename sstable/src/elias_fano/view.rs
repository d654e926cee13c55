//! Reading a sequence from borrowed bytes.

use super::layout::{ENTRIES_PER_SAMPLE, SAMPLE_LEN_BYTES, Shape, to_index};
use super::scan::scan;
use super::{DENSE, EliasFano, EliasFanoError, EliasFanoIter, EliasFanoPart, Sample};

/// The parts of a sequence as bytes: words little-endian, at any alignment.
#[derive(Debug, Clone, Copy)]
pub struct EliasFanoParts<'a> {
    /// How many entries there are.
    pub entries: u64,
    /// The last entry.
    pub universe: u64,
    /// Bits of an entry's low half.
    pub low_width: u32,
    /// Words of low halves.
    pub low: &'a [u8],
    /// Words of high halves.
    pub high: &'a [u8],
    /// Samples, two words each.
    pub samples: &'a [u8],
    /// Words of positions.
    pub sparse: &'a [u8],
}

/// An Elias-Fano sequence over borrowed bytes. Copies are cheap (88 bytes) and read the same bytes.
///
/// Making one checks that the lengths of the parts agree with the number of entries and the universe, and reads
/// none of the arrays; every read checks what it meets.
#[derive(Debug, Clone, Copy)]
pub struct EliasFanoView<'a> {
    pub(super) parts: EliasFanoParts<'a>,
}

impl<'a> EliasFanoView<'a> {
    /// A view of `parts`, whose lengths must be exactly those that `entries` and `universe` ask for.
    pub fn new(parts: EliasFanoParts<'a>) -> Result<Self, EliasFanoError> {
        use EliasFanoPart::{Header, High, Low, Samples, Sparse};
        let shape = Shape::new(parts.entries, parts.universe)
            .ok_or_else(|| EliasFanoError::damaged(Header, 0, 1, parts.entries))?;
        if parts.low_width != shape.low_width {
            return Err(damaged(
                Header,
                2,
                u64::from(shape.low_width),
                u64::from(parts.low_width),
            ));
        }
        check_len(Low, parts.low, shape.low_words, 8)?;
        check_len(High, parts.high, shape.high_words, 8)?;
        check_len(Samples, parts.samples, shape.samples, SAMPLE_LEN_BYTES)?;
        check_len(Sparse, parts.sparse, parts.sparse.len() / 8, 8)?;
        Ok(Self { parts })
    }

    /// A view of parts whose lengths [`new`](Self::new) has found right before. Other parts give panics.
    #[inline]
    pub(crate) fn from_checked(parts: EliasFanoParts<'a>) -> Self {
        Self { parts }
    }

    /// A view of what [`EliasFano::write_to`] wrote; `bytes` must be no longer and no shorter.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EliasFanoError> {
        use EliasFanoPart::Header;
        let found = bytes.len() as u64;
        let header_len = EliasFano::HEADER_LEN_BYTES;
        let Some((header, mut rest)) = bytes.split_at_checked(header_len) else {
            return Err(damaged(Header, 0, header_len as u64, found));
        };
        let [entries, universe, low_width, sparse_len] = [0, 1, 2, 3].map(|index| word_at(header, index));
        let shape = Shape::new(entries, universe).ok_or_else(|| damaged(Header, 0, 1, entries))?;
        if low_width != u64::from(shape.low_width) {
            return Err(damaged(Header, 2, u64::from(shape.low_width), low_width));
        }
        let mut take = |count: usize, len_bytes: usize| {
            let len = count.checked_mul(len_bytes)?;
            let (part, after) = rest.split_at_checked(len)?;
            rest = after;
            Some(part)
        };
        let parts = (|| {
            Some(EliasFanoParts {
                entries,
                universe,
                low_width: shape.low_width,
                low: take(shape.low_words, 8)?,
                high: take(shape.high_words, 8)?,
                samples: take(shape.samples, SAMPLE_LEN_BYTES)?,
                sparse: take(to_index(sparse_len), 8)?,
            })
        })();
        match parts {
            Some(parts) if rest.is_empty() => Self::new(parts),
            _ => {
                let words = [
                    shape.low_words as u64,
                    shape.high_words as u64,
                    2 * shape.samples as u64,
                    sparse_len,
                ];
                let words = words.iter().fold(0u64, |sum, &part| sum.saturating_add(part));
                Err(damaged(
                    Header,
                    0,
                    words.saturating_mul(8).saturating_add(header_len as u64),
                    found,
                ))
            }
        }
    }

    /// How many entries there are, at least one.
    pub fn entries(&self) -> u64 {
        self.parts.entries
    }

    /// The last entry, as the header has it.
    pub fn universe(&self) -> u64 {
        self.parts.universe
    }

    /// The parts themselves.
    pub fn parts(&self) -> EliasFanoParts<'a> {
        self.parts
    }

    /// Entry `index`. Constant time: a sample, then one position or a scan of at most 65 words.
    #[inline]
    pub fn select(&self, index: u64) -> Result<u64, EliasFanoError> {
        let position = self.select_position(index)?;
        let entry = self.entry(index, position);
        if entry > self.parts.universe {
            return Err(damaged(EliasFanoPart::Entries, index, self.parts.universe, entry));
        }
        Ok(entry)
    }

    /// Entries `index` and `index + 1`: little more than one selection.
    pub fn select_pair(&self, index: u64) -> Result<(u64, u64), EliasFanoError> {
        match self.find_pair(index) {
            Some(pair) => Ok(pair),
            None => {
                let next = self.select(index.saturating_add(1))?;
                self.select_position(index)?;
                Err(damaged(
                    EliasFanoPart::Entries,
                    index + 1,
                    self.parts.universe,
                    next,
                ))
            }
        }
    }

    /// [`select_pair`](Self::select_pair), which says what is wrong where this finds none.
    #[inline(always)]
    pub(crate) fn find_pair(&self, index: u64) -> Option<(u64, u64)> {
        let index_after = index.checked_add(1)?;
        let position = self.find_position(index).filter(|&position| position >= index)?;
        let next = match self.next_one(position) {
            Some(next) => next,
            None => self.find_position(index_after)?,
        };
        if index_after >= self.parts.entries || next < index_after {
            return None;
        }
        let (entry, next) = (self.entry(index, position), self.entry(index_after, next));
        (entry <= next && next <= self.parts.universe).then_some((entry, next))
    }

    /// The position of the first one after `position`, if it is not far.
    #[inline]
    fn next_one(&self, position: u64) -> Option<u64> {
        let after = position.checked_add(1)?;
        let start = to_index(after / 64);
        let mut mask = u64::MAX << (after % 64);
        for (index, word) in self
            .parts
            .high
            .as_chunks()
            .0
            .get(start..)?
            .iter()
            .take(4)
            .enumerate()
        {
            let word = u64::from_le_bytes(*word) & mask;
            if word != 0 {
                return Some((start + index) as u64 * 64 + u64::from(word.trailing_zeros()));
            }
            mask = u64::MAX;
        }
        None
    }

    /// The entries from `index` on (none if `index` is their number). Finding the first costs one selection.
    pub fn iter_from(&self, index: u64) -> Result<EliasFanoIter<'a>, EliasFanoError> {
        EliasFanoIter::new(*self, index)
    }

    /// All entries.
    pub fn iter(&self) -> Result<EliasFanoIter<'a>, EliasFanoError> {
        self.iter_from(0)
    }

    /// Position in `high` of the one of entry `index`; at least `index`.
    #[inline(always)]
    pub(super) fn select_position(&self, index: u64) -> Result<u64, EliasFanoError> {
        match self.find_position(index) {
            Some(position) if position >= index => Ok(position),
            found => Err(self.position_error(index, found)),
        }
    }

    #[inline(always)]
    fn find_position(&self, index: u64) -> Option<u64> {
        if index >= self.parts.entries {
            return None;
        }
        let rank = (index % ENTRIES_PER_SAMPLE) as u32;
        let sample = self.sample(index / ENTRIES_PER_SAMPLE);
        match sample.sparse {
            DENSE => self.scan(sample.first, rank),
            sparse => self.sparse_at(sparse.checked_add(u64::from(rank))?),
        }
    }

    /// What is wrong where entry `index` has no position, or an impossible one.
    #[cold]
    #[inline(never)]
    fn position_error(&self, index: u64, found: Option<u64>) -> EliasFanoError {
        let entries = self.parts.entries;
        if index >= entries {
            return EliasFanoError::OutOfRange { index, entries };
        }
        let group = index / ENTRIES_PER_SAMPLE;
        let found = found.unwrap_or(self.sample(group).first);
        damaged(EliasFanoPart::Samples, group, index, found)
    }

    /// Position of the one that has `rank` ones between itself and position `first`; `None` if it is not within a
    /// dense group's span.
    #[inline]
    fn scan(&self, first: u64, rank: u32) -> Option<u64> {
        let start = to_index(first / 64);
        let words = self.parts.high.as_chunks().0.get(start..)?;
        Some(start as u64 * 64 + scan(words, (first % 64) as u32, rank)?)
    }

    /// The entry whose one is at `position`, which is at least `index`.
    #[inline]
    pub(super) fn entry(&self, index: u64, position: u64) -> u64 {
        ((position - index) << self.parts.low_width) | low_half(self.parts.low, self.parts.low_width, index)
    }

    #[inline]
    pub(super) fn sample(&self, group: u64) -> Sample {
        let at = to_index(group) * SAMPLE_LEN_BYTES;
        let bytes = &self.parts.samples[at..at + SAMPLE_LEN_BYTES];
        Sample {
            first: word_at(bytes, 0),
            sparse: word_at(bytes, 1),
        }
    }

    pub(super) fn sparse_at(&self, place: u64) -> Option<u64> {
        let at = to_index(place).checked_mul(8)?;
        self.parts
            .sparse
            .get(at..at.checked_add(8)?)
            .map(|word| word_at(word, 0))
    }
}

/// The low half of entry `index`.
#[inline]
pub(super) fn low_half(low: &[u8], width: u32, index: u64) -> u64 {
    if width == 0 {
        return 0;
    }
    let bit = index * u64::from(width);
    let mask = u64::MAX >> (64 - width);
    let byte = to_index(bit / 8);
    // One load serves unless the half passes its 64 bits, or they pass the end.
    if width <= 57 && byte + 8 <= low.len() {
        return unaligned_word(&low[byte..]) >> (bit % 8) & mask;
    }
    let (word, shift) = (to_index(bit / 64), bit % 64);
    let mut half = word_at(low, word) >> shift;
    if shift + u64::from(width) > 64 {
        half |= word_at(low, word + 1) << (64 - shift);
    }
    half & mask
}

/// Word `index` of words.
#[inline]
pub(super) fn word_at(bytes: &[u8], index: usize) -> u64 {
    unaligned_word(&bytes[index * 8..])
}

/// The word in the first eight bytes.
#[inline]
fn unaligned_word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(
        *bytes
            .first_chunk()
            .expect("callers hand over at least eight bytes"),
    )
}

#[cold]
pub(super) fn damaged(part: EliasFanoPart, index: u64, expected: u64, found: u64) -> EliasFanoError {
    EliasFanoError::damaged(part, index, expected, found)
}

fn check_len(
    part: EliasFanoPart,
    bytes: &[u8],
    count: usize,
    len_bytes: usize,
) -> Result<(), EliasFanoError> {
    if count.checked_mul(len_bytes) == Some(bytes.len()) {
        return Ok(());
    }
    Err(damaged(
        part,
        0,
        (count as u64).saturating_mul(len_bytes as u64),
        bytes.len() as u64,
    ))
}
