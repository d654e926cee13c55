//! What comes up after the machine went down.
//!
//! ```text
//!   the machine went down -+-> a copy, opened as it is -------------> must be a state of the model: S
//!                          +-> a copy, opened, killed, opened -------> must be S
//!                          '-> opened, down again, opened, down ... -> must be S        (the setbacks)
//!                              opened on a disk that fails ----------> an error, then S
//! ```
//!
//! A plain open must always succeed on a disk that does not fail: no option, no repair. What was read wrong is an error or changes
//! nothing. Files of an earlier life go, files of other people stay.

use std::io::Write as _;
use std::path::Path;

use tephradb::vfs::{Calls, Fault, FaultFs, FileSystem, MemFs, Rule};

use super::machine::Machine;
use super::model::{Found, Map, Model, Names, difference};
use super::plan::{Down, Failing, Setback, Target, Trouble};
use super::session::{DIR, FOREIGN, Session, disk_of, read_all, rules_of};
use super::{Check, Planted};

/// What is in a file that was left behind.
const LEFT: &[u8] = b"left behind";
/// A table that no manifest names.
const ORPHAN: &str = "000000.table";
/// How it begins: what does not is somebody else's.
const TABLE_START: &[u8] = b"\xf2tephra\n";

/// A machine on its way up.
pub(super) struct Suffering {
    pub(super) machine: MemFs,
    /// What it holds.
    pub(super) found: Found,
    /// The promises from before it went down, while what it holds is written and nobody has made it durable.
    pub(super) only_written: Option<Model>,
}

pub(super) fn down(machine: &MemFs, how: Down) -> MemFs {
    match how {
        Down::Kill => machine.after_kill(),
        Down::PowerCut(seed) => machine.after_power_cut(seed),
    }
}

pub(super) fn loses_unsynced(how: Down) -> bool {
    matches!(how, Down::PowerCut(_))
}

