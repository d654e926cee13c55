//! Versions of the database and the manifest that remembers them.

mod doubt;
mod edit;
pub(crate) mod manifest;
mod set;
mod state;
#[expect(
    clippy::module_inception,
    reason = "the version is the main thing of the module"
)]
mod version;

pub(crate) use edit::{Change, Edit, TableRecord};
pub(crate) use manifest::Manifest;
pub(crate) use set::{CommitError, VersionSet, cores_of};
pub(crate) use state::{Contradiction, ManifestState, TableState};
pub(crate) use version::{KeyspaceView, TableView, Version};
