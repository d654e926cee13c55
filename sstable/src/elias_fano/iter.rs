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
}

impl<'a> EliasFanoIter<'a> {
    pub(super) fn new(view: EliasFanoView<'a>, index: u64) -> Result<Self, EliasFanoError> {
        if index == view.entries() {
            return Ok(Self {
                view,
                index,
                word: 0,
                word_index: 0,
            });
        }
        let position = view.select_position(index)?;
        let word_index = position / 64;
        // A sparse position may be anything: what it points to is checked here, once.
        let word = match view.parts().high.get(to_index(word_index).saturating_mul(8)..) {
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
        Ok(Self {
            view,
            index,
            word,
            word_index,
        })
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

    #[cold]
    fn damaged(&mut self, found: u64) -> EliasFanoError {
        let index = self.index;
        self.index = self.view.entries();
        EliasFanoError::damaged(EliasFanoPart::High, index, self.view.universe(), found)
    }
}

impl Iterator for EliasFanoIter<'_> {
    type Item = Result<u64, EliasFanoError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.index == self.view.entries() {
            return None;
        }
        let Some(position) = self.peek_position().filter(|&position| position >= self.index) else {
            return Some(Err(self.damaged(u64::MAX)));
        };
        let entry = self.view.entry(self.index, position);
        if entry > self.view.universe() {
            return Some(Err(self.damaged(entry)));
        }
        self.word &= self.word.wrapping_sub(1);
        self.index += 1;
        Some(Ok(entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(to_index(self.view.entries() - self.index)))
    }
}

impl std::iter::FusedIterator for EliasFanoIter<'_> {}
