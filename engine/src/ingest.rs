//! Ingest: sorted records straight into tables, past log and memtable.
//!
//! ```text
//! put put put ...   the native writer                    tables, cut at the target size; nobody sees them
//! finish            sync, open
//!                   memtables hold a key of their span?  flush them first, so that what is older lies lower
//!                   sync the log
//!                   -- flush, version and commit lock --------------------------------------
//!                   still nothing in a memtable?         sync what the log got since; one edit, published in one step
//!                   ----------------------------------------------------------------------
//! ```
//!
//! The log is synced because the tables are durable: a power cut must not take what is older and leave them.
//!
//! The records are newer than everything committed before [`Ingest::finish`] takes effect, and older than everything after it.
//! Among the flushed tables a place is not the file's number but its age: a flush may have drawn higher numbers while the
//! tables were being written, and what it flushed is older. In a keyspace without tables the run goes to the bottom at once.
//!
//! In a composing keyspace an ingested record is a put: it ends its key's history. The edit kills the older records of the
//! ingested keys, as a flush's puts do; the keys are kept in memory until then.
//!
//! Under load on the same keys, memtables fill again between flush and locks. After a few rounds writers are held back for the
//! length of one flush; each of them can slip in once at most, so the rounds end.
//!
//! While the edit is written, writers wait for that one sync: a commit in between would be older than the tables and lie above
//! them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tephra_compaction::picker::PickerOptions;
use tephra_sstable::{Bit, BitStr, Byte, TableSummary, TableWriteError, TableWriter, UnitKind};

use crate::bit_key;
use crate::bit_keyspace::BitKeyspace;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::file_name::FileName;
use crate::flush::resolve::{Deleted, Resolution};
use crate::keyspace::Keyspace;
use crate::limits;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::{Change, Edit, TableRecord, Version};
use crate::vfs::WritableFile;

/// Rounds without holding writers back.
const ROUNDS_BESIDE_WRITERS: u32 = 3;

/// Takes sorted records for one keyspace; see [`Keyspace::ingest`]. Nothing is visible before [`Ingest::finish`] returns, and
/// nothing stays if it is dropped before, or fails.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// # let db = tephra_engine::Db::open(path, tephra_engine::Options::default())?;
/// let mut ingest = db.default_keyspace().ingest()?;
/// for number in 0..10_000u64 {
///     ingest.put(number.to_be_bytes(), "a value")?;
/// }
/// ingest.finish()?;
/// assert_eq!(db.approximate_len()?, 10_000);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Ingest {
    keyspace: Keyspace,
    target_table_bytes: u64,
    open: Option<OpenTable>,
    /// Tables that are written and synced.
    records: Vec<TableRecord>,
    last_key: Option<Vec<u8>>,
    /// All keys, where older records of them have to die.
    ending_keys: Vec<Vec<u8>>,
    record_count: u64,
    /// Numbers of all files that may exist.
    numbers: Vec<u64>,
    /// What ended it early.
    failure: Option<Error>,
}

/// The table that is being written.
#[derive(Debug)]
struct OpenTable {
    number: u64,
    path: PathBuf,
    writer: UnitWriter,
}

/// Writes a table of either unit from the engine's keys and values.
#[derive(Debug)]
enum UnitWriter {
    Byte(TableWriter<Box<dyn WritableFile>, Byte>),
    Bit(TableWriter<Box<dyn WritableFile>, Bit>),
}

impl UnitWriter {
    fn append(&mut self, key: &[u8], value: &[u8]) -> std::result::Result<(), TableWriteError> {
        match self {
            UnitWriter::Byte(writer) => writer.append(key, value),
            UnitWriter::Bit(writer) => {
                let encoded = "keys and values of bit keyspaces are encoded where they enter";
                let key = bit_key::decode_key(key).expect(encoded);
                writer.append(key.as_str(), bit_key::decode_value(value).expect(encoded))
            }
        }
    }

    fn payload_len_bytes(&self) -> u64 {
        match self {
            UnitWriter::Byte(writer) => writer.payload_len_bytes(),
            UnitWriter::Bit(writer) => writer.payload_len_bytes(),
        }
    }

    fn finish(self) -> std::result::Result<(Box<dyn WritableFile>, TableSummary), TableWriteError> {
        match self {
            UnitWriter::Byte(writer) => writer.finish(),
            UnitWriter::Bit(writer) => writer.finish(),
        }
    }
}

impl OpenTable {
    fn error(path: &Path, source: tephra_sstable::TableWriteError) -> Error {
        Error::TableWrite {
            path: path.to_path_buf(),
            source: Arc::new(source),
        }
    }
}

