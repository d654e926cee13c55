//! Iterating: the ones of `high` in order, a word at a time.

use super::layout::to_index;
use super::view::{low_half, word_at};
use super::{EliasFanoError, EliasFanoPart, EliasFanoView};

/// The entries of an [`EliasFanoView`] from one of them on.
///
/// Over damaged bytes it ends with an error; entries are checked against the universe, not against each other.
///
/// Nothing here hands its own address to a function that is not inlined: an iterator whose address nobody has lives in
/// registers, and in memory each step would wait for the stores of the one before.
#[derive(Debug, Clone)]
pub struct EliasFanoIter<'a> {
    view: EliasFanoView<'a>,
    /// Ones of the current word that are still to come, none of them behind the last entry's.
    word: u64,
    /// Number of the current word.
    word_index: u64,
    /// Where the current word starts, less the number of the next entry: with the place of the entry's one in the word,
    /// its high half.
    base: u64,
    /// The low halves, at least a word, if one load has any of them; else empty.
    low: &'a [u8],
    /// Where the next entry's low half starts, in bits.
    low_at: u64,
    /// The bits of a low half.
    low_bits: u64,
}

/// The longest low half that one load has, wherever it starts in a byte.
const ONE_LOAD_MAX_BITS: u64 = 57;

impl<'a> EliasFanoIter<'a> {
    /// From entry `index` on, to whose place a sample leads.
    pub(super) fn new(view: EliasFanoView<'a>, index: u64) -> Result<Self, EliasFanoError> {
        let mut iter = Self::at(view, index);
        if index == view.entries() {
            return Ok(iter);
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
        iter.enter((word_index, cut(word, view.entries() - index)));
        Ok(iter)
    }

    /// From the first entry on, without asking the samples.
    pub(super) fn from_start(view: EliasFanoView<'a>) -> Self {
        let mut iter = Self::at(view, 0);
        iter.enter((0, cut(word_at(view.parts().high, 0), view.entries())));
        iter
    }

    /// Before entry `index`, wherever it is.
    fn at(view: EliasFanoView<'a>, index: u64) -> Self {
        let width = u64::from(view.parts().low_width);
        let (low, low_bits): (&[u8], _) = match width {
            // Halves of no bits: a word to load them from, so that they are no case of their own.
            0 => (&[0; 8], 0),
            1..=ONE_LOAD_MAX_BITS => (view.parts().low, u64::MAX >> (64 - width)),
            _ => (&[], 0),
        };
        Self {
            view,
            word: 0,
            word_index: 0,
            base: index.wrapping_neg(),
            low,
            low_at: index.saturating_mul(width),
            low_bits,
        }
    }

    /// Number of the next entry.
    #[inline(always)]
    const fn index(&self) -> u64 {
        (self.word_index * 64).wrapping_sub(self.base)
    }

    /// Goes on in a word.
    #[inline(always)]
    fn enter(&mut self, (word_index, word): (u64, u64)) {
        let index = self.index();
        self.word = word;
        self.word_index = word_index;
        self.base = (word_index * 64).wrapping_sub(index);
    }

    /// Makes sure that there are ones to come; false at the end, and where damage has taken them away.
    #[inline(always)]
    fn fill(&mut self) -> bool {
        if self.word == 0 {
            let (high, left) = (self.view.parts().high, self.view.entries() - self.index());
            match next_word(high, self.word_index, left) {
                Some(found) => self.enter(found),
                None => return false,
            }
        }
        true
    }

    /// The next entry, whose one is in the current word.
    #[inline(always)]
    fn entry(&self) -> u64 {
        let (parts, width) = (self.view.parts(), self.view.parts().low_width % 64);
        let high = self.base.wrapping_add(u64::from(self.word.trailing_zeros()));
        let low = match self.low.len().checked_sub(8) {
            // The last load ends with the halves; what it has before the half is shifted out.
            Some(last) => {
                let at = to_index(self.low_at / 8).min(last);
                let shift = self.low_at.wrapping_sub(8 * at as u64);
                word_at(&self.low[at..at + 8], 0) >> (shift % 64) & self.low_bits
            }
            None => low_half(parts.low, width, self.index()),
        };
        high << width | low
    }

    /// Position in `high` of the next entry's one; `None` at the end, and where damage has taken it away.
    #[inline]
    pub(super) fn peek_position(&mut self) -> Option<u64> {
        self.fill()
            .then(|| self.word_index * 64 + u64::from(self.word.trailing_zeros()))
    }

    /// Goes to the end, with the error that there is `found` where entry `index` should be.
    #[inline(always)]
    fn stop(&mut self, found: u64) -> EliasFanoError {
        let (index, universe) = (self.index(), self.view.universe());
        self.word = 0;
        self.base = (self.word_index * 64).wrapping_sub(self.view.entries());
        EliasFanoError::damaged(EliasFanoPart::High, index, universe, found)
    }
}

/// The next word with ones and its number, for `left` entries that are still to come; `None` where there are none.
#[inline(never)]
fn next_word(high: &[u8], mut word_index: u64, left: u64) -> Option<(u64, u64)> {
    if left == 0 {
        return None;
    }
    loop {
        word_index += 1;
        let at = to_index(word_index) * 8;
        let word = word_at(high.get(at..at + 8)?, 0);
        if word != 0 {
            return Some((word_index, cut(word, left)));
        }
    }
}

/// A word without the ones that damage may have put behind those of the last `left` entries.
#[inline]
fn cut(mut word: u64, left: u64) -> u64 {
    while u64::from(word.count_ones()) > left {
        word &= !(1 << word.ilog2());
    }
    word
}

impl Iterator for EliasFanoIter<'_> {
    type Item = Result<u64, EliasFanoError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.fill() {
            let ended = self.index() == self.view.entries();
            return if ended {
                None
            } else {
                Some(Err(self.stop(u64::MAX)))
            };
        }
        // Positions grow by at least one from entry to entry: none is below its index if the first was not.
        let entry = self.entry();
        if entry > self.view.universe() {
            return Some(Err(self.stop(entry)));
        }
        self.word &= self.word - 1;
        self.base = self.base.wrapping_sub(1);
        self.low_at += u64::from(self.view.parts().low_width);
        Some(Ok(entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(to_index(self.view.entries() - self.index())))
    }
}

impl std::iter::FusedIterator for EliasFanoIter<'_> {}
