//! Numbers a person can act on.
//!
//! Counts of what is there are taken from one instant; counts of what was done are added up while the database is open, each on its
//! own, so that a sum may be a step ahead of another. Nothing is ever subtracted.

mod display;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::compact::CompactionStats;
use crate::error::Error;

/// One level of all keyspaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelStats {
    /// Tables of the current version.
    pub table_count: usize,
    /// Bytes of their files.
    pub table_bytes: u64,
    /// Records in them that are not marked dead.
    pub live_record_count: u64,
    /// Records in them that are marked dead and wait for a compaction.
    pub dead_record_count: u64,
    /// Bytes of tables written to the level since the database was opened: by flushes to level 0, by compactions to all. Moved tables
    /// are not written.
    pub write_bytes: u64,
}

/// What the database looks like and what it has done since it was opened. `Display` shows it on one screen.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// for number in 0..100u32 {
///     db.put(number.to_be_bytes(), "value")?;
/// }
/// db.flush()?;
/// db.delete(7u32.to_be_bytes())?;
/// db.compact()?;
/// let stats = db.stats();
/// assert_eq!((stats.table_count, stats.live_record_count, stats.dead_record_count), (1, 99, 0));
/// assert!(stats.write_amplification().expect("something was flushed") > 1.0);
/// println!("{stats}"); // one screen
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Keyspaces, the default one included.
    pub keyspace_count: usize,
    /// Tables of the current version, by level: level 0 holds what was flushed, each deeper one a sorted run.
    pub level_table_counts: Vec<usize>,
    /// The levels, from level 0.
    pub levels: Vec<LevelStats>,
    /// Tables of the current version.
    pub table_count: usize,
    /// Bytes of those tables' files.
    pub table_bytes: u64,
    /// Of these, filters: what a table's first look-ups bring into memory.
    pub filter_bytes: u64,
    /// Of these, separators and directories.
    pub index_bytes: u64,
    /// Memory of the dead sets, in bytes.
    pub dead_set_bytes: u64,
    /// Records in tables that are not marked dead. A key that several tables hold counts once for each.
    pub live_record_count: u64,
    /// Records in tables that are marked dead and wait for a compaction.
    pub dead_record_count: u64,
    /// Entries in memtables, deletes included.
    pub memtable_entry_count: usize,
    /// Deletes waiting in memtables to be looked up in older tables.
    pub memtable_delete_count: usize,
    /// Range deletes waiting in memtables to be looked up in older tables; those that touch count as one.
    pub memtable_range_delete_count: usize,
    /// Records in tables that deletes killed already, and that their flush will mark dead.
    pub overlay_record_count: u64,
    /// Runs of neighbours that these records make: what holding them costs.
    pub overlay_run_count: usize,
    /// Memory the memtables are taken to hold, in bytes.
    pub memtable_bytes: usize,
    /// Frozen memtables waiting for their flush.
    pub frozen_memtable_count: usize,
    /// Bytes logged in segments that are still needed.
    pub log_bytes: u64,
    /// Bytes in the current manifest.
    pub manifest_bytes: u64,
    /// Bytes of the event log's files.
    pub event_log_bytes: u64,
    /// Batches committed, operations in them, and their encoded bytes.
    pub commit_count: u64,
    /// Operations in committed batches.
    pub operation_count: u64,
    /// Encoded bytes of committed batches.
    pub commit_bytes: u64,
    /// Flushes done.
    pub flush_count: u64,
    /// Bytes of tables written by flushes.
    pub flush_bytes: u64,
    /// Tables taken in by ingests.
    pub ingested_table_count: u64,
    /// Bytes of those tables.
    pub ingested_bytes: u64,
    /// Compactions done.
    pub compaction_count: u64,
    /// Bytes of tables read by compactions.
    pub compaction_read_bytes: u64,
    /// Bytes of tables written by compactions.
    pub compaction_write_bytes: u64,
    /// Deletes and range deletes that were settled before their flush.
    pub settled_delete_count: u64,
    /// Time spent in compactions that wrote tables.
    pub compaction_time: Duration,
    /// Look-ups of a key in a table that its filter turned away.
    pub filter_negative_count: u64,
    /// Look-ups that found the key, dead or alive.
    pub filter_true_positive_count: u64,
    /// Look-ups that the filter let pass in vain.
    pub filter_false_positive_count: u64,
    /// Snapshots that are held.
    pub snapshot_count: usize,
    /// How long the oldest of them has been held.
    pub oldest_snapshot_age: Option<Duration>,
    /// Memory of memtables that were flushed since and that snapshots still hold, in bytes.
    pub snapshot_memtable_bytes: usize,
    /// What compactions did, by kind and level, and how they slow writers down.
    pub compaction: CompactionStats,
    /// Records marked dead by flushed deletes.
    pub killed_record_count: u64,
    /// Tables dropped because nothing in them was alive.
    pub emptied_table_count: u64,
    /// Files no longer part of the database that readers still hold open.
    pub pinned_file_count: usize,
    /// Bytes of those files.
    pub pinned_file_bytes: u64,
    /// Time writers were made to wait because flush or compaction fell behind.
    pub stall_time: Duration,
    /// Writes that were made to wait.
    pub stall_count: u64,
    /// Flushes and compactions that failed.
    pub background_failure_count: u64,
    /// The latest such failure.
    pub last_background_failure: Option<String>,
    /// Log bytes that could not be read back at open because they were never completely written.
    pub recovery_dropped_bytes: u64,
    /// Panics of event listeners.
    pub listener_panic_count: u64,
    /// Events that the event log could not take: the disk failed, or too many came at once.
    pub lost_event_count: u64,
}

