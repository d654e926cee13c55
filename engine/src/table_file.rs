//! An open table file, and its end.
//!
//! ```text
//! version --.
//! iterator --+--> Arc<TableFile>  --marked obsolete-->  last holder drops it  -->  file unlinked
//! value   --'
//! ```
//!
//! The mapping stays valid after the unlink, so a reader never notices.

use std::ops::{Bound, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tephra_sstable::{TableError, UnitKind};

use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::iter::{Bounds, key_span_overlaps};
use crate::memtable::Interval;
use crate::unit_table::{Cursor, Place, UnitTable};
use crate::version::TableRecord;
use crate::vfs::FileBytes;

/// A table, open for reading from any thread.
pub(crate) struct TableFile {
    record: TableRecord,
    path: PathBuf,
    directory: Directory,
    bytes: FileBytes,
    table: UnitTable,
    is_obsolete: AtomicBool,
}

impl TableFile {
    /// Opens the table that `record` describes, of a keyspace of that unit, and checks that it is that table.
    pub(crate) fn open(directory: &Directory, record: TableRecord, unit: UnitKind) -> Result<Arc<TableFile>> {
        let path = directory.path_of(FileName::Table(record.number));
        let inconsistent = |expected: String, found: String| {
            Err(Error::Inconsistent {
                path: path.clone(),
                expected,
                found,
            })
        };
        if !directory.file_system.exists(&path)? {
            return inconsistent(
                format!("a table of {} bytes", record.len_bytes),
                "no such file".into(),
            );
        }
        let bytes = directory.file_system.open_map(&path)?;
        if bytes.len() as u64 != record.len_bytes {
            let found = format!("{} bytes", bytes.len());
            return inconsistent(format!("a table of {} bytes", record.len_bytes), found);
        }
        let table = UnitTable::open(bytes.clone(), unit).map_err(|source| Error::Table {
            path: path.clone(),
            source: Arc::new(source),
        })?;
        #[cfg(feature = "planted-faults")]
        crate::planted::leave_pages_unchecked(directory.planted_fault, &table);
        if table.id() != record.number {
            let found = format!("table {}", table.id());
            return inconsistent(format!("table {}", record.number), found);
        }
        if table.record_count() != record.record_count {
            let found = format!("{} records", table.record_count());
            return inconsistent(format!("a table of {} records", record.record_count), found);
        }
        let directory = directory.clone();
        Ok(Arc::new(TableFile {
            record,
            path,
            directory,
            bytes,
            table,
            is_obsolete: AtomicBool::new(false),
        }))
    }

    /// What the manifest remembers of the table.
    pub(crate) fn record(&self) -> &TableRecord {
        &self.record
    }

    /// Gives a table that no version holds yet its place.
    pub(crate) fn place(&mut self, level: u32, age: u64) {
        self.record.level = level;
        self.record.age = age;
    }

    /// The file number.
    pub(crate) fn number(&self) -> u64 {
        self.record.number
    }

    /// The keyspace the table belongs to.
    pub(crate) fn keyspace(&self) -> u32 {
        self.record.keyspace
    }

    /// Length of the file in bytes.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.record.len_bytes
    }

    /// Records, dead ones included.
    pub(crate) fn record_count(&self) -> u64 {
        self.record.record_count
    }

    /// The smallest key.
    pub(crate) fn first_key(&self) -> &[u8] {
        self.table.first_key()
    }

    /// The largest key.
    pub(crate) fn last_key(&self) -> &[u8] {
        self.table.last_key()
    }

    /// Whether a key lies between the smallest and the largest.
    pub(crate) fn spans(&self, key: &[u8]) -> bool {
        self.first_key() <= key && key <= self.last_key()
    }

    /// Whether the table can hold a key between the bounds.
    pub(crate) fn overlaps(&self, bounds: &Bounds) -> bool {
        key_span_overlaps(self.first_key(), self.last_key(), bounds)
    }

    /// The record of a key, dead or alive.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<Place>> {
        let found = self.table.find(key, &self.directory.reads);
        found.map_err(|error| self.error(error))
    }

    /// Whether the filter lets a key pass.
    pub(crate) fn may_contain(&self, key: &[u8]) -> Result<bool> {
        self.table.may_contain(key).map_err(|error| self.error(error))
    }

    /// The ordinals of the keys between two bounds. Two searches, none for an open end.
    pub(crate) fn ordinals(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<Range<u64>> {
        let first = match lower {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.ordinal_of_bound(key, false)?,
            Bound::Excluded(key) => self.ordinal_of_bound(key, true)?,
        };
        let end = match upper {
            Bound::Unbounded => self.record_count(),
            Bound::Included(key) => self.ordinal_of_bound(key, true)?,
            Bound::Excluded(key) => self.ordinal_of_bound(key, false)?,
        };
        Ok(first..end.max(first))
    }

    /// The ordinals of the keys in an interval. Two searches at most; none where it covers the table.
    pub(crate) fn ordinals_in(&self, interval: &Interval) -> Result<Range<u64>> {
        let lower = if interval.start() <= self.first_key() {
            Bound::Unbounded
        } else {
            Bound::Included(interval.start())
        };
        let upper = match interval.end() {
            Some(end) if end <= self.last_key() => Bound::Excluded(end),
            _ => Bound::Unbounded,
        };
        self.ordinals(lower, upper)
    }

    /// The number of keys below `key`; or up to and with it.
    fn ordinal_of_bound(&self, key: &[u8], inclusive: bool) -> Result<u64> {
        let count = if inclusive {
            self.table.count_through(key)
        } else {
            self.table.count_below(key)
        };
        count.map_err(|error| self.error(error))
    }

    /// A cursor, nowhere yet.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        self.table.cursor()
    }

    /// The table layer's table.
    pub(crate) fn table(&self) -> &UnitTable {
        &self.table
    }

    #[cfg(feature = "planted-faults")]
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Puts the file's name to an error.
    pub(crate) fn error(&self, source: TableError) -> Error {
        Error::Table {
            path: self.path.clone(),
            source: Arc::new(source),
        }
    }

    /// The outcome of a cursor's move to an ordinal that must exist.
    pub(crate) fn expect_record(
        &self,
        moved: std::result::Result<bool, TableError>,
        ordinal: u64,
    ) -> Result<()> {
        match moved {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Inconsistent {
                path: self.path.clone(),
                expected: format!("record {ordinal} of {}", self.record_count()),
                found: "the end of the table".into(),
            }),
            Err(error) => Err(self.error(error)),
        }
    }

    /// No version names the table any more: unlink it when the last holder lets go.
    pub(crate) fn mark_obsolete(&self) {
        if !self.is_obsolete.swap(true, Ordering::AcqRel) {
            self.directory
                .pin_table(self.record.number, self.record.len_bytes);
        }
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        if self.is_obsolete.load(Ordering::Acquire) {
            self.directory.unlink_table(self.record.number);
        }
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableFile")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}
