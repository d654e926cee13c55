//! The edits of compactions: what is still there of the inputs goes, moves, or is replaced by outputs.

use std::sync::{Arc, Weak};

use super::early_kills::MovedKills;
use super::run::find;
use super::{CompactionStart, late_kills};
use crate::db::Engine;
use crate::error::Result;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::{Change, Edit, KeyspaceView, TableView};

impl Engine {
    /// Takes tables without live records out of the version.
    pub(super) fn drop_tables(&self, keyspace: u32, numbers: &[u64]) -> Result<Vec<Weak<TableFile>>> {
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let gone: Vec<_> = tables_still_there(version.keyspace(keyspace), numbers).collect();
        let changes = gone.iter().map(|table| Change::RemoveTable {
            number: table.file.number(),
        });
        let edit = Edit {
            changes: changes.collect(),
        };
        let files = gone.iter().map(|table| Arc::downgrade(&table.file)).collect();
        self.commit_edit(&mut versions, &edit, &SortedMap::new(), None)?;
        Ok(files)
    }

    /// Records tables under another level.
    pub(super) fn move_tables(
        &self,
        keyspace: u32,
        numbers: &[u64],
        level: u32,
    ) -> Result<Vec<Weak<TableFile>>> {
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let moved = tables_still_there(version.keyspace(keyspace), numbers);
        let changes = moved.map(|table| Change::MoveTable {
            number: table.file.number(),
            level,
        });
        let edit = Edit {
            changes: changes.collect(),
        };
        self.commit_edit(&mut versions, &edit, &SortedMap::new(), None)?;
        Ok(Vec::new())
    }

    /// Makes the one edit of a merge and publishes it. Outputs that do not become part of the version are unlinked.
    pub(super) fn install_merge(
        &self,
        start: &CompactionStart<'_>,
        keyspace: u32,
        inputs: &[TableView],
        outputs: SortedMap<u64, Arc<TableFile>>,
    ) -> Result<Vec<Weak<TableFile>>> {
        let give_up = || outputs.values().for_each(|table| table.mark_obsolete());
        // From here to the publication no delete is settled in the inputs.
        let _no_early_kills = self.resolving.lock();
        let moved = MovedKills::find(self, inputs, &outputs).inspect_err(|_| give_up())?;
        let mut versions = self.versions.lock();
        let version = Arc::clone(versions.current());
        let Some(now) = version.keyspace(keyspace) else {
            // Dropped meanwhile, inputs and all.
            give_up();
            return Ok(Vec::new());
        };
        let ranges = start.range_kills_since(keyspace);
        let kills = late_kills::find(inputs, now, &ranges, &outputs).inspect_err(|_| give_up())?;
        #[cfg(feature = "planted-faults")]
        let kills = crate::planted::lose_late_kill(&outputs, kills);
        let mut edit = Edit::default();
        let numbers: Vec<u64> = inputs.iter().map(|table| table.file.number()).collect();
        let removed: Vec<_> = tables_still_there(Some(now), &numbers).collect();
        edit.changes
            .extend(removed.iter().map(|table| Change::RemoveTable {
                number: table.file.number(),
            }));
        let mut added = SortedMap::new();
        for (number, file) in &outputs {
            let killed = kills.get(number).map_or(0, |ordinals| ordinals.len());
            if killed == file.record_count() {
                file.mark_obsolete();
                continue;
            }
            edit.changes.push(Change::AddTable(file.record().clone()));
            if let Some(ordinals) = kills.get(number) {
                let mut ordinals = ordinals.clone();
                ordinals.optimize();
                edit.changes.push(Change::Kill {
                    table: *number,
                    ordinals,
                });
            }
            added.insert(*number, Arc::clone(file));
        }
        let files = removed.iter().map(|table| Arc::downgrade(&table.file)).collect();
        let publish = |version| self.publish_moving(version, &moved);
        self.commit_edit_then(&mut versions, &edit, &added, publish)?;
        Ok(files)
    }
}

/// Those of the tables that are still in the version: a flush removes tables in which it killed the last live record.
fn tables_still_there<'a>(
    view: Option<&'a Arc<KeyspaceView>>,
    numbers: &'a [u64],
) -> impl Iterator<Item = &'a TableView> {
    view.into_iter()
        .flat_map(move |view| numbers.iter().filter_map(move |&number| find(view, number)))
}
