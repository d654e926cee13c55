//! What the manifest says: the sum of its edits, as plain data.
//!
//! Applying an edit checks it against everything before it, so that a manifest which contradicts itself is found
//! when it is read, and one of ours can never be written. The state knows no open file; the version (`version.rs`) is
//! its counterpart with open tables, and the dead sets of both must agree.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use super::edit::{Change, Edit, TableRecord};
use crate::settings::KeyspaceSettings;

/// The deepest level.
pub(crate) const LEVEL_MAX: u32 = 32;

/// A table with everything that was killed in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableState {
    pub(crate) record: TableRecord,
    pub(crate) dead: RoaringTreemap,
}

impl TableState {
    /// Records not marked dead.
    pub(crate) fn live_count(&self) -> u64 {
        self.record.record_count - self.dead.len()
    }
}

/// What the manifest remembers of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyspaceState {
    pub(crate) name: String,
    pub(crate) settings: KeyspaceSettings,
}

/// The sum of a manifest's edits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ManifestState {
    pub(crate) keyspaces: BTreeMap<u32, KeyspaceState>,
    pub(crate) next_keyspace: u32,
    pub(crate) tables: BTreeMap<u64, TableState>,
    /// The names in use.
    names: BTreeSet<String>,
    /// The tables of each keyspace that has any: dropping one looks at no other.
    tables_of: BTreeMap<u32, BTreeSet<u64>>,
    /// All segments up to this number are flushed.
    pub(crate) flushed_segment: u64,
    /// The newest segment known to have been made, name and header on the disk, before the manifest said so. As long as it is not flushed it
    /// must be there. 0: none is known.
    pub(crate) log_segment: u64,
    /// No file with this number or a higher one was ever named by the manifest.
    pub(crate) next_file: u64,
}

/// An edit that contradicts the state before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) expected: String,
    pub(crate) found: String,
}

fn contradiction<T>(expected: impl Into<String>, found: impl Into<String>) -> Result<T, Contradiction> {
    Err(Contradiction {
        expected: expected.into(),
        found: found.into(),
    })
}

impl ManifestState {
    /// Applies an edit as a whole; after an error the state is to be thrown away.
    pub(crate) fn apply(&mut self, edit: &Edit) -> Result<(), Contradiction> {
        for change in &edit.changes {
            self.apply_change(change)?;
        }
        Ok(())
    }

    fn apply_change(&mut self, change: &Change) -> Result<(), Contradiction> {
        match change {
            Change::CreateKeyspace {
                number,
                name,
                settings,
            } => self.create_keyspace(*number, name, settings),
            Change::DropKeyspace { number } => self.drop_keyspace(*number),
            Change::AddTable(record) => self.add_table(record),
            Change::RemoveTable { number } => self.remove_table(*number),
            Change::MoveTable { number, level } => match self.tables.get_mut(number) {
                Some(_) if *level > LEVEL_MAX => {
                    contradiction(format!("a level up to {LEVEL_MAX}"), format!("level {level}"))
                }
                Some(table) => {
                    table.record.level = *level;
                    Ok(())
                }
                None => contradiction("the move of a known table", format!("table {number}")),
            },
            Change::Kill { table, ordinals } => self.kill(*table, ordinals),
            Change::Flushed { segment } => {
                self.flushed_segment = self.flushed_segment.max(*segment);
                self.next_file = self.next_file.max(segment.saturating_add(1));
                Ok(())
            }
            Change::LogSegment { number } => {
                self.log_segment = self.log_segment.max(*number);
                self.next_file = self.next_file.max(number.saturating_add(1));
                Ok(())
            }
            Change::NextKeyspace { number } => {
                self.next_keyspace = self.next_keyspace.max(*number);
                Ok(())
            }
            Change::NextFile { number } => {
                self.next_file = self.next_file.max(*number);
                Ok(())
            }
        }
    }

    fn create_keyspace(
        &mut self,
        number: u32,
        name: &str,
        settings: &KeyspaceSettings,
    ) -> Result<(), Contradiction> {
        if number < self.next_keyspace {
            return contradiction(
                "a keyspace number never used before",
                format!("keyspace {number}"),
            );
        }
        if self.names.contains(name) {
            return contradiction("a keyspace name not in use", format!("{name:?} again"));
        }
        let Some(next) = number.checked_add(1) else {
            return contradiction(
                "a keyspace number below the largest",
                format!("keyspace {number}"),
            );
        };
        self.next_keyspace = next;
        let state = KeyspaceState {
            name: name.to_owned(),
            settings: settings.clone(),
        };
        self.keyspaces.insert(number, state);
        self.names.insert(name.to_owned());
        Ok(())
    }

    fn drop_keyspace(&mut self, number: u32) -> Result<(), Contradiction> {
        let Some(keyspace) = self.keyspaces.remove(&number) else {
            return contradiction("the drop of a known keyspace", format!("keyspace {number}"));
        };
        self.names.remove(&keyspace.name);
        for table in self.tables_of.remove(&number).unwrap_or_default() {
            self.tables.remove(&table);
        }
        Ok(())
    }

    fn remove_table(&mut self, number: u64) -> Result<(), Contradiction> {
        let Some(table) = self.tables.remove(&number) else {
            return contradiction("the removal of a known table", format!("table {number}"));
        };
        if let Some(siblings) = self.tables_of.get_mut(&table.record.keyspace) {
            siblings.remove(&number);
            if siblings.is_empty() {
                self.tables_of.remove(&table.record.keyspace);
            }
        }
        Ok(())
    }

