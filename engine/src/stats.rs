//! Numbers a person can act on.

use std::time::Duration;

/// What the database looks like and what it has done since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Keyspaces, the default one included.
    pub keyspace_count: usize,
    /// Tables of the current version, by level: level 0 holds what was flushed, level 1 what was compacted.
    pub level_table_counts: Vec<usize>,
    /// Tables of the current version.
    pub table_count: usize,
    /// Bytes of those tables' files.
    pub table_bytes: u64,
    /// Records in tables that are not marked dead. A key that several tables hold counts once for each.
    pub live_record_count: u64,
    /// Records in tables that are marked dead and wait for a compaction.
    pub dead_record_count: u64,
    /// Entries in memtables, deletes included.
    pub memtable_entry_count: usize,
    /// Deletes waiting in memtables for their flush.
    pub memtable_delete_count: usize,
    /// Memory the memtables are taken to hold, in bytes.
    pub memtable_bytes: usize,
    /// Frozen memtables waiting for their flush.
    pub frozen_memtable_count: usize,
    /// Bytes logged in segments that are still needed.
    pub log_bytes: u64,
    /// Bytes in the current manifest.
    pub manifest_bytes: u64,
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
    /// Compactions done.
    pub compaction_count: u64,
    /// Bytes of tables read by compactions.
    pub compaction_read_bytes: u64,
    /// Bytes of tables written by compactions.
    pub compaction_write_bytes: u64,
    /// Records marked dead by flushed deletes.
    pub killed_record_count: u64,
    /// Tables dropped because nothing in them was alive.
    pub emptied_table_count: u64,
    /// Files no longer part of the database that readers still hold open.
    pub pinned_file_count: usize,
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
}
