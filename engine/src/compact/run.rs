//! Takes jobs from the schedule and runs them, each from its inputs to the published version.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tephra_compaction::picker::{Decision, Job, JobInput, JobKind, RangeRequest, Running, pick, pick_range};

use super::CompactionStart;
use super::level_view::{levels_of, picker_options};
use super::merge::{self, Merge};
use super::schedule::Schedule;
use crate::cancel::Cancel;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::event::{CompactionInput, Event};
use crate::flush::Written;
use crate::keyspace::KeyspaceCore;
use crate::table_file::TableFile;
use crate::version::{KeyspaceView, TableView, Version};

/// A job that has started: its tables are reserved until this is dropped.
pub(super) struct Started<'a> {
    engine: &'a Engine,
    pub(super) core: Arc<KeyspaceCore>,
    /// The version it takes its inputs from.
    start: CompactionStart<'a>,
    job: Job,
    /// In the order of starts.
    place: u64,
    /// Threads to run on.
    threads: usize,
    /// Those of them that are the schedule's.
    reserved: usize,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        let mut schedule = self.engine.schedule.lock();
        schedule.end(&self.core, &self.job, self.place, self.reserved);
        drop(schedule);
        self.engine.work.request_compaction();
        self.engine.work.announce_progress();
    }
}

impl Engine {
    /// Runs the most urgent compaction, if one is due that no running job and no pause is in the way of. Returns whether there was
    /// one. Several may run at once; no two of them touch the same table.
    pub(crate) fn compact_once(&self) -> Result<bool> {
        let _no_verify = self.compacting.read();
        while let Some(started) = self.start_due() {
            // Where threads are left, another one looks whether there is more.
            self.work.request_compaction();
            let mut outcome = self.run_job(&started, &Cancel::new());
            if matches!(&outcome, Err(error) if error.is_storage_full()) && self.discard_spare() {
                // The room of the spare segment may be enough.
                outcome = self.run_job(&started, &Cancel::new());
            }
            if !self.note(&started, &outcome) {
                return outcome.map(|_| true);
            }
            // Its law concerns its keyspace alone, which is passed by from now on.
            outcome.inspect_err(|error| self.background_failed(error)).ok();
        }
        Ok(false)
    }

    /// Tells the schedule how a job has ended. A failure that stops the whole database is no keyspace's own. Returns whether it was the
    /// law that stopped it.
    pub(super) fn note<T>(&self, started: &Started<'_>, outcome: &Result<T>) -> bool {
        let core = &started.core;
        let view = started.start.version().keyspace(core.number);
        if view.is_some_and(|view| self.held_up.note(core, view, &started.job, outcome)) {
            return true;
        }
        let mut schedule = self.schedule.lock();
        match outcome {
            Ok(_) => schedule.succeeded(core.number),
            Err(Error::Closed | Error::WriterStopped { .. } | Error::CompactionCancelled { .. }) => {}
            Err(error) => schedule.failed(core.number, Arc::new(error.clone()), self.clock().now_ns()),
        }
        false
    }

    /// How long the compaction threads may sleep without a request; `None`: for ever.
    pub(crate) fn compaction_pause(&self) -> Option<Duration> {
        self.schedule.lock().next_try(self.clock().now_ns())
    }

