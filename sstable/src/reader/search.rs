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
//! That is right for ordinary and for redundant front coding alike. Before a block's first frame `k` is the last
//! key of the block before, and what is known of it comes from the separator.

use std::cmp::Ordering;

use super::Table;
use super::pages::Pages;
use super::table::Located;
use crate::container::{TableError, TableSection};
use crate::error::{FormatError, Rule};
use crate::filter::Filter;
use crate::front_coding::Frame;
use crate::front_coding::frame::read_frame;
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

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Finds the record with `key`.
    ///
    /// # Errors
    ///
    /// A damaged page or frame on the way.
    pub fn get(&self, key: U::Str<'_>) -> Result<Option<Located>, TableError> {
        if !self.may_contain(key)? {
            return Ok(None);
        }
        match self.search(key)? {
            Landing::Record { frame, exact: true } => {
                let value_range = self.file_range(frame.value_start, frame.next);
                self.check(value_range.clone())?;
                Ok(Some(Located {
                    ordinal: frame.ordinal,
                    value_range,
                    value_start_units: frame.value_start,
                    value_units: frame.value_units(),
                }))
            }
            _ => Ok(None),
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
        match self.search(key)? {
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

    /// Finds the first record whose key is at least `key`.
    pub(super) fn search(&self, key: U::Str<'_>) -> Result<Landing, TableError> {
        if self.record_count() == 0 {
            return Ok(Landing::BlockStart(0));
        }
        let separators = self.index()?.separators::<U>(self.bytes.as_ref());
        let position = separators.find(key).ok_or_else(|| self.separators_error(0))?;
        let mut frames = self.block(position.block)?;
        let mut agreed = position.agreed_units;
        while let Some(frame) = frames.next()? {
            if frame.retained > agreed {
                continue;
            }
            let literal = frames.literal(&frame);
            let rest = U::slice(key, frame.retained, U::len(key));
            let same = U::lcp(literal, rest);
            let order = U::get(literal, same).cmp(&U::get(rest, same));
            if order != Ordering::Less {
                return Ok(Landing::Record {
                    frame,
                    exact: order == Ordering::Equal,
                });
            }
            agreed = frame.retained + same;
        }
        Ok(Landing::BlockStart(frames.end_ordinal))
    }

    /// The frames of a block.
    pub(super) fn block(&self, block: u64) -> Result<BlockFrames<'_, B, U>, TableError> {
        let directory = self.index()?.directory(self.bytes.as_ref());
        let width = u64::from(self.meta.policy.records_per_block.get());
        let first_ordinal = block * width;
        let end_ordinal = self.record_count().min(first_ordinal + width);
        let position = |entry: u64, ordinal: u64| {
            let residual = directory
                .select(entry)
                .map_err(|error| self.stream_error(TableSection::Directory, error.into()))?;
            let common = self.meta.common_units_before(ordinal);
            let position = residual.saturating_add(common);
            match position <= self.meta.extent_units {
                true => Ok(position),
                false => {
                    let error =
                        FormatError::directory(entry, Rule::BlockPosition, self.meta.extent_units, position);
                    Err(self.stream_error(TableSection::Directory, error))
                }
            }
        };
        let (start, end) = (position(block, first_ordinal)?, position(block + 1, end_ordinal)?);
        Ok(BlockFrames {
            table: self,
            ordinal: first_ordinal,
            end_ordinal,
            at: start,
            end,
            key_units: u64::MAX,
            checked_until: 0,
        })
    }
}

/// Reads the frames of one block in order, checking pages as it comes to them.
#[derive(Debug, Clone)]
pub(super) struct BlockFrames<'t, B, U: Unit> {
    table: &'t Table<B, U>,
    ordinal: u64,
    pub(super) end_ordinal: u64,
    at: u64,
    end: u64,
    key_units: u64,
    /// Bytes of the file before this one, from the current frame on, are checked.
    checked_until: usize,
}

impl<'t, B: AsRef<[u8]> + Send + Sync, U: Unit> BlockFrames<'t, B, U> {
    /// The next frame; its controls and its literal are checked, its value is not.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Frame>, TableError> {
        if self.ordinal == self.end_ordinal {
            return match self.at == self.end {
                true => Ok(None),
                false => Err(self.error(FormatError::payload(
                    self.at,
                    Rule::BlockPosition,
                    self.end,
                    self.at,
                ))),
            };
        }
        let table = self.table;
        let payload = table.payload();
        let start = table.file_range(self.at, self.at).start;
        let frame = match read_frame::<U>(payload, &table.meta, self.ordinal, self.at, self.key_units) {
            Ok(frame) => frame,
            Err(error) => return Err(self.unreadable(start, error)),
        };
        self.check_until(start, table.file_range(frame.start, frame.value_start).end)?;
        if frame.next > self.end {
            return Err(self.error(FormatError::payload(
                self.at,
                Rule::BlockPosition,
                self.end,
                frame.next,
            )));
        }
        self.ordinal += 1;
        self.at = frame.next;
        self.key_units = frame.key_units();
        Ok(Some(frame))
    }

    /// Goes on after a frame of this block.
    pub(super) fn resume_after(&mut self, frame: &Frame) {
        self.ordinal = frame.ordinal + 1;
        self.at = frame.next;
        self.key_units = frame.key_units();
        self.checked_until = 0;
    }

    /// Checks the pages from `start` to `end`.
    #[inline]
    fn check_until(&mut self, start: usize, end: usize) -> Result<(), TableError> {
        if end > self.checked_until {
            self.table.check(start.max(self.checked_until)..end)?;
            self.checked_until = Pages::end_of_page(end - 1);
        }
        Ok(())
    }

    /// Why no frame can be read at `start`: because its page is damaged, or because of what the page says.
    #[cold]
    fn unreadable(&self, start: usize, error: FormatError) -> TableError {
        /// As far as the controls of a frame go as a rule.
        const CONTROLS_LEN_BYTES: usize = 64;
        let end = self.table.sections.payload.end.min(start + CONTROLS_LEN_BYTES);
        self.table
            .check(start..end)
            .err()
            .unwrap_or_else(|| self.error(error))
    }

    #[cold]
    fn error(&self, error: FormatError) -> TableError {
        self.table.stream_error(TableSection::Payload, error)
    }

    pub(super) fn literal(&self, frame: &Frame) -> U::Str<'t> {
        frame.literal::<U>(self.table.payload())
    }
}
