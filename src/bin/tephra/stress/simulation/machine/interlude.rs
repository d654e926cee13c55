//! Operations in the middle of a flush, a compaction or a checkpoint.
//!
//! They are played on the same thread, before one of the calls that the work makes to the file system, at a place where the work holds
//! no lock that they could want. What they came to is told to the model when the work has returned, in their order.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tephradb::vfs::{Calls, Fault, Interlude, Operation, Rule};
use tephradb::{Cancel, Db, Snapshot};

use super::super::handle::{Handle, write};
use super::super::model::State;
use super::super::plan::{Commit, Meanwhile};
use super::super::session::Session;
use super::Machine;

/// A call of the file system before which an interlude is played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    operation: Operation,
    path_contains: &'static str,
    skip_count: u64,
}

impl Place {
    /// One of the calls that build a table.
    pub(super) fn in_table(calls: u8) -> Place {
        Place {
            operation: [Operation::Create, Operation::Write, Operation::Sync][usize::from(calls % 3)],
            path_contains: ".table",
            skip_count: u64::from(calls / 3),
        }
    }

    /// The first link of a checkpoint.
    pub(super) fn at_link() -> Place {
        Place {
            operation: Operation::Link,
            path_contains: ".table",
            skip_count: 0,
        }
    }
}

/// Work that had an interlude.
pub(super) struct Played {
    /// What the work came to.
    pub(super) outcome: tephradb::Result<()>,
    /// The writer had stopped before it.
    pub(super) was_stopped: bool,
    /// It was told to end.
    pub(super) is_cancelled: bool,
    /// The states the database went through, from the call to the return.
    pub(super) states: Vec<State>,
}

/// What an operation came to.
enum Outcome {
    Done(tephradb::Result<()>),
    Snapshot(Snapshot),
}

/// One operation, with what it needs.
#[derive(Clone)]
struct Part {
    what: Meanwhile,
    /// The keyspace it is about, if it is about one.
    handle: Option<Handle>,
    /// Where a checkpoint goes.
    target: PathBuf,
}

impl Machine<'_> {
    /// Runs a call with an interlude at some place.
    pub(super) fn play(
        &mut self,
        place: Place,
        meanwhile: &[Meanwhile],
        call: impl FnOnce(&Session, &Cancel) -> tephradb::Result<()>,
    ) -> Result<Played, String> {
        let parts = self.parts_of(meanwhile);
        let was_stopped = self.session().is_stopped;
        let mut states = vec![self.model.state()];
        let outcomes: Arc<Mutex<Vec<Outcome>>> = Arc::default();
        let cancel = Cancel::new();
        let session = self.session.as_ref().expect("open between steps");
        let interlude = {
            let (db, handles, cancel) = (session.db.clone(), session.keyspaces.clone(), cancel.clone());
            let (parts, outcomes) = (parts.clone(), Arc::clone(&outcomes));
            Interlude::new(move || {
                for part in &parts {
                    let outcome = part.act(&db, &handles, &cancel);
                    outcomes.lock().expect("nobody panics with it").push(outcome);
                }
            })
        };
        if !parts.is_empty() {
            let rule = Rule::once(Calls::Only(place.operation), Fault::Interlude(interlude.clone()));
            let rule = rule.on(place.path_contains).after(place.skip_count);
            session.disk.add(rule);
            self.counts.interludes += 1;
        }
        let outcome = call(session, &cancel);
        interlude.cancel();
        let outcomes = std::mem::take(&mut *outcomes.lock().expect("nobody panics with it"));
        for (part, outcome) in parts.iter().zip(outcomes) {
            self.tell(part, outcome)?;
            states.push(self.model.state());
        }
        Ok(Played {
            outcome,
            was_stopped,
            is_cancelled: cancel.is_cancelled(),
            states,
        })
    }

    /// Those operations that make sense here.
    fn parts_of(&mut self, meanwhile: &[Meanwhile]) -> Vec<Part> {
        let mut gone = None;
        let mut parts = Vec::new();
        for what in meanwhile {
            let keyspaces = &self.session().keyspaces;
            let handle_of = |name: &usize| keyspaces.get(name).filter(|_| gone != Some(*name)).cloned();
            let (what, handle) = match what {
                Meanwhile::Commit(commit) => {
                    let mut writes = self.possible(&commit.writes);
                    writes.retain(|write| Some(write.keyspace) != gone);
                    if writes.is_empty() {
                        // A batch of nothing makes nothing durable.
                        continue;
                    }
                    let durability = commit.durability;
                    (Meanwhile::Commit(Commit { writes, durability }), None)
                }
                Meanwhile::Ingest(records) => match handle_of(&records.keyspace) {
                    None => continue,
                    handle => (what.clone(), handle),
                },
                Meanwhile::DropKeyspace(name) => match handle_of(name) {
                    Some(handle) if gone.is_none() && !self.model.names_are_uncertain() => {
                        gone = Some(*name);
                        (what.clone(), Some(handle))
                    }
                    _ => continue,
                },
                Meanwhile::TakeSnapshot | Meanwhile::Cancel | Meanwhile::Flush | Meanwhile::Checkpoint => {
                    (what.clone(), None)
                }
            };
            let target = self.next_target();
            parts.push(Part { what, handle, target });
        }
        parts
    }

    /// Tells the model what an operation of an interlude came to.
    fn tell(&mut self, part: &Part, outcome: Outcome) -> Result<(), String> {
        match (&part.what, outcome) {
            (_, Outcome::Snapshot(snapshot)) => {
                let session = self.session.as_mut().expect("open between steps");
                session.hold_snapshot(snapshot, &self.model);
                Ok(())
            }
            (Meanwhile::Flush, Outcome::Done(outcome)) => self.flushed(outcome).map(drop),
            (Meanwhile::Commit(commit), Outcome::Done(outcome)) => {
                let event = self.model.event(&commit.writes);
                self.committed(outcome, event, commit.durability)
            }
            (Meanwhile::Ingest(records), Outcome::Done(outcome)) => self.ingested(outcome, records),
            (Meanwhile::DropKeyspace(name), Outcome::Done(outcome)) => self.dropped(outcome, *name),
            (Meanwhile::Checkpoint, Outcome::Done(outcome)) => {
                let state = self.model.state();
                self.copied(outcome, &part.target, &[state])
            }
            (Meanwhile::TakeSnapshot | Meanwhile::Cancel, Outcome::Done(_)) => Ok(()),
        }
    }
}

impl Part {
    fn act(&self, db: &Db, handles: &std::collections::BTreeMap<usize, Handle>, cancel: &Cancel) -> Outcome {
        let outcome = match (&self.what, &self.handle) {
            (Meanwhile::TakeSnapshot, _) => return Outcome::Snapshot(db.snapshot()),
            (Meanwhile::Flush, _) => db.flush(),
            (Meanwhile::Commit(commit), _) => write(db, handles, &commit.writes, commit.durability),
            (Meanwhile::Ingest(records), Some(handle)) => handle.ingest(&records.sorted()),
            (Meanwhile::DropKeyspace(_), Some(handle)) => handle.drop_from(db),
            (Meanwhile::Checkpoint, _) => db.checkpoint(&self.target),
            (Meanwhile::Cancel, _) => {
                cancel.cancel();
                Ok(())
            }
            (Meanwhile::Ingest(_) | Meanwhile::DropKeyspace(_), None) => Ok(()),
        };
        Outcome::Done(outcome)
    }
}