    /// Starts the most urgent job.
    fn start_due(&self) -> Option<Started<'_>> {
        let mut schedule = self.schedule.lock();
        if schedule.threads_free() == 0 {
            // The job that ends next makes a request.
            return None;
        }
        let start = self.start_compaction();
        for (number, core) in schedule.take_changed() {
            let found = self.pick_job(start.version(), &core, &schedule.running(number));
            schedule.set_due(number, found.map(|job| (job.score, core)));
        }
        let now_ns = self.clock().now_ns();
        loop {
            let core = schedule.first_due(now_ns)?;
            match self.pick_job(start.version(), &core, &schedule.running(core.number)) {
                Some(job) => return Some(self.start(&mut schedule, &core, start, job, true)),
                // The version is newer than the one that was looked at.
                None => schedule.set_due(core.number, None),
            }
        }
    }

    fn pick_job(&self, version: &Version, core: &KeyspaceCore, running: &Running) -> Option<Job> {
        let view = version.keyspace(core.number)?;
        let options = picker_options(&self.options, &core.settings);
        match pick(&levels_of(view), running, &options) {
            Decision::Run(job) => self.held_up.may_run(core, view, &job).then_some(job),
            Decision::Idle => None,
        }
    }

    /// Starts the next job of a key range that somebody asked for. `None`: there is none, or a running one is in its way.
    pub(super) fn start_asked(
        &self,
        core: &Arc<KeyspaceCore>,
        request: RangeRequest<'_>,
    ) -> Option<Started<'_>> {
        let mut schedule = self.schedule.lock();
        let start = self.start_compaction();
        let levels = levels_of(start.version().keyspace(core.number)?);
        let options = picker_options(&self.options, &core.settings);
        match pick_range(&levels, &schedule.running(core.number), &options, request) {
            Decision::Run(job) => Some(self.start(&mut schedule, core, start, job, false)),
            Decision::Idle => None,
        }
    }

    /// Reserves what a job needs. `is_own_thread`: it runs on a compaction thread, not on a caller's.
    fn start<'a>(
        &'a self,
        schedule: &mut Schedule,
        core: &Arc<KeyspaceCore>,
        start: CompactionStart<'a>,
        job: Job,
        is_own_thread: bool,
    ) -> Started<'a> {
        let input_bytes = inputs_of(&start, core, &job)
            .iter()
            .map(|table| table.file.len_bytes())
            .sum();
        let wanted = match job.kind {
            JobKind::Merge => merge::part_count(input_bytes, self.target_table_bytes(core)),
            JobKind::Drop | JobKind::Move => 1,
        };
        let own = usize::from(is_own_thread);
        let others = (wanted - 1).min(schedule.threads_free().saturating_sub(own));
        let place = schedule.start(core, &job, own + others);
        Started {
            engine: self,
            core: Arc::clone(core),
            start,
            job,
            place,
            threads: 1 + others,
            reserved: own + others,
        }
    }

    /// Size at which a compaction of a keyspace starts its next table.
    pub(super) fn target_table_bytes(&self, core: &KeyspaceCore) -> u64 {
        core.settings
            .target_table_bytes
            .unwrap_or(self.options.target_table_bytes)
    }

    /// Does what a job says. Returns the tables that left the version.
    pub(super) fn run_job(&self, started: &Started<'_>, cancel: &Cancel) -> Result<Vec<Weak<TableFile>>> {
        let Started { core, job, start, .. } = started;
        self.check_writable()?;
        let numbers: Vec<u64> = job.file_numbers().collect();
        let inputs = inputs_of(start, core, job);
        let began_ns = self.clock().now_ns();
        let kind = match job.kind {
            JobKind::Drop => "drop",
            JobKind::Move => "move",
            JobKind::Merge => "merge",
        };
        self.events().emit(|| Event::CompactionBegun {
            number: started.place,
            keyspace: core.name.clone(),
            job: Decision::Run(job.clone()).to_string(),
            kind,
            reason: job.reason.to_string(),
            inputs: told_inputs(job),
            output_level: job.output_level,
            input_bytes: inputs.iter().map(|table| table.file.len_bytes()).sum(),
            input_record_count: inputs.iter().map(|table| table.file.record().record_count).sum(),
        });
        // Listeners are told later: a lock of the caller's is held.
        self.events().log().write();
        let mut written = Written::default();
        let outcome = match job.kind {
            JobKind::Drop => self.drop_tables(core.number, &numbers),
            JobKind::Move => self.move_tables(core.number, &numbers, job.output_level),
            JobKind::Merge => self.merge(started, &inputs, cancel, &mut written),
        };
        self.events().emit(|| Event::CompactionEnded {
            number: started.place,
            keyspace: core.name.clone(),
            kind,
            output_level: job.output_level,
            table_count: written.table_count,
            record_count: written.record_count,
            written_bytes: written.len_bytes,
            took: Duration::from_nanos(self.clock().now_ns().saturating_sub(began_ns)),
            error: outcome.as_ref().err().map(|error| Arc::new(error.clone())),
        });
        if outcome.is_ok() {
            self.compactions.ended(job.kind);
        }
        outcome
    }

    /// Merges the inputs of a job, oldest first, into new tables.
    fn merge(
        &self,
        started: &Started<'_>,
        inputs: &[TableView],
        cancel: &Cancel,
        written: &mut Written,
    ) -> Result<Vec<Weak<TableFile>>> {
        let began_ns = self.clock().now_ns();
        let level = started.job.output_level;
        let merge = Merge {
            core: &started.core,
            inputs,
            level,
            threads: started.threads,
            cancel,
        };
        let outputs = merge.run(self)?;
        let read_bytes = inputs.iter().map(|table| table.file.len_bytes()).sum();
        *written = Written::of(&outputs);
        let removed = self.install_merge(&started.start, started.core.number, inputs, outputs)?;
        let took_ns = self.clock().now_ns().saturating_sub(began_ns);
        self.counters
            .compacted(level, read_bytes, written.len_bytes, took_ns);
        Ok(removed)
    }

    /// The largest file number given out so far.
    pub(super) fn newest_file_number(&self) -> u64 {
        self.next_file.load(Ordering::Relaxed).saturating_sub(1)
    }
}

/// What a job takes from each level, as listeners are told.
fn told_inputs(job: &Job) -> Vec<CompactionInput> {
    let told = |input: &JobInput| CompactionInput {
        level: input.level,
        table_count: input.file_numbers.len(),
    };
    job.inputs.iter().map(told).collect()
}

/// The inputs of a job, oldest first, as they are in the version it starts from.
fn inputs_of(start: &CompactionStart<'_>, core: &KeyspaceCore, job: &Job) -> Vec<TableView> {
    let view = start.version().keyspace(core.number);
    view.into_iter()
        .flat_map(|view| job.file_numbers().filter_map(|number| find(view, number)))
        .cloned()
        .collect()
}

/// A table of a keyspace.
pub(super) fn find(view: &KeyspaceView, number: u64) -> Option<&TableView> {
    view.tables().find(|table| table.file.number() == number)
}
