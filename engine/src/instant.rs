//! An instant of the store: a tuple of immutable roots.
//!
//! ```text
//! Instant   active    root of the map that is written now       \
//!           layers    frozen maps, newest first                   >  searched in this order; the first answer counts
//!                     version: tables with their dead sets      /
//! ```
//!
//! Whoever holds one sees the store as it was when it was taken, whatever is written, flushed or compacted since. Taking
//! one clones two pointers. Snapshots and iterators are instants with a handle around them.

use std::sync::Arc;

use crate::error::Result;
use crate::memtable::{Entry, Interval, Memtable};
use crate::value::Value;
use crate::version::Version;

/// A full memtable on its way to becoming tables, with the number of the log segment that still holds it.
#[derive(Debug)]
pub(crate) struct FrozenMemtable {
    pub(crate) root: Memtable,
    pub(crate) segment: u64,
    pub(crate) log_bytes: u64,
}

/// Everything below the active memtable. Replaced as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// Newest first.
    pub(crate) frozen: Vec<Arc<FrozenMemtable>>,
    pub(crate) version: Arc<Version>,
}

/// One instant of all keyspaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instant {
    pub(crate) active: Memtable,
    pub(crate) layers: Arc<Layers>,
}

impl Instant {
    /// The value of a key at this instant.
    pub(crate) fn get(&self, keyspace: u32, key: &[u8]) -> Result<Option<Value>> {
        match self.active.get(keyspace, key) {
            Some(entry) => Ok(value_of(entry)),
            None if self.active.covers(keyspace, key) => Ok(None),
            None => self.layers.get(keyspace, key),
        }
    }

    /// The memtables, newest first.
    pub(crate) fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        std::iter::once(&self.active).chain(self.layers.frozen.iter().map(|frozen| &frozen.root))
    }

    /// The tables.
    pub(crate) fn version(&self) -> &Version {
        &self.layers.version
    }
}

impl Layers {
    /// The value of a key that the active memtable says nothing about.
    pub(crate) fn get(&self, keyspace: u32, key: &[u8]) -> Result<Option<Value>> {
        for frozen in &self.frozen {
            if let Some(entry) = frozen.root.get(keyspace, key) {
                return Ok(value_of(entry));
            }
            if frozen.root.covers(keyspace, key) {
                return Ok(None);
            }
        }
        match self.version.keyspace(keyspace) {
            Some(view) => view.get(key),
            None => Ok(None),
        }
    }

    /// Whether a delete of the key has anything to shield here. A delete further down shields already; of tables the
    /// filter is asked, so the answer may be a needless yes, never a wrong no.
    pub(crate) fn may_hold(&self, keyspace: u32, key: &[u8]) -> bool {
        for frozen in &self.frozen {
            if let Some(entry) = frozen.root.get(keyspace, key) {
                return entry.is_put();
            }
            if frozen.root.covers(keyspace, key) {
                return false;
            }
        }
        let Some(view) = self.version.keyspace(keyspace) else {
            return false;
        };
        // A filter that cannot be read says maybe: the read that needs the table will report it.
        view.candidates(key)
            .any(|table| table.file.may_contain(key).unwrap_or(true))
    }

    /// Whether a range delete has anything to shield here. May be a needless yes, never a wrong no.
    pub(crate) fn may_hold_in(&self, interval: &Interval) -> bool {
        let (lower, upper) = interval.bounds();
        for frozen in &self.frozen {
            let mut entries = frozen.root.range(interval.keyspace(), lower, upper);
            if entries.any(Entry::is_put) {
                return true;
            }
            if frozen.root.intervals().covers_whole(interval) {
                return false;
            }
        }
        let Some(view) = self.version.keyspace(interval.keyspace()) else {
            return false;
        };
        view.overlapping(interval).any(|table| {
            table
                .live_ordinal_in(interval)
                .map_or(true, |ordinal| ordinal.is_some())
        })
    }
}

/// What an entry answers.
pub(crate) fn value_of(entry: &Entry) -> Option<Value> {
    entry.is_put().then(|| Value::in_memory(entry.clone()))
}
