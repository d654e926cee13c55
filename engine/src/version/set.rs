//! The one place where versions change.
//!
//! A caller that holds the set's lock makes an edit against a version that cannot change under it; [`VersionSet::commit`]
//! writes it to the manifest and gives back the version after it, for the caller to publish. No reader and no writer of
//! keys ever waits for this lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edit::{Change, Edit};
use super::manifest::Manifest;
use super::state::ManifestState;
use super::version::Version;
use crate::directory::Directory;
use crate::error::Result;
use crate::file_name::FileName;
use crate::keyspace::KeyspaceCore;
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
    cores: BTreeMap<u32, Arc<KeyspaceCore>>,
    manifest_bytes_max: u64,
}

impl VersionSet {
    /// A set at `state`, whose tables are all in `files`.
    pub(crate) fn new(
        directory: Directory,
        manifest: Option<Manifest>,
        state: ManifestState,
        files: &BTreeMap<u64, Arc<TableFile>>,
        manifest_bytes_max: u64,
    ) -> Self {
        let current = Arc::new(Version::of_state(&state, files));
        let cores = state.keyspaces.iter().map(|(&number, keyspace)| {
            let core = KeyspaceCore::new(number, &keyspace.name, keyspace.settings.clone());
            (number, core)
        });
        let cores = cores.collect();
        VersionSet {
            directory,
            manifest,
            state,
            current,
            cores,
            manifest_bytes_max,
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
    pub(crate) fn cores(&self) -> &BTreeMap<u32, Arc<KeyspaceCore>> {
        &self.cores
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
    /// the last view of them goes. After an error nothing has changed in memory, and what a restart will find is unknown: the
    /// caller stops the writer and leaves all files where they are.
    pub(crate) fn commit(
        &mut self,
        edit: &Edit,
        added: &BTreeMap<u64, Arc<TableFile>>,
    ) -> Result<Arc<Version>> {
        let manifest = self
            .manifest
            .as_mut()
            .expect("a database opened for reading only makes no edits");
        manifest.append(edit)?;
        let next = Arc::new(self.current.after(edit, &self.state, added));
        self.mark_removed(edit);
        self.state
            .apply(edit)
            .expect("the engine makes no edit that contradicts its own manifest");
        self.update_cores(edit);
        self.current = Arc::clone(&next);
        Ok(next)
    }

    fn mark_removed(&self, edit: &Edit) {
        for change in &edit.changes {
            match change {
                Change::RemoveTable { number } => {
                    let gone = self.current.tables().find(|table| table.file.number() == *number);
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
                    let core = KeyspaceCore::new(*number, name, settings.clone());
                    self.cores.insert(*number, core);
                }
                Change::DropKeyspace { number } => {
                    self.cores.remove(number);
                }
                _ => {}
            }
        }
    }

    /// Ends the manifest in order; see [`Manifest::seal`]. No edit may follow.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.manifest.as_mut().map_or(Ok(()), Manifest::seal)
    }

    /// Starts a new manifest if the one in force has grown past its limit. `number` gives the new one's number. Where the new one
    /// cannot be written the old one goes on; an error means that nobody knows which of them is in force.
    ///
    /// The state takes `next_file` along, so that numbers given out but not yet named stay used.
    pub(crate) fn roll_over_if_long(&mut self, number: impl FnOnce() -> u64) -> Result<()> {
        let Some(manifest) = &self.manifest else {
            return Ok(());
        };
        if manifest.len_bytes() < self.manifest_bytes_max {
            return Ok(());
        }
        let old = manifest.number();
        let number = number();
        self.state.next_file = self.state.next_file.max(number + 1);
        let Ok(manifest) = Manifest::write(&self.directory, number, &self.state) else {
            drop(self.directory.remove(FileName::Manifest(number)));
            return Ok(());
        };
        manifest.put_in_force(&self.directory)?;
        self.manifest = Some(manifest);
        // A leftover is removed at the next open.
        drop(self.directory.remove(FileName::Manifest(old)));
        Ok(())
    }
}
