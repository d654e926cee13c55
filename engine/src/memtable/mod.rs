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
//!
//! Deletes do not stay long: they are looked up in the tables in the background, and settled. The entry (or the interval) goes, and
//! the records it killed stand in the overlay (`overlay.rs`).

mod arena;
mod entry;
mod intervals;
mod load;
mod merge;
#[cfg(test)]
mod tests;

pub(crate) use arena::Arena;
pub(crate) use entry::{Entry, EntryKind, EntryRef, Part, Write};
use entry::{Probe, Slot};
pub(crate) use intervals::{Interval, Intervals};
pub(crate) use load::Loader;
pub(crate) use merge::{PARTS_MAX, Refusals, UNCOMPOSED_MAX, merged};

use std::ops::{Bound, Range};
use std::sync::Arc;

use crate::overlay::Overlay;

/// A double-ended iterator over the entries of one range of a [`Memtable`].
pub(crate) struct EntryRange<'a> {
    slots: imbl::ordset::RangedIter<'a, Slot, imbl::shared_ptr::DefaultSharedPtr>,
    arena: &'a Arc<Arena>,
}

impl<'a> Iterator for EntryRange<'a> {
    type Item = EntryRef<'a>;

    fn next(&mut self) -> Option<EntryRef<'a>> {
        Some(EntryRef::new(self.slots.next()?, self.arena))
    }
}

impl DoubleEndedIterator for EntryRange<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        Some(EntryRef::new(self.slots.next_back()?, self.arena))
    }
}

/// One generation of writes. `clone` is O(1) and yields a frozen copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memtable {
    entries: imbl::OrdSet<Slot>,
    /// The bytes of all slots. Shared by all clones: none changes what another has written.
    arena: Arc<Arena>,
    /// Bytes in the arena, those of entries that are gone included.
    arena_bytes: usize,
    /// Keys that are dead unless they have an entry.
    intervals: Intervals,
    /// Of the entries, beside the arena.
    cost_bytes: usize,
    /// The entries that are deletes, once more: what waits to be settled.
    deletes: imbl::OrdSet<Slot>,
    /// Entries that are not deletes, by keyspace.
    live_counts: imbl::OrdMap<u32, u64>,
    /// Records in tables that settled deletes killed.
    overlay: Overlay,
    /// Settled range deletes: their records in tables are in the overlay.
    settled: Intervals,
    /// Keyspaces with deletes of which the map and the intervals hold nothing any more. The log does.
    traceless: imbl::OrdSet<u32>,
}

impl Memtable {
    /// Does what a write says, replacing what the map said about the key. O(log n); copies nodes shared with clones. A delete of a key
    /// that lies in an interval needs no entry.
    pub(crate) fn write(&mut self, write: Write<'_>) {
        let slot = self.new_slot(write);
        self.write_slot(slot);
    }

    /// Copies a write into the arena. Not in the maps yet.
    fn new_slot(&mut self, write: Write<'_>) -> Slot {
        self.arena_bytes += write.key.len() + write.value.len();
        Slot::new(write, &self.arena)
    }

    /// Does what a slot says, whose bytes lie in the arena. What was there goes, but no bytes do: further slots may be waiting.
    fn write_slot(&mut self, slot: Slot) {
        if !slot.is_live() && self.covers(slot.keyspace(), slot.key()) {
            let removed = self.entries.remove(&slot);
            return self.forget(removed.as_ref());
        }
        self.insert_slot(slot);
    }

    /// As [`Memtable::write`], of an entry that may have further parts.
    pub(crate) fn insert(&mut self, entry: Entry) {
        let found = entry.as_ref();
        if !found.is_live() && self.covers(found.keyspace(), found.key()) {
            return self.remove(found.keyspace(), found.key());
        }
        if !entry.is_in(&self.arena) {
            self.arena_bytes += found.key().len() + found.value().len();
        }
        self.insert_slot(entry.into_slot(&self.arena));
    }

