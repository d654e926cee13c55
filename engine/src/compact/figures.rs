//! What compactions have done, counted.

use std::time::Duration;

use parking_lot::Mutex;
use tephra_compaction::picker::JobKind;

/// What compactions have done since the database was opened, and what they are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionStats {
    /// Merges done.
    pub merge_count: u64,
    /// Tables' moves to another level without a rewrite: jobs of this kind done.
    pub move_count: u64,
    /// Jobs done that dropped tables without live records.
    pub drop_count: u64,
    /// Jobs running now.
    pub running_count: usize,
    /// Keyspaces whose last compaction failed; each waits a while before it tries again.
    pub suspended_keyspace_count: usize,
    /// How often a keyspace was looked at for compactions: once or twice for each change of its tables. Idle ones are not.
    pub look_count: u64,
    /// How long a commit to the keyspace with the largest backlog waits now.
    pub write_delay: Duration,
    /// Whether commits to that keyspace wait until there is room.
    pub are_writes_stopped: bool,
}

/// The counters behind [`CompactionStats`].
#[derive(Debug, Default)]
pub(crate) struct CompactionCounters {
    stats: Mutex<CompactionStats>,
}

impl CompactionCounters {
    /// A job ended well.
    pub(super) fn ended(&self, kind: JobKind) {
        let mut stats = self.stats.lock();
        match kind {
            JobKind::Merge => stats.merge_count += 1,
            JobKind::Move => stats.move_count += 1,
            JobKind::Drop => stats.drop_count += 1,
        }
    }

    /// What has been counted; the figures of this moment are left for the caller.
    pub(crate) fn read(&self) -> CompactionStats {
        self.stats.lock().clone()
    }
}
