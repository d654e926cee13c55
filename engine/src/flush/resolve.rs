//! Resolves deletes: which records, in which older tables, they kill.
//!
//! ```text
//! deleted keys (sorted)   b   f   k   q
//! table 12  [a .. m]      b?  f?  k?           within the table's span only; its filter first, then its block
//! table 9   [e .. z]          f?  k?  q?
//! ```
//!
//! Every table that holds a deleted key alive gets that record's ordinal: the newest and all older ones, so that no older record
//! comes back to light. Looking up again is harmless (kills unite), which makes a crash before the edit harmless too.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use crate::dead_set::is_dead;
use crate::error::Result;
use crate::version::{Change, TableView, Version};

/// Deletes on their way to becoming dead ordinals.
#[derive(Debug)]
pub(super) struct Resolution<'a> {
    /// By keyspace, sorted.
    deleted: BTreeMap<u32, Vec<&'a [u8]>>,
    looked_at: BTreeSet<u64>,
    ordinals: BTreeMap<u64, RoaringTreemap>,
}

/// What a flush's deletes do to the tables of a version.
#[derive(Debug, Default)]
pub(super) struct Kills {
    pub(super) changes: Vec<Change>,
    pub(super) killed_count: u64,
    pub(super) emptied_count: u64,
}

impl<'a> Resolution<'a> {
    /// Deleted keys by keyspace, each list sorted.
    pub(super) fn new(deleted: BTreeMap<u32, Vec<&'a [u8]>>) -> Self {
        Resolution {
            deleted,
            looked_at: BTreeSet::new(),
            ordinals: BTreeMap::new(),
        }
    }

    /// Looks the keys up in every table of the version that was not looked at yet.
    pub(super) fn look_up(&mut self, version: &Version) -> Result<()> {
        for (&keyspace, keys) in &self.deleted {
            let tables = version
                .keyspace(keyspace)
                .into_iter()
                .flat_map(|view| view.tables());
            for table in tables {
                if self.looked_at.insert(table.file.number()) {
                    let found = look_up_in(table, keys)?;
                    if !found.is_empty() {
                        self.ordinals.insert(table.file.number(), found);
                    }
                }
            }
        }
        Ok(())
    }

    /// The changes that the kills make to a version, all tables of which were looked at.
    pub(super) fn kills(&self, version: &Version) -> Kills {
        let mut kills = Kills::default();
        for &keyspace in self.deleted.keys() {
            let tables = version
                .keyspace(keyspace)
                .into_iter()
                .flat_map(|view| view.tables());
            for table in tables {
                if let Some(found) = self.ordinals.get(&table.file.number()) {
                    kills.add(table, found);
                }
            }
        }
        kills
    }
}

impl Kills {
    fn add(&mut self, table: &TableView, found: &RoaringTreemap) {
        let newly_dead: RoaringTreemap = found
            .iter()
            .filter(|&ordinal| !is_dead(&table.dead, ordinal))
            .collect();
        let number = table.file.number();
        self.killed_count += newly_dead.len();
        if newly_dead.len() == table.live_count() {
            self.emptied_count += 1;
            self.changes.push(Change::RemoveTable { number });
        } else if !newly_dead.is_empty() {
            self.changes.push(Change::Kill {
                table: number,
                ordinals: newly_dead,
            });
        }
    }
}

/// The ordinals of those keys that the table holds alive.
fn look_up_in(table: &TableView, keys: &[&[u8]]) -> Result<RoaringTreemap> {
    let from = keys.partition_point(|&key| key < table.file.first_key());
    let to = keys.partition_point(|&key| key <= table.file.last_key());
    let mut ordinals = RoaringTreemap::new();
    for key in &keys[from..to] {
        if let Some(place) = table.file.find(key)?
            && !is_dead(&table.dead, place.ordinal)
        {
            ordinals.insert(place.ordinal);
        }
    }
    Ok(ordinals)
}
