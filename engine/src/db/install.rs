//! Putting an edit in force: manifest, version, publication.

use std::collections::BTreeSet;
use std::sync::Arc;

use tephra_sstable::UnitKind;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::keyspace::KeyspaceCore;
use crate::keyspace_info::KeyspaceInfo;
use crate::limits::{self, KEYSPACE_NAME_LEN_BYTES_MAX};
use crate::options::KeyspaceOptions;
use crate::sorted_map::SortedMap;
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
        added: &SortedMap<u64, Arc<TableFile>>,
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
        added: &SortedMap<u64, Arc<TableFile>>,
        publish: impl FnOnce(Arc<Version>),
    ) -> Result<()> {
        if let Err(refusal) = self.check_writable() {
            added.values().for_each(|table| table.mark_obsolete());
            return Err(refusal);
        }
        let touched = versions.touched_by(edit);
        let version = versions
            .commit(edit, added, || self.next_file_number())
            .map_err(|failure| self.commit_failed(failure))?;
        publish(version);
        self.tables_changed(versions, touched);
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

    /// The next look for compactions is at keyspaces whose tables an edit has changed.
    fn tables_changed(&self, versions: &VersionSet, touched: BTreeSet<u32>) {
        if touched.is_empty() {
            return;
        }
        let mut schedule = self.schedule.lock();
        for keyspace in touched {
            match versions.cores().get(&keyspace) {
                Some(core) => schedule.changed(Arc::clone(core)),
                None => schedule.forget(keyspace),
            }
        }
        drop(schedule);
        self.work.request_compaction();
    }

    /// Makes certain that an edit that failed is not in force, if there is one.
    pub(crate) fn settle_doubt(&self) -> Result<()> {
        let settled = self.versions.lock().settle(|| self.next_file_number());
        settled.map_err(|failure| self.commit_failed(failure))
    }

    /// The error of an edit, or of what had to come before it.
    pub(super) fn commit_failed(&self, failure: CommitError) -> Error {
        match failure {
            CommitError::Refused(error) => error,
            CommitError::Final(failure) => self.stop_writing(failure),
        }
    }

    /// Opens or creates keyspaces of the same unit and settings. Those that are missing are created in one edit, all or none.
    pub(crate) fn keyspaces(
        &self,
        names: &[&str],
        unit: UnitKind,
        options: &KeyspaceOptions,
    ) -> Result<Vec<Arc<KeyspaceCore>>> {
        self.check_open()?;
        let settings = options.settings(unit)?;
        let mut versions = self.versions.lock();
        let mut missing = BTreeSet::new();
        for &name in names {
            check_name(name)?;
            match versions.core_named(name) {
                Some(core) if core.settings != settings => {
                    let (stored, asked) = core.settings.differences(&settings);
                    return Err(Error::KeyspaceMismatch {
                        name: name.to_owned(),
                        stored,
                        asked,
                    });
                }
                Some(_) => {}
                None => drop(missing.insert(name)),
            }
        }
        if !missing.is_empty() {
            let named = settings
                .law
                .as_deref()
                .and_then(|name| self.options.laws.find(name));
            if let Some(law) = options.law().or(named) {
                law.check_value_width(settings.value_width_units)?;
            }
            let state = versions.state();
            limits::check_keyspace_count(state.keyspaces.len(), state.next_keyspace, missing.len())?;
            let numbers = state.next_keyspace..;
            let create = |(number, name): (u32, &str)| Change::CreateKeyspace {
                number,
                name: name.to_owned(),
                settings: settings.clone(),
            };
            let edit = Edit {
                changes: numbers.zip(missing).map(create).collect(),
            };
            self.commit_edit(&mut versions, &edit, &SortedMap::new(), None)?;
        }
        let named = names
            .iter()
            .map(|name| Arc::clone(versions.core_named(name).expect("open or just created")));
        let cores: Vec<_> = named.collect();
        drop(versions);
        cores.iter().for_each(|core| self.teach(core, options));
        Ok(cores)
    }

    /// Gives a keyspace its law, and has done what waited for it.
    fn teach(&self, core: &Arc<KeyspaceCore>, options: &KeyspaceOptions) {
        if options.law().is_some_and(|law| core.learn(law.clone())) {
            self.schedule.lock().changed(Arc::clone(core));
            self.work.request_flush();
            self.work.request_compaction();
        }
    }

    /// The keyspace of a name, if there is one.
    pub(crate) fn existing_keyspace(&self, name: &str) -> Result<Option<Arc<KeyspaceCore>>> {
        self.check_open()?;
        Ok(self.versions.lock().core_named(name).map(Arc::clone))
    }

    /// The settings of all keyspaces, in the order they were created.
    pub(crate) fn keyspace_infos(&self) -> Vec<KeyspaceInfo> {
        let versions = self.versions.lock();
        versions
            .cores()
            .values()
            .map(|core| KeyspaceInfo::of(core))
            .collect()
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

    /// Makes everything committed so far durable, for an edit that must not outlive what came before it.
    pub(crate) fn sync_log(&self) -> Result<()> {
        let log = self.check_writable()?;
        log.sync()
            .map_err(|failure| self.stop_writing(Error::from_log(&self.directory, failure)))
    }

    /// Drops a keyspace with everything in it. What was committed before, in any keyspace, is durable then: it may hold what was taken from
    /// this one.
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
        self.sync_log()?;
        let edit = Edit {
            changes: vec![Change::DropKeyspace { number: core.number }],
        };
        self.commit_edit(&mut versions, &edit, &SortedMap::new(), None)?;
        core.dropped.store(true, std::sync::atomic::Ordering::Release);
        Ok(())
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.len() > KEYSPACE_NAME_LEN_BYTES_MAX {
        return Err(Error::KeyspaceNameTooLong {
            len_bytes: name.len(),
            limit_bytes: KEYSPACE_NAME_LEN_BYTES_MAX,
        });
    }
    Ok(())
}
