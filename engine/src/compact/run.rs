//! Runs one job of the picker, from its inputs to the published version.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tephra_compaction::picker::{Decision, Job, JobKind, RangeRequest, Running, pick, pick_range};

use super::early_kills::MovedKills;
use super::level_view::{levels_of, picker_options};
use super::{CompactionStart, late_kills, merge};
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::keyspace::KeyspaceCore;
use crate::options::Background;
use crate::table_file::TableFile;
use crate::version::{Change, Edit, KeyspaceView, TableView};

/// A compaction that somebody waits for gives readers this often this long to let go of its inputs.
const PATIENCE_STEPS: u32 = 100;
const PATIENCE_STEP: Duration = Duration::from_millis(1);

impl Engine {
    /// Runs the most urgent compaction, if one is due. Returns whether there was one. One runs at a time.
    pub(crate) fn compact_once(&self) -> Result<bool> {
        let _one_at_a_time = self.compacting.lock();
        let start = self.start_compaction();
        for (keyspace, view) in start.version().keyspaces() {
            let Some(core) = self.core_of(keyspace) else {
                continue;
            };
            let options = picker_options(&self.options, &core.settings);
            let Decision::Run(job) = pick(&levels_of(view), &Running::default(), &options) else {
                continue;
            };
            if !self.held_up.may_run(&core, view, &job) {
                continue;
            }
            let outcome = self.run_job(&start, &core, view, &job);
            if self.held_up.note(&core, view, &job, &outcome) {
                outcome.inspect_err(|error| self.background_failed(error)).ok();
                continue;
            }
            outcome?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Flushes, then merges every keyspace down to one sorted run without dead records, and waits for the merged files to go.
    pub(crate) fn compact_all(&self) -> Result<()> {
        self.flush_all()?;
        let mut removed = Vec::new();
        let mut held_up = None;
        for &keyspace in self.cores().keys() {
            loop {
                match self.compact_step(keyspace) {
                    Ok(Some(inputs)) => removed.extend(inputs),
                    Ok(None) => break,
                    // The other keyspaces are compacted first.
                    Err(error @ (Error::LawUnknown { .. } | Error::LawStopsCompaction { .. })) => {
                        held_up.get_or_insert(error);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        self.wait_until_unlinked(&removed);
        held_up.map_or(Ok(()), Err)
    }

    /// One step of compacting a whole keyspace: the inputs it removed, `None` if there was nothing left to do.
    fn compact_step(&self, keyspace: u32) -> Result<Option<Vec<Weak<TableFile>>>> {
        let _one_at_a_time = self.compacting.lock();
        self.check_writable()?;
        let start = self.start_compaction();
        let (Some(view), Some(core)) = (start.version().keyspace(keyspace), self.core_of(keyspace)) else {
            return Ok(None);
        };
        let options = picker_options(&self.options, &core.settings);
        let everything = RangeRequest::default();
        let Decision::Run(job) = pick_range(&levels_of(view), &Running::default(), &options, everything)
        else {
            return Ok(None);
        };
        let outcome = self.run_job(&start, &core, view, &job);
        self.held_up.note(&core, view, &job, &outcome);
        if let Err(error) = &outcome {
            self.background_failed(error);
        }
        outcome.map(Some)
    }

    /// Waits a moment for tables to be unlinked; readers that hold them longer unlink them themselves.
    fn wait_until_unlinked(&self, tables: &[Weak<TableFile>]) {
        if self.options.background == Background::Manual {
            // Nobody else is at work who might let go soon.
            return;
        }
        for _ in 0..PATIENCE_STEPS {
            if tables.iter().all(|table| table.strong_count() == 0) {
                return;
            }
            self.work.wait_for_progress(self.work.ticket(), PATIENCE_STEP);
        }
    }

    /// Does what a job says. Returns the tables that left the version. The caller holds the compaction lock.
    fn run_job(
        &self,
        start: &CompactionStart<'_>,
        keyspace: &KeyspaceCore,
        view: &KeyspaceView,
        job: &Job,
    ) -> Result<Vec<Weak<TableFile>>> {
        let numbers: Vec<u64> = job.file_numbers().collect();
        let inputs: Vec<TableView> = numbers
            .iter()
            .filter_map(|&number| find(view, number))
            .cloned()
            .collect();
        self.events().emit(|| Event::CompactionBegun {
            keyspace: keyspace.name.clone(),
            job: Decision::Run(job.clone()).to_string(),
            input_bytes: inputs.iter().map(|table| table.file.len_bytes()).sum(),
        });
        let mut written_bytes = 0;
        let outcome = match job.kind {
            JobKind::Drop => self.drop_tables(keyspace.number, &numbers),
            JobKind::Move => self.move_tables(keyspace.number, &numbers, job.output_level),
            JobKind::Merge => self.merge(start, keyspace, inputs, job.output_level, &mut written_bytes),
        };
        self.events().emit(|| Event::CompactionEnded {
            keyspace: keyspace.name.clone(),
            output_level: job.output_level,
            written_bytes,
            error: outcome.as_ref().err().map(|error| Arc::new(error.clone())),
        });
        outcome
    }

    fn drop_tables(&self, keyspace: u32, numbers: &[u64]) -> Result<Vec<Weak<TableFile>>> {
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let gone: Vec<_> = tables_still_there(version.keyspace(keyspace), numbers).collect();
        let changes = gone.iter().map(|table| Change::RemoveTable {
            number: table.file.number(),
        });
        let edit = Edit {
            changes: changes.collect(),
        };
        let files = gone.iter().map(|table| Arc::downgrade(&table.file)).collect();
        self.commit_edit(&mut versions, &edit, &BTreeMap::new(), None)?;
        Ok(files)
    }

    fn move_tables(&self, keyspace: u32, numbers: &[u64], level: u32) -> Result<Vec<Weak<TableFile>>> {
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let moved = tables_still_there(version.keyspace(keyspace), numbers);
        let changes = moved.map(|table| Change::MoveTable {
            number: table.file.number(),
            level,
        });
        let edit = Edit {
            changes: changes.collect(),
        };
        self.commit_edit(&mut versions, &edit, &BTreeMap::new(), None)?;
        Ok(Vec::new())
    }

    /// Merges tables, given oldest first, into new ones of a level.
    fn merge(
        &self,
        start: &CompactionStart<'_>,
        keyspace: &KeyspaceCore,
        inputs: Vec<TableView>,
        level: u32,
        written_bytes: &mut u64,
    ) -> Result<Vec<Weak<TableFile>>> {
        let began_ns = self.clock().now_ns();
        let outputs = merge::merge(self, keyspace, &inputs, level)?;
        let read_bytes = inputs.iter().map(|table| table.file.len_bytes()).sum();
        *written_bytes = outputs.values().map(|file| file.len_bytes()).sum();
        let removed = self.install_merge(start, keyspace.number, &inputs, outputs)?;
        let took_ns = self.clock().now_ns().saturating_sub(began_ns);
        self.counters
            .compacted(level, read_bytes, *written_bytes, took_ns);
        Ok(removed)
    }

    /// Makes the one edit of a merge and publishes it. Outputs that do not become part of the version are unlinked.
    pub(super) fn install_merge(
        &self,
        start: &CompactionStart<'_>,
        keyspace: u32,
        inputs: &[TableView],
        outputs: BTreeMap<u64, Arc<TableFile>>,
    ) -> Result<Vec<Weak<TableFile>>> {
        let give_up = || outputs.values().for_each(|table| table.mark_obsolete());
        // From here to the publication no delete is settled in the inputs.
        let _no_early_kills = self.resolving.lock();
        let moved = MovedKills::find(self, inputs, &outputs).inspect_err(|_| give_up())?;
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let Some(now) = version.keyspace(keyspace) else {
            // Dropped meanwhile, inputs and all.
            give_up();
            return Ok(Vec::new());
        };
        let ranges = start.range_kills_since(keyspace);
        let kills = late_kills::find(inputs, now, &ranges, &outputs).inspect_err(|_| give_up())?;
        let mut edit = Edit::default();
        let numbers: Vec<u64> = inputs.iter().map(|table| table.file.number()).collect();
        let removed: Vec<_> = tables_still_there(Some(now), &numbers).collect();
        edit.changes
            .extend(removed.iter().map(|table| Change::RemoveTable {
                number: table.file.number(),
            }));
        let mut added = BTreeMap::new();
        for (number, file) in &outputs {
            let killed = kills.get(number).map_or(0, |ordinals| ordinals.len());
            if killed == file.record_count() {
                file.mark_obsolete();
                continue;
            }
            edit.changes.push(Change::AddTable(file.record().clone()));
            if let Some(ordinals) = kills.get(number) {
                let mut ordinals = ordinals.clone();
                ordinals.optimize();
                edit.changes.push(Change::Kill {
                    table: *number,
                    ordinals,
                });
            }
            added.insert(*number, Arc::clone(file));
        }
        let files = removed.iter().map(|table| Arc::downgrade(&table.file)).collect();
        let publish = |version| self.publish_moving(version, &moved);
        self.commit_edit_then(&mut versions, &edit, &added, publish)?;
        Ok(files)
    }
}

fn find(view: &KeyspaceView, number: u64) -> Option<&TableView> {
    view.tables().find(|table| table.file.number() == number)
}

/// Those of the tables that are still in the version: a flush removes tables in which it killed the last live record.
fn tables_still_there<'a>(
    view: Option<&'a Arc<KeyspaceView>>,
    numbers: &'a [u64],
) -> impl Iterator<Item = &'a TableView> {
    view.into_iter()
        .flat_map(move |view| numbers.iter().filter_map(move |&number| find(view, number)))
}
