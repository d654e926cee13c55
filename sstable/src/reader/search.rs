//! Finding a key by comparison transfer: no key is rebuilt.
//!
//! The search knows how many units `m` the wanted key `q` shares with the last key `k` it passed (`k < q`), and
//! each frame says how many units `r` the next key retains of `k`:
//!
//! ```text
//! r > m    the next key agrees with k in unit m, where q is larger: it is passed as well, m stays
//! r <= m   the next key begins with q's first r units: compare its literal with q from unit r on
//! ```
//!
//! The comparison is one of 64 bits on each side unless they tie. It is right for ordinary and for redundant front coding alike. Before a block's first frame `k` is the last
//! key of the block before, and what is known of it comes from the separator.

use std::cmp::Ordering;

use super::Table;
use super::frames::{BlockFrames, Checked, Walk};
use super::table::Located;
use crate::container::TableError;
use crate::filter::Filter;
use crate::front_coding::Frame;
use crate::unit::Unit;

/// The first record whose key is not below the wanted one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Landing {
    /// In the block searched.
    Record {
        /// Its frame; `frame.retained` units of the wanted key are also its key's.
        frame: Frame,
        /// Whether its key is the wanted one.
        exact: bool,
    },
    /// The first of a block after the one searched (perhaps the end), by ordinal.
    BlockStart(u64),
}

/// What became of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The filter knows that the key is not there.
    Filtered,
    /// The filter let it pass, or there is none; the key is not there.
    Absent,
    /// The key is there.
    Found(Located),
}

impl Lookup {
    /// The record, if it was found.
    pub fn found(self) -> Option<Located> {
        match self {
            Self::Found(located) => Some(located),
            Self::Filtered | Self::Absent => None,
        }
    }
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Finds the record with `key`.
    ///
    /// # Errors
    ///
    /// A damaged page or frame on the way.
    pub fn get(&self, key: U::Str<'_>) -> Result<Option<Located>, TableError> {
        Ok(self.look_up(key)?.found())
    }

    /// Finds the record with `key`, and says how far a look-up without it came.
    ///
    /// # Errors
    ///
    /// A damaged page or frame on the way.
    #[inline]
    pub fn look_up(&self, key: U::Str<'_>) -> Result<Lookup, TableError> {
        if self.record_count() == 0 || !self.may_contain(key)? {
            return Ok(Lookup::Filtered);
        }
        match self.search(key)?.0 {
            Landing::Record { frame, exact: true } => {
                let value_range = self.file_range(frame.value_start, frame.next);
                self.check(value_range.clone())?;
                Ok(Lookup::Found(Located {
                    ordinal: frame.ordinal,
                    value_range,
                    value_start_units: frame.value_start,
                    value_units: frame.value_units(),
                }))
            }
            _ => Ok(Lookup::Absent),
        }
    }

    /// Whether the table may hold `key`: false if it certainly does not.
    ///
    /// # Errors
    ///
    /// A damaged page of the filter.
    pub fn may_contain(&self, key: U::Str<'_>) -> Result<bool, TableError> {
        match &self.filter {
            None => Ok(true),
            Some(filter) => {
                let hash = U::hash(key);
                let base = self.sections.filter.start;
                let block = filter.block(hash);
                let block = base + block.start..base + block.end;
                self.check(block.clone())?;
                let block = self.bytes.as_ref()[block]
                    .first_chunk()
                    .expect("a block has its length");
                Ok(Filter::block_may_contain(block, hash))
            }
        }
    }

    /// The ordinal of the first record whose key is at least `key`; the record count if there is none.
    ///
    /// # Errors
    ///
    /// A damaged page or frame on the way.
    pub fn lower_bound(&self, key: U::Str<'_>) -> Result<u64, TableError> {
        if self.record_count() == 0 {
            return Ok(0);
        }
        match self.search(key)?.0 {
            Landing::Record { frame, .. } => Ok(frame.ordinal),
            Landing::BlockStart(ordinal) => Ok(ordinal),
        }
    }

    /// The ordinals of the records with keys from `start` to below `end` (to the last if `end` is `None`).
    ///
    /// # Errors
    ///
    /// A damaged page or frame on the way.
    pub fn ordinals(
        &self,
        start: U::Str<'_>,
        end: Option<U::Str<'_>>,
    ) -> Result<std::ops::Range<u64>, TableError> {
        let first = self.lower_bound(start)?;
        let last = match end {
            Some(end) => self.lower_bound(end)?,
            None => self.record_count(),
        };
        Ok(first..last.max(first))
    }

    /// Finds the first record whose key is at least `key`. The frames stand behind the record landed on.
    #[inline(always)]
    pub(super) fn search(&self, key: U::Str<'_>) -> Result<(Landing, BlockFrames<'_, B, U>), TableError> {
        let index = self.index()?;
        let separators = index.separators::<U>(self.bytes.as_ref());
        let position = separators
            .find(key, &index.root_sample)
            .ok_or_else(|| self.separators_error(0))?;
        let mut frames = self.block(position.block)?;
        frames.prefetch();
        frames.check_small_block()?;
        let key_units = U::len(key);
        let mut agreed = position.agreed_units;
        loop {
            agreed = match frames.walk_short(key, agreed) {
                Walk::Landed(frame, exact) => return Ok((Landing::Record { frame, exact }, frames)),
                Walk::Undecided(agreed) => agreed,
            };
            let Some(frame) = frames.next(Checked::Key)? else {
                break;
            };
            if frame.retained > agreed {
                continue;
            }
            let (key_head, head) = (U::head(key, frame.retained), frames.literal_head(&frame));
            let same = u64::from((key_head ^ head).leading_zeros()) / U::BITS;
            let within = same < frame.literal_units() && frame.retained + same < key_units;
            let (same, order) = if key_head != head && within {
                (same, head.cmp(&key_head))
            } else {
                let (literal, rest) = (frames.literal(&frame), U::slice(key, frame.retained, key_units));
                let same = U::lcp(literal, rest);
                (same, U::get(literal, same).cmp(&U::get(rest, same)))
            };
            if order != Ordering::Less {
                return Ok((
                    Landing::Record {
                        frame,
                        exact: order == Ordering::Equal,
                    },
                    frames,
                ));
            }
            agreed = frame.retained + same;
        }
        Ok((Landing::BlockStart(frames.end_ordinal), frames))
    }
}
