//! Every call of a recovery crashed and failed in turn, and every call of the recovery from that.
//!
//! ```text
//!   a machine that went down, and what it holds
//!     for each call of its recovery, or one in so many:
//!        it fails once ------------------------------------> an error or not; then the same is there
//!        killed there | power cut | power cut -------------> the same is there
//!           the same again, one deeper
//! ```
//!
//! A recovery here is all that happens until the database is open and the work that waits is done.

use tephradb::vfs::{Calls, Fault, MemFs, Rule};

use super::machine::Machine;
use super::plan::Down;
use super::recovery::{Suffering, down, loses_unsynced};
use super::session::{disk_of, read_all};
use super::{Check, Planted};

/// More calls than any recovery makes.
const CALLS_MAX: u64 = 500;

impl Machine<'_> {
    /// Goes down in each way, and tries the recoveries; the machine itself stays up. `strides` says for each depth that one call in so
    /// many is tried.
    pub(super) fn try_recoveries(&mut self, strides: &[u64]) -> Check {
        if strides.is_empty() {
            return Ok(());
        }
        let (model, has_old_log) = (self.model.clone(), self.has_old_log);
        for number in 0..3 {
            let how = way(number, self.counts.crashes);
            self.counts.crashes += 1;
            let machine = down(&self.machine, how);
            let found = self.judge_state(&machine, loses_unsynced(how))?;
            let state = Suffering {
                machine,
                found,
                only_written: (how == Down::Kill).then(|| model.clone()),
            };
            self.descend(&state, strides)
                .map_err(|wrong| format!("{how:?}: {wrong}"))?;
            self.model = model.clone();
            self.has_old_log = has_old_log;
        }
        Ok(())
    }

    /// Tries the calls of a recovery, so deep as there are strides.
    pub(super) fn descend(&mut self, state: &Suffering, strides: &[u64]) -> Check {
        let Some((&stride, deeper)) = strides.split_first() else {
            return Ok(());
        };
        let model = self.model.clone();
        // Between them the machines try every call.
        let mut calls = self.counts.crashes % stride;
        while calls < CALLS_MAX {
            let disk = Rule::always(Calls::Changing, Fault::DeviceError).after(calls);
            let (broken, is_open, was_hit) = self.recover(&state.machine, disk);
            if !was_hit {
                return Ok(());
            }
            for number in 0..3 {
                self.counts.crashes += 1;
                let how = way(number, calls);
                let mut next = Suffering {
                    machine: down(&broken, how),
                    found: state.found.clone(),
                    only_written: state.only_written.clone().filter(|_| !is_open),
                };
                let outcome = self.judge_branch(&mut next, how, is_open);
                let outcome = outcome.and_then(|()| self.descend(&next, deeper));
                outcome.map_err(|wrong| format!("call {calls} of the recovery, {how:?}: {wrong}"))?;
                self.model = model.clone();
            }
            let fault = if calls.is_multiple_of(2) {
                Fault::DeviceError
            } else {
                Fault::StorageFull
            };
            let (failed, _, _) =
                self.recover(&state.machine, Rule::once(Calls::Changing, fault).after(calls));
            let shown = self.shows(&failed, state);
            shown.map_err(|wrong| format!("call {calls} of the recovery failed: {wrong}"))?;
            calls += stride;
        }
        Err(format!("a recovery makes more than {CALLS_MAX} calls"))
    }

    /// A branch holds what it was before, or what the power left of it.
    fn judge_branch(&mut self, next: &mut Suffering, how: Down, is_open: bool) -> Check {
        if loses_unsynced(how) && !is_open && next.only_written.is_some() {
            return self.judge_again(next);
        }
        self.shows(&next.machine, next)
    }

    /// A copy of the machine recovers on a disk with a fault, and does the work that waits. Returns the copy, whether the database was open,
    /// and whether the fault was met.
    fn recover(&mut self, machine: &MemFs, rule: Rule) -> (MemFs, bool, bool) {
        self.counts.recoveries += 1;
        let copy = machine.after_kill();
        let disk = disk_of(&copy, self.planted);
        disk.add(rule);
        let opened = self.open(&disk);
        if let Ok(db) = &opened {
            drop(db.flush().and_then(|()| db.run_background_step()));
        }
        self.counts.faults += disk.fault_count();
        // As it is while the database is still open: what a close would write comes too late.
        let left = copy.after_kill();
        (left, opened.is_ok(), disk.fault_count() > 0)
    }

    /// A plain open of a copy shows what is expected, soundly.
    fn shows(&mut self, machine: &MemFs, expected: &Suffering) -> Check {
        self.counts.recoveries += 1;
        let copy = machine.after_kill();
        let db = self
            .open(&disk_of(&copy, Planted::None))
            .map_err(|error| format!("a plain open failed: {error}"))?;
        let found = read_all(&db).map_err(|error| format!("a read failed: {error}"))?;
        let report = db.verify().map_err(|error| format!("verify failed: {error}"))?;
        if !report.is_sound() {
            return Err(format!("verify finds {:?}", report.problems));
        }
        self.is_same(&expected.found, &found, "after a recovery that was disturbed")
    }
}

/// Ways to go down: of three, one is a kill.
fn way(number: u64, seed: u64) -> Down {
    if number == 0 {
        Down::Kill
    } else {
        Down::PowerCut(seed * 3 + number)
    }
}
