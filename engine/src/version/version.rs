//! A version: the open tables of all keyspaces with their dead sets, as one immutable value.
//!
//! ```text
//! Version   keyspace 0 -> level 0   [table 31] [table 28] [table 25]     newest first, may overlap
//!                         level 1   [a..f] [g..m] [n..z]                 a sorted run, older than level 0
//!           keyspace 7 -> level 0   ...
//! ```
//!
//! An edit makes a new version that shares everything it did not touch. Readers hold the version they started with; a
//! table that left the current one is unlinked when the last of them lets go.

use std::sync::Arc;

use super::edit::{Change, Edit};
use super::state::ManifestState;
use crate::dead_set::{self, DeadSet, is_dead, next_live};
use crate::error::Result;
use crate::instant::Overlays;
use crate::memtable::Interval;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::value::Value;

/// A table as one version sees it.
#[derive(Clone, Debug)]
pub(crate) struct TableView {
    pub(crate) file: Arc<TableFile>,
    pub(crate) dead: DeadSet,
}

impl TableView {
    /// Records not marked dead.
    pub(crate) fn live_count(&self) -> u64 {
        self.file.record_count() - dead_set::dead_count(&self.dead)
    }

    /// The first live record whose key lies in an interval. Two searches at most.
    pub(crate) fn live_ordinal_in(&self, interval: &Interval) -> Result<Option<u64>> {
        Ok(next_live(&self.dead, self.file.ordinals_in(interval)?))
    }

    /// Whether a record is marked dead, or killed by an overlay.
    pub(crate) fn is_dead(&self, ordinal: u64, overlays: Overlays<'_>) -> bool {
        is_dead(&self.dead, ordinal) || overlays.kill(self.file.number(), ordinal)
    }

    /// The value of a key, if the table holds it alive.
    pub(crate) fn get(&self, key: &[u8], overlays: Overlays<'_>) -> Result<Option<Value>> {
        match self.file.find(key)? {
            Some(located) if !self.is_dead(located.ordinal, overlays) => {
                Ok(Some(Value::in_table(Arc::clone(&self.file), located.value)))
            }
            _ => Ok(None),
        }
    }
}

/// The tables of one keyspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyspaceView {
    /// Level 0 newest first, by age; every other level sorted by key.
    levels: Vec<Vec<TableView>>,
}

impl KeyspaceView {
    /// The flushed tables, newest first. They may overlap.
    pub(crate) fn flushed_tables(&self) -> &[TableView] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// The sorted runs, newest first. All of them are older than the flushed tables.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &[TableView]> {
        self.levels.iter().skip(1).map(Vec::as_slice)
    }

    /// All levels, newest first.
    pub(crate) fn levels(&self) -> &[Vec<TableView>] {
        &self.levels
    }

    /// All tables, newest level first.
    pub(crate) fn tables(&self) -> impl DoubleEndedIterator<Item = &TableView> {
        self.levels.iter().flatten()
    }

    /// The tables that can hold a key, newest first: what a point read has to ask, in order.
    pub(crate) fn candidates<'a>(&'a self, key: &'a [u8]) -> impl Iterator<Item = &'a TableView> {
        let flushed = self
            .flushed_tables()
            .iter()
            .filter(move |table| table.file.spans(key));
        let in_runs = self.runs().filter_map(move |run| {
            let index = run.partition_point(|table| table.file.last_key() < key);
            run.get(index).filter(|table| table.file.spans(key))
        });
        flushed.chain(in_runs)
    }

    /// The tables that can hold a key of an interval, newest level first. Two searches a sorted run.
    pub(crate) fn overlapping<'a>(&'a self, interval: &'a Interval) -> impl Iterator<Item = &'a TableView> {
        let overlaps =
            |table: &&TableView| interval.overlaps_span(table.file.first_key(), table.file.last_key());
        let flushed = self.flushed_tables().iter().filter(overlaps);
        let in_runs = self.runs().flat_map(|run| {
            let from = run.partition_point(|table| table.file.last_key() < interval.start());
            let to = run.partition_point(|table| interval.ends_behind(table.file.first_key()));
            &run[from..to.max(from)]
        });
        flushed.chain(in_runs)
    }

    /// The value of a key: the newest table that holds it alive answers.
    pub(crate) fn get(&self, key: &[u8], overlays: Overlays<'_>) -> Result<Option<Value>> {
        for table in self.candidates(key) {
            if let Some(value) = table.get(key, overlays)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn add(&mut self, level: u32, table: TableView) {
        let level = level as usize;
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        let tables = &mut self.levels[level];
        let index = if level == 0 {
            tables.partition_point(|other| other.file.record().age > table.file.record().age)
        } else {
            tables.partition_point(|other| other.file.first_key() < table.file.first_key())
        };
        tables.insert(index, table);
    }

    fn remove(&mut self, number: u64) {
        for tables in &mut self.levels {
            tables.retain(|table| table.file.number() != number);
        }
    }

    fn find_mut(&mut self, number: u64) -> Option<&mut TableView> {
        self.levels
            .iter_mut()
            .flatten()
            .find(|table| table.file.number() == number)
    }
}

/// The tables of all keyspaces. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version {
    keyspaces: imbl::OrdMap<u32, Arc<KeyspaceView>>,
    /// Edits that led here since the database was opened.
    edit_count: u64,
    /// Tables of all keyspaces.
    table_count: usize,
}

