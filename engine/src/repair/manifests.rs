//! What the manifests say, as far as they can be read.
//!
//! ```text
//! MANIFEST-7   | snapshot: tables 3, 5 | edit | ??? | edit: table 9 | kill in 5 |
//!                                               gap: what it killed in 3 and 5 is unknown; 9 came later and is certain
//! ```
//!
//! The manifest that `CURRENT` names counts. Without one, that which says most of the log is flushed; of equal ones the newest.

use std::collections::BTreeSet;

use roaring::RoaringTreemap;
use tephra_wal::{Gap, Replayed, SegmentBytes, salvage};

use super::log::LogFound;
use super::report::{Loss, RepairReport};
use crate::directory::{Directory, Listing};
use crate::error::Result;
use crate::file_name::FileName;
use crate::keyspace::DEFAULT_KEYSPACE;
use crate::settings::KeyspaceSettings;
use crate::sorted_map::SortedMap;
use crate::version::{Change, Edit, ManifestState, TableRecord, manifest};

/// What is known of the database.
#[derive(Debug)]
pub(super) struct History {
    pub(super) state: ManifestState,
    /// Tables of the state whose dead sets may lack something.
    pub(super) doubtful: BTreeSet<u64>,
    /// No edit is lost: a table that is not in the state is no part of the database.
    pub(super) is_complete: bool,
}

/// What one manifest says.
struct Reading {
    number: u64,
    state: ManifestState,
    doubtful: BTreeSet<u64>,
    losses: Vec<Loss>,
    notes: Vec<String>,
}

/// Reads the manifest that counts.
pub(super) fn read(source: &Directory, listing: &Listing, report: &mut RepairReport) -> History {
    let named = manifest::read_current(source).unwrap_or_else(|error| {
        report.notes.push(error.to_string());
        None
    });
    let numbers = listing.own.iter().filter_map(|name| match name {
        FileName::Manifest(number) => Some(*number),
        _ => None,
    });
    let mut unread = Vec::new();
    let mut readings = Vec::new();
    for number in numbers {
        match read_one(source, number) {
            Some(reading) => readings.push(reading),
            None => unread.push(number),
        }
    }
    let best = readings.iter().position(|reading| Some(reading.number) == named);
    let best = best.or_else(|| {
        let rank = |index: &usize| (readings[*index].state.flushed_segment, readings[*index].number);
        (0..readings.len()).max_by_key(rank)
    });
    let Some(mut best) = best.map(|index| readings.swap_remove(index)) else {
        let file = named.map_or("MANIFEST".into(), |number| FileName::Manifest(number).to_string());
        let reason = "no manifest can be read: names and settings of the keyspaces, the place of each table and its deleted records are lost";
        report.lose(Loss::of(file, reason).may_undelete());
        return History {
            state: of_changes(&[]),
            doubtful: BTreeSet::new(),
            is_complete: false,
        };
    };
    let name = FileName::Manifest(best.number);
    match named {
        Some(number) if number == best.number => {}
        Some(number) => {
            let reason = format!(
                "CURRENT names it and it cannot be read; {name} was taken, what changed since is lost"
            );
            best.lose_all(Loss::of(FileName::Manifest(number), reason));
        }
        None => match unread.iter().find(|&&number| number > best.number) {
            Some(&newer) => {
                let reason = format!("it cannot be read; {name} was taken, what changed since is lost");
                best.lose_all(Loss::of(FileName::Manifest(newer), reason));
            }
            None => report.notes.push(format!(
                "CURRENT does not tell which manifest counts; {name} was taken"
            )),
        },
    }
    let is_complete = best.losses.is_empty();
    report.notes.append(&mut best.notes);
    best.losses.into_iter().for_each(|loss| report.lose(loss));
    History {
        state: best.state,
        doubtful: best.doubtful,
        is_complete,
    }
}

