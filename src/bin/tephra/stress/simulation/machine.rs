//! Runs a history: does each step on the database and on the model, and compares.
//!
//! Errors are held to their word. One that leaves the database usable changed nothing, now or after a crash. One that stops the writer
//! may have come before or after its batch reached the log: readers see it whole or not at all, a recovery finds it or not. No error at
//! all comes from a disk that does not fail.

use std::sync::{Arc, Mutex};

use tephradb::clock::ManualClock;
use tephradb::vfs::{Calls, Fault, FaultFs, Interlude, MemFs, Operation, Rule};
use tephradb::{Db, Durability, Error, Keyspace, Usability};

use super::generate::Plan;
use super::model::{Event, Model};
use super::plan::{Change, Commit, Crash, Failing, Meanwhile, NAMES, Step, Write};
use super::session::{Session, disk_of, open, read_map, rule_of};
use super::{Check, Counts, Planted};

/// Steps after which a database whose writer has stopped is opened again.
const STEPS_STOPPED_MAX: usize = 4;

/// A crash to come.
struct Armed {
    crash: Crash,
    steps_left: usize,
    faults_before: u64,
}

/// The machine, the database on it, and what it promised.
pub(super) struct Machine<'a> {
    pub(super) plan: &'a Plan,
    pub(super) planted: Planted,
    pub(super) clock: Arc<ManualClock>,
    pub(super) machine: MemFs,
    /// `None` only while the machine is down.
    pub(super) session: Option<Session>,
    pub(super) model: Model,
    pub(super) counts: &'a mut Counts,
    /// The log holds records that were written before the last power cut: of those nobody can tell a torn one from one read wrong.
    pub(super) has_old_log: bool,
    armed: Option<Armed>,
    steps_stopped: usize,
}

/// Runs all steps. `at` is always the number of the one that runs.
pub(super) fn run(plan: &Plan, planted: Planted, counts: &mut Counts, at: &mut usize) -> Check {
    let mut machine = Machine {
        plan,
        planted,
        clock: Arc::default(),
        machine: MemFs::new(),
        session: None,
        model: Model::new(),
        counts,
        has_old_log: false,
        armed: None,
        steps_stopped: 0,
    };
    machine.start()?;
    for (number, step) in plan.steps.iter().enumerate() {
        *at = number;
        machine.step(step)?;
    }
    machine.finish()
}

