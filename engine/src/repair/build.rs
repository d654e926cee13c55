//! Writes the new database: tables, then the log, then the manifest, then `CURRENT`.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use tephra_sstable::{LostRecords, Salvaged, TableSummary, TableWriteError, UnitKind};
use tephra_wal::{
    LOG_MAGIC, LogSegment, LogWriter, PreparedSegment, RECORD_HEADER_LEN_BYTES, segment_capacity_for,
};

use super::log::LogFound;
use super::manifests::History;
use super::tables::{Taken, lost_before};
use crate::checkpoint::NewDirectory;
use crate::directory::{Directory, Listing};
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::unit_table::UnitTable;
use crate::version::{Change, Contradiction, Edit, Manifest, ManifestState};
use crate::vfs::{FsError, Operation, WritableFile};

/// The database that is being made. Openers are kept out until it is dropped.
pub(super) struct NewDatabase {
    files: NewDirectory,
}

impl NewDatabase {
    /// Makes and locks its directory.
    pub(super) fn begin(source: &Directory, into: &Path) -> Result<NewDatabase> {
        let refusal = |path, reason| Error::RepairTarget { path, reason };
        let files = NewDirectory::begin(source, into, refusal)?;
        Ok(NewDatabase { files })
    }

    fn directory(&self) -> &Directory {
        &self.files.directory
    }

    /// Removes everything again.
    pub(super) fn undo(&mut self) {
        self.files.undo();
    }

    /// Removes a file of this database.
    pub(super) fn remove(&self, name: FileName) {
        drop(self.directory().remove(name));
    }

    /// Writes and syncs a file.
    pub(super) fn write_file(&mut self, name: FileName, bytes: &[u8]) -> Result<()> {
        let path = self.directory().path_of(name);
        let mut out = self.create(name)?;
        out.write_all(bytes)
            .map_err(|cause| FsError::of(Operation::Write, &path, cause))?;
        Ok(out.sync()?)
    }

    /// Writes and syncs a table.
    pub(super) fn write_table(
        &mut self,
        name: FileName,
        write: impl FnOnce(
            Box<dyn WritableFile>,
        ) -> std::result::Result<(Box<dyn WritableFile>, Salvaged), TableWriteError>,
    ) -> Result<Salvaged> {
        let path = self.directory().path_of(name);
        let (mut out, salvaged) = write(self.create(name)?).map_err(|source| Error::TableWrite {
            path,
            source: Arc::new(source),
        })?;
        out.sync()?;
        Ok(salvaged)
    }

    fn create(&mut self, name: FileName) -> Result<Box<dyn WritableFile>> {
        self.files.made.push(name);
        let directory = self.directory();
        Ok(directory.file_system.create_new(&directory.path_of(name))?)
    }

    /// Where lost records lay: between which keys of the table that was made of the others.
    pub(super) fn neighbours(
        &self,
        name: FileName,
        made: &TableSummary,
        lost: &LostRecords,
        all: &[LostRecords],
        unit: UnitKind,
    ) -> Result<String> {
        let path = self.directory().path_of(name);
        let table_error = |source| Error::Table {
            path: path.clone(),
            source: Arc::new(source),
        };
        let bytes = self.directory().file_system.open_map(&path)?;
        let table = UnitTable::open(bytes, unit).map_err(table_error)?;
        let mut cursor = table.cursor();
        let mut key_at = |ordinal: Option<u64>| -> Result<Option<String>> {
            let Some(ordinal) = ordinal.filter(|&ordinal| ordinal < made.record_count) else {
                return Ok(None);
            };
            cursor.seek_ordinal(ordinal).map_err(table_error)?;
            Ok(Some(format!("\"{}\"", cursor.key().escape_ascii())))
        };
        let next = lost.ordinals.start - lost_before(all, lost.ordinals.start);
        let before = key_at(next.checked_sub(1))?;
        let after = key_at(Some(next))?;
        Ok(match (before, after) {
            (Some(before), Some(after)) => format!("between the keys {before} and {after}"),
            (Some(before), None) => format!("behind the key {before}"),
            (None, Some(after)) => format!("before the key {after}"),
            (None, None) => "and nothing else can".into(),
        })
    }