impl Machine<'_> {
    /// A database is made on an empty machine, disturbed.
    pub(super) fn come_into_being(&mut self, setbacks: &[Setback]) -> Result<MemFs, String> {
        let empty = Suffering {
            machine: MemFs::new(),
            found: Found::from([(String::new(), Map::new())]),
            only_written: None,
        };
        self.descend(&empty, &self.plan.creation_strides)?;
        Ok(self.suffer(empty, setbacks)?.machine)
    }

    /// The machine goes down, and comes up again whatever happens meanwhile.
    pub(super) fn go_down(&mut self, how: Down, setbacks: &[Setback]) -> Check {
        let machine = down(&self.machine, how);
        self.leave();
        self.has_old_log |= loses_unsynced(how);
        let before = self.model.clone();
        let found = self.judge_state(&machine, loses_unsynced(how))?;
        leave_files(&machine);
        let suffering = Suffering {
            machine,
            found,
            only_written: (how == Down::Kill).then_some(before),
        };
        let Suffering { machine, found, .. } = self.suffer(suffering, setbacks)?;
        self.come_up(machine, &found)?;
        self.check_left_files()
    }

    /// Of what was left behind, the file of somebody else is there as it was, and the table that nothing names is gone.
    fn check_left_files(&mut self) -> Check {
        let read = |name| self.machine.read(&Path::new(DIR).join(name)).ok();
        if read(ORPHAN).is_some() {
            return Err(format!("{ORPHAN}, which nothing names, is still there"));
        }
        if read(FOREIGN).is_none_or(|bytes| bytes != LEFT) {
            return Err(format!("{FOREIGN}, a file of somebody else, is gone"));
        }
        Ok(())
    }

    /// Closes in order, and opens again.
    pub(super) fn close_and_open(&mut self) -> Check {
        let session = self.session.take().expect("open between steps");
        let closed = session.db.clone().close();
        // A segment that once failed cannot be sealed, also when the disk is well again.
        let may_fail = session.disk.fault_count() > 0;
        self.count_faults(&session.disk);
        drop(session);
        match closed {
            // Then the power may go, and nothing is lost.
            Ok(()) if self.planted != Planted::SkippedDirectorySync => {
                self.model.all_durable();
                let copy = self.machine.after_power_cut(self.counts.operations);
                let found = self.contents_of(&copy)?;
                self.model.clone().recovered(&found, true)?;
            }
            Ok(()) => {}
            Err(_) if may_fail => {}
            Err(error) => return Err(format!("a close failed on a disk that does not: {error}")),
        }
        // Whatever the close did, nothing that was acknowledged may be gone.
        let machine = self.machine.clone();
        let found = self.judge_state(&machine, false)?;
        self.come_up(machine, &found)
    }

    /// Ends a session without closing it in order: what it still does, it does to the machine that was left.
    fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.count_faults(&session.disk);
        }
    }

    fn count_faults(&mut self, disk: &FaultFs) {
        self.counts.faults += disk.fault_count();
    }

    /// What a copy of the machine holds when it comes up: a state that was promised, sound, and the same the second time.
    pub(super) fn judge_state(
        &mut self,
        machine: &MemFs,
        unsynced_may_be_lost: bool,
    ) -> Result<Found, String> {
        let copy = machine.after_kill();
        let found = self.contents_of(&copy)?;
        self.model.recovered(&found, unsynced_may_be_lost)?;
        let names = self.model.names().clone();
        same(
            &names,
            &found,
            &self.contents_of(&copy.after_kill())?,
            "the second time",
        )?;
        Ok(found)
    }

    /// Opens a machine as it is, reads everything, and leaves it without closing.
    fn contents_of(&mut self, machine: &MemFs) -> Result<Found, String> {
        self.counts.recoveries += 1;
        let db = self
            .open(&disk_of(machine, Planted::None))
            .map_err(|error| format!("a plain open failed: {error}"))?;
        let found = read_all(&db).map_err(|error| format!("a read failed: {error}"))?;
        let report = db.verify().map_err(|error| format!("verify failed: {error}"))?;
        if !report.is_sound() {
            return Err(format!("after a recovery verify finds {:?}", report.problems));
        }
        // Left as a killed process leaves it; the copy is thrown away.
        let survivor = machine.after_kill();
        drop(db);
        let db = self
            .open(&disk_of(&survivor, Planted::None))
            .map_err(|error| format!("a plain open after a recovery and a kill failed: {error}"))?;
        let again = read_all(&db).map_err(|error| format!("a read failed: {error}"))?;
        let names = self.model.names().clone();
        if found.keys().ne(again.keys()) {
            return Err("other keyspaces after a recovery and a kill".into());
        }
        same(&names, &found, &again, "after a recovery and a kill")?;
        Ok(found)
    }

    /// The recovery, disturbed.
    fn suffer(&mut self, mut state: Suffering, setbacks: &[Setback]) -> Result<Suffering, String> {
        for setback in setbacks {
            self.counts.recoveries += 1;
            let disk = disk_of(&state.machine, self.planted);
            let is_open = match setback {
                Setback::Crash(calls, how) => {
                    self.counts.crashes += 1;
                    disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(*calls));
                    // Whatever was opened goes on with the work that waits, until the machine goes down.
                    let opened = self.open(&disk);
                    if let Ok(db) = &opened {
                        drop(db.flush().and_then(|()| db.run_background_step()));
                    }
                    state.machine = down(&state.machine, *how);
                    self.has_old_log |= loses_unsynced(*how);
                    if loses_unsynced(*how) && opened.is_err() {
                        self.judge_again(&mut state)?;
                    }
                    opened.is_ok()
                }
                Setback::Fault(trouble) if self.is_fair(*trouble) => {
                    rules_of(*trouble, &self.clock)
                        .into_iter()
                        .for_each(|rule| disk.add(rule));
                    self.open_in_trouble(&disk, *trouble, &state.found)?
                }
                Setback::Fault(_) => false,
            };
            if is_open {
                // What was recovered is durable once the database is open.
                state.only_written = None;
            }
            self.count_faults(&disk);
        }
        Ok(state)
    }

    /// The power went before what a killed process had written was recovered: a part of it may be lost after all.
    pub(super) fn judge_again(&mut self, state: &mut Suffering) -> Check {
        if let Some(before) = state.only_written.take() {
            self.model = before;
            state.found = self.judge_state(&state.machine.clone(), true)?;
        }
        Ok(())
    }

    /// Two contents are the same.
    pub(super) fn is_same(&self, expected: &Found, answer: &Found, when: &str) -> Check {
        if expected.keys().ne(answer.keys()) {
            return Err(format!("other keyspaces {when}"));
        }
        same(self.model.names(), expected, answer, when)
    }

    /// A record that a power cut may have torn and one that is read wrong look the same.
    fn is_fair(&self, trouble: Trouble) -> bool {
        !(matches!(trouble.failing, Failing::Flip(_)) && self.has_old_log)
    }

    /// Opens on a disk that fails: an error, or a database that gives right answers or errors. Returns whether it was open.
    fn open_in_trouble(&self, disk: &FaultFs, trouble: Trouble, found: &Found) -> Result<bool, String> {
        let reads_wrong = trouble.target == Target::Reads;
        let db = match self.open(disk) {
            Ok(db) => db,
            Err(_) if disk.fault_count() > 0 => return Ok(false),
            Err(error) => return Err(format!("a plain open failed: {error}")),
        };
        match read_all(&db) {
            Ok(answer) => {
                same(
                    self.model.names(),
                    found,
                    &answer,
                    "after an open on a failing disk",
                )?;
                Ok(true)
            }
            Err(_) if reads_wrong => Ok(true),
            Err(error) => Err(format!("a read failed on a disk that reads well: {error}")),
        }
    }

    /// Opens for good.
    fn come_up(&mut self, machine: MemFs, found: &Found) -> Check {
        self.counts.recoveries += 1;
        let disk = disk_of(&machine, self.planted);
        let db = self
            .open(&disk)
            .map_err(|error| format!("a plain open failed: {error}"))?;
        self.machine = machine;
        let answer = read_all(&db).map_err(|error| format!("a read failed: {error}"))?;
        same(self.model.names(), found, &answer, "after the setbacks")?;
        let session = Session::new(db, disk, self.model.names()).map_err(|error| error.to_string())?;
        session.check_lookups(&self.model)?;
        self.session = Some(session);
        Ok(())
    }
}

/// Leaves a table nobody names and a file of somebody else, as a crash or a person may.
fn leave_files(machine: &MemFs) {
    for (name, bytes) in [(ORPHAN, TABLE_START), (FOREIGN, LEFT)] {
        if let Ok(mut file) = machine.create_new(&Path::new(DIR).join(name)) {
            drop(file.write_all(bytes));
            drop(file.sync());
        }
    }
    drop(machine.sync_dir(Path::new(DIR)));
}

fn same(names: &Names, expected: &Found, answer: &Found, when: &str) -> Check {
    let world = names
        .iter()
        .filter_map(|(&name, &incarnation)| {
            let map = expected.get(super::plan::NAMES[name])?;
            Some((incarnation, map.clone()))
        })
        .collect();
    match difference(names, &world, answer) {
        None => Ok(()),
        Some(different) => Err(format!("another state {when}: {different}")),
    }
}
