//! What can still be read of a damaged table, as a new table.
//!
//! ```text
//! damaged page in            what is read
//! payload                    every record whose own bytes, and those its key comes from in its block, lie in good pages
//! directory, separators      the payload from its start, frame by frame, up to the first damaged page
//! filter                     everything; the new table has a new one
//! header, properties, footer nothing: such a table cannot be opened
//! ```
//!
//! No byte of a damaged page gets into the new table. What is lost is told as ranges of ordinals.

use std::io::Write;
use std::ops::Range;

use super::Table;
use crate::container::TableError;
use crate::front_coding::frame::read_frame;
use crate::unit::Unit;
use crate::writer::{FilterPolicy, TableOptions, TableSummary, TableWriteError, TableWriter};

/// Records that could not be read, and why the first of them could not.
#[derive(Clone, Debug)]
pub struct LostRecords {
    /// Their numbers in the damaged table.
    pub ordinals: Range<u64>,
    /// What is wrong, and where.
    pub error: TableError,
}

/// A table made of what could be read of another.
#[derive(Debug)]
pub struct Salvaged {
    /// What it is like.
    pub summary: TableSummary,
    /// What it lacks, ascending and apart.
    pub lost: Vec<LostRecords>,
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Writes a table of the same policy, id and law with every record that can be read. Costs a read of the table, in a damaged block
    /// one of the block for each record.
    ///
    /// # Errors
    /// `out` failed; the records are not in order, though their pages are right.
    pub fn salvage<W: Write>(&self, out: W) -> Result<(W, Salvaged), TableWriteError> {
        let properties = self.properties();
        let options = TableOptions {
            policy: self.meta().policy,
            common_width: self.meta().common_width,
            filter: FilterPolicy::default(),
            table_id: properties.table_id,
            creation: properties.creation,
            composition_law: properties.composition_law.clone(),
        };
        let mut writer = TableWriter::<W, U>::new(out, options)?;
        let lost = match self.index() {
            Ok(_) => self.copy_by_blocks(&mut writer)?,
            Err(error) => self.copy_from_the_start(&mut writer, error)?,
        };
        let (out, summary) = writer.finish()?;
        Ok((out, Salvaged { summary, lost }))
    }

    fn copy_by_blocks<W: Write>(
        &self,
        writer: &mut TableWriter<W, U>,
    ) -> Result<Vec<LostRecords>, TableWriteError> {
        let mut lost: Vec<LostRecords> = Vec::new();
        let mut cursor = self.cursor();
        for ordinal in 0..self.record_count() {
            let moved = if cursor.is_valid() && cursor.ordinal() + 1 == ordinal {
                cursor.next()
            } else {
                cursor.seek_ordinal(ordinal)
            };
            match moved {
                Ok(true) => writer.append(cursor.key(), cursor.value())?,
                // There is a record of every number below the count.
                Ok(false) => break,
                Err(error) => match lost.last_mut().filter(|last| last.ordinals.end == ordinal) {
                    Some(last) => last.ordinals.end += 1,
                    None => lost.push(LostRecords {
                        ordinals: ordinal..ordinal + 1,
                        error,
                    }),
                },
            }
        }
        Ok(lost)
    }

    /// Without directory and separators: `error` says why.
    fn copy_from_the_start<W: Write>(
        &self,
        writer: &mut TableWriter<W, U>,
        error: TableError,
    ) -> Result<Vec<LostRecords>, TableWriteError> {
        let (payload, readable_units) = (self.payload(), self.units_before_damage());
        let (mut key, mut at, mut key_units) = (U::Owned::default(), 0, 0);
        for ordinal in 0..self.record_count() {
            let frame = read_frame::<U>(payload, self.meta(), ordinal, at, key_units).ok();
            let Some(frame) = frame.filter(|frame| frame.next <= readable_units) else {
                let ordinals = ordinal..self.record_count();
                return Ok(vec![LostRecords { ordinals, error }]);
            };
            U::truncate(&mut key, frame.retained);
            U::push(&mut key, frame.literal::<U>(payload));
            writer.append(U::as_str(&key), frame.value::<U>(payload))?;
            (at, key_units) = (frame.next, frame.key_units());
        }
        Ok(Vec::new())
    }

    /// Units of the payload before its first damaged page.
    fn units_before_damage(&self) -> u64 {
        let section = self.sections.payload.clone();
        let mut good = section.start;
        while good < section.end {
            let end = super::pages::Pages::end_of_page(good).min(section.end);
            if self.check(good..end).is_err() {
                break;
            }
            good = end;
        }
        let units = (good - section.start) as u64 * 8 / U::BITS;
        units.min(self.meta().extent_units)
    }
}
