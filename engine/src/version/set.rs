//! The one place where versions change.
//!
//! A caller that holds the set's lock makes an edit against a version that cannot change under it; [`VersionSet::commit`]
//! writes it to the manifest and gives back the version after it, for the caller to publish. No reader and no writer of
//! keys ever waits for this lock.
//!
//! ```text
//!             write failed (no room, say)          next commit, or resume: a new manifest with the state before
//!  certain  ------------------------------> in doubt ---------------------------------------------------------> certain
//!     '------------- a sync failed: the caller stops the writer for good
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::doubt::Doubt;
use super::edit::{Change, Edit};
use super::manifest::Manifest;
use super::state::ManifestState;
use super::version::Version;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::keyspace::{KeyspaceCore, Keyspaces};
use crate::law::Laws;
use crate::options::Options;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;

/// The current version, the state behind it, and the manifest that remembers both.
#[derive(Debug)]
pub(crate) struct VersionSet {
    directory: Directory,
    /// `None` in a database opened for reading only.
    manifest: Option<Manifest>,
    state: ManifestState,
    current: Arc<Version>,
    /// What the handles of each keyspace share.
    cores: Keyspaces,
    /// The numbers of the keyspaces, by name.
    numbers: BTreeMap<String, u32>,
    laws: Laws,
    manifest_bytes_max: u64,
    /// Set while nobody knows what a restart would find.
    doubt: Option<Doubt>,
    /// Length of the manifest in force when it held its snapshot alone.
    snapshot_len_bytes: u64,
}

/// Why an edit is not in force.
#[derive(Debug)]
pub(crate) enum CommitError {
    /// It was not attempted, or not to the end; a later one may succeed.
    Refused(Error),
    /// Nothing may be written any more.
    Final(Error),
}

type Outcome<T> = std::result::Result<T, CommitError>;

/// What the handles of the keyspaces of a manifest share, with the laws that are known.
pub(crate) fn cores_of(state: &ManifestState, laws: &Laws) -> Keyspaces {
    let keyspaces = state.keyspaces.iter();
    let cores = keyspaces.map(|(&number, keyspace)| {
        let core = KeyspaceCore::new(number, &keyspace.name, keyspace.settings.clone(), laws);
        (number, core)
    });
    cores.collect()
}

impl VersionSet {
    /// A set at `state`, whose tables are all in `files` and whose keyspaces are `cores`.
    pub(crate) fn new(
        directory: Directory,
        manifest: Option<Manifest>,
        state: ManifestState,
        files: &SortedMap<u64, Arc<TableFile>>,
        cores: Keyspaces,
        options: &Options,
    ) -> Self {
        let current = Arc::new(Version::of_state(&state, files));
        let numbers = cores.values().map(|core| (core.name.clone(), core.number));
        let numbers = numbers.collect();
        let snapshot_len_bytes = manifest.as_ref().map_or(0, Manifest::len_bytes);
        VersionSet {
            directory,
            manifest,
            state,
            current,
            cores,
            numbers,
            laws: options.laws.clone(),
            manifest_bytes_max: options.manifest_bytes,
            doubt: None,
            snapshot_len_bytes,
        }
    }

    /// The version in force.
    pub(crate) fn current(&self) -> &Arc<Version> {
        &self.current
    }

    /// What the manifest says.
    pub(crate) fn state(&self) -> &ManifestState {
        &self.state
    }

    /// The keyspaces.
    pub(crate) fn cores(&self) -> &Keyspaces {
        &self.cores
    }

    /// The keyspace of a name.
    pub(crate) fn core_named(&self, name: &str) -> Option<&Arc<KeyspaceCore>> {
        self.cores.get(self.numbers.get(name)?)
    }

    /// The keyspaces whose tables an edit changes, or that it drops. To be asked before it is in force.
    pub(crate) fn touched_by(&self, edit: &Edit) -> BTreeSet<u32> {
        let keyspace_of = |number: &u64| self.state.tables.get(number).map(|table| table.record.keyspace);
        let touched = edit.changes.iter().filter_map(|change| match change {
            Change::AddTable(record) => Some(record.keyspace),
            Change::DropKeyspace { number } => Some(*number),
            Change::RemoveTable { number } | Change::MoveTable { number, .. } => keyspace_of(number),
            Change::Kill { table, .. } => keyspace_of(table),
            _ => None,
        });
        touched.collect()
    }

    /// Length of the manifest in bytes.
    pub(crate) fn manifest_len_bytes(&self) -> u64 {
        self.manifest.as_ref().map_or(0, Manifest::len_bytes)
    }

    /// Number of the manifest in force.
    pub(crate) fn manifest_number(&self) -> Option<u64> {
        self.manifest.as_ref().map(Manifest::number)
    }

    /// Puts an edit in force. `added` holds the tables it adds, open. Tables it removes are marked: they are unlinked when
    /// the last view of them goes. After an error nothing has changed in memory; where nobody knows whether a restart would find the
    /// edit, the set keeps its files until that is settled, before the next edit.
    ///
    /// `number` gives numbers for new manifests.
    pub(crate) fn commit(
        &mut self,
        edit: &Edit,
        added: &SortedMap<u64, Arc<TableFile>>,
        number: impl Fn() -> u64,
    ) -> Outcome<Arc<Version>> {
        if let Err(error) = self.settle(&number) {
            added.values().for_each(|table| table.mark_obsolete());
            return Err(error);
        }
        if let Err(error) = self.manifest_mut().append(edit) {
            if error.is_failed_sync() {
                return Err(CommitError::Final(error));
            }
            self.doubt = Some(Doubt {
                manifests: Vec::new(),
                added: added.values().cloned().collect(),
                dropped: self.dropped_by(edit),
            });
            // Often it was this one call that failed.
            return match self.settle(&number) {
                Err(CommitError::Final(failure)) => Err(CommitError::Final(failure)),
                _ => Err(CommitError::Refused(error)),
            };
        }
        let next = Arc::new(self.current.after(edit, &self.state, added));
        self.mark_removed(edit);
        self.state
            .apply(edit)
            .expect("the engine makes no edit that contradicts its own manifest");
        self.update_cores(edit);
        self.current = Arc::clone(&next);
        Ok(next)
    }

