//! Building: entries are staged as they come, since the low width follows from the last of them.

use super::layout::{ENTRIES_PER_SAMPLE, Shape, reserve, to_index, zeroed_words};
use super::{DENSE, DENSE_SPAN, EliasFano, EliasFanoError, Sample};

/// Collects a non-decreasing sequence and encodes it.
///
/// Every method either succeeds or leaves the builder as it was, also when memory runs out: [`push`](Self::push) after
/// a [`reserve`](Self::reserve) of as many entries cannot fail for want of memory. Staging costs 8 bytes an entry.
///
/// ```
/// use tephra_sstable::elias_fano::EliasFanoBuilder;
/// let mut builder = EliasFanoBuilder::new();
/// for entry in [0, 5, 9, 20] {
///     builder.push(entry)?;
/// }
/// let sequence = builder.finish()?;
/// assert_eq!((sequence.low_width, &*sequence.low, &*sequence.high), (2, &[0x14][..], &[0x115][..]));
/// assert_eq!(sequence.view().select(2)?, 9);
/// # Ok::<(), tephra_sstable::elias_fano::EliasFanoError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EliasFanoBuilder {
    entries: Vec<u64>,
}

impl EliasFanoBuilder {
    /// A builder without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for `additional` entries.
    pub fn reserve(&mut self, additional: usize) -> Result<(), EliasFanoError> {
        reserve(&mut self.entries, additional)
    }

    /// Whether the next entry needs no memory.
    #[inline]
    pub(crate) const fn has_room(&self) -> bool {
        self.entries.len() < self.entries.capacity()
    }

    /// Adds an entry. Refuses one that is smaller than the one before it.
    #[inline]
    pub fn push(&mut self, entry: u64) -> Result<(), EliasFanoError> {
        if let Some(&previous) = self.entries.last()
            && entry < previous
        {
            return Err(EliasFanoError::Decreasing {
                index: self.len() as u64,
                previous,
                found: entry,
            });
        }
        if self.entries.len() == self.entries.capacity() {
            self.reserve(1)?;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Forgets all entries but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    /// How many entries there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry pushed last.
    pub fn last(&self) -> Option<u64> {
        self.entries.last().copied()
    }

    /// Encodes the entries; the last one is the universe. The builder keeps them.
    pub fn finish(&self) -> Result<EliasFano, EliasFanoError> {
        encode(&self.entries)
    }
}

/// Encodes `entries`, known not to decrease.
fn encode(entries: &[u64]) -> Result<EliasFano, EliasFanoError> {
    let universe = *entries.last().ok_or(EliasFanoError::NoEntries)?;
    let shape = Shape::new(entries.len() as u64, universe).ok_or(EliasFanoError::OutOfMemory {
        len_bytes: u64::MAX / 8,
    })?;
    let width = shape.low_width;
    let position = |index: usize| (entries[index] >> width) + index as u64;

    let mut low = zeroed_words(shape.low_words)?;
    let mut high = zeroed_words(shape.high_words)?;
    for (index, &entry) in entries.iter().enumerate() {
        let at = position(index);
        high[to_index(at / 64)] |= 1 << (at % 64);
        put_low(&mut low, index as u64, entry, width);
    }

    let mut samples = Vec::new();
    reserve(&mut samples, shape.samples)?;
    let mut sparse = Vec::new();
    for start in (0..entries.len()).step_by(to_index(ENTRIES_PER_SAMPLE)) {
        let end = entries.len().min(start + to_index(ENTRIES_PER_SAMPLE));
        let first = position(start);
        if position(end - 1) - first < DENSE_SPAN {
            samples.push(Sample { first, sparse: DENSE });
        } else {
            samples.push(Sample {
                first,
                sparse: sparse.len() as u64,
            });
            reserve(&mut sparse, end - start)?;
            sparse.extend((start..end).map(position));
        }
    }
    Ok(EliasFano {
        entries: entries.len() as u64,
        universe,
        low_width: width,
        low,
        high,
        samples,
        sparse,
    })
}

/// Writes the low `width` bits of `entry` at their place; the words are zero there.
fn put_low(low: &mut [u64], index: u64, entry: u64, width: u32) {
    if width == 0 {
        return;
    }
    let bits = entry & (u64::MAX >> (64 - width));
    let (word, shift) = (
        to_index(index * u64::from(width) / 64),
        index * u64::from(width) % 64,
    );
    low[word] |= bits << shift;
    if shift + u64::from(width) > 64 {
        low[word + 1] |= bits >> (64 - shift);
    }
}
