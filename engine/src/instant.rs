//! An instant of the store: a tuple of immutable roots.
//!
//! ```text
//! Instant   active    root of the map that is written now       \
//!           layers    frozen maps, newest first                   >  searched in this order; the first answer counts
//!                     version: tables with their dead sets      /
//! overlays  of all maps: records in tables that are dead besides
//! ```
//!
//! Whoever holds one sees the store as it was when it was taken, whatever is written, flushed or compacted since. Taking
//! one clones two pointers. Snapshots and iterators are instants with a handle around them.

use std::sync::Arc;

use crate::error::Result;
use crate::keyspace::KeyspaceCore;
use crate::law::History;
use crate::memtable::{EntryRef, Interval, Memtable};
use crate::overlay::Overlay;
use crate::value::Value;
use crate::version::Version;

/// A full memtable on its way to becoming tables, with the numbers of the log segments that still hold it.
#[derive(Debug)]
pub(crate) struct FrozenMemtable {
    pub(crate) root: Memtable,
    /// Those before `segment`, oldest first. Only a replay fills a memtable from several.
    pub(crate) older_segments: Vec<u64>,
    /// The newest, which names the generation.
    pub(crate) segment: u64,
    pub(crate) log_bytes: u64,
}

impl FrozenMemtable {
    /// Its log segments, oldest first.
    pub(crate) fn segments(&self) -> impl Iterator<Item = u64> {
        self.older_segments.iter().copied().chain([self.segment])
    }

    /// The oldest of them.
    pub(crate) fn first_segment(&self) -> u64 {
        self.older_segments.first().copied().unwrap_or(self.segment)
    }
}

/// Everything below the active memtable. Replaced as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// Newest first.
    pub(crate) frozen: Vec<Arc<FrozenMemtable>>,
    pub(crate) version: Arc<Version>,
}

/// What the memtables of an instant killed in its tables, beside the tables' dead sets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overlays<'a> {
    active: Option<&'a Overlay>,
    frozen: &'a [Arc<FrozenMemtable>],
}

impl<'a> Overlays<'a> {
    /// Those that hold anything.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Overlay> {
        let frozen = self.frozen.iter().map(|frozen| frozen.root.overlay());
        self.active
            .into_iter()
            .chain(frozen)
            .filter(|overlay| !overlay.is_empty())
    }

    /// Whether a record of a table is killed. O(log runs) an overlay.
    pub(crate) fn kill(self, table: u64, ordinal: u64) -> bool {
        self.iter()
            .any(|overlay| overlay.covering(table, ordinal).is_some())
    }
}

/// One instant of all keyspaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instant {
    pub(crate) active: Memtable,
    pub(crate) layers: Arc<Layers>,
}

impl Instant {
    /// The value of a key at this instant.
    pub(crate) fn get(&self, keyspace: &KeyspaceCore, key: &[u8]) -> Result<Option<Value>> {
        match self.active.get(keyspace.number, key) {
            Some(entry) if entry.part_count() == 1 && entry.ends_history() => Ok(value_of(entry)),
            None if self.active.covers(keyspace.number, key) => Ok(None),
            entry => self.layers.get(keyspace, key, entry, self.active.overlay()),
        }
    }

    /// What the memtables killed in the tables.
    pub(crate) fn overlays(&self) -> Overlays<'_> {
        self.layers.overlays(self.active.overlay())
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
    /// What `active`, the overlay of the active memtable, and the frozen ones killed in the tables.
    pub(crate) fn overlays<'a>(&'a self, active: &'a Overlay) -> Overlays<'a> {
        Overlays {
            active: Some(active),
            frozen: &self.frozen,
        }
    }

    /// The value of a key about which the active memtable says nothing, or `active`, which is not the whole answer. `overlay` is that
    /// memtable's.
    pub(crate) fn get(
        &self,
        keyspace: &KeyspaceCore,
        key: &[u8],
        active: Option<EntryRef<'_>>,
        overlay: &Overlay,
    ) -> Result<Option<Value>> {
        if keyspace.is_composing() {
            return self.composed(keyspace, key, active, self.overlays(overlay));
        }
        for frozen in &self.frozen {
            if let Some(entry) = frozen.root.get(keyspace.number, key) {
                return Ok(value_of(entry));
            }
            if frozen.root.covers(keyspace.number, key) {
                return Ok(None);
            }
        }
        match self.version.keyspace(keyspace.number) {
            Some(view) => view.get(key, self.overlays(overlay)),
            None => Ok(None),
        }
    }

    /// The value of a key in a composing keyspace: what newer and older layers hold, down to a put, a delete or the oldest table.
    fn composed(
        &self,
        keyspace: &KeyspaceCore,
        key: &[u8],
        active: Option<EntryRef<'_>>,
        overlays: Overlays<'_>,
    ) -> Result<Option<Value>> {
        let mut history = History::default();
        let mut says_the_end = |entry: EntryRef<'_>| history.add_entry(entry);
        let has_ended = active.is_some_and(&mut says_the_end)
            || self
                .frozen
                .iter()
                .any(|frozen| match frozen.root.get(keyspace.number, key) {
                    Some(entry) => says_the_end(entry),
                    None => frozen.root.covers(keyspace.number, key),
                });
        if let Some(view) = self.version.keyspace(keyspace.number).filter(|_| !has_ended) {
            for table in view.candidates(key) {
                if let Some(value) = table.get(key, overlays)? {
                    history.add_record(value);
                }
            }
        }
        history.compose(keyspace, key)
    }

    /// What the frozen memtables say about a key: whether it is alive, or nothing.
    pub(crate) fn frozen_answer(&self, keyspace: u32, key: &[u8]) -> Option<bool> {
        self.frozen
            .iter()
            .find_map(|frozen| match frozen.root.get(keyspace, key) {
                Some(entry) => Some(entry.is_live()),
                None => frozen.root.covers(keyspace, key).then_some(false),
            })
    }

    /// Whether a frozen memtable holds a live entry in an interval.
    pub(crate) fn is_live_in_frozen(&self, interval: &Interval) -> bool {
        let (lower, upper) = interval.bounds();
        self.frozen.iter().any(|frozen| {
            let mut entries = frozen.root.range(interval.keyspace(), lower, upper);
            entries.any(EntryRef::is_live)
        })
    }

    /// Whether a delete of the key has anything to shield here. A delete further down shields already; of tables the
    /// filter is asked, so the answer may be a needless yes, never a wrong no.
    pub(crate) fn may_hold(&self, keyspace: u32, key: &[u8]) -> bool {
        if let Some(is_alive) = self.frozen_answer(keyspace, key) {
            return is_alive;
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
            if entries.any(EntryRef::is_live) {
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

/// What an entry answers that is the whole answer.
pub(crate) fn value_of(entry: EntryRef<'_>) -> Option<Value> {
    entry.is_live().then(|| Value::in_memory(entry))
}
