//! Keyspaces whose law keeps their tables from being compacted.
//!
//! A law that is not known, or fails, concerns its own keyspace: the compaction thread passes it by and goes on with the others; writers
//! elsewhere do not wait for it. Its own flushed tables must stay few, so puts and merges into it are refused once they are as many as would
//! stop all writers otherwise. It is tried again when the tables that failed have changed, so nothing runs in circles.

use std::sync::Arc;

use parking_lot::RwLock;
use tephra_compaction::picker::Job;

use crate::error::{Error, Result};
use crate::keyspace::KeyspaceCore;
use crate::sorted_map::SortedMap;
use crate::version::{KeyspaceView, Version};

/// Why a keyspace is passed by.
#[derive(Clone, Debug)]
struct HeldUp {
    cause: Arc<Error>,
    /// The inputs that the law failed on, with their number of live records. `None`: the law is not known.
    failed_on: Option<(Vec<u64>, u64)>,
}

impl HeldUp {
    /// A law that was not known may have been given since.
    fn is_still(&self, keyspace: &KeyspaceCore) -> bool {
        self.failed_on.is_some() || keyspace.law().is_err()
    }
}

/// The keyspaces that are passed by. Empty nearly always.
#[derive(Debug, Default)]
pub(crate) struct HeldUpKeyspaces {
    by_number: RwLock<SortedMap<u32, HeldUp>>,
}

fn inputs_of(job: &Job, view: &KeyspaceView) -> (Vec<u64>, u64) {
    let numbers: Vec<u64> = job.file_numbers().collect();
    let inputs = view
        .tables()
        .filter(|table| numbers.contains(&table.file.number()));
    let live_count = inputs.map(|table| table.live_count()).sum();
    (numbers, live_count)
}

impl HeldUpKeyspaces {
    /// Whether a job may run: the law is known, and has not failed on just these records.
    pub(super) fn may_run(&self, keyspace: &KeyspaceCore, view: &KeyspaceView, job: &Job) -> bool {
        if !keyspace.is_composing() {
            return true;
        }
        if let Err(cause) = keyspace.law() {
            let cause = Arc::new(cause);
            let held_up = HeldUp {
                cause,
                failed_on: None,
            };
            self.by_number.write().insert(keyspace.number, held_up);
            return false;
        }
        let mut by_number = self.by_number.write();
        match by_number.get(&keyspace.number).map(|held_up| &held_up.failed_on) {
            None => true,
            Some(Some(failed_on)) => *failed_on != inputs_of(job, view),
            Some(None) => {
                // The law was given since.
                by_number.remove(&keyspace.number);
                true
            }
        }
    }

    /// Notes how a job ended. Returns whether it was the law that stopped it.
    pub(super) fn note<T>(
        &self,
        keyspace: &KeyspaceCore,
        view: &KeyspaceView,
        job: &Job,
        outcome: &Result<T>,
    ) -> bool {
        match outcome {
            Err(error @ Error::LawStopsCompaction { .. }) => {
                let held_up = HeldUp {
                    cause: Arc::new(error.clone()),
                    failed_on: Some(inputs_of(job, view)),
                };
                self.by_number.write().insert(keyspace.number, held_up);
                true
            }
            Ok(_) if keyspace.is_composing() => {
                self.by_number.write().remove(&keyspace.number);
                false
            }
            _ => false,
        }
    }

    /// Whether a keyspace is passed by, so that waiting for its compaction is of no use.
    pub(crate) fn contains(&self, keyspace: &KeyspaceCore) -> bool {
        keyspace.is_composing()
            && self
                .by_number
                .read()
                .get(&keyspace.number)
                .is_some_and(|held_up| held_up.is_still(keyspace))
    }

    /// Refuses another record for a keyspace that is held up and has `l0_tables_max` flushed tables.
    pub(crate) fn check_room(
        &self,
        keyspace: &KeyspaceCore,
        version: &Version,
        l0_tables_max: usize,
    ) -> Result<()> {
        if !keyspace.is_composing() {
            return Ok(());
        }
        let by_number = self.by_number.read();
        let held_up = by_number.get(&keyspace.number);
        let Some(held_up) = held_up.filter(|held_up| held_up.is_still(keyspace)) else {
            return Ok(());
        };
        let is_full = version
            .keyspace(keyspace.number)
            .is_some_and(|view| view.flushed_tables().len() >= l0_tables_max);
        if is_full {
            return Err(Error::LawHoldsUp {
                keyspace: keyspace.name.clone(),
                cause: Arc::clone(&held_up.cause),
            });
        }
        Ok(())
    }
}