    fn insert_slot(&mut self, slot: Slot) {
        self.cost_bytes += slot.cost_bytes();
        let keyspace = slot.keyspace();
        let delete = (!slot.is_live()).then(|| slot.clone());
        let replaced = self.entries.insert(slot);
        self.forget(replaced.as_ref());
        match (delete, self.live_counts.get_mut(&keyspace)) {
            (Some(delete), _) => drop(self.deletes.insert(delete)),
            (None, Some(count)) => *count += 1,
            (None, None) => drop(self.live_counts.insert(keyspace, 1)),
        }
    }

    /// Forgets the key. O(log n).
    pub(crate) fn remove(&mut self, keyspace: u32, key: &[u8]) {
        let removed = self.entries.remove(&Probe::new(keyspace, key));
        self.forget(removed.as_ref());
        if self.entries.is_empty() && removed.is_some() {
            self.forget_bytes();
        }
    }

    /// There are no entries any more: their bytes go when the last clone does. The maps go first: inner nodes of a map keep copies of keys that
    /// have left it, so an empty one may not be trusted to hold no slot.
    fn forget_bytes(&mut self) {
        self.entries = imbl::OrdSet::new();
        self.deletes = imbl::OrdSet::new();
        self.arena = Arc::default();
        self.arena_bytes = 0;
    }

    /// Deletes a key that no older layer can hold: nothing of it stays. O(log n).
    pub(crate) fn delete_traceless(&mut self, keyspace: u32, key: &[u8]) {
        self.remove(keyspace, key);
        self.note_traceless(keyspace);
    }

    fn note_traceless(&mut self, keyspace: u32) {
        if !self.traceless.contains(&keyspace) {
            self.traceless.insert(keyspace);
        }
    }

    /// Removes the entries in an interval, and remembers it if it shields older records. O(log n) a removed entry.
    pub(crate) fn delete_range(&mut self, interval: Interval, shields: bool) {
        let (lower, upper) = interval.bounds();
        let before = self.clone();
        let doomed = || before.range(interval.keyspace(), lower, upper);
        if doomed().count() == self.entries.len() {
            self.live_counts = imbl::OrdMap::new();
            self.cost_bytes = 0;
            self.forget_bytes();
        } else {
            for entry in doomed() {
                self.remove(entry.keyspace(), entry.key());
            }
        }
        if shields {
            self.intervals.insert(interval);
        } else {
            self.note_traceless(interval.keyspace());
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
        let entry = self.get(keyspace, key).map(EntryRef::to_entry);
        entry.or_else(|| {
            self.covers(keyspace, key)
                .then(|| Entry::new(Write::delete(keyspace, key)))
        })
    }

    /// As [`Memtable::state_of`], and takes the entry out, so that nobody else holds its parts.
    pub(crate) fn take_state(&mut self, keyspace: u32, key: &[u8]) -> Option<Entry> {
        let state = self.state_of(keyspace, key);
        self.remove(keyspace, key);
        state
    }

    fn forget(&mut self, slot: Option<&Slot>) {
        if let Some(slot) = slot {
            self.cost_bytes -= slot.cost_bytes();
            if !slot.is_live() {
                self.deletes.remove(slot);
            } else if let Some(count) = self.live_counts.get_mut(&slot.keyspace()) {
                *count -= 1;
            }
        }
    }

    /// What the map says about a key. O(log n).
    pub(crate) fn get(&self, keyspace: u32, key: &[u8]) -> Option<EntryRef<'_>> {
        let slot = self.entries.get(&Probe::new(keyspace, key))?;
        Some(EntryRef::new(slot, &self.arena))
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
        EntryRange {
            slots: self.entries.range((lower, upper)),
            arena: &self.arena,
        }
    }

