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
    #[cfg_attr(
        not(any(feature = "lmdb", feature = "redb", feature = "sled")),
        expect(dead_code, reason = "no engine that has it was built in")
    )]
    BTree,
}

/// Bytes that all engines may keep in memory before they write them out, where an engine has such a thing.
#[cfg_attr(
    not(any(feature = "tephradb", feature = "fjall", feature = "rocksdb")),
    expect(dead_code, reason = "no engine that has it was built in")
)]
pub(crate) const WRITE_BUFFER_BYTES: usize = 64 << 20;
/// Bytes of the cache, where an engine has one of its own.
#[cfg_attr(
    not(any(feature = "fjall", feature = "rocksdb", feature = "sled", feature = "redb")),
    expect(dead_code, reason = "no engine that has it was built in")
)]
pub(crate) const CACHE_BYTES: usize = 256 << 20;
/// Threads for flushes and compactions together.
#[cfg_attr(
    not(any(feature = "tephradb", feature = "fjall", feature = "rocksdb")),
    expect(dead_code, reason = "no engine that has it was built in")
)]
pub(crate) const BACKGROUND_THREADS: usize = 2;
/// Bits a key of a filter.
#[cfg_attr(
    not(any(feature = "fjall", feature = "rocksdb")),
    expect(dead_code, reason = "no engine that has it was built in")
)]
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
    /// Whether what was put without a sync must be there after the process was killed.
    const SURVIVES_KILL: bool;

    /// Whether [`Engine::merge`] adds without reading.
    const MERGES: bool = false;

    /// Whether states can be held on to.
    const SNAPSHOTS: bool = true;

    /// What reads go through: a read transaction where the engine has such a thing.
    type Reader<'a>
    where
        Self: 'a;

    /// A state of the store that stays as it is.
    type Snapshot<'a>
    where
        Self: 'a;

    /// One of many ordered maps in the store.
    type Space;

    /// Opens the store of a directory, or makes one.
    fn open(dir: &Path) -> Self;

    /// Opens the store of a directory whose values are numbers of eight bytes, little-endian, to be added to.
    fn open_counters(dir: &Path) -> Self {
        Self::open(dir)
    }

    /// One record, one commit, without a sync.
    fn put(&self, key: &[u8], value: &[u8]);

    /// One record, one commit, that survives a power cut when this returns.
    fn put_sync(&self, key: &[u8], value: &[u8]);

    /// All records in one commit, without a sync.
    fn put_batch(&self, records: &Records);

    /// One delete, one commit, without a sync.
    fn delete(&self, key: &[u8]);

    /// Deletes the keys from `from` on and below `to`, by the fastest way the engine has.
    fn delete_range(&self, from: &[u8], to: &[u8]);

    /// Adds to a counter, one commit, by reading and writing.
    fn add(&self, key: &[u8], amount: u64);

    /// Adds to a counter, one commit, without reading.
    fn merge(&self, _key: &[u8], _amount: u64) {
        unreachable!("asked only where the engine merges");
    }

    /// Opens what reads go through. Reads see at least what was committed before.
    fn reader(&self) -> Self::Reader<'_>;

    /// Shows the value of a key to `look`.
    fn get_by<R>(reader: &Self::Reader<'_>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R>;

    /// Shows at most `limit` records to `visit`, upwards from the first that is not below `from`, and says how many.
    fn scan_by(reader: &Self::Reader<'_>, from: &[u8], limit: u64, visit: impl FnMut(&[u8], &[u8])) -> u64;

    /// Shows all records to `visit`, downwards, and says how many.
    fn scan_back_by(reader: &Self::Reader<'_>, visit: impl FnMut(&[u8], &[u8])) -> u64;

    /// As [`Engine::get_by`], of the newest state.
    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Self::get_by(&self.reader(), key, look)
    }

    /// As [`Engine::scan_by`], of the newest state.
    fn scan(&self, from: &[u8], limit: u64, visit: impl FnMut(&[u8], &[u8])) -> u64 {
        Self::scan_by(&self.reader(), from, limit, visit)
    }

    /// Holds on to the state of now.
    fn snapshot(&self) -> Self::Snapshot<'_>;

    /// Shows the value that a key had to `look`.
    fn get_at<R>(snapshot: &Self::Snapshot<'_>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R>;

    /// Opens maps of these names, and makes those that are not there.
    fn spaces(&mut self, names: &[String]) -> Vec<Self::Space>;

    /// One record in one of the maps, one commit, without a sync.
    fn put_in(&self, space: &Self::Space, key: &[u8], value: &[u8]);

    /// Shows the value of a key in one of the maps to `look`.
    fn get_in<R>(&self, space: &Self::Space, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R>;

    /// Brings what lies in memory or in a log into its place on the disk, as far as the engine can be told to; merges that
    /// follow from that go on in the background.
    fn settle(&self);
}

/// The number in a counter's value.
pub(crate) fn number(value: &[u8]) -> u64 {
    u64::from_le_bytes(value.try_into().expect("a counter has eight bytes"))
}