impl Version {
    /// The tables of one keyspace; `None` if it does not exist.
    pub(crate) fn keyspace(&self, number: u32) -> Option<&Arc<KeyspaceView>> {
        self.keyspaces.get(&number)
    }

    /// All keyspaces.
    pub(crate) fn keyspaces(&self) -> impl Iterator<Item = (u32, &Arc<KeyspaceView>)> {
        self.keyspaces.iter().map(|(&number, view)| (number, view))
    }

    /// Flushed tables of one keyspace: what its readers pay for a lagging compaction. Those of all others cost nothing to skip.
    pub(crate) fn flushed_table_count(&self, keyspace: u32) -> usize {
        self.keyspace(keyspace)
            .map_or(0, |view| view.flushed_tables().len())
    }

    /// Number of edits that led here since the database was opened: orders versions.
    pub(crate) fn edit_count(&self) -> u64 {
        self.edit_count
    }

    /// Number of tables of all keyspaces.
    pub(crate) fn table_count(&self) -> usize {
        self.table_count
    }

    /// All tables of all keyspaces.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableView> {
        self.keyspaces.values().flat_map(|view| view.tables())
    }

    /// The version of a manifest's state. `files` holds every table the state names, open.
    pub(crate) fn of_state(state: &ManifestState, files: &SortedMap<u64, Arc<TableFile>>) -> Version {
        Version::default().after(&state.to_edit(), &ManifestState::default(), files)
    }

    /// The version after an edit. `before` is the manifest's state before it; `added` holds the tables it adds, open. Costs nothing
    /// for a keyspace that the edit does not touch.
    pub(crate) fn after(
        &self,
        edit: &Edit,
        before: &ManifestState,
        added: &SortedMap<u64, Arc<TableFile>>,
    ) -> Version {
        let mut next = self.clone();
        next.edit_count += 1;
        let keyspace_of = |number: u64| match added.get(&number) {
            Some(file) => file.keyspace(),
            None => before.tables[&number].record.keyspace,
        };
        for change in &edit.changes {
            match change {
                Change::CreateKeyspace { number, .. } => {
                    next.keyspaces.insert(*number, Arc::default());
                }
                Change::DropKeyspace { number } => {
                    let dropped = next.keyspaces.remove(number);
                    next.table_count -= dropped.map_or(0, |view| view.tables().count());
                }
                Change::AddTable(record) => {
                    next.table_count += 1;
                    let file = added
                        .get(&record.number)
                        .expect("an edit comes with the tables it adds");
                    next.keyspace_mut(record.keyspace).add(
                        record.level,
                        TableView {
                            file: Arc::clone(file),
                            dead: None,
                        },
                    );
                }
                Change::RemoveTable { number } => {
                    next.table_count -= 1;
                    next.keyspace_mut(keyspace_of(*number)).remove(*number);
                }
                Change::MoveTable { number, level } => {
                    let view = next.keyspace_mut(keyspace_of(*number));
                    let table = view
                        .find_mut(*number)
                        .expect("the manifest's state accepted this move")
                        .clone();
                    view.remove(*number);
                    view.add(*level, table);
                }
                Change::Kill { table, ordinals } => {
                    let view = next.keyspace_mut(keyspace_of(*table));
                    let table = view
                        .find_mut(*table)
                        .expect("the manifest's state accepted this kill");
                    let dead = &table.dead;
                    #[cfg(feature = "planted-faults")]
                    let dead = crate::planted::dead_before_kill(&table.file, dead);
                    table.dead = dead_set::with_added(dead, table.file.record_count(), ordinals);
                }
                Change::Flushed { .. }
                | Change::NextFile { .. }
                | Change::NextKeyspace { .. }
                | Change::LogSegment { .. } => {}
            }
        }
        next
    }

    fn keyspace_mut(&mut self, number: u32) -> &mut KeyspaceView {
        let view = self
            .keyspaces
            .get_mut(&number)
            .expect("the manifest's state knows the keyspace");
        Arc::make_mut(view)
    }
}
