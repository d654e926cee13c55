//! Checking everything.

use super::Table;
use crate::container::{PAGE_LEN_BYTES, TableError, TableRule, TableSection};
use crate::front_coding::KeyCursor;
use crate::separators::Separators;
use crate::unit::Unit;

/// What a verification went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyReport {
    /// Records read.
    pub record_count: u64,
    /// Bytes whose checksums were compared.
    pub checked_len_bytes: u64,
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// All pages that are not as their checksums say, in the order of the file. Empty if none is. One pass over the file.
    pub fn damaged_pages(&self) -> Vec<TableError> {
        let covered = self.sections.checksums.start;
        let pages = (0..covered).step_by(PAGE_LEN_BYTES);
        pages
            .filter_map(|start| self.check(start..start + 1).err())
            .collect()
    }

    /// Checks everything: all pages, the directory, every frame and the order of keys, separators, the filter,
    /// properties. One pass over the records; memory for one key and one separator.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<VerifyReport, TableError> {
        let covered = self.sections.checksums.start;
        self.check(0..covered)?;
        let stream = self.encoded()?;
        stream
            .directory
            .validate()
            .map_err(|error| self.stream_error(TableSection::Directory, error.into()))?;
        let mut cursor =
            KeyCursor::<U>::new(stream).map_err(|error| self.stream_error(TableSection::Payload, error))?;
        let mut recount = Recount {
            ordinary: true,
            ..Recount::default()
        };
        let index = self.index()?;
        let separators = index.separators::<U>(self.bytes.as_ref());
        let mut separator = U::Owned::default();
        let width = u64::from(self.meta.policy.records_per_block.get());
        while cursor
            .next()
            .map_err(|error| self.stream_error(TableSection::Payload, error))?
        {
            let key = cursor.key();
            let frame = cursor.frame().expect("the cursor stands on a record");
            recount.push(
                U::len(key),
                frame.value_units(),
                cursor.lcp_with_previous(),
                frame.literal_units(),
            );
            if !self.may_contain(key)? {
                let start = self.sections.filter.start as u64;
                let rule = TableRule::Recount("keys in the filter: above ordinal");
                return Err(TableError::new(
                    TableSection::Filter,
                    start,
                    rule,
                    frame.ordinal,
                    frame.ordinal,
                ));
            }
            if frame.ordinal == 0 && U::compare(key, U::as_str(&self.properties.first_key)).is_ne() {
                return Err(self.recounted("first key", 0, 1));
            }
            if frame.ordinal + 1 == self.meta.record_count
                && U::compare(key, U::as_str(&self.properties.last_key)).is_ne()
            {
                return Err(self.recounted("last key", 0, 1));
            }
            let block = frame.ordinal / width;
            if separators
                .find(key, &index.root_sample)
                .map(|position| position.block)
                != Some(block)
            {
                return Err(self.separators_error(block));
            }
            if frame.ordinal > 0 && frame.ordinal.is_multiple_of(width) {
                let expected = U::slice(key, 0, cursor.lcp_with_previous() + 1);
                separator = self.separator(&separators, block, separator)?;
                if U::compare(U::as_str(&separator), expected).is_ne() {
                    return Err(self.separators_error(block));
                }
            }
        }
        self.compare(&recount)?;
        Ok(VerifyReport {
            record_count: self.meta.record_count,
            checked_len_bytes: covered as u64,
        })
    }

    /// The separator of a block, in the memory of another one.
    fn separator(
        &self,
        separators: &Separators<'_, U>,
        block: u64,
        mut memory: U::Owned,
    ) -> Result<U::Owned, TableError> {
        U::truncate(&mut memory, 0);
        let len = separators
            .len_units(block)
            .ok_or_else(|| self.separators_error(block))?;
        separators
            .append(block, 0, len, &mut memory)
            .ok_or_else(|| self.separators_error(block))?;
        Ok(memory)
    }

    fn compare(&self, recount: &Recount) -> Result<(), TableError> {
        let properties = &self.properties;
        for (name, stored, counted) in [
            ("key units", properties.key_units_total, recount.key_units),
            (
                "literal units",
                properties.literal_units_total,
                recount.literal_units,
            ),
            ("value units", properties.value_units_total, recount.value_units),
            ("longest key", properties.key_units_max, recount.key_units_max),
            (
                "longest value",
                properties.value_units_max,
                recount.value_units_max,
            ),
            (
                "certificate of ordinary front coding",
                u64::from(properties.ordinary_front_coding),
                u64::from(recount.ordinary && properties.ordinary_front_coding),
            ),
        ] {
            if stored != counted {
                return Err(self.recounted(name, stored, counted));
            }
        }
        Ok(())
    }

    fn recounted(&self, what: &'static str, stored: u64, counted: u64) -> TableError {
        let start = self.sections.properties.start as u64;
        TableError::new(
            TableSection::Properties,
            start,
            TableRule::Recount(what),
            counted,
            stored,
        )
    }
}

#[derive(Debug, Default)]
struct Recount {
    ordinary: bool,
    key_units: u64,
    literal_units: u64,
    value_units: u64,
    key_units_max: u64,
    value_units_max: u64,
}

impl Recount {
    fn push(&mut self, key: u64, value: u64, lcp: u64, literal: u64) {
        self.ordinary &= literal == key - lcp;
        self.key_units += key;
        self.literal_units += literal;
        self.value_units += value;
        self.key_units_max = self.key_units_max.max(key);
        self.value_units_max = self.value_units_max.max(value);
    }
}
