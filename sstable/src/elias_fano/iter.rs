//! Iterating: the ones of `high` in order, a word at a time.

use super::layout::to_index;
use super::view::word_at;
use super::{EliasFanoError, EliasFanoPart, EliasFanoView};

/// The entries of an [`EliasFanoView`] from one of them on.
///
/// Over damaged bytes it ends with an error; entries are checked against the universe, not against each other.
#[derive(Debug, Clone)]
pub struct EliasFanoIter<'a> {
    view: EliasFanoView<'a>,
    /// Number of the next entry.
    index: u64,
    /// Ones of the current word that are still to come.
    word: u64,
    /// Number of the current word.
    word_index: u64,
    /// The low halves, if one load has any of them; else empty.
    low: &'a [u8],
    /// Where the next entry's low half starts, in bits.
    low_at: u64,
    /// The bits of a low half.
    low_bits: u64,
}

impl<'a> EliasFanoIter<'a> {
    pub(super) fn new(view: EliasFanoView<'a>, index: u64) -> Result<Self, EliasFanoError> {
        let width = u64::from(view.parts().low_width);
        let one_load = (1..=57).contains(&width);
        let mut iter = Self {
            view,
            index,
            word: 0,
            word_index: 0,
            low: if one_load { view.parts().low } else { &[] },
            low_at: index.saturating_mul(width),
            low_bits: if one_load { u64::MAX >> (64 - width) } else { 0 },
        };
        if index == view.entries() {
            return Ok(iter);
        }
        let position = view.select_position(index)?;
        let word_index = position / 64;
        // A sparse position may be anything: what it points to is checked here, once.
        iter.word = match view.parts().high.get(to_index(word_index).saturating_mul(8)..) {
            Some(words) if words.len() >= 8 => word_at(words, 0) & (u64::MAX << (position % 64)),
            _ => {
                return Err(EliasFanoError::damaged(
                    EliasFanoPart::Sparse,
                    index,
                    view.universe(),
                    position,
                ));
            }
        };
        iter.word_index = word_index;
        Ok(iter)
    }

    /// The next entry, whose one is at `position`.
    #[inline]
    fn entry(&self, position: u64) -> u64 {
        match self
            .low
            .get(to_index(self.low_at / 8)..)
            .and_then(<[u8]>::first_chunk)
        {
            Some(word) => {
                let low = u64::from_le_bytes(*word) >> (self.low_at % 8) & self.low_bits;
                (position - self.index) << self.view.parts().low_width | low
            }
            None => self.view.entry(self.index, position),
        }
    }

    /// Position in `high` of the next entry's one; `None` at the end, and where damage has taken it away.
    #[inline]
    pub(super) fn peek_position(&mut self) -> Option<u64> {
        if self.index == self.view.entries() {
            return None;
        }
        while self.word == 0 {
            let next = to_index(self.word_index + 1) * 8;
            self.word = word_at(self.view.parts().high.get(next..next + 8)?, 0);
            self.word_index += 1;
        }
        Some(self.word_index * 64 + u64::from(self.word.trailing_zeros()))
    }

    /// The next entry; `None` at the end, and at damage.
    #[inline(always)]
    fn next_entry(&mut self) -> Option<u64> {
        if self.word == 0 {
            self.peek_position()?;
        }
        if self.index == self.view.entries() {
            return None;
        }
        // Positions grow by at least one from entry to entry: none is below its index if the first was not.
        let position = self.word_index * 64 + u64::from(self.word.trailing_zeros());
        let entry = self.entry(position);
        if entry > self.view.universe() {
            return None;
        }
        self.word &= self.word - 1;
        self.index += 1;
        self.low_at += u64::from(self.view.parts().low_width);
        Some(entry)
    }

    /// What there is instead of an entry: nothing at the end, else an error, after which the end is reached.
    #[cold]
    fn end(&mut self) -> Option<Result<u64, EliasFanoError>> {
        let index = self.index;
        if index == self.view.entries() {
            return None;
        }
        let found = match self.peek_position() {
            Some(position) => self.entry(position),
            None => u64::MAX,
        };
        self.index = self.view.entries();
        Some(Err(EliasFanoError::damaged(
            EliasFanoPart::High,
            index,
            self.view.universe(),
            found,
        )))
    }
}

impl Iterator for EliasFanoIter<'_> {
    type Item = Result<u64, EliasFanoError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self.next_entry() {
            Some(entry) => Some(Ok(entry)),
            None => self.end(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(to_index(self.view.entries() - self.index)))
    }
}

impl std::iter::FusedIterator for EliasFanoIter<'_> {}