impl Reading {
    /// Later edits are lost: no dead set is certain.
    fn lose_all(&mut self, loss: Loss) {
        self.losses.push(loss.may_undelete());
        self.doubtful = self.state.tables.keys().copied().collect();
    }
}

impl History {
    /// The log must go on where the tables end. Where it does not, and tables and manifest do not fit either, edits are lost.
    pub(super) fn compare_with_log(&mut self, log: &LogFound, listing: &Listing, report: &mut RepairReport) {
        let flushed = self.state.flushed_segment;
        let Some(before) = log.follows.filter(|&before| before > flushed) else {
            return;
        };
        let reason =
            format!("tables hold the log up to segment {flushed} only, and what lies between is gone");
        report.lose(Loss::of(FileName::Segment(before), reason).may_undelete());
        let on_disk = |number: &u64| listing.own.contains(&FileName::Table(*number));
        let unnamed = listing.own.iter().any(|name| match name {
            FileName::Table(number) => !self.state.tables.contains_key(number),
            _ => false,
        });
        if unnamed || !self.state.tables.keys().all(on_disk) {
            self.is_complete = false;
            self.doubtful = self.state.tables.keys().copied().collect();
        }
    }
}

/// `None` if no edit of it can be read.
fn read_one(source: &Directory, number: u64) -> Option<Reading> {
    if let Ok(state) = manifest::read(source, number) {
        return Some(Reading {
            number,
            state,
            doubtful: BTreeSet::new(),
            losses: Vec::new(),
            notes: Vec::new(),
        });
    }
    let bytes = source
        .file_system
        .read(&source.path_of(FileName::Manifest(number)))
        .ok()?;
    let segment = [SegmentBytes {
        number,
        bytes: &bytes,
    }];
    let found = salvage(&segment, manifest::MANIFEST_MAGIC);
    if found.records.is_empty() {
        return None;
    }
    let name = FileName::Manifest(number);
    let headers = found.gaps.iter().filter(|gap| gap.is_header());
    let notes: Vec<_> = headers.map(|gap| format!("{name}: {}", gap.reason)).collect();
    if !notes.is_empty()
        && found.gaps.len() == notes.len()
        && let Some(state) = sum(&found.records)
    {
        return Some(Reading {
            number,
            state,
            doubtful: BTreeSet::new(),
            losses: Vec::new(),
            notes,
        });
    }
    let mut pieces = Pieces::default();
    let mut losses = Vec::new();
    let mut gaps = found.gaps.iter().filter(|gap| !gap.is_header()).peekable();
    let mut lose = |pieces: &mut Pieces, gap: &Gap| {
        pieces.gap_count += 1;
        let reason = format!("{}; edits are lost", gap.reason);
        losses.push(Loss::of(name, reason).at(gap.from).may_undelete());
    };
    for record in &found.records {
        while let Some(gap) = gaps.next_if(|gap| gap.from < record.position.offset) {
            lose(&mut pieces, gap);
        }
        if let Err(gap) = pieces.add(record) {
            lose(&mut pieces, &gap);
        }
    }
    gaps.for_each(|gap| lose(&mut pieces, gap));
    if losses.is_empty() {
        // Nothing is unreadable, but the edits contradict each other.
        let reason = "its edits contradict each other";
        losses.push(Loss::of(name, reason).may_undelete());
        pieces.gap_count += 1;
    }
    let (state, doubtful) = pieces.put_together();
    Some(Reading {
        number,
        state,
        doubtful,
        losses,
        notes,
    })
}

