//! The flush: the oldest frozen memtable becomes tables and dead ordinals, in one manifest edit.
//!
//! ```text
//! frozen memtable    put put delete put delete put            (in key order, keyspace by keyspace)
//!                      |   |    |    |    |     |
//!   live entries       '---'----)----'----)-----'--> one new table a keyspace      sort.rs, write_table.rs; synced
//!   deletes                     '---------'--------> ordinals in older tables      resolve.rs
//!   range deletes   [--------------------)---------> runs of ordinals, and whole tables, in older tables alone: the new
//!                                                    table holds what was put after them
//!   overlay         [12: 3..9]  [15: 0..40] -------> killed before the flush (early.rs), marked with the rest
//!
//! composing keyspace   puts too end the history of their keys: they kill like deletes, merges do not
//!
//! one edit:  add tables | kill ordinals | remove tables with nothing alive | flushed up to this segment
//! ```
//!
//! Steps: write and sync the tables, sync the directory, open them; resolve the deletes against the version; take the
//! version lock, look again at tables that a compaction has put there meanwhile, commit the edit, publish; remove the
//! segment. A failure before the edit leaves no trace but files, which are removed; the log still holds everything.

mod early;
pub(crate) mod resolve;
mod sort;
pub(crate) mod write_table;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::db::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::file_name::FileName;
use crate::instant::{FrozenMemtable, Layers};
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::{Change, Edit};
use resolve::Resolution;
use sort::Sorted;

/// Tables that were written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub(crate) table_count: usize,
    pub(crate) record_count: u64,
    pub(crate) len_bytes: u64,
}

impl Written {
    pub(crate) fn of(tables: &SortedMap<u64, Arc<TableFile>>) -> Written {
        Written {
            table_count: tables.len(),
            record_count: tables.values().map(|file| file.record().record_count).sum(),
            len_bytes: tables.values().map(|file| file.len_bytes()).sum(),
        }
    }
}

/// The error of a flush whose deletes could not be looked up.
fn unresolved(error: Error) -> Error {
    if !error.is_damage() {
        return error;
    }
    Error::DeletesUnresolved {
        cause: Arc::new(error),
    }
}

impl Engine {
    /// Flushes the oldest frozen memtable. Returns what was written, `None` if there was no memtable.
    /// One flush runs at a time, so generations reach the manifest in order.
    pub(crate) fn flush_oldest(&self) -> Result<Option<Written>> {
        let _one_at_a_time = self.flushing.lock();
        let layers = self.layers();
        let Some(frozen) = layers.frozen.last() else {
            return Ok(None);
        };
        // Told by the one that does it: two threads may have come for the same memtable.
        let began_ns = self.clock().now_ns();
        self.events().emit(|| Event::FlushBegun {
            entry_count: frozen.root.len(),
            memtable_bytes: frozen.root.cost_bytes(),
        });
        let outcome = self.flush_frozen(&layers, frozen);
        let written = outcome.as_ref().ok().copied().unwrap_or_default();
        self.events().emit(|| Event::FlushEnded {
            table_count: written.table_count,
            record_count: written.record_count,
            written_bytes: written.len_bytes,
            took: Duration::from_nanos(self.clock().now_ns().saturating_sub(began_ns)),
            error: outcome.as_ref().err().map(|error| Arc::new(error.clone())),
        });
        outcome.map(Some)
    }

    /// Flushes a memtable, the oldest of `layers`. The caller holds `flushing`.
    fn flush_frozen(&self, layers: &Layers, frozen: &FrozenMemtable) -> Result<Written> {
        let sorted = Sorted::new(&frozen.root, &self.cores())?;
        let tables = self.write_flushed_tables(frozen.segment, &sorted)?;
        let mut resolution = Resolution::new(sorted.deleted);
        if let Err(error) = resolution.look_up(&layers.version) {
            self.remove_tables(tables.keys().copied());
            return Err(unresolved(error));
        }
        let written = Written::of(&tables);
        self.install_flush(frozen.segment, tables, resolution)?;
        self.counters.flushed(written.len_bytes);
        if let Some(log) = &self.log {
            log.forget_through(frozen.segment);
        }
        // A segment that stays is removed at the next open.
        for segment in frozen.segments() {
            drop(self.directory.remove(FileName::Segment(segment)));
        }
        self.work.request_compaction();
        // Deletes that shielded what is in tables now can be settled.
        self.request_resolution();
        Ok(written)
    }

