//! Flushes, compactions and verification, and what they leave.

use tephradb::{Durability, Error};

use super::super::plan::{Change, Commit, Meanwhile, Part, Write};
use super::interlude::Place;
use super::{Check, Machine};

impl Machine<'_> {
    pub(super) fn flush(&mut self) -> Result<bool, String> {
        let outcome = self.session().db.flush();
        self.flushed(outcome)
    }

    /// Tells the model how a flush ended. Returns whether it succeeded.
    pub(super) fn flushed(&mut self, outcome: tephradb::Result<()>) -> Result<bool, String> {
        let is_done = self.judge("a flush", outcome)?.is_some();
        if is_done {
            self.model.all_durable();
            self.model.is_settled();
            self.has_old_log = false;
        }
        Ok(is_done)
    }

    /// A flush with operations in its middle.
    pub(super) fn flush_while(&mut self, calls: u8, meanwhile: &[Meanwhile]) -> Check {
        // With many memtables waiting a commit would wait for the flush it is in the middle of.
        let waiting = self.session().db.stats().frozen_memtable_count + meanwhile.len();
        if waiting + 2 >= self.plan.settings.frozen_memtables_max {
            return self.flush().map(drop);
        }
        // What was committed in its middle is not what the flush was asked for.
        let asked_for = self.model.acknowledged_count();
        let played = self.play(Place::in_table(calls), meanwhile, |session, _| session.db.flush())?;
        if self
            .judge_since(played.was_stopped, "a flush with an interlude", played.outcome)?
            .is_some()
        {
            self.model.durable_through(asked_for);
        }
        Ok(())
    }

    /// A compaction with operations in its middle: deletes that come after the compaction has read its input.
    pub(super) fn compact_while(&mut self, calls: u8, part: Option<&Part>, meanwhile: &[Meanwhile]) -> Check {
        let handle = match part {
            None => None,
            Some(part) => match self.session().keyspaces.get(&part.keyspace) {
                None => return Ok(()),
                handle => handle.cloned(),
            },
        };
        // Then the compaction itself has nothing to flush, and what is in its middle may.
        if !meanwhile.is_empty() && !self.flush()? {
            return Ok(());
        }
        let played = self.play(Place::in_table(calls), meanwhile, |session, cancel| {
            match (part, &handle) {
                (Some(part), Some(handle)) => handle.compact_range(&part.from, &part.to, cancel),
                _ => session.db.compact(),
            }
        })?;
        let is_gone = part.is_some_and(|part| !self.session().keyspaces.contains_key(&part.keyspace));
        match played.outcome {
            Err(Error::CompactionCancelled { .. }) if played.is_cancelled => Ok(()),
            Err(Error::KeyspaceDropped { .. }) if is_gone => Ok(()),
            outcome => {
                let is_done = self
                    .judge_since(played.was_stopped, "a compaction", outcome)?
                    .is_some();
                if is_done && meanwhile.is_empty() {
                    self.model.all_durable();
                    self.model.is_settled();
                }
                Ok(())
            }
        }
    }

    pub(super) fn verify(&mut self) -> Check {
        let session = self.session.as_ref().expect("open between steps");
        let is_excused = session.may_be_flipped || session.has_faults();
        let report = match session.db.verify() {
            Ok(report) => report,
            Err(_) if is_excused => return Ok(()),
            Err(error) => return Err(format!("verify failed on a disk that reads well: {error}")),
        };
        if is_excused {
            return Ok(());
        }
        if !report.is_sound() {
            return Err(format!("verify finds {:?}", report.problems));
        }
        let keys = self.model.key_count() as u64;
        if report.live_key_count != keys && !self.model.names_are_uncertain() {
            return Err(format!(
                "verify counts {} keys, of {keys} there",
                report.live_key_count
            ));
        }
        Ok(())
    }

    /// With all work done and nothing pinned, the directory holds what is needed and nothing else.
    pub(super) fn settle(&mut self) -> Check {
        self.session().check_snapshots()?;
        self.session().snapshots.clear();
        if !self.flush()? {
            return Ok(());
        }
        loop {
            let outcome = self.session().db.run_background_step();
            match self.judge("background work", outcome)? {
                Some(true) => {}
                Some(false) => break,
                None => return Ok(()),
            }
        }
        let session = self.session();
        // A file that could not be removed is removed by the next open.
        if session.disk.fault_count() == 0 {
            session.check_files()?;
        }
        Ok(())
    }

    /// With everything deleted no table is left, now and after a restart. The disk is well.
    pub(super) fn empty_out(&mut self) -> Check {
        let clear = |&keyspace: &usize| Write {
            keyspace,
            change: Change::Clear,
        };
        let writes = self.model.names().keys().map(clear).collect();
        self.commit(&Commit {
            writes,
            durability: Durability::Sync,
        })?;
        for _ in 0..2 {
            self.settle()?;
            let session = self.session.as_ref().expect("open between steps");
            let table_count = session.db.stats().table_count;
            if table_count > 0 {
                return Err(format!(
                    "everything is deleted, and {table_count} tables are left"
                ));
            }
            session.check_contents(&self.model)?;
            self.verify()?;
            self.reopen()?;
        }
        Ok(())
    }
}
