//! Checkpoints: each is opened, as it is and after a power cut, and compared with the instants it may show.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tephradb::vfs::{FileSystem, MemFs};
use tephradb::{Db, Error};

use super::super::Planted;
use super::super::model::State;
use super::super::plan::Meanwhile;
use super::super::session::{disk_of, read_all};
use super::interlude::Place;
use super::{Check, Machine};

impl Machine<'_> {
    /// A directory for the next checkpoint, never used before.
    pub(super) fn next_target(&mut self) -> PathBuf {
        self.copy_count += 1;
        PathBuf::from(format!("/copies/{}", self.copy_count))
    }

    /// A checkpoint with operations in its middle.
    pub(super) fn checkpoint(&mut self, meanwhile: &[Meanwhile]) -> Check {
        let target = self.next_target();
        let asked_for = self.model.acknowledged_count();
        let played = self.play(Place::at_link(), meanwhile, |session, _| {
            session.db.checkpoint(&target)
        })?;
        let is_done = played.outcome.is_ok();
        let states = played.states;
        self.judge_since(played.was_stopped, "a checkpoint", played.outcome)?;
        if is_done {
            self.model.durable_through(asked_for);
        }
        self.check_copy(&target, is_done, &states)
    }

    /// Judges a checkpoint that was made in the middle of something else.
    pub(super) fn copied(&mut self, outcome: tephradb::Result<()>, target: &Path, states: &[State]) -> Check {
        let is_done = self.judge("a checkpoint", outcome)?.is_some();
        if is_done {
            self.model.all_durable();
        }
        self.check_copy(target, is_done, states)
    }

    /// A copy that is done is one of the states; one that failed is that, or no database. Either goes.
    fn check_copy(&mut self, target: &Path, is_done: bool, states: &[State]) -> Check {
        let cut = self.machine.after_power_cut(self.counts.operations);
        for (machine, when) in [(self.machine.after_kill(), "now"), (cut, "after a power cut")] {
            self.counts.recoveries += 1;
            match self.open_copy(&machine, target) {
                Ok(db) => {
                    let wrong = |error: Error| format!("a read of a checkpoint failed {when}: {error}");
                    let found = read_all(&db).map_err(wrong)?;
                    let differences: Vec<String> = states
                        .iter()
                        .filter_map(|state| state.difference(&found))
                        .collect();
                    if differences.len() == states.len() {
                        return Err(format!("a checkpoint shows no instant {when}: {differences:?}"));
                    }
                    let report = db.verify().map_err(wrong)?;
                    if !report.is_sound() {
                        return Err(format!(
                            "of a checkpoint verify finds {:?} {when}",
                            report.problems
                        ));
                    }
                }
                // Nothing yet, or tables that no CURRENT belongs to.
                Err(Error::NotADatabase { .. }) if !is_done => {}
                Err(Error::Inconsistent { path, .. }) if !is_done && path.ends_with("CURRENT") => {}
                Err(error) => return Err(format!("a checkpoint cannot be opened {when}: {error}")),
            }
        }
        remove_all(&self.machine, target);
        Ok(())
    }

    fn open_copy(&self, machine: &MemFs, target: &Path) -> tephradb::Result<Db> {
        let options = self.plan.settings.build(Arc::clone(&self.clock) as Arc<_>);
        let options = self.planted.plant_in_engine(options).create_if_missing(false);
        Db::open_with(Arc::new(disk_of(machine, Planted::None)), target, options)
    }
}

/// Removes a directory, if it is there.
fn remove_all(machine: &MemFs, dir: &Path) {
    for entry in machine.list(dir).unwrap_or_default() {
        drop(machine.remove(&dir.join(entry.name)));
    }
    drop(machine.remove_dir(dir));
}