impl Ingest {
    pub(crate) fn begin(keyspace: Keyspace) -> Result<Ingest> {
        let engine = keyspace.handle().engine();
        engine.check_writable()?;
        keyspace.check_takes_writes()?;
        crate::limits::check_table_count(engine.layers().version.table_count(), engine.options().tables_max)?;
        let settings = &keyspace.core().settings;
        let target_table_bytes = settings
            .target_table_bytes
            .unwrap_or(engine.options().target_table_bytes);
        Ok(Ingest {
            target_table_bytes,
            keyspace,
            open: None,
            records: Vec::new(),
            last_key: None,
            ending_keys: Vec::new(),
            record_count: 0,
            numbers: Vec::new(),
            failure: None,
        })
    }

    fn engine(&self) -> &Engine {
        self.keyspace.handle().engine()
    }

    fn unit(&self) -> UnitKind {
        self.keyspace.core().settings.unit
    }

    /// Adds a record. Keys must rise strictly, bytewise.
    ///
    /// # Errors
    /// [`Error::IngestOrder`], a key or value over its limit, a value of a width that the keyspace does not have: this record was not
    /// taken, others may follow. A failed write ends the ingest: all further calls give the same error.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        limits::check(key, value, 0)?;
        self.keyspace.core().check_value(value)?;
        if let Some(last_key) = self
            .last_key
            .as_ref()
            .filter(|last_key| key <= last_key.as_slice())
        {
            return Err(Error::IngestOrder {
                key: key.escape_ascii().to_string(),
                previous: last_key.escape_ascii().to_string(),
                is_duplicate: key == last_key.as_slice(),
            });
        }
        let written = self.append(key, value);
        if let Err(error) = &written {
            self.failure = Some(error.clone());
        }
        written
    }

    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.open.is_none() {
            self.open = Some(self.begin_table()?);
        }
        let open = self.open.as_mut().expect("it was just opened");
        let appended = open.writer.append(key, value);
        appended.map_err(|source| OpenTable::error(&open.path, source))?;
        let is_full = open.writer.payload_len_bytes() >= self.target_table_bytes;
        let last_key = self.last_key.get_or_insert_default();
        last_key.clear();
        last_key.extend_from_slice(key);
        if self.keyspace.core().is_composing() {
            self.ending_keys.push(key.to_vec());
        }
        self.record_count += 1;
        if is_full { self.end_table() } else { Ok(()) }
    }

    fn begin_table(&mut self) -> Result<OpenTable> {
        let engine = self.keyspace.handle().engine();
        engine.check_writable()?;
        let number = engine.next_file_number();
        engine.directory.begin_table(number);
        self.numbers.push(number);
        let path = engine.directory.path_of(FileName::Table(number));
        let out = engine.directory.file_system.create_new(&path)?;
        let options = self.keyspace.core().settings.table_options(number, 0, None);
        let writer = match self.unit() {
            UnitKind::Byte => TableWriter::new(out, options).map(UnitWriter::Byte),
            UnitKind::Bit => TableWriter::new(out, options).map(UnitWriter::Bit),
        };
        let writer = writer.map_err(|source| OpenTable::error(&path, source))?;
        Ok(OpenTable { number, path, writer })
    }

    /// Finishes and syncs the table at hand, if there is one.
    fn end_table(&mut self) -> Result<()> {
        let Some(OpenTable { number, path, writer }) = self.open.take() else {
            return Ok(());
        };
        let (mut out, summary) = writer
            .finish()
            .map_err(|source| OpenTable::error(&path, source))?;
        out.sync()?;
        self.records.push(TableRecord {
            number,
            keyspace: self.keyspace.number(),
            level: 0,
            len_bytes: summary.file_len_bytes,
            record_count: summary.record_count,
            age: number,
        });
        Ok(())
    }

    /// Records taken so far.
    pub fn record_count(&self) -> u64 {
        self.record_count
    }

    /// Makes all records visible in one step, durably: newer than everything committed before, which it makes durable too.
    /// Without records it does nothing. May wait for flushes; writers of the same keys may wait for one of them.
    ///
    /// # Errors
    /// An earlier failure of this ingest; a failed write or flush; the keyspace was dropped. Nothing of it stays; where its edit of the
    /// manifest failed half way, a restart may find it until a flush or [`Db::resume`](crate::Db::resume) has settled that it is not there.
    pub fn finish(mut self) -> Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.end_table()?;
        if self.records.is_empty() {
            return Ok(());
        }
        let engine = self.keyspace.handle().engine();
        engine.directory.sync()?;
        let records = std::mem::take(&mut self.records);
        let unit = self.unit();
        let mut tables = records
            .into_iter()
            .map(|record| TableFile::open(&engine.directory, record, unit))
            .collect::<Result<Vec<_>>>()?;
        let mut is_handed_over = false;
        let keys = self.ending_keys.iter().map(Vec::as_slice).collect();
        let deleted = Deleted {
            keys,
            intervals: Vec::new(),
        };
        let mut ended = Resolution::new(SortedMap::from_iter([(self.keyspace.number(), deleted)]));
        let outcome = engine.put_in_force(&self.keyspace, &mut tables, &mut ended, &mut is_handed_over);
        // From the edit on the files are the version's, or wait with it until it is known not to be in force.
        self.forget_files(!is_handed_over);
        self.engine().events().deliver();
        outcome
    }

    /// Lets go of the files, removed or not.
    fn forget_files(&mut self, remove: bool) {
        let numbers = std::mem::take(&mut self.numbers);
        if remove {
            self.engine().remove_tables(numbers.iter().copied());
        }
        for number in numbers {
            self.engine().directory.end_table(number);
        }
    }
}