    /// Writes log and manifest and puts the database in force.
    pub(super) fn finish(
        &mut self,
        history: &History,
        taken: Taken,
        log: &LogFound,
        listing: &Listing,
    ) -> Result<()> {
        let (mut state, next_number) =
            new_state(history, taken, log, listing).map_err(|Contradiction { expected, found }| {
                Error::Inconsistent {
                    path: self.directory().path.clone(),
                    expected,
                    found,
                }
            })?;
        state.flushed_segment = next_number - 1;
        state.log_segment = 0;
        state.next_file = self.write_log(log, next_number)?;
        if state.next_file > next_number {
            state.log_segment = state.next_file - 1;
        }
        let manifest_number = state.next_file;
        state.next_file += 1;
        self.files.made.extend([
            FileName::Manifest(manifest_number),
            FileName::CurrentTmp,
            FileName::Current,
        ]);
        drop(Manifest::create(self.directory(), manifest_number, &state)?);
        self.files.keep();
        Ok(())
    }

    /// Writes one segment for each that holds something; returns the number behind the last.
    fn write_log(&mut self, log: &LogFound, first_number: u64) -> Result<u64> {
        let mut number = first_number;
        let mut writer: Option<LogWriter<Box<dyn LogSegment>>> = None;
        for payloads in &log.segments {
            let segment = self.prepare_segment(number, payloads)?;
            let failed = |failure| Error::from_log(&self.files.directory, failure);
            let current = match writer.take() {
                Some(writer) => writer.rotate(segment).map(|_| writer),
                None => LogWriter::begin(segment, None),
            };
            let current = current.map_err(failed)?;
            for payload in payloads {
                current.append(payload).map_err(failed)?;
            }
            writer = Some(current);
            number += 1;
        }
        if let Some(writer) = writer {
            let sealed = writer.seal();
            sealed.map_err(|failure| Error::from_log(self.directory(), failure))?;
        }
        Ok(number)
    }

    fn prepare_segment(
        &mut self,
        number: u64,
        payloads: &[Vec<u8>],
    ) -> Result<PreparedSegment<Box<dyn LogSegment>>> {
        let name = FileName::Segment(number);
        self.files.made.push(name);
        let directory = self.directory();
        let record_bytes = |payload: &Vec<u8>| (RECORD_HEADER_LEN_BYTES + payload.len()) as u64;
        // Behind the records come a mark, and the seal.
        let room_bytes = payloads.iter().map(record_bytes).sum::<u64>() + 64;
        let capacity_bytes = segment_capacity_for(room_bytes);
        let path = directory.path_of(name);
        let segment = directory.file_system.create_segment(&path, capacity_bytes)?;
        let header = directory.framed_header(LOG_MAGIC, number);
        let prepared = PreparedSegment::new(segment, header);
        let prepared = prepared.map_err(|failure| Error::from_log(directory, failure))?;
        directory.sync()?;
        Ok(prepared)
    }
}

/// The state with the tables that were taken, and a number above all that are in use.
fn new_state(
    history: &History,
    taken: Taken,
    log: &LogFound,
    listing: &Listing,
) -> std::result::Result<(ManifestState, u64), Contradiction> {
    let numbers = listing.own.iter().filter_map(|name| name.number());
    // One that leaves no numbers behind it is not ours.
    let largest = numbers
        .filter(|&number| number < u64::MAX >> 1)
        .max()
        .unwrap_or(0);
    let next_number = history.state.next_file.max(largest.saturating_add(1)).max(1);
    let mut state = history.state.clone();
    let old: Vec<u64> = state.tables.keys().copied().collect();
    let mut changes: Vec<Change> = old
        .into_iter()
        .map(|number| Change::RemoveTable { number })
        .collect();
    for table in taken.tables {
        let number = table.record.number;
        changes.push(Change::AddTable(table.record));
        changes.push(Change::Kill {
            table: number,
            ordinals: table.dead,
        });
    }
    let next_keyspace = state.next_keyspace.max(log.next_keyspace);
    changes.push(Change::NextKeyspace {
        number: next_keyspace,
    });
    for (keyspace, (name, settings, mut record)) in (next_keyspace..).zip(taken.strays) {
        record.keyspace = keyspace;
        changes.push(Change::CreateKeyspace {
            number: keyspace,
            name,
            settings,
        });
        changes.push(Change::AddTable(record));
    }
    state.apply(&Edit { changes })?;
    Ok((state, next_number))
}