    /// Whether the map says anything about the keys from `first` to `last`, both included; or may have said, in deletes that left no
    /// trace here. Those are in the log, and perhaps in the overlay, and must not come to concern what is newer.
    pub(crate) fn touches(&self, keyspace: u32, first: &[u8], last: &[u8]) -> bool {
        if self.traceless.contains(&keyspace) {
            return true;
        }
        let mut entries = self.range(keyspace, Bound::Included(first), Bound::Included(last));
        // Intervals are disjoint: the last that starts at `last` or before is the last that can reach into the span.
        let interval = self.intervals.at_or_before(keyspace, last);
        entries.next().is_some() || interval.is_some_and(|interval| interval.overlaps_span(first, last))
    }

    /// All entries in order: keyspace, then key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = EntryRef<'_>> {
        self.entries.iter().map(|slot| EntryRef::new(slot, &self.arena))
    }

    /// Whether nothing was written, or all of it undone or settled.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.intervals.is_empty()
    }

    /// Number of entries, deletes included.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of entries that are deletes.
    pub(crate) fn delete_count(&self) -> usize {
        self.deletes.len()
    }

    /// Entries of a keyspace that are not deletes.
    pub(crate) fn live_count(&self, keyspace: u32) -> u64 {
        self.live_counts.get(&keyspace).copied().unwrap_or(0)
    }

    /// Deletes of a keyspace that wait to be settled. O(their number).
    pub(crate) fn pending_delete_count(&self, keyspace: u32) -> usize {
        let from = self.deletes.range((
            Bound::Included(Probe::new(keyspace, &[])),
            Bound::<Probe<'_>>::Unbounded,
        ));
        from.take_while(|slot| slot.keyspace() == keyspace).count()
    }

    /// Deletes and range deletes that wait to be settled.
    pub(crate) fn pending_count(&self) -> usize {
        self.deletes.len() + self.intervals.len()
    }

    /// Deletes that wait to be settled, behind one of them or from the first on, in order.
    pub(crate) fn pending_deletes(&self, after: Option<EntryRef<'_>>) -> impl Iterator<Item = EntryRef<'_>> {
        let from = after.map_or(Bound::Unbounded, |after| {
            Bound::Excluded(Probe::new(after.keyspace(), after.key()))
        });
        let slots = self.deletes.range((from, Bound::<Probe<'_>>::Unbounded));
        slots.map(|slot| EntryRef::new(slot, &self.arena))
    }

    /// Removes a delete whose records in older layers are about to stand in the overlay. `false`: the key was written since.
    pub(crate) fn settle_delete(&mut self, entry: EntryRef<'_>) -> bool {
        let is_pending = self.deletes.contains(&Probe::new(entry.keyspace(), entry.key()));
        if is_pending {
            self.delete_traceless(entry.keyspace(), entry.key());
        }
        is_pending
    }

    /// Removes a range delete whose records in older layers are about to stand in the overlay. `false`: it has grown since.
    pub(crate) fn settle_interval(&mut self, interval: &Interval) -> bool {
        let is_pending = self.intervals.holds(interval);
        if is_pending {
            self.intervals.remove(interval);
            self.settled.insert(interval.clone());
            self.note_traceless(interval.keyspace());
        }
        is_pending
    }

    /// The range deletes that are settled.
    pub(crate) fn settled(&self) -> &Intervals {
        &self.settled
    }

    /// The records that settled deletes killed.
    pub(crate) fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Adds records that settled deletes killed.
    pub(crate) fn kill(&mut self, table: u64, ordinals: Range<u64>) {
        self.overlay.insert(table, ordinals);
    }

    /// Tables were replaced by others: forgets what was killed in the ones, kills it in the others.
    pub(crate) fn move_kills(&mut self, gone: &[u64], moved: &[(u64, Range<u64>)]) {
        gone.iter().for_each(|&table| self.overlay.remove_table(table));
        for (table, ordinals) in moved {
            self.overlay.insert(*table, ordinals.clone());
        }
    }

    /// Memory that entries, intervals and overlay are taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.cost_bytes
            + self.arena_bytes
            + self.intervals.cost_bytes()
            + self.settled.cost_bytes()
            + self.overlay.cost_bytes()
    }
}