impl Stats {
    /// Look-ups of a key in a table.
    pub fn filter_probe_count(&self) -> u64 {
        self.filter_negative_count + self.filter_true_positive_count + self.filter_false_positive_count
    }

    /// Bytes of tables written for each byte that came in by flushes and ingests; `None` before any did.
    pub fn write_amplification(&self) -> Option<f64> {
        let came_in = self.flush_bytes + self.ingested_bytes;
        share(came_in + self.compaction_write_bytes, came_in)
    }

    /// Records in tables for each of them that is not marked dead: what dead records cost in room. `None` where none is alive.
    pub fn space_amplification(&self) -> Option<f64> {
        share(
            self.live_record_count + self.dead_record_count,
            self.live_record_count,
        )
    }

    /// Bytes that compactions read and wrote in a second; `None` before any did.
    pub fn compaction_bytes_per_second(&self) -> Option<f64> {
        let nanos = u64::try_from(self.compaction_time.as_nanos()).unwrap_or(u64::MAX);
        let bytes = self.compaction_read_bytes + self.compaction_write_bytes;
        share(bytes, nanos).map(|bytes_per_ns| bytes_per_ns * 1e9)
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// Levels whose written bytes are counted apart; deeper ones count with the last.
const LEVELS_COUNTED: usize = 16;

/// What is counted while the database is open.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commit_count: AtomicU64,
    operation_count: AtomicU64,
    commit_bytes: AtomicU64,
    flush_count: AtomicU64,
    flush_bytes: AtomicU64,
    ingested_table_count: AtomicU64,
    ingested_bytes: AtomicU64,
    compaction_count: AtomicU64,
    compaction_read_bytes: AtomicU64,
    compaction_write_bytes: AtomicU64,
    settled_delete_count: AtomicU64,
    compaction_ns: AtomicU64,
    level_write_bytes: [AtomicU64; LEVELS_COUNTED],
    killed_record_count: AtomicU64,
    emptied_table_count: AtomicU64,
    stall_ns: AtomicU64,
    stall_count: AtomicU64,
    background_failure_count: AtomicU64,
    last_background_failure: Mutex<Option<String>>,
    recovery_dropped_bytes: AtomicU64,
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn committed(&self, op_count: usize, len_bytes: usize) {
        add(&self.commit_count, 1);
        add(&self.operation_count, op_count as u64);
        add(&self.commit_bytes, len_bytes as u64);
    }

    fn written_to(&self, level: u32, bytes: u64) {
        let level = (level as usize).min(LEVELS_COUNTED - 1);
        add(&self.level_write_bytes[level], bytes);
    }

    pub(crate) fn flushed(&self, written_bytes: u64) {
        self.written_to(0, written_bytes);
        add(&self.flush_count, 1);
        add(&self.flush_bytes, written_bytes);
    }

    pub(crate) fn ingested(&self, table_count: u64, bytes: u64) {
        add(&self.ingested_table_count, table_count);
        add(&self.ingested_bytes, bytes);
    }

    pub(crate) fn compacted(&self, level: u32, read_bytes: u64, written_bytes: u64, took_ns: u64) {
        add(&self.compaction_count, 1);
        add(&self.compaction_ns, took_ns);
        self.written_to(level, written_bytes);
        add(&self.compaction_read_bytes, read_bytes);
        add(&self.compaction_write_bytes, written_bytes);
    }

    pub(crate) fn settled(&self, delete_count: u64) {
        add(&self.settled_delete_count, delete_count);
    }

    pub(crate) fn killed(&self, record_count: u64, emptied_table_count: u64) {
        add(&self.killed_record_count, record_count);
        add(&self.emptied_table_count, emptied_table_count);
    }

    pub(crate) fn stalled(&self, ns: u64) {
        add(&self.stall_ns, ns);
        add(&self.stall_count, 1);
    }

    pub(crate) fn background_failed(&self, error: &Error) {
        add(&self.background_failure_count, 1);
        *self.last_background_failure.lock() = Some(error.to_string());
    }

    pub(crate) fn dropped_log_bytes(&self) -> u64 {
        self.recovery_dropped_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn dropped_at_recovery(&self, bytes: u64) {
        add(&self.recovery_dropped_bytes, bytes);
    }

    /// Fills in what is counted here.
    pub(crate) fn read_into(&self, stats: &mut Stats) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        stats.commit_count = read(&self.commit_count);
        stats.operation_count = read(&self.operation_count);
        stats.commit_bytes = read(&self.commit_bytes);
        stats.flush_count = read(&self.flush_count);
        stats.flush_bytes = read(&self.flush_bytes);
        stats.ingested_table_count = read(&self.ingested_table_count);
        stats.ingested_bytes = read(&self.ingested_bytes);
        stats.compaction_count = read(&self.compaction_count);
        stats.compaction_read_bytes = read(&self.compaction_read_bytes);
        stats.compaction_write_bytes = read(&self.compaction_write_bytes);
        stats.settled_delete_count = read(&self.settled_delete_count);
        stats.compaction_time = Duration::from_nanos(read(&self.compaction_ns));
        let written = self.level_write_bytes.iter().map(read).collect::<Vec<_>>();
        let deepest = written
            .iter()
            .rposition(|&bytes| bytes > 0)
            .map_or(0, |last| last + 1);
        if stats.levels.len() < deepest {
            stats.levels.resize_with(deepest, LevelStats::default);
        }
        for (level, bytes) in stats.levels.iter_mut().zip(written) {
            level.write_bytes = bytes;
        }
        stats.killed_record_count = read(&self.killed_record_count);
        stats.emptied_table_count = read(&self.emptied_table_count);
        stats.stall_time = Duration::from_nanos(read(&self.stall_ns));
        stats.stall_count = read(&self.stall_count);
        stats.background_failure_count = read(&self.background_failure_count);
        stats.last_background_failure = self.last_background_failure.lock().clone();
        stats.recovery_dropped_bytes = read(&self.recovery_dropped_bytes);
    }
}