/// The state after all edits; `None` if one is malformed or contradicts those before it.
fn sum(records: &[Replayed<'_>]) -> Option<ManifestState> {
    let mut state = ManifestState::default();
    for record in records {
        state.apply(&Edit::decode(record.payload).ok()?).ok()?;
    }
    Some(state)
}

/// The sum of edits some of which are missing.
#[derive(Default)]
struct Pieces {
    keyspaces: SortedMap<u32, (String, KeyspaceSettings)>,
    /// With the gaps before each was added.
    tables: SortedMap<u64, (TableRecord, RoaringTreemap, usize)>,
    others: Vec<Change>,
    gap_count: usize,
}

impl Pieces {
    fn add(&mut self, record: &Replayed<'_>) -> std::result::Result<(), Gap> {
        let edit = Edit::decode(record.payload).map_err(|malformed| Gap {
            segment: record.position.segment,
            from: record.position.offset,
            to: record.position.offset,
            reason: format!("expected {}, found {}", malformed.expected, malformed.found),
        })?;
        for change in edit.changes {
            match change {
                Change::CreateKeyspace {
                    number,
                    name,
                    settings,
                } => drop(self.keyspaces.insert(number, (name, settings))),
                Change::DropKeyspace { number } => {
                    self.keyspaces.remove(&number);
                    self.tables.retain(|_, (table, ..)| table.keyspace != number);
                }
                Change::AddTable(table) => {
                    let added = (table.clone(), RoaringTreemap::new(), self.gap_count);
                    self.tables.insert(table.number, added);
                }
                Change::RemoveTable { number } => drop(self.tables.remove(&number)),
                Change::Kill { table, ordinals } => {
                    if let Some((_, dead, _)) = self.tables.get_mut(&table) {
                        *dead |= ordinals;
                    }
                }
                Change::MoveTable { number, level } => {
                    if let Some((table, ..)) = self.tables.get_mut(&number) {
                        table.level = level;
                    }
                }
                other => self.others.push(other),
            }
        }
        Ok(())
    }

    /// The state, and the tables whose dead sets may lack something.
    fn put_together(mut self) -> (ManifestState, BTreeSet<u64>) {
        let mut changes = std::mem::take(&mut self.others);
        let mut names = BTreeSet::new();
        // A name may be held twice where the drop of its first holder is lost: the newest has it.
        for (number, (mut name, settings)) in self.keyspaces.into_iter().rev() {
            if !names.insert(name.clone()) {
                name = format!("{name} (keyspace {number})");
            }
            changes.push(Change::CreateKeyspace {
                number,
                name,
                settings,
            });
        }
        changes.sort_by_key(|change| match change {
            Change::CreateKeyspace { number, .. } => (1, *number),
            Change::NextKeyspace { .. } => (2, 0),
            _ => (0, 0),
        });
        let mut doubtful = BTreeSet::new();
        let mut ranks = SortedMap::new();
        let mut tables: Vec<_> = self.tables.into_values().collect();
        // From the oldest to the newest.
        tables.sort_unstable_by_key(|(table, ..)| (u32::MAX - table.level, table.age, table.number));
        for (mut table, dead, gaps_before) in tables {
            if gaps_before < self.gap_count {
                doubtful.insert(table.number);
            }
            let rank = ranks.get_or_insert_with(table.keyspace, || 0);
            *rank += 1;
            (table.level, table.age) = (0, *rank);
            let number = table.number;
            changes.push(Change::AddTable(table));
            changes.push(Change::Kill {
                table: number,
                ordinals: dead,
            });
        }
        (of_changes(&changes), doubtful)
    }
}

/// The state after those changes that do not contradict the ones before them. The default keyspace is always there.
fn of_changes(changes: &[Change]) -> ManifestState {
    let default = Change::CreateKeyspace {
        number: DEFAULT_KEYSPACE,
        name: String::new(),
        settings: KeyspaceSettings::default(),
    };
    let mut state = ManifestState::default();
    let mut apply = |change: &Change| -> bool {
        let changes = vec![change.clone()];
        // A change is refused before it has done anything.
        state.apply(&Edit { changes }).is_ok()
    };
    apply(&default);
    for change in changes {
        apply(change);
    }
    state
}

/// An error is only of interest as a text here.
pub(super) fn told<T>(outcome: Result<T>) -> std::result::Result<T, String> {
    outcome.map_err(|error| error.to_string())
}
