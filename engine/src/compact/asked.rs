//! Compactions that a user asked for.

use std::ops::Bound;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tephra_compaction::picker::RangeRequest;

use crate::cancel::Cancel;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::iter::Bounds;
use crate::key::Key;
use crate::keyspace::KeyspaceCore;
use crate::options::Background;
use crate::table_file::TableFile;

/// A compaction that somebody waits for gives readers this often this long to let go of its inputs.
const PATIENCE_STEPS: u32 = 100;
const PATIENCE_STEP: Duration = Duration::from_millis(1);

/// How long a wait for a running job lasts before the caller's flag is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

impl Engine {
    /// Flushes, then merges every keyspace down to one sorted run without dead records, and waits for the merged files to go.
    pub(crate) fn compact_all(&self) -> Result<()> {
        self.flush_all()?;
        let cores = self.cores();
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let mut removed = Vec::new();
        let mut held_up = None;
        for core in cores.values() {
            match self.compact_keyspace(core, &everything, &Cancel::new()) {
                Ok(inputs) => removed.extend(inputs),
                // The other keyspaces are compacted first.
                Err(error @ (Error::LawUnknown { .. } | Error::LawStopsCompaction { .. })) => {
                    held_up.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        self.wait_until_unlinked(&removed);
        held_up.map_or(Ok(()), Err)
    }

    /// The same for what one keyspace holds between two bounds.
    pub(crate) fn compact_range(
        &self,
        core: &Arc<KeyspaceCore>,
        bounds: &Bounds,
        cancel: &Cancel,
    ) -> Result<()> {
        self.flush_all()?;
        let removed = self.compact_keyspace(core, bounds, cancel)?;
        self.wait_until_unlinked(&removed);
        Ok(())
    }

    /// Step by step, until nothing up to the newest table of the request is left to do. Returns the tables that left the version.
    ///
    /// A job that runs already may have read its inputs before the flush killed records in them, and these wait, dead, in its outputs: they
    /// belong to the request, so it begins when such jobs have ended.
    fn compact_keyspace(
        &self,
        core: &Arc<KeyspaceCore>,
        (lower, upper): &Bounds,
        cancel: &Cancel,
    ) -> Result<Vec<Weak<TableFile>>> {
        let newest = self.newest_after_running_jobs(core, cancel)?;
        let request = RangeRequest {
            first_key: key_of(lower),
            last_key: key_of(upper),
            newest_file_number: Some(newest),
        };
        let mut removed = Vec::new();
        loop {
            self.check_goes_on(core, cancel)?;
            let ticket = self.work.ticket();
            let is_running = self.schedule.lock().is_running(core.number);
            let _no_verify = self.compacting.read();
            if let Some(started) = self.start_asked(core, request) {
                let outcome = self.run_job(&started, cancel);
                self.note(&started, &outcome);
                if let Err(error) = &outcome
                    && !matches!(error, Error::CompactionCancelled { .. })
                {
                    self.background_failed(error);
                }
                removed.extend(outcome?);
            } else if is_running {
                // It may be in the way, or leave something to do.
                drop(_no_verify);
                self.work.wait_for_progress(ticket, LOOK_AGAIN);
            } else {
                return Ok(removed);
            }
        }
    }

    /// The newest file number when the jobs of a keyspace that run now have ended.
    fn newest_after_running_jobs(&self, core: &KeyspaceCore, cancel: &Cancel) -> Result<u64> {
        let mark = self.schedule.lock().started_count();
        loop {
            self.check_goes_on(core, cancel)?;
            let ticket = self.work.ticket();
            if !self.schedule.lock().runs_since_before(core.number, mark) {
                return Ok(self.newest_file_number());
            }
            self.work.wait_for_progress(ticket, LOOK_AGAIN);
        }
    }

    fn check_goes_on(&self, core: &KeyspaceCore, cancel: &Cancel) -> Result<()> {
        self.check_writable()?;
        if cancel.is_cancelled() {
            return Err(Error::CompactionCancelled {
                keyspace: core.name.clone(),
            });
        }
        Ok(())
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
}

/// The key of a bound. A table that merely touches an excluded one comes along.
fn key_of(bound: &Bound<Key>) -> Option<&[u8]> {
    match bound {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    }
}
