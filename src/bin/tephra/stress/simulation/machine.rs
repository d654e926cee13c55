//! Runs a history: does each step on the database and on the model, and compares.
//!
//! ```text
//! machine      the steps, the crash to come, the end of a history
//!   reads      look-ups, scans
//!   writes     commits, ingests
//!   keyspaces  creation, drop
//!   work       flush, compaction, verify; is anything left behind?
//!   interlude  operations in the middle of work
//!   copy       checkpoints
//!   judge      holds errors to their word
//! ```

mod copy;
mod interlude;
mod judge;
mod keyspaces;
mod reads;
mod work;
mod writes;

use std::sync::Arc;

use tephradb::Db;
use tephradb::clock::ManualClock;
use tephradb::vfs::{Calls, Fault, FaultFs, MemFs, Rule};

use super::generate::Plan;
use super::model::Model;
use super::plan::{Crash, Failing, Step, Trouble};
use super::session::{Session, disk_of, open, rules_of};
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
    /// Checkpoints begun.
    copy_count: u32,
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
        copy_count: 0,
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
            Step::Ingest(records) => self.ingest(records),
            Step::Get { keyspace, key } => self.get(*keyspace, key),
            Step::Scan {
                keyspace,
                from,
                to,
                backwards,
            } => self.scan(*keyspace, from, to, *backwards),
            Step::TakeSnapshot => {
                let session = self.session.as_mut().expect("open between steps");
                session.take_snapshot(&self.model);
                Ok(())
            }
            Step::ReadSnapshot => self.session().check_snapshots(),
            Step::DropSnapshot => {
                self.session().snapshots.pop_front();
                Ok(())
            }
            Step::CreateKeyspace(name) => self.create(*name),
            Step::DropKeyspace(name) => self.drop_keyspace(*name),
            Step::Flush => self.flush().map(drop),
            Step::Compact => self.compact_while(0, None, &[]),
            Step::CompactPart(part) => self.compact_while(0, Some(part), &[]),
            Step::Background => {
                let outcome = self.session().db.run_background_step();
                self.judge("background work", outcome)?;
                Ok(())
            }
            Step::Checkpoint(meanwhile) => self.checkpoint(meanwhile),
            Step::FlushWhile(calls, meanwhile) => self.flush_while(*calls, meanwhile),
            Step::CompactWhile(calls, part, meanwhile) => {
                self.compact_while(*calls, part.as_ref(), meanwhile)
            }
            Step::Verify => self.verify(),
            Step::Settle => self.settle(),
            Step::Reopen => self.reopen(),
            Step::Trouble(trouble) => {
                self.begin_trouble(*trouble);
                Ok(())
            }
            Step::Heal => self.heal(),
            Step::Crash(crash) => {
                self.arm(crash);
                Ok(())
            }
        }
    }

    fn begin_trouble(&mut self, trouble: Trouble) {
        let rules = rules_of(trouble, &self.clock);
        let session = self.session();
        session.may_be_flipped |= matches!(trouble.failing, Failing::Flip(_));
        rules.into_iter().for_each(|rule| session.disk.add(rule));
    }

    /// The disk is well again.
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
            self.model.is_settled();
        }
        Ok(())
    }

    /// One crash is to come at a time.
    fn arm(&mut self, crash: &Crash) {
        if self.armed.is_none() {
            let disk = &self.session().disk;
            disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(crash.after_calls));
            self.armed = Some(Armed {
                crash: crash.clone(),
                steps_left: crash.steps_max,
                faults_before: self.session().disk.fault_count(),
            });
        }
    }

    fn crash_now(&mut self) -> Check {
        let armed = self.armed.take().expect("only an armed crash happens");
        self.counts.crashes += 1;
        self.steps_stopped = 0;
        self.try_recoveries(&armed.crash.strides)?;
        self.go_down(armed.crash.down, &armed.crash.setbacks)
    }

    fn reopen(&mut self) -> Check {
        self.armed = None;
        self.steps_stopped = 0;
        self.close_and_open()
    }

    /// Everything promised is there, soundly, and when all is deleted nothing is left.
    fn finish(&mut self) -> Check {
        self.armed = None;
        self.heal()?;
        self.session().check_snapshots()?;
        self.reopen()?;
        self.verify()?;
        self.settle()?;
        self.reopen()?;
        let session = self.session.as_ref().expect("open between steps");
        session.check_contents(&self.model)?;
        session.check_lookups(&self.model)?;
        self.empty_out()
    }
}
