//! Resolves deletes, and puts of composing keyspaces: which records, in which older tables, they kill.
//!
//! ```text
//! deleted keys (sorted)   b   f   k   q        deleted interval  [h .. n)
//! table 12  [a .. m]      b?  f?  k?           within the table's span only; its filter first, then its block
//!                                              the interval: two searches, however many keys lie in it
//! table 9   [e .. z]          f?  k?  q?
//! table 7   [i .. l]                           lies in the interval: dropped unread
//! ```
//!
//! Every table that holds a deleted key alive gets that record's ordinal: the newest and all older ones, so that no older record
//! comes back to light. Looking up again is harmless (kills unite), which makes a crash before the edit harmless too.

use std::collections::BTreeSet;

use roaring::RoaringTreemap;

use crate::dead_set::{is_dead, live_part, live_runs};
use crate::error::Result;
use crate::memtable::Interval;
use crate::overlay::Overlay;
use crate::sorted_map::SortedMap;
use crate::version::{Change, ManifestState, TableView, Version};

/// What a memtable deletes in one keyspace.
#[derive(Debug, Default)]
pub(crate) struct Deleted<'a> {
    /// Keys whose older records die, sorted.
    pub(crate) keys: Vec<&'a [u8]>,
    /// Sorted and disjoint.
    pub(crate) intervals: Vec<&'a Interval>,
}

/// Deletes on their way to becoming dead ordinals.
#[derive(Debug)]
pub(crate) struct Resolution<'a> {
    /// By keyspace.
    deleted: SortedMap<u32, Deleted<'a>>,
    looked_at: BTreeSet<u64>,
    found: SortedMap<u64, Found>,
}

/// What the deletes concern in one table.
#[derive(Debug)]
enum Found {
    /// The table lies in an interval.
    Everything,
    Ordinals(RoaringTreemap),
}

/// What a flush's deletes do to the tables of a version.
#[derive(Debug, Default)]
pub(crate) struct Kills {
    pub(crate) changes: Vec<Change>,
    pub(crate) killed_count: u64,
    pub(crate) emptied_count: u64,
}

impl<'a> Resolution<'a> {
    /// Deletes by keyspace.
    pub(crate) fn new(deleted: SortedMap<u32, Deleted<'a>>) -> Self {
        Resolution {
            deleted,
            looked_at: BTreeSet::new(),
            found: SortedMap::new(),
        }
    }

    /// The intervals among the deletes.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = &'a Interval> {
        self.deleted
            .values()
            .flat_map(|deleted| deleted.intervals.iter().copied())
    }

    /// Adds what was killed before the flush.
    pub(crate) fn add_overlay(&mut self, overlay: &Overlay) {
        for table in overlay.tables() {
            let found = self
                .found
                .get_or_insert_with(table, || Found::Ordinals(RoaringTreemap::new()));
            if let Found::Ordinals(ordinals) = found {
                for run in overlay.runs_of(table) {
                    ordinals.insert_range(run);
                }
            }
        }
    }

    /// Looks the deletes up in every table of the version that was not looked at yet.
    pub(crate) fn look_up(&mut self, version: &Version) -> Result<()> {
        for (&keyspace, deleted) in &self.deleted {
            let tables = version
                .keyspace(keyspace)
                .into_iter()
                .flat_map(|view| view.tables());
            for table in tables {
                if self.looked_at.insert(table.file.number())
                    && let Some(found) = deleted.look_up_in(table)?
                {
                    self.found.insert(table.file.number(), found);
                }
            }
        }
        Ok(())
    }

    /// The changes that the kills make to a version, all tables of which were looked at. `state` is the manifest's of that version.
    pub(crate) fn kills(&self, version: &Version, state: &ManifestState) -> Kills {
        let mut kills = Kills::default();
        for (number, found) in &self.found {
            // A table that has left the version took its records along.
            let keyspace = state.tables.get(number).map(|table| table.record.keyspace);
            let view = keyspace.and_then(|keyspace| version.keyspace(keyspace));
            let mut tables = view.into_iter().flat_map(|view| view.tables());
            match (tables.find(|table| table.file.number() == *number), found) {
                (None, _) => {}
                (Some(table), Found::Everything) => kills.empty(table),
                (Some(table), Found::Ordinals(found)) => kills.add(table, found),
            }
        }
        kills
    }
}

impl Kills {
    fn add(&mut self, table: &TableView, found: &RoaringTreemap) {
        let mut newly_dead = live_part(&table.dead, found);
        if newly_dead.len() == table.live_count() {
            return self.empty(table);
        }
        if !newly_dead.is_empty() {
            self.killed_count += newly_dead.len();
            // Runs take a few bytes each in the manifest.
            newly_dead.optimize();
            self.changes.push(Change::Kill {
                table: table.file.number(),
                ordinals: newly_dead,
            });
        }
    }

    fn empty(&mut self, table: &TableView) {
        self.killed_count += table.live_count();
        self.emptied_count += 1;
        let number = table.file.number();
        self.changes.push(Change::RemoveTable { number });
    }
}

impl Deleted<'_> {
    /// The live records of a table that are deleted; `None` if there are none.
    fn look_up_in(&self, table: &TableView) -> Result<Option<Found>> {
        let (first, last) = (table.file.first_key(), table.file.last_key());
        let from = self
            .intervals
            .partition_point(|interval| !interval.ends_behind(first));
        let to = self
            .intervals
            .partition_point(|interval| interval.start() <= last);
        let intervals = &self.intervals[from..to.max(from)];
        if intervals.iter().any(|interval| interval.covers_span(first, last)) {
            return Ok(Some(Found::Everything));
        }
        let mut ordinals = RoaringTreemap::new();
        for interval in intervals {
            for run in live_runs(&table.dead, table.file.ordinals_in(interval)?) {
                ordinals.insert_range(run);
            }
        }
        let from = self.keys.partition_point(|&key| key < first);
        let to = self.keys.partition_point(|&key| key <= last);
        for key in &self.keys[from..to.max(from)] {
            if let Some(place) = table.file.find(key)?
                && !is_dead(&table.dead, place.ordinal)
            {
                ordinals.insert(place.ordinal);
            }
        }
        Ok((!ordinals.is_empty()).then_some(Found::Ordinals(ordinals)))
    }
}