    /// Writes, syncs and opens the tables of each keyspace with live entries.
    fn write_flushed_tables(
        &self,
        segment: u64,
        sorted: &Sorted<'_>,
    ) -> Result<SortedMap<u64, Arc<TableFile>>> {
        let mut numbers = Vec::new();
        let written = self.try_write_flushed_tables(segment, sorted, &mut numbers);
        if written.is_err() {
            self.remove_tables(numbers.into_iter());
        }
        written
    }

    /// `numbers` gets the numbers of all files that may exist.
    fn try_write_flushed_tables(
        &self,
        segment: u64,
        sorted: &Sorted<'_>,
        numbers: &mut Vec<u64>,
    ) -> Result<SortedMap<u64, Arc<TableFile>>> {
        let mut records = Vec::new();
        for live in &sorted.live {
            // Oldest first, so that a higher number is newer.
            for table in &live.tables {
                let number = self.next_file_number();
                numbers.push(number);
                let record = write_table::write(&self.directory, number, &live.keyspace, segment, table)?;
                records.push((record, live.keyspace.settings.unit));
            }
        }
        if !records.is_empty() {
            self.directory.sync()?;
        }
        let records = records.into_iter();
        records
            .map(|(record, unit)| Ok((record.number, TableFile::open(&self.directory, record, unit)?)))
            .collect()
    }

    /// Makes the one edit of a flush and publishes it.
    fn install_flush(
        &self,
        segment: u64,
        tables: SortedMap<u64, Arc<TableFile>>,
        mut resolution: Resolution<'_>,
    ) -> Result<()> {
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        if let Err(error) = resolution.look_up(&version) {
            self.remove_tables(tables.keys().copied());
            return Err(unresolved(error));
        }
        // Compactions have moved it while they held the version set; nobody else changes a frozen one.
        let layers = self.layers();
        let frozen = layers.frozen.last().expect("flushes alone take memtables away");
        resolution.add_overlay(frozen.root.overlay());
        let kills = resolution.kills(&version, versions.state());
        let mut edit = Edit::default();
        // A keyspace dropped while its table was being written takes the table with it.
        let (kept, dropped): (SortedMap<_, _>, SortedMap<_, _>) = tables
            .into_iter()
            .partition(|(_, file)| version.keyspace(file.keyspace()).is_some());
        edit.changes
            .extend(kept.values().map(|file| Change::AddTable(file.record().clone())));
        edit.changes.extend(kills.changes);
        edit.changes.push(Change::Flushed {
            segment: self.segment_behind_oldest() - 1,
        });
        // Name and header of a segment are on the disk before it is put in use.
        edit.changes.push(Change::LogSegment {
            number: self.active_segment.load(Ordering::Acquire),
        });
        self.commit_edit(&mut versions, &edit, &kept, Some(segment))?;
        let intervals = resolution.intervals().chain(frozen.root.settled().iter());
        self.range_kills
            .record(versions.current().edit_count(), intervals);
        self.counters.killed(kills.killed_count, kills.emptied_count);
        self.remove_tables(dropped.keys().copied());
        Ok(())
    }

    /// The segment behind those of the oldest frozen memtable. Numbers between the two are of other files, or of segments that a recovery
    /// dropped: they were cut off from the log by what was lost before them. Their removal may be undone by a power cut, and
    /// they must not be taken for what follows this one.
    fn segment_behind_oldest(&self) -> u64 {
        let state = self.state.read();
        let mut oldest_first = state.layers.frozen.iter().rev();
        let next = oldest_first.nth(1).map(|frozen| frozen.first_segment());
        next.unwrap_or_else(|| self.active_segment.load(Ordering::Acquire))
    }

    /// Removes files that no manifest names. One that stays is removed at the next open.
    pub(crate) fn remove_tables(&self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            drop(self.directory.remove(FileName::Table(number)));
        }
    }

    /// Flushes everything that was committed before the call, and settles an edit that failed, also with nothing to flush.
    pub(crate) fn flush_all(&self) -> Result<()> {
        let log = self.check_writable()?;
        self.settle_doubt()?;
        {
            let mut writer = self.writer.lock();
            let log_is_empty = writer.log_bytes == 0;
            if !log_is_empty {
                self.rotate(log, &mut writer, 0)?;
            }
        }
        let newest = self.layers().frozen.first().map(|frozen| frozen.segment);
        while let Some(newest) = newest {
            let oldest = self.layers().frozen.last().map(|frozen| frozen.segment);
            if oldest.is_none_or(|oldest| oldest > newest) {
                break;
            }
            self.step(crate::background::Job::Flush)?;
        }
        Ok(())
    }
}
