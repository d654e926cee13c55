//! Sorts out what a memtable holds: records to write, and keys whose older records die.
//!
//! ```text
//! plain        put: a record      delete: its key ends                       one table a keyspace
//! composing    put: a record, and its key ends      delete: its key ends      merge: a record
//!
//! parts that the law composes        one record in the one table
//! parts a, b, c that it does not     a in the first table, b in the second, c in the third:   numbers tell what is older
//! ```
//!
//! A failing law does not keep a memtable from being flushed, then: there are at most [`PARTS_MAX`] parts. More can only come from a
//! log whose law is not known (or fails now, and did not then): that flush waits, with the error, until the law is given.

use std::sync::Arc;

use super::resolve::Deleted;
use crate::error::Result;
use crate::keyspace::{KeyspaceCore, Keyspaces};
use crate::law::History;
use crate::memtable::{EntryRef, Memtable, PARTS_MAX};
use crate::sorted_map::SortedMap;
use crate::value::Value;

/// One record to write.
#[derive(Debug)]
pub(super) struct Record<'a> {
    entry: EntryRef<'a>,
    value: RecordValue,
}

#[derive(Debug)]
enum RecordValue {
    /// This part of the entry.
    Part(usize),
    Composed(Value),
}

impl<'a> Record<'a> {
    /// The key.
    pub(super) fn key(&self) -> &'a [u8] {
        self.entry.key()
    }

    /// The value or operand.
    pub(super) fn value(&self) -> &[u8] {
        match &self.value {
            RecordValue::Part(0) => self.entry.value(),
            RecordValue::Part(index) => &self.entry.newer_parts()[index - 1],
            RecordValue::Composed(value) => value,
        }
    }
}

/// The live entries of a keyspace.
#[derive(Debug)]
pub(super) struct Live<'a> {
    pub(super) keyspace: Arc<KeyspaceCore>,
    /// Records in key order; the tables oldest first. More than one where operands do not compose.
    pub(super) tables: Vec<Vec<Record<'a>>>,
}

impl<'a> Live<'a> {
    fn add(&mut self, entry: EntryRef<'a>) -> Result<()> {
        if entry.part_count() == 1 {
            self.push(0, entry, RecordValue::Part(0));
            return Ok(());
        }
        let mut history = History::default();
        history.add_entry(entry);
        match history.compose(&self.keyspace, entry.key()) {
            Ok(value) => {
                let value = value.expect("a live entry has parts");
                self.push(0, entry, RecordValue::Composed(value));
            }
            Err(error) if entry.part_count() > PARTS_MAX => return Err(error),
            Err(_) => {
                (0..entry.part_count()).for_each(|rank| self.push(rank, entry, RecordValue::Part(rank)))
            }
        }
        Ok(())
    }

    fn push(&mut self, rank: usize, entry: EntryRef<'a>, value: RecordValue) {
        if self.tables.len() <= rank {
            self.tables.resize_with(rank + 1, Vec::new);
        }
        self.tables[rank].push(Record { entry, value });
    }
}

/// What a memtable holds, sorted out.
#[derive(Debug, Default)]
pub(super) struct Sorted<'a> {
    /// By keyspace.
    pub(super) live: Vec<Live<'a>>,
    /// What dies in older tables, by keyspace.
    pub(super) deleted: SortedMap<u32, Deleted<'a>>,
}

impl<'a> Sorted<'a> {
    /// Entries of keyspaces that were dropped since they were written are left out: `keyspaces` are those that exist.
    ///
    /// # Errors
    /// Operands that cannot be composed are too many to be written one by one.
    pub(super) fn new(root: &'a Memtable, keyspaces: &Keyspaces) -> Result<Self> {
        let mut sorted = Sorted::default();
        for entry in root.iter() {
            let Some(keyspace) = keyspaces.get(&entry.keyspace()) else {
                continue;
            };
            if entry.ends_history() && (keyspace.is_composing() || !entry.is_live()) {
                let deleted = sorted
                    .deleted
                    .get_or_insert_with(entry.keyspace(), Default::default);
                deleted.keys.push(entry.key());
            }
            if entry.is_live() {
                sorted.live_of(keyspace).add(entry)?;
            }
        }
        for interval in root.intervals().iter() {
            if keyspaces.contains_key(&interval.keyspace()) {
                let deleted = sorted
                    .deleted
                    .get_or_insert_with(interval.keyspace(), Default::default);
                deleted.intervals.push(interval);
            }
        }
        Ok(sorted)
    }

    /// Entries come keyspace by keyspace.
    fn live_of(&mut self, keyspace: &Arc<KeyspaceCore>) -> &mut Live<'a> {
        let is_next = self
            .live
            .last()
            .is_none_or(|live| live.keyspace.number != keyspace.number);
        if is_next {
            self.live.push(Live {
                keyspace: Arc::clone(keyspace),
                tables: Vec::new(),
            });
        }
        self.live.last_mut().expect("pushed above")
    }
}