    fn add_table(&mut self, record: &TableRecord) -> Result<(), Contradiction> {
        if !self.keyspaces.contains_key(&record.keyspace) {
            let found = format!("table {} of keyspace {}", record.number, record.keyspace);
            return contradiction("a table of a known keyspace", found);
        }
        if record.level > LEVEL_MAX {
            return contradiction(
                format!("a level up to {LEVEL_MAX}"),
                format!("level {}", record.level),
            );
        }
        let last_number = record.number.max(record.age);
        if last_number == u64::MAX || self.tables.contains_key(&record.number) {
            return contradiction("a table number not in use", format!("table {}", record.number));
        }
        self.next_file = self.next_file.max(last_number + 1);
        let state = TableState {
            record: record.clone(),
            dead: RoaringTreemap::new(),
        };
        self.tables.insert(record.number, state);
        self.tables_of
            .entry(record.keyspace)
            .or_default()
            .insert(record.number);
        Ok(())
    }

    fn kill(&mut self, number: u64, ordinals: &RoaringTreemap) -> Result<(), Contradiction> {
        let Some(table) = self.tables.get_mut(&number) else {
            return contradiction("dead ordinals of a known table", format!("table {number}"));
        };
        let record_count = table.record.record_count;
        if let Some(ordinal) = ordinals.max().filter(|&ordinal| ordinal >= record_count) {
            let expected = format!("ordinals below {record_count}, the records of table {number}");
            return contradiction(expected, format!("ordinal {ordinal}"));
        }
        table.dead |= ordinals;
        Ok(())
    }

    /// The edit that builds this state from nothing.
    pub(crate) fn to_edit(&self) -> Edit {
        let mut changes = vec![
            Change::Flushed {
                segment: self.flushed_segment,
            },
            Change::NextFile {
                number: self.next_file,
            },
        ];
        if self.log_segment != 0 {
            changes.push(Change::LogSegment {
                number: self.log_segment,
            });
        }
        for (&number, keyspace) in &self.keyspaces {
            changes.push(Change::CreateKeyspace {
                number,
                name: keyspace.name.clone(),
                settings: keyspace.settings.clone(),
            });
        }
        changes.push(Change::NextKeyspace {
            number: self.next_keyspace,
        });
        for (&number, table) in &self.tables {
            changes.push(Change::AddTable(table.record.clone()));
            if !table.dead.is_empty() {
                let mut ordinals = table.dead.clone();
                ordinals.optimize();
                changes.push(Change::Kill {
                    table: number,
                    ordinals,
                });
            }
        }
        Edit { changes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(number: u64, keyspace: u32, record_count: u64) -> Change {
        Change::AddTable(TableRecord {
            number,
            keyspace,
            level: 0,
            len_bytes: 100,
            record_count,
            age: number,
        })
    }

    fn kill(table: u64, ordinals: &[u64]) -> Change {
        Change::Kill {
            table,
            ordinals: ordinals.iter().copied().collect(),
        }
    }

    fn built_from(changes: Vec<Change>) -> Result<ManifestState, Contradiction> {
        let mut state = ManifestState::default();
        state.apply(&Edit { changes })?;
        Ok(state)
    }

    fn keyspace(number: u32, name: &str) -> Change {
        Change::CreateKeyspace {
            number,
            name: name.into(),
            settings: KeyspaceSettings {
                target_table_bytes: Some(u64::from(number)),
                ..KeyspaceSettings::default()
            },
        }
    }

    #[test]
    fn a_snapshot_rebuilds_the_state() {
        let state = built_from(vec![
            keyspace(0, ""),
            keyspace(1, "a"),
            keyspace(2, "b"),
            table(5, 0, 10),
            table(6, 1, 1),
            table(7, 2, 3),
            kill(5, &[0, 9]),
            kill(5, &[9, 3]),
            Change::DropKeyspace { number: 2 },
            Change::Flushed { segment: 20 },
            Change::LogSegment { number: 22 },
        ])
        .expect("consistent");
        assert_eq!(state.tables[&5].live_count(), 7, "kills unite");
        assert!(!state.tables.contains_key(&7), "tables go with their keyspace");
        assert_eq!((state.next_file, state.next_keyspace), (23, 3));
        assert_eq!(built_from(state.to_edit().changes), Ok(state));
    }

    #[test]
    fn contradictions_are_refused() {
        let base = || vec![keyspace(0, ""), table(5, 0, 10)];
        let wrong = [
            keyspace(0, "again"),
            keyspace(1, ""),
            keyspace(u32::MAX, "largest"),
            table(5, 0, 10),
            table(6, 9, 10),
            table(u64::MAX, 0, 10),
            kill(5, &[10]),
            kill(4, &[0]),
            Change::RemoveTable { number: 4 },
            Change::MoveTable { number: 4, level: 1 },
            Change::DropKeyspace { number: 1 },
        ];
        for change in wrong {
            let mut changes = base();
            changes.push(change.clone());
            assert!(built_from(changes).is_err(), "{change:?}");
        }
    }

    #[test]
    fn a_dropped_number_never_comes_back_also_through_a_snapshot() {
        let state = built_from(vec![
            keyspace(0, ""),
            keyspace(7, "x"),
            Change::DropKeyspace { number: 7 },
        ]);
        let mut state = built_from(state.expect("consistent").to_edit().changes).expect("consistent");
        assert!(
            state
                .apply(&Edit {
                    changes: vec![keyspace(7, "x")]
                })
                .is_err()
        );
    }
}
