//! How much of a file a range of keys takes, from separators and directory alone: no payload is read.
//!
//! ```text
//! blocks    |  0  |  1  |  2  |  3  |  4  |
//! range          [a ............. b)            from the start of a's block to the end of b's: blocks 1 to 3
//! ```
//!
//! So the estimate is too large by less than two blocks, and never too small; the other sections count by the payload's share.

use std::ops::Range;

use super::Table;
use crate::container::{TableError, TableSection};
use crate::unit::Unit;

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Bytes of the file that belong to the blocks in which keys from `start` to `end` lie; `None` is an open end. Two searches of
    /// the separators and two look-ups in the directory, none for an open end.
    ///
    /// # Errors
    ///
    /// A damaged page of separators or directory.
    pub fn estimate_len_bytes(
        &self,
        start: Option<U::Str<'_>>,
        end: Option<U::Str<'_>>,
    ) -> Result<u64, TableError> {
        let file_len_bytes = self.bytes.as_ref().len() as u64;
        let extent_units = self.meta.extent_units;
        if self.record_count() == 0 || extent_units == 0 {
            return Ok(0);
        }
        let from = match start {
            Some(key) => self.block_extent(key)?.start,
            None => 0,
        };
        let to = match end {
            Some(key) => self.block_extent(key)?.end,
            None => extent_units,
        };
        let share = u128::from(file_len_bytes) * u128::from(to.saturating_sub(from));
        let bytes = share / u128::from(extent_units);
        Ok(u64::try_from(bytes).map_or(file_len_bytes, |bytes| bytes.min(file_len_bytes)))
    }

    /// Where the block lies in the payload in which `key` is, or would be, in units.
    fn block_extent(&self, key: U::Str<'_>) -> Result<Range<u64>, TableError> {
        let file = self.bytes.as_ref();
        let index = self.index()?;
        let position = index
            .separators::<U>(file)
            .find(key, &index.root_sample)
            .ok_or_else(|| self.separators_error(0))?;
        let width = u64::from(self.meta.policy.records_per_block.get());
        let ordinal = position.block.saturating_mul(width);
        let end_ordinal = self.record_count().min(ordinal.saturating_add(width));
        let (start, end) = index
            .directory(file)
            .select_pair(position.block)
            .map_err(|error| self.stream_error(TableSection::Directory, error.into()))?;
        let start = start.saturating_add(self.meta.common_units_before(ordinal));
        let end = end.saturating_add(self.meta.common_units_before(end_ordinal));
        Ok(start..end)
    }

    /// Length in bytes of a section between header and footer; 0 for others.
    pub fn section_len_bytes(&self, section: TableSection) -> u64 {
        self.section_range(section).len() as u64
    }

    /// Where a section between header and footer lies in the file, in bytes; nowhere for others, and for a filter that there is not.
    pub fn section_range(&self, section: TableSection) -> Range<usize> {
        let sections = &self.sections;
        let range = match section {
            TableSection::Payload => &sections.payload,
            TableSection::Directory => &sections.directory,
            TableSection::Separators => &sections.separators,
            TableSection::Filter => &sections.filter,
            TableSection::Properties => &sections.properties,
            TableSection::Checksums => &sections.checksums,
            _ => return 0..0,
        };
        range.clone()
    }
}