    fn manifest_mut(&mut self) -> &mut Manifest {
        self.manifest
            .as_mut()
            .expect("a database opened for reading only makes no edits")
    }

    /// The keyspace that an edit drops. It takes no writes from here on: they would be lost if the edit turned out to be in force.
    fn dropped_by(&self, edit: &Edit) -> Option<Arc<KeyspaceCore>> {
        let number = edit.changes.iter().find_map(|change| match change {
            Change::DropKeyspace { number } => Some(number),
            _ => None,
        })?;
        let core = self.cores.get(number)?;
        core.drop_in_doubt
            .store(true, std::sync::atomic::Ordering::Release);
        Some(Arc::clone(core))
    }

    /// Ends a doubt by a new manifest with the state in memory. Does nothing where there is none.
    pub(crate) fn settle(&mut self, number: impl Fn() -> u64) -> Outcome<()> {
        if self.doubt.is_none() {
            return Ok(());
        }
        self.replace_manifest(number())
    }

    fn mark_removed(&self, edit: &Edit) {
        for change in &edit.changes {
            match change {
                Change::RemoveTable { number } => {
                    let keyspace = self.state.tables.get(number).map(|table| table.record.keyspace);
                    let view = keyspace.and_then(|keyspace| self.current.keyspace(keyspace));
                    let mut tables = view.into_iter().flat_map(|view| view.tables());
                    let gone = tables.find(|table| table.file.number() == *number);
                    gone.expect("a removed table is in the version")
                        .file
                        .mark_obsolete();
                }
                Change::DropKeyspace { number } => {
                    let tables = self.current.keyspace(*number).map(|view| view.tables());
                    tables
                        .into_iter()
                        .flatten()
                        .for_each(|table| table.file.mark_obsolete());
                }
                _ => {}
            }
        }
    }

    fn update_cores(&mut self, edit: &Edit) {
        for change in &edit.changes {
            match change {
                Change::CreateKeyspace {
                    number,
                    name,
                    settings,
                } => {
                    let core = KeyspaceCore::new(*number, name, settings.clone(), &self.laws);
                    self.cores.insert(*number, core);
                    self.numbers.insert(name.clone(), *number);
                }
                Change::DropKeyspace { number } => {
                    if let Some(core) = self.cores.remove(number) {
                        self.numbers.remove(&core.name);
                    }
                }
                _ => {}
            }
        }
    }

    /// Ends the manifest in order; see [`Manifest::seal`]. No edit may follow. One that is in doubt is left as it is.
    pub(crate) fn seal(&mut self) -> Result<()> {
        match &mut self.manifest {
            Some(manifest) if self.doubt.is_none() => manifest.seal(),
            _ => Ok(()),
        }
    }

    /// Starts a new manifest if the one in force has grown past its limit, and to twice its snapshot: a large state is not written
    /// again for every few edits. Where that fails the old one goes on, or the next edit
    /// settles which of them is in force; an error means that nothing may be written any more.
    pub(crate) fn roll_over_if_long(&mut self, number: impl FnOnce() -> u64) -> Result<()> {
        let Some(manifest) = &self.manifest else {
            return Ok(());
        };
        if manifest.len_bytes()
            < self
                .manifest_bytes_max
                .max(self.snapshot_len_bytes.saturating_mul(2))
        {
            return Ok(());
        }
        match self.replace_manifest(number()) {
            Err(CommitError::Final(failure)) => Err(failure),
            _ => Ok(()),
        }
    }

    /// Writes a manifest with the state in memory and puts it in force, which ends all doubt.
    ///
    /// The state takes `next_file` along, so that numbers given out but not yet named stay used.
    fn replace_manifest(&mut self, number: u64) -> Outcome<()> {
        self.state.next_file = self.state.next_file.max(number + 1);
        let manifest = match Manifest::write(&self.directory, number, &self.state) {
            Ok(manifest) => manifest,
            Err(error) => {
                drop(self.directory.remove(FileName::Manifest(number)));
                return Err(CommitError::Refused(error));
            }
        };
        if let Err(error) = manifest.put_in_force(&self.directory) {
            if error.is_failed_sync() {
                return Err(CommitError::Final(error));
            }
            // It says what the one before says, so either may be in force; but nothing more may be appended to that.
            self.doubt.get_or_insert_default().manifests.push(number);
            return Err(CommitError::Refused(error));
        }
        self.snapshot_len_bytes = manifest.len_bytes();
        let old = self.manifest.replace(manifest);
        let doubt = self.doubt.take().unwrap_or_default();
        // Leftovers are removed at the next open.
        for old in old
            .iter()
            .map(Manifest::number)
            .chain(doubt.manifests.iter().copied())
        {
            drop(self.directory.remove(FileName::Manifest(old)));
        }
        doubt.settle();
        Ok(())
    }
}
