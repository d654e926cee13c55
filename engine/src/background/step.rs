//! One step of background work, whoever runs it.

use super::work::Job;
use crate::db::Engine;
use crate::error::Result;
use crate::flush::Written;

impl Engine {
    /// Does one pending flush, or else settles pending deletes, or else does one compaction. Returns whether there was something.
    pub(crate) fn run_background_step(&self) -> Result<bool> {
        Ok(self.step(Job::Flush)? || self.step(Job::Resolve)? || self.step(Job::Compact)?)
    }

    /// Does one step of a job, and tells those who wait. Returns whether there was one.
    pub(crate) fn step(&self, job: Job) -> Result<bool> {
        self.check_writable()?;
        let outcome = match job {
            Job::Flush => match self.flush_oldest() {
                // The room of the spare segment may be enough, and a flush gives back that of its own.
                Err(error) if error.is_storage_full() && self.discard_spare() => self.flush_oldest(),
                outcome => outcome,
            },
            Job::Resolve => Ok(self.settle_pending_deletes().then(Written::default)),
            Job::Compact => self.compact_once().map(|worked| worked.then(Written::default)),
        };
        match &outcome {
            Ok(_) if job == Job::Flush => self.work.flush_succeeded(),
            // The schedule knows how each keyspace fares.
            Ok(_) => self.work.announce_progress(),
            Err(error) => {
                self.background_failed(error);
                if job == Job::Flush {
                    self.work.flush_failed(error.clone());
                }
            }
        }
        self.events().deliver();
        Ok(outcome?.is_some())
    }
}