impl Machine<'_> {
    fn start(&mut self) -> Check {
        self.machine = self.come_into_being(&self.plan.creation)?;
        let disk = disk_of(&self.machine, self.planted);
        let db = self
            .open(&disk)
            .map_err(|error| format!("a new database cannot be opened: {error}"))?;
        let session = Session::new(db, disk, self.model.names()).map_err(|error| error.to_string())?;
        self.session = Some(session);
        Ok(())
    }

    /// Opens the database on a disk.
    pub(super) fn open(&self, disk: &FaultFs) -> tephradb::Result<Db> {
        open(disk, &self.plan.settings, self.planted, &self.clock)
    }

    pub(super) fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("open between steps")
    }

    fn step(&mut self, step: &Step) -> Check {
        self.counts.operations += 1;
        self.clock.advance_ms(1);
        self.act(step)?;
        self.look()?;
        if let Some(armed) = &mut self.armed {
            armed.steps_left = armed.steps_left.saturating_sub(1);
            let session = self.session.as_ref().expect("open between steps");
            if session.disk.fault_count() > armed.faults_before || armed.steps_left == 0 {
                return self.crash_now();
            }
        } else if self.session().is_stopped {
            self.steps_stopped += 1;
            if self.steps_stopped > STEPS_STOPPED_MAX {
                return self.reopen();
            }
        }
        Ok(())
    }

    fn act(&mut self, step: &Step) -> Check {
        match step {
            Step::Commit { commit, .. } => self.commit(commit),
            Step::Get { keyspace, key } => {
                let Some(handle) = self.session().keyspaces.get(keyspace).cloned() else {
                    return Ok(());
                };
                let expected = self.model.map(self.model.names()[keyspace]);
                let found = self.session().read("a look-up", handle.get(key))?;
                match found {
                    Some(found) if found.as_deref() != expected.get(key).map(Vec::as_slice) => Err(format!(
                        "a look-up: expected {}, found {}",
                        super::model::shown(expected.get(key).map(Vec::as_slice)),
                        super::model::shown(found.as_deref())
                    )),
                    _ => Ok(()),
                }
            }
            Step::Scan {
                keyspace,
                from,
                to,
                backwards,
            } => self.scan(*keyspace, from, to, *backwards),
            Step::TakeSnapshot => {
                let model = &self.model;
                self.session
                    .as_mut()
                    .expect("open between steps")
                    .take_snapshot(model);
                Ok(())
            }
            Step::ReadSnapshot => self.session().check_snapshot(),
            Step::DropSnapshot => {
                self.session().snapshots.pop_front();
                Ok(())
            }
            Step::CreateKeyspace(name) => self.create(*name),
            Step::DropKeyspace(name) => self.drop_keyspace(*name),
            Step::Flush => self.flush().map(drop),
            Step::Compact => {
                let outcome = self.session().db.compact();
                self.judge("a compaction", outcome)?;
                Ok(())
            }
            Step::Background => {
                let outcome = self.session().db.run_background_step();
                self.judge("background work", outcome)?;
                Ok(())
            }
            Step::FlushWhile(calls, meanwhile) => self.flush_while(*calls, meanwhile),
            Step::CompactWhile(calls, meanwhile) => self.compact_while(*calls, meanwhile),
            Step::Verify => self.verify(),
            Step::Settle => self.settle(),
            Step::Reopen => self.reopen(),
            Step::Trouble(trouble) => {
                let session = self.session();
                session.may_be_flipped |= matches!(trouble.failing, Failing::Flip(_));
                rule_of(*trouble)
                    .into_iter()
                    .for_each(|rule| session.disk.add(rule));
                Ok(())
            }
            Step::Heal => self.heal(),
            Step::Crash(crash) => {
                if self.armed.is_none() {
                    let disk = &self.session().disk;
                    disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(crash.after_calls));
                    self.armed = Some(Armed {
                        crash: crash.clone(),
                        steps_left: crash.steps_max,
                        faults_before: self.session().disk.fault_count(),
                    });
                }
                Ok(())
            }
        }
    }

    fn heal(&mut self) -> Check {
        if self.armed.is_some() {
            return Ok(());
        }
        let planted = self.planted;
        let session = self.session();
        session.disk.heal();
        session.forgiven_count = session.disk.fault_count();
        planted.plant_in_disk(&session.disk);
        // A page that was read wrong stays wrong, and a writer that has stopped stays stopped.
        let outcome = self.session().db.resume();
        if self.judge("a resumption", outcome)?.is_some() {
            self.model.names_are_settled();
        }
        Ok(())
    }

    /// Holds an error to its word; `None` for one that may be.
    fn judge<T>(&mut self, what: &str, outcome: tephradb::Result<T>) -> Result<Option<T>, String> {
        let was_stopped = self.session().is_stopped;
        self.judge_since(was_stopped, what, outcome)
    }

    /// As [`Machine::judge`], of a call that began when the writer had stopped, or not.
    fn judge_since<T>(
        &mut self,
        was_stopped: bool,
        what: &str,
        outcome: tephradb::Result<T>,
    ) -> Result<Option<T>, String> {
        let error = match outcome {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let session = self.session();
        let is_excused = session.has_faults() || session.may_be_flipped || session.is_stopped;
        if matches!(error, Error::DropInDoubt { .. }) && self.model.names_are_uncertain() {
            return Ok(None);
        }
        let session = self.session();
        if !is_excused {
            return Err(format!("{what} failed on a disk that does not: {error}"));
        }
        match error.usability() {
            Usability::Usable if was_stopped && !session.may_be_flipped => Err(format!(
                "{what}: the writer has stopped, and the error calls the database usable: {error}"
            )),
            Usability::Usable => Ok(None),
            Usability::ReadsOnly if matches!(error, Error::WriterStopped { .. }) => {
                session.is_stopped = true;
                Ok(None)
            }
            _ => Err(format!("{what} failed as nothing that is open may fail: {error}")),
        }
    }

    /// After a batch that stopped the writer: readers see it whole or not at all.
    fn look(&mut self) -> Check {
        let Some(session) = &self.session else {
            return Ok(());
        };
        if !session.has_faults() {
            return Ok(());
        }
        let seen = session.check_contents(&self.model);
        if seen.is_err() && session.is_stopped {
            let mut other = self.model.clone();
            other.uncertain_is_visible();
            if session.check_contents(&other).is_ok() {
                self.model = other;
                return Ok(());
            }
        }
        seen.map_err(|different| format!("after an error: {different}"))
    }

    fn commit(&mut self, commit: &Commit) -> Check {
        let writes = self.possible(&commit.writes);
        if writes.is_empty() {
            return Ok(());
        }
        let event = self.model.event(&writes);
        let session = self.session();
        let outcome = write(&session.db, &session.keyspaces, &writes, commit.durability);
        self.committed(outcome, event, commit.durability)
    }

    /// Those writes whose keyspace exists.
    fn possible(&mut self, writes: &[Write]) -> Vec<Write> {
        let keyspaces = &self.session().keyspaces;
        let exists = |write: &&Write| keyspaces.contains_key(&write.keyspace);
        writes.iter().filter(exists).cloned().collect()
    }

    /// Tells the model how a commit ended.
    fn committed(&mut self, outcome: tephradb::Result<()>, event: Event, durability: Durability) -> Check {
        let was_stopped = self.session().is_stopped;
        if self.judge("a commit", outcome)?.is_some() {
            if was_stopped {
                return Err("a commit succeeded after the writer had stopped".into());
            }
            self.model.acknowledge(event, durability == Durability::Sync);
        } else if self.session().is_stopped && !was_stopped {
            self.model.is_uncertain(event);
        }
        Ok(())
    }

    fn scan(&mut self, keyspace: usize, from: &[u8], to: &[u8], backwards: bool) -> Check {
        let session = self.session.as_ref().expect("open between steps");
        let Some(handle) = session.keyspaces.get(&keyspace) else {
            return Ok(());
        };
        let range = handle.range(from..to);
        let found = if backwards {
            let items = range
                .rev()
                .map(|item| item.map(|(k, v)| (k.into_vec(), v.to_vec())));
            items.collect()
        } else {
            read_map(range)
        };
        let Some(found) = session.read("a scan", found)? else {
            return Ok(());
        };
        let mut expected = self.model.map(self.model.names()[&keyspace]);
        expected.retain(|key, _| key.as_slice() >= from && key.as_slice() < to);
        super::model::difference_of_maps(NAMES[keyspace], &expected, &found).map_or(Ok(()), Err)
    }

    fn create(&mut self, name: usize) -> Check {
        if self.model.names().contains_key(&name) || self.model.names_are_uncertain() {
            return Ok(());
        }
        let was_stopped = self.session().is_stopped;
        let outcome = self
            .session()
            .db
            .keyspace(NAMES[name], super::settings::options_of(NAMES[name]));
        if let Some(keyspace) = self.judge("the creation of a keyspace", outcome)? {
            self.model.create(name, true);
            self.session().keyspaces.insert(name, keyspace);
        } else if !was_stopped {
            // Until it is settled, a restart may find it.
            self.model.create(name, false);
        }
        Ok(())
    }

    fn drop_keyspace(&mut self, name: usize) -> Check {
        let Some(keyspace) = self.session().keyspaces.get(&name).cloned() else {
            return Ok(());
        };
        if self.model.names_are_uncertain() {
            return Ok(());
        }
        let was_stopped = self.session().is_stopped;
        let outcome = self.session().db.drop_keyspace(&keyspace);
        let is_certain = self.judge("the drop of a keyspace", outcome)?.is_some();
        if is_certain {
            if keyspace.get(b"key00").is_ok() {
                return Err("a dropped keyspace answers".into());
            }
            self.model.drop_keyspace(name, true);
            self.session().keyspaces.remove(&name);
        } else if !was_stopped {
            self.model.drop_keyspace(name, false);
            if self.session().is_stopped {
                // Whether it still answers is as unknown as whether it is still there.
                self.session().keyspaces.remove(&name);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<bool, String> {
        let outcome = self.session().db.flush();
        let is_done = self.judge("a flush", outcome)?.is_some();
        if is_done {
            self.model.all_durable();
            self.has_old_log = false;
        }
        Ok(is_done)
    }

    /// A flush with commits in its middle.
    fn flush_while(&mut self, calls: u8, meanwhile: &[Meanwhile]) -> Check {
        // With many memtables waiting a commit would wait for the flush it is in the middle of.
        let waiting = self.session().db.stats().frozen_memtable_count + meanwhile.len();
        if waiting + 2 >= self.plan.settings.frozen_memtables_max {
            return self.flush().map(drop);
        }
        // What was committed in its middle is not what the flush was asked for.
        let asked_for = self.model.acknowledged_count();
        if self.play(calls, meanwhile, |session| session.db.flush())? {
            self.model.durable_through(asked_for);
        }
        Ok(())
    }

    /// A compaction with commits and a flush in its middle: deletes that come after the compaction has read its input.
    fn compact_while(&mut self, calls: u8, meanwhile: &[Meanwhile]) -> Check {
        if !self.flush()? {
            return Ok(());
        }
        self.play(calls, meanwhile, |session| session.db.compact())
            .map(drop)
    }

    /// Runs a call with an interlude at one of its writes to tables. Returns whether the call succeeded.
    fn play(
        &mut self,
        calls: u8,
        meanwhile: &[Meanwhile],
        call: impl FnOnce(&Session) -> tephradb::Result<()>,
    ) -> Result<bool, String> {
        let meanwhile: Vec<Meanwhile> = meanwhile
            .iter()
            .map(|what| match what {
                Meanwhile::Flush => Meanwhile::Flush,
                Meanwhile::Commit(commit) => Meanwhile::Commit(Commit {
                    writes: self.possible(&commit.writes),
                    durability: commit.durability,
                }),
            })
            // A batch of nothing makes nothing durable.
            .filter(|what| !matches!(what, Meanwhile::Commit(commit) if commit.writes.is_empty()))
            .collect();
        let was_stopped = self.session().is_stopped;
        let outcomes: Arc<Mutex<Vec<tephradb::Result<()>>>> = Arc::default();
        let session = self.session.as_ref().expect("open between steps");
        let interlude = {
            let (db, keyspaces) = (session.db.clone(), session.keyspaces.clone());
            let (script, outcomes) = (meanwhile.clone(), Arc::clone(&outcomes));
            Interlude::new(move || {
                for what in &script {
                    let outcome = match what {
                        Meanwhile::Flush => db.flush(),
                        Meanwhile::Commit(commit) => {
                            write(&db, &keyspaces, &commit.writes, commit.durability)
                        }
                    };
                    outcomes.lock().expect("nobody panics with it").push(outcome);
                }
            })
        };
        // While a table is built no lock is held that an operation could want.
        let operation = [Operation::Create, Operation::Write, Operation::Sync][usize::from(calls % 3)];
        let at_table = Rule::once(Calls::Only(operation), Fault::Interlude(interlude.clone()));
        session
            .disk
            .add(at_table.on(".table").after(u64::from(calls / 3)));
        let outcome = call(session);
        interlude.cancel();
        self.counts.interludes += 1;
        let outcomes = std::mem::take(&mut *outcomes.lock().expect("nobody panics with it"));
        for (what, outcome) in meanwhile.iter().zip(outcomes) {
            match what {
                Meanwhile::Flush => {
                    if self.judge("a flush", outcome)?.is_some() {
                        self.model.all_durable();
                    }
                }
                Meanwhile::Commit(commit) => {
                    let event = self.model.event(&commit.writes);
                    self.committed(outcome, event, commit.durability)?;
                }
            }
        }
        let outcome = self.judge_since(was_stopped, "work with an interlude", outcome)?;
        Ok(outcome.is_some())
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

    fn crash_now(&mut self) -> Check {
        let armed = self.armed.take().expect("only an armed crash happens");
        self.counts.crashes += 1;
        self.steps_stopped = 0;
        self.go_down(armed.crash.down, &armed.crash.setbacks)
    }

    fn reopen(&mut self) -> Check {
        self.armed = None;
        self.steps_stopped = 0;
        self.close_and_open()
    }

    fn finish(&mut self) -> Check {
        self.armed = None;
        self.heal()?;
        self.reopen()?;
        self.verify()?;
        self.settle()?;
        self.reopen()?;
        let session = self.session.as_ref().expect("open between steps");
        session.check_contents(&self.model)?;
        session.check_lookups(&self.model)
    }
}

/// One commit.
fn write(
    db: &tephradb::Db,
    keyspaces: &std::collections::BTreeMap<usize, Keyspace>,
    writes: &[Write],
    durability: Durability,
) -> tephradb::Result<()> {
    let mut batch = db.batch();
    for write in writes {
        let keyspace = &keyspaces[&write.keyspace];
        match &write.change {
            Change::Put(key, value) if writes.len() == 1 => {
                return keyspace.put_with(key, value.bytes(), durability);
            }
            Change::Delete(key) if writes.len() == 1 => return keyspace.delete_with(key, durability),
            Change::Put(key, value) => batch.put(keyspace, key, value.bytes()),
            Change::Delete(key) => batch.delete(keyspace, key),
            Change::DeleteRange(from, to) => batch.delete_range(keyspace, from.as_slice()..to.as_slice()),
            Change::Clear => batch.clear(keyspace),
            Change::Merge(key, value) => batch.merge(keyspace, key, value.bytes()),
        };
    }
    batch.commit(durability)
}
