//! What the harness asks of an engine.
//!
//! One file an engine implements it (`engines/`), with the settings that the README's table names. Methods stop the process where the engine
//! fails: a figure of a run that failed is worth nothing. Reads hand bytes to a closure, so that no engine is made to copy what it
//! could lend.

use std::path::Path;

/// What kind of structure an engine is, for the comparisons of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Sorted runs that are merged.
    Lsm,
    /// Pages that are written in place or copied.
    BTree,
}

/// Bytes that all engines may keep in memory before they write them out, where an engine has such a thing.
pub(crate) const WRITE_BUFFER_BYTES: usize = 64 << 20;
/// Bytes of the cache, where an engine has one of its own.
pub(crate) const CACHE_BYTES: usize = 256 << 20;
/// Threads for flushes and compactions together.
pub(crate) const BACKGROUND_THREADS: usize = 2;
/// Bits a key of a filter.
pub(crate) const FILTER_BITS: usize = 10;

/// Records side by side, for a batch.
#[derive(Debug, Default)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    /// Ends of key and value.
    ends: Vec<(usize, usize)>,
}

impl Records {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts
            .zip(&self.ends)
            .map(|(start, &(key_end, end))| (&self.bytes[start..key_end], &self.bytes[key_end..end]))
    }
}

/// An ordered store of byte strings in one directory.
pub(crate) trait Engine: Sized + Send + Sync {
    /// Opens the store of a directory, or makes one.
    fn open(dir: &Path) -> Self;

    /// One record, one commit, without a sync.
    fn put(&self, key: &[u8], value: &[u8]);

    /// One record, one commit, that survives a power cut when this returns.
    fn put_sync(&self, key: &[u8], value: &[u8]);

    /// All records in one commit, without a sync.
    fn put_batch(&self, records: &Records);

    /// One delete, one commit, without a sync.
    fn delete(&self, key: &[u8]);

    /// Shows the value of a key to `look`.
    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R>;

    /// Shows at most `limit` records to `visit`, upwards from the first that is not below `from`, and says how many.
    fn scan(&self, from: &[u8], limit: u64, visit: impl FnMut(&[u8], &[u8])) -> u64;

    /// Shows at most `limit` records to `visit`, downwards from the last, and says how many.
    fn scan_back(&self, limit: u64, visit: impl FnMut(&[u8], &[u8])) -> u64;

    /// Brings what lies in memory or in a log into its place on the disk, as far as the engine can be told to; merges that
    /// follow from that go on in the background.
    fn settle(&self);
}
