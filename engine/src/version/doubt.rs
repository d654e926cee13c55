//! Doubt: what is in force after an edit, or a switch of manifests, that failed half way.
//!
//! ```text
//! MANIFEST-7   | snapshot | edit | edit | hal          the write failed: a restart may find this edit, or may not
//! MANIFEST-9   | snapshot without it |                 once CURRENT names this one, it is settled: the edit never was
//! ```
//!
//! Until then no edit is made, no file of the failed one is removed, and nothing is acknowledged that would be lost if the edit
//! turned out to be in force: flushed and merged tables hold what log and inputs hold, so writes go on; a keyspace whose
//! drop failed takes none.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::keyspace::KeyspaceCore;
use crate::table_file::TableFile;

/// See the head of the file.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    /// Manifests that may be in force, beside the one that is appended to.
    pub(super) manifests: Vec<u64>,
    /// Tables of the failed edit.
    pub(super) added: Vec<Arc<TableFile>>,
    /// The keyspace that the failed edit drops.
    pub(super) dropped: Option<Arc<KeyspaceCore>>,
}

impl Doubt {
    /// The failed edit is known not to be in force: its traces go.
    pub(super) fn settle(self) {
        self.added.iter().for_each(|table| table.mark_obsolete());
        if let Some(core) = self.dropped {
            core.drop_in_doubt.store(false, Ordering::Release);
        }
    }
}