impl Drop for Ingest {
    fn drop(&mut self) {
        self.open = None;
        self.forget_files(true);
    }
}

/// Takes sorted records for a keyspace of bit strings; see [`BitKeyspace::ingest`].
#[derive(Debug)]
pub struct BitIngest(Ingest);

impl BitIngest {
    pub(crate) fn begin(keyspace: &BitKeyspace) -> Result<BitIngest> {
        Ingest::begin(keyspace.inner().clone()).map(BitIngest)
    }

    /// Adds a record. Keys must rise strictly; otherwise as [`Ingest::put`].
    ///
    /// # Errors
    /// As [`Ingest::put`].
    pub fn put(&mut self, key: BitStr<'_>, value: BitStr<'_>) -> Result<()> {
        self.0.put(bit_key::encode_key(key), bit_key::encode_value(value))
    }

    /// Records taken so far.
    pub fn record_count(&self) -> u64 {
        self.0.record_count()
    }

    /// Makes all records visible in one step, durably; as [`Ingest::finish`].
    ///
    /// # Errors
    /// As [`Ingest::finish`].
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

impl Engine {
    /// Puts ingested tables in force, newer than everything committed before.
    fn put_in_force(
        &self,
        keyspace: &Keyspace,
        tables: &mut [Arc<TableFile>],
        ended: &mut Resolution<'_>,
        is_handed_over: &mut bool,
    ) -> Result<()> {
        let mut held = None;
        for round in 0.. {
            // Most tables are looked at here, and most of the log is synced, without a lock.
            ended.look_up(&self.layers().version)?;
            self.sync_log()?;
            if self.try_put_in_force(keyspace, tables, ended, is_handed_over)? {
                break;
            }
            if round == ROUNDS_BESIDE_WRITERS {
                held = Some(self.hold_writers());
            }
            self.flush_all()?;
        }
        drop(held);
        self.work.request_compaction();
        Ok(())
    }

    /// One attempt; `false` if a memtable holds something of a table's span.
    fn try_put_in_force(
        &self,
        keyspace: &Keyspace,
        tables: &mut [Arc<TableFile>],
        ended: &mut Resolution<'_>,
        is_handed_over: &mut bool,
    ) -> Result<bool> {
        let _no_flush = self.flushing.lock();
        let mut versions = self.versions.lock();
        let _no_commit = self.writer.lock();
        keyspace.check_takes_writes()?;
        let instant = self.instant();
        let is_in_the_way = |table: &Arc<TableFile>| {
            let mut memtables = instant.memtables();
            memtables.any(|memtable| memtable.touches(keyspace.number(), table.first_key(), table.last_key()))
        };
        if tables.iter().any(is_in_the_way) {
            return Ok(false);
        }
        self.sync_log()?;
        ended.look_up(versions.current())?;
        let kills = ended.kills(versions.current(), versions.state());
        let level = level_for(keyspace.number(), versions.current());
        let mut edit = Edit {
            changes: kills.changes,
        };
        let mut added = SortedMap::new();
        let bytes = tables.iter().map(|table| table.len_bytes()).sum();
        for table in tables.iter_mut() {
            let table_alone = Arc::get_mut(table).expect("nobody else has seen it");
            table_alone.place(level, self.next_file_number());
            edit.changes.push(Change::AddTable(table.record().clone()));
            added.insert(table.number(), Arc::clone(table));
        }
        // A delete that found nothing to shield before must look again.
        self.ingest_count.fetch_add(1, Ordering::AcqRel);
        *is_handed_over = true;
        self.commit_edit(&mut versions, &edit, &added, None)?;
        self.counters.ingested(tables.len() as u64, bytes);
        self.events().emit(|| Event::Ingested {
            keyspace: keyspace.name().to_owned(),
            table_count: tables.len(),
            record_count: tables.iter().map(|table| table.record().record_count).sum(),
            written_bytes: bytes,
        });
        self.counters.killed(kills.killed_count, kills.emptied_count);
        Ok(true)
    }
}

/// The level for a new run: the bottom of a keyspace without tables. Where there are some, a compaction may be about to write around
/// the run on any level but the first.
fn level_for(keyspace: u32, version: &Version) -> u32 {
    let is_empty = version
        .keyspace(keyspace)
        .is_none_or(|view| view.tables().next().is_none());
    if is_empty {
        PickerOptions::default().bottom_level
    } else {
        0
    }
}
