//! Commits and ingests.

use tephradb::Durability;

use super::super::handle::write;
use super::super::model::Event;
use super::super::plan::{Commit, Records, Write};
use super::{Check, Machine};

impl Machine<'_> {
    pub(super) fn commit(&mut self, commit: &Commit) -> Check {
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
    pub(super) fn possible(&mut self, writes: &[Write]) -> Vec<Write> {
        let keyspaces = &self.session().keyspaces;
        let exists = |write: &&Write| keyspaces.contains_key(&write.keyspace);
        writes.iter().filter(exists).cloned().collect()
    }

    /// Tells the model how a commit ended.
    pub(super) fn committed(
        &mut self,
        outcome: tephradb::Result<()>,
        event: Event,
        durability: Durability,
    ) -> Check {
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

    pub(super) fn ingest(&mut self, records: &Records) -> Check {
        let Some(handle) = self.session().keyspaces.get(&records.keyspace).cloned() else {
            return Ok(());
        };
        let outcome = handle.ingest(&records.sorted());
        self.ingested(outcome, records)
    }

    /// Tells the model how an ingest ended. One that succeeds is durable, and with it everything before it.
    pub(super) fn ingested(&mut self, outcome: tephradb::Result<()>, records: &Records) -> Check {
        let was_stopped = self.session().is_stopped;
        let event = self.model.event_of_records(records);
        if self.judge("an ingest", outcome)?.is_some() {
            if was_stopped {
                return Err("an ingest succeeded after the writer had stopped".into());
            }
            self.model.is_settled();
            self.model.acknowledge(event, true);
        } else if !was_stopped && self.session().is_stopped {
            self.model.is_uncertain(event);
        } else if !was_stopped {
            self.model.is_doubtful(event);
        }
        Ok(())
    }
}
