//! Putting an edit in force: manifest, version, publication.

use std::collections::BTreeMap;
use std::sync::Arc;

use tephra_sstable::UnitKind;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::keyspace::KeyspaceCore;
use crate::limits::KEYSPACE_NAME_LEN_BYTES_MAX;
use crate::options::KeyspaceOptions;
use crate::table_file::TableFile;
use crate::version::{Change, CommitError, Edit, Version, VersionSet};

impl Engine {
    /// Commits an edit and publishes the version after it. Where it is refused, the added tables go, or stay until it is settled
    /// that a restart will not find it. A failed sync of the manifest stops the writer for good: nobody knows then
    /// whether the edit will be in force after a restart, so no file it names may be removed.
    pub(crate) fn commit_edit(
        &self,
        versions: &mut VersionSet,
        edit: &Edit,
        added: &BTreeMap<u64, Arc<TableFile>>,
        flushed_segment: Option<u64>,
    ) -> Result<()> {
        let publish = |version| self.publish(version, flushed_segment);
        self.commit_edit_then(versions, edit, added, publish)
    }

    /// As [`commit_edit`](Self::commit_edit), with the publication left to the caller.
    pub(crate) fn commit_edit_then(
        &self,
        versions: &mut VersionSet,
        edit: &Edit,
        added: &BTreeMap<u64, Arc<TableFile>>,
        publish: impl FnOnce(Arc<Version>),
    ) -> Result<()> {
        if let Err(refusal) = self.check_writable() {
            added.values().for_each(|table| table.mark_obsolete());
            return Err(refusal);
        }
        let version = versions
            .commit(edit, added, || self.next_file_number())
            .map_err(|failure| self.commit_failed(failure))?;
        publish(version);
        for file in added.values() {
            self.events().emit(|| Event::TableCreated {
                number: file.number(),
                level: file.record().level,
                len_bytes: file.len_bytes(),
            });
        }
        versions
            .roll_over_if_long(|| self.next_file_number())
            .map_err(|failure| self.stop_writing(failure))
    }

    /// The error of an edit, or of what had to come before it.
    pub(super) fn commit_failed(&self, failure: CommitError) -> Error {
        match failure {
            CommitError::Refused(error) => error,
            CommitError::Final(failure) => self.stop_writing(failure),
        }
    }

    /// Opens or creates a keyspace.
    pub(crate) fn keyspace(
        &self,
        name: &str,
        unit: UnitKind,
        options: &KeyspaceOptions,
    ) -> Result<Arc<KeyspaceCore>> {
        self.check_open()?;
        if name.len() > KEYSPACE_NAME_LEN_BYTES_MAX {
            let (len_bytes, limit_bytes) = (name.len(), KEYSPACE_NAME_LEN_BYTES_MAX);
            return Err(Error::KeyspaceNameTooLong {
                len_bytes,
                limit_bytes,
            });
        }
        let settings = options.settings(unit)?;
        let mut versions = self.versions.lock();
        if let Some(core) = versions.core_named(name) {
            if core.settings != settings {
                return Err(Error::KeyspaceMismatch {
                    name: name.to_owned(),
                    stored: core.settings.to_string(),
                    asked: settings.to_string(),
                });
            }
            let core = Arc::clone(core);
            drop(versions);
            self.teach(&core, options);
            return Ok(core);
        }
        let number = versions.state().next_keyspace;
        let edit = Edit {
            changes: vec![Change::CreateKeyspace {
                number,
                name: name.to_owned(),
                settings,
            }],
        };
        self.commit_edit(&mut versions, &edit, &BTreeMap::new(), None)?;
        let core = Arc::clone(&versions.cores()[&number]);
        drop(versions);
        self.teach(&core, options);
        Ok(core)
    }

    /// Gives a keyspace its law, and has done what waited for it.
    fn teach(&self, core: &KeyspaceCore, options: &KeyspaceOptions) {
        if options.law().is_some_and(|law| core.learn(law.clone())) {
            self.work.request_flush();
            self.work.request_compaction();
        }
    }

    /// Names of all keyspaces, in the order they were created.
    pub(crate) fn keyspace_names(&self) -> Vec<String> {
        self.versions
            .lock()
            .cores()
            .values()
            .map(|core| core.name.clone())
            .collect()
    }

    /// Drops a keyspace with everything in it.
    pub(crate) fn drop_keyspace(&self, core: &KeyspaceCore) -> Result<()> {
        self.check_writable()?;
        if core.number == crate::keyspace::DEFAULT_KEYSPACE {
            return Err(Error::InvalidOption {
                option: "keyspace",
                reason: "the default keyspace cannot be dropped".into(),
            });
        }
        let mut versions = self.versions.lock();
        if !versions.cores().contains_key(&core.number) {
            return Err(Error::KeyspaceDropped {
                name: core.name.clone(),
            });
        }
        let edit = Edit {
            changes: vec![Change::DropKeyspace { number: core.number }],
        };
        self.commit_edit(&mut versions, &edit, &BTreeMap::new(), None)?;
        core.dropped.store(true, std::sync::atomic::Ordering::Release);
        Ok(())
    }
}
