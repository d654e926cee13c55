//! The memtable: an ordered map whose clones are free and frozen for ever.
//!
//! ```text
//!              writer (one, under the commit lock)
//!                 v
//! active root --> o            a clone of the root is an instant: iterators, snapshots and flushes hold one,
//!                / \           the writer copies the few nodes it changes and leaves the shared ones alone
//!               o   o
//! ```
//!
//! One entry a key and keyspace, ordered by keyspace first: one generation of all keyspaces is one map, one log
//! segment and one manifest edit. No sequence numbers: a root *is* a state. Range deletes stand beside the map, as intervals
//! (`intervals.rs`): a key is looked for in the map, then in the intervals, then in older layers.

mod entry;
mod intervals;
mod merge;
#[cfg(test)]
mod tests;

use entry::Probe;
pub(crate) use entry::{Entry, EntryKind, Part};
pub(crate) use intervals::{Interval, Intervals};
pub(crate) use merge::{PARTS_MAX, Refusals, merged};

use std::ops::Bound;

/// A double-ended iterator over the entries of one range of a [`Memtable`].
pub(crate) type EntryRange<'a> = imbl::ordset::RangedIter<'a, Entry, imbl::shared_ptr::DefaultSharedPtr>;

/// One generation of writes. `clone` is O(1) and yields a frozen copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memtable {
    entries: imbl::OrdSet<Entry>,
    /// Keys that are dead unless they have an entry.
    intervals: Intervals,
    /// Of the entries.
    cost_bytes: usize,
    delete_count: usize,
}

impl Memtable {
    /// Inserts an entry, replacing what the map said about the key. O(log n); copies nodes shared with clones. A delete of a key
    /// that lies in an interval needs no entry.
    pub(crate) fn insert(&mut self, entry: Entry) {
        if !entry.is_live() && self.covers(entry.keyspace(), entry.key()) {
            return self.remove(entry.keyspace(), entry.key());
        }
        self.cost_bytes += entry.cost_bytes();
        self.delete_count += usize::from(!entry.is_live());
        let replaced = self.entries.insert(entry);
        self.forget(replaced.as_ref());
    }

    /// Takes out what the map says about a key. O(log n).
    pub(crate) fn take(&mut self, keyspace: u32, key: &[u8]) -> Option<Entry> {
        let removed = self.entries.remove(&Probe::new(keyspace, key));
        self.forget(removed.as_ref());
        removed
    }

    /// Forgets the key. O(log n).
    pub(crate) fn remove(&mut self, keyspace: u32, key: &[u8]) {
        self.take(keyspace, key);
    }

    /// Removes the entries in an interval, and remembers it if it shields older records. O(log n) a removed entry.
    pub(crate) fn delete_range(&mut self, interval: Interval, shields: bool) {
        let (lower, upper) = interval.bounds();
        let doomed: Vec<Entry> = self.range(interval.keyspace(), lower, upper).cloned().collect();
        if doomed.len() == self.entries.len() {
            self.entries = imbl::OrdSet::new();
            (self.cost_bytes, self.delete_count) = (0, 0);
        } else {
            for entry in &doomed {
                self.remove(entry.keyspace(), entry.key());
            }
        }
        if shields {
            self.intervals.insert(interval);
        }
    }

    /// Whether a range delete of this generation made a key dead; an entry of the key is newer.
    pub(crate) fn covers(&self, keyspace: u32, key: &[u8]) -> bool {
        self.intervals.covering(keyspace, key).is_some()
    }

    /// The range deletes.
    pub(crate) fn intervals(&self) -> &Intervals {
        &self.intervals
    }

    /// What this generation says about a key: its entry, or a delete where an interval covers it. O(log n).
    pub(crate) fn state_of(&self, keyspace: u32, key: &[u8]) -> Option<Entry> {
        let entry = self.get(keyspace, key).cloned();
        entry.or_else(|| self.covers(keyspace, key).then(|| Entry::delete(keyspace, key)))
    }

    /// As [`Memtable::state_of`], and takes the entry out, so that nobody else holds it.
    pub(crate) fn take_state(&mut self, keyspace: u32, key: &[u8]) -> Option<Entry> {
        let entry = self.take(keyspace, key);
        entry.or_else(|| self.covers(keyspace, key).then(|| Entry::delete(keyspace, key)))
    }

    fn forget(&mut self, entry: Option<&Entry>) {
        if let Some(entry) = entry {
            self.cost_bytes -= entry.cost_bytes();
            self.delete_count -= usize::from(!entry.is_live());
        }
    }

    /// What the map says about a key. O(log n).
    pub(crate) fn get(&self, keyspace: u32, key: &[u8]) -> Option<&Entry> {
        self.entries.get(&Probe::new(keyspace, key))
    }

    /// The entries of one keyspace between two bounds, from both ends. The bounds must not be inverted.
    pub(crate) fn range(&self, keyspace: u32, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> EntryRange<'_> {
        let lower = match lower {
            Bound::Unbounded => Bound::Included(Probe::new(keyspace, &[])),
            Bound::Included(key) => Bound::Included(Probe::new(keyspace, key)),
            Bound::Excluded(key) => Bound::Excluded(Probe::new(keyspace, key)),
        };
        let upper = match (upper, keyspace.checked_add(1)) {
            (Bound::Included(key), _) => Bound::Included(Probe::new(keyspace, key)),
            (Bound::Excluded(key), _) => Bound::Excluded(Probe::new(keyspace, key)),
            (Bound::Unbounded, Some(next)) => Bound::Excluded(Probe::new(next, &[])),
            (Bound::Unbounded, None) => Bound::Unbounded,
        };
        self.entries.range((lower, upper))
    }

    /// Whether the map says anything about the keys from `first` to `last`, both included.
    pub(crate) fn touches(&self, keyspace: u32, first: &[u8], last: &[u8]) -> bool {
        let mut entries = self.range(keyspace, Bound::Included(first), Bound::Included(last));
        // Intervals are disjoint: the last that starts at `last` or before is the last that can reach into the span.
        let interval = self.intervals.at_or_before(keyspace, last);
        entries.next().is_some() || interval.is_some_and(|interval| interval.overlaps_span(first, last))
    }

    /// All entries in order: keyspace, then key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Whether nothing was written, or all of it undone without a trace.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.intervals.is_empty()
    }

    /// Number of entries, deletes included.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of entries that are deletes.
    pub(crate) fn delete_count(&self) -> usize {
        self.delete_count
    }

    /// Memory the entries and intervals are taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.cost_bytes + self.intervals.cost_bytes()
    }
}
