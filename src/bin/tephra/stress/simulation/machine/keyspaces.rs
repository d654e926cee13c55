//! Creation and drop of keyspaces.

use super::super::handle::Handle;
use super::super::plan::NAMES;
use super::{Check, Machine};

impl Machine<'_> {
    pub(super) fn create(&mut self, name: usize) -> Check {
        if self.model.names().contains_key(&name) || self.model.names_are_uncertain() {
            return Ok(());
        }
        let was_stopped = self.session().is_stopped;
        let outcome = Handle::open(&self.session().db, NAMES[name]);
        if let Some(handle) = self.judge("the creation of a keyspace", outcome)? {
            self.model.is_settled();
            self.model.create(name, true);
            self.session().keyspaces.insert(name, handle);
        } else if !was_stopped {
            // Until it is settled, a restart may find it.
            self.model.create(name, false);
        }
        Ok(())
    }

    pub(super) fn drop_keyspace(&mut self, name: usize) -> Check {
        let Some(handle) = self.session().keyspaces.get(&name).cloned() else {
            return Ok(());
        };
        if self.model.names_are_uncertain() {
            return Ok(());
        }
        let outcome = handle.drop_from(&self.session().db);
        self.dropped(outcome, name)
    }

    /// Tells the model how a drop ended.
    pub(super) fn dropped(&mut self, outcome: tephradb::Result<()>, name: usize) -> Check {
        let was_stopped = self.session().is_stopped;
        let is_certain = self.judge("the drop of a keyspace", outcome)?.is_some();
        if is_certain {
            let handle = self.session().keyspaces.remove(&name);
            if handle.is_some_and(|handle| handle.get(b"key00").is_ok()) {
                return Err("a dropped keyspace answers".into());
            }
            self.model.is_settled();
            self.model.all_durable();
            self.model.drop_keyspace(name, true);
        } else if !was_stopped {
            self.model.drop_keyspace(name, false);
            if self.session().is_stopped {
                // Whether it still answers is as unknown as whether it is still there.
                self.session().keyspaces.remove(&name);
            }
        }
        Ok(())
    }
}
