//! One step of background work, whoever runs it.

use super::work::Job;
use crate::db::Engine;
use crate::error::Result;

impl Engine {
    /// Does one pending flush, or else settles pending deletes, or else does one compaction. Returns whether there was something.
    pub(crate) fn run_background_step(&self) -> Result<bool> {
        Ok(self.step(Job::Flush)? || self.step(Job::Resolve)? || self.step(Job::Compact)?)
    }

    /// Does one step of a job, and tells those who wait. Returns whether there was one.
    pub(crate) fn step(&self, job: Job) -> Result<bool> {
        self.check_writable()?;
        let attempt = || match job {
            Job::Flush => self.flush_oldest(),
            Job::Resolve => Ok(self.settle_pending_deletes()),
            Job::Compact => self.compact_once(),
        };
        let outcome = match attempt() {
            // The room of the spare segment may be enough, and a flush gives back that of its own.
            Err(error) if error.is_storage_full() && self.discard_spare() => attempt(),
            outcome => outcome,
        };
        match &outcome {
            Ok(_) => self.work.succeeded(job),
            Err(error) => {
                self.counters.background_failed(error);
                self.work.failed(job, error.clone());
            }
        }
        outcome
    }
}
