//! Checking a whole database against itself.
//!
//! ```text
//! directory   every file of the manifest is there; files that nothing names are told, not blamed
//! table       checksums, order, directory, separators, properties (the table layer); every live key found by a look-up
//! dead sets   memory against manifest; no record dead while an older one of its key is alive, overlays of the memtables included
//! versions    each key that several tables hold alive is answered by the newest; a merged walk meets exactly the keys
//!             that answer for themselves; in a composing keyspace readers compose what a fold from the oldest record makes
//! ```
//!
//! A keyspace with a damaged table is not compared across its tables: one damaged page is one problem, not one a record.

#[cfg(test)]
mod tests;

use std::ops::Bound;
use std::sync::Arc;

use crate::db::Engine;
use crate::dead_set::{self, is_dead};
use crate::error::Result;
use crate::file_name::FileName;
use crate::instant::{Instant, Layers, Overlays};
use crate::iter::Range;
use crate::keyspace::{KeyspaceCore, Keyspaces};
use crate::law::Composed;
use crate::memtable::Memtable;
use crate::value::Value;
use crate::version::{KeyspaceView, ManifestState, TableView, Version};

/// What [`Db::verify`](crate::Db::verify) found.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// db.put("a", "1")?;
/// db.flush()?;
/// let report = db.verify()?;
/// assert!(report.is_sound(), "{:?}", report.problems);
/// assert_eq!((report.table_count, report.live_key_count), (1, 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Tables checked.
    pub table_count: usize,
    /// Records read and checked.
    pub record_count: u64,
    /// Of these, marked dead.
    pub dead_record_count: u64,
    /// Keys alive at the instant of the call, memtables included; those of a keyspace with a damaged table are not counted.
    pub live_key_count: u64,
    /// Of these, keys whose value needs a composition law that is not known, or failed. Their records are checked, their values are not.
    pub uncomposed_key_count: u64,
    /// Tables and manifests that the manifest in force does not name: what a crash left of unfinished work. The next open
    /// for writing removes them.
    pub leftover_files: Vec<String>,
    /// Files in the directory that are not part of the database; they are left alone.
    pub foreign_files: Vec<String>,
    /// Everything that is wrong, each with its file and what was expected and found. Empty: the database is sound.
    pub problems: Vec<String>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes an error as a problem; gives the value otherwise.
    fn note<T>(&mut self, outcome: Result<T>) -> Option<T> {
        outcome
            .map_err(|error| self.problems.push(error.to_string()))
            .ok()
    }

    fn problem(&mut self, table: &TableView, what: String) {
        self.problems
            .push(format!("{}: {what}", table.file.path().display()));
    }
}

impl Engine {
    /// Checks everything at the instant of the call.
    pub(crate) fn verify(&self) -> Result<VerifyReport> {
        self.check_open()?;
        let mut report = VerifyReport::default();
        let (instant, cores) = self.check_directory(&mut report)?;
        for (keyspace, view) in instant.version().keyspaces() {
            let damaged = view
                .tables()
                .filter(|table| !check_table(table, &mut report))
                .count();
            if damaged > 0 {
                continue;
            }
            check_answers(view, instant.overlays(), &mut report);
            let Some(core) = cores.get(&keyspace) else {
                continue;
            };
            check_walk(core, &instant.layers.version, &mut report);
            let mut keys = 0;
            let unbounded = (Bound::Unbounded, Bound::Unbounded);
            for item in Range::new(instant.clone(), Arc::clone(core), unbounded) {
                let is_uncomposed = matches!(&item, Err(error) if error.concerns_one_key());
                report.uncomposed_key_count += u64::from(is_uncomposed);
                keys += u64::from(is_uncomposed || report.note(item).is_some());
            }
            report.live_key_count += keys;
        }
        Ok(report)
    }

    /// Checks the directory and the manifest's state against the version, while nothing is being written there.
    fn check_directory(&self, report: &mut VerifyReport) -> Result<(Instant, Keyspaces)> {
        let _no_flush = self.flushing.lock();
        let _no_compaction = self.compacting.write();
        let versions = self.versions.lock();
        // Before the listing: a reader that lets go in between unlinks what it pinned.
        let mut known = self.directory.building_tables();
        known.extend(self.directory.pinned_files().into_keys());
        let mut listing = self.directory.list()?;
        let instant = self.instant();
        let state = versions.state();
        self.directory
            .disown(&mut listing, state, versions.manifest_number());
        check_state(state, &instant.layers.version, report);
        for &number in state.tables.keys() {
            if !listing.own.contains(&FileName::Table(number)) {
                let path = self.directory.path_of(FileName::Table(number));
                report
                    .problems
                    .push(format!("{}: named by the manifest, but missing", path.display()));
            }
        }
        for &name in &listing.own {
            let is_known = match name {
                FileName::Table(number) => state.tables.contains_key(&number) || known.contains(&number),
                FileName::Manifest(number) => versions
                    .manifest_number()
                    .is_none_or(|in_force| in_force == number),
                _ => true,
            };
            if !is_known {
                report.leftover_files.push(name.to_string());
            }
        }
        report.foreign_files = listing.foreign;
        Ok((instant, versions.cores().clone()))
    }
}

/// The version must be the state with open tables.
fn check_state(state: &ManifestState, version: &Version, report: &mut VerifyReport) {
    let mut open_count = 0;
    for table in version.tables() {
        open_count += 1;
        let Some(recorded) = state.tables.get(&table.file.number()) else {
            report.problem(table, "in the version, but not in the manifest".into());
            continue;
        };
        let (live, recorded_live) = (table.live_count(), recorded.live_count());
        if live != recorded_live {
            report.problem(
                table,
                format!("the manifest counts {recorded_live} live records, memory {live}"),
            );
        }
        for ordinal in &recorded.dead {
            if !is_dead(&table.dead, ordinal) {
                report.problem(
                    table,
                    format!("record {ordinal} is dead in the manifest and alive in memory"),
                );
            }
        }
    }
    if open_count != state.tables.len() {
        let recorded = state.tables.len();
        report.problems.push(format!(
            "the manifest names {recorded} tables, the version holds {open_count}"
        ));
    }
}

/// Everything that one table can be asked alone. Says whether its file is undamaged.
fn check_table(table: &TableView, report: &mut VerifyReport) -> bool {
    report.table_count += 1;
    report.dead_record_count += dead_set::dead_count(&table.dead);
    let verified = table
        .file
        .table()
        .verify()
        .map_err(|error| table.file.error(error));
    let Some(verified) = report.note(verified) else {
        return false;
    };
    report.record_count += verified.record_count;
    if verified.record_count != table.file.record_count() {
        let expected = table.file.record_count();
        report.problem(
            table,
            format!("expected {expected} records, found {}", verified.record_count),
        );
    }
    if table.live_count() == 0 {
        report.problem(
            table,
            "nothing in it is alive, but it is still in the version".into(),
        );
    }
    true
}

/// Every record of every table: found by a look-up; if alive, answered by its table or a newer one; if dead, not survived by
/// an older one.
fn check_answers(view: &KeyspaceView, overlays: Overlays<'_>, report: &mut VerifyReport) {
    for (rank, table) in view.tables().enumerate() {
        let mut cursor = table.file.cursor();
        for ordinal in 0..table.file.record_count() {
            let moved = cursor.next();
            if report.note(table.file.expect_record(moved, ordinal)).is_none() {
                break;
            }
            let key = cursor.key();
            let found = report
                .note(table.file.find(key))
                .flatten()
                .map(|place| place.ordinal);
            if found != Some(ordinal) {
                report.problem(
                    table,
                    format!("a look-up of the key of record {ordinal} finds {found:?}"),
                );
            }
            if table.is_dead(ordinal, overlays) {
                check_no_survivor((view, overlays), rank, table, key, report);
            }
        }
    }
}

/// No table older than the one at `rank` may hold the key alive.
fn check_no_survivor(
    (view, overlays): (&KeyspaceView, Overlays<'_>),
    rank: usize,
    table: &TableView,
    key: &[u8],
    report: &mut VerifyReport,
) {
    for older in view.tables().skip(rank + 1).filter(|older| older.file.spans(key)) {
        if report.note(older.get(key, overlays)).flatten().is_some() {
            let (key, older) = (key.escape_ascii(), older.file.number());
            report.problem(
                table,
                format!("key \"{key}\" is dead here, but alive in the older table {older}"),
            );
        }
    }
}

/// A merged walk over the tables must meet each key once, in order, with the value that a look-up gives; and as many keys as there
/// are live records that no newer live record hides.
fn check_walk(core: &Arc<KeyspaceCore>, version: &Arc<Version>, report: &mut VerifyReport) {
    let layers = Layers {
        frozen: Vec::new(),
        version: Arc::clone(version),
    };
    let instant = Instant {
        active: Memtable::default(),
        layers: Arc::new(layers),
    };
    let Some(view) = version.keyspace(core.number) else {
        return;
    };
    let keyspace = core.number;
    let mut walked = 0u64;
    let mut previous = None;
    for item in Range::new(
        instant.clone(),
        Arc::clone(core),
        (Bound::Unbounded, Bound::Unbounded),
    ) {
        if matches!(&item, Err(error) if error.concerns_one_key()) {
            walked += 1;
            continue;
        }
        let Some((key, value)) = report.note(item) else {
            break;
        };
        walked += 1;
        if previous.as_ref().is_some_and(|previous| *previous >= key) {
            report.problems.push(format!(
                "keyspace {keyspace}: a walk meets {key:?} after {previous:?}"
            ));
        }
        let answer = report.note(instant.get(core, &key)).flatten();
        if answer.is_none_or(|answer| answer != value) {
            report.problems.push(format!(
                "keyspace {keyspace}: a walk and a look-up of {key:?} disagree"
            ));
        }
        if core.is_composing() {
            check_fold(core, view, &key, &value, report);
        }
        previous = Some(key);
    }
    let visible = count_visible(view, report);
    if walked != visible {
        report.problems.push(format!(
            "keyspace {keyspace}: a walk meets {walked} keys, the tables hold {visible}"
        ));
    }
}

/// What readers compose must be what a fold from the oldest live record makes, one law call a record.
fn check_fold(
    core: &KeyspaceCore,
    view: &KeyspaceView,
    key: &[u8],
    composed: &Value,
    report: &mut VerifyReport,
) {
    let holders = view.tables().rev().filter(|table| table.file.spans(key));
    let mut folded: Option<Vec<u8>> = None;
    for table in holders {
        let Some(Some(newer)) = report.note(table.get(key, Overlays::default())) else {
            continue;
        };
        let Some(older) = folded else {
            folded = Some(newer.to_vec());
            continue;
        };
        folded = match core.compose(key, &older, &newer) {
            Ok(Composed::Older) => Some(older),
            Ok(Composed::Newer) => Some(newer.to_vec()),
            Ok(Composed::Owned(owned)) => Some(owned),
            // The walk found a value: a law that gives none in this order is not associative, or not itself from call to call.
            Err(error) => {
                report.problems.push(error.to_string());
                return;
            }
        };
    }
    if folded.is_none_or(|folded| *composed != folded) {
        let (keyspace, law, key) = (&core.name, core.settings.law_name(), key.escape_ascii());
        report.problems.push(format!(
            "keyspace {keyspace:?}: readers compose another value for key \"{key}\" than a fold of its records from the oldest; \
             is law {law:?} associative?"
        ));
    }
}

/// Live records that no newer table holds alive.
fn count_visible(view: &KeyspaceView, report: &mut VerifyReport) -> u64 {
    let mut visible = 0;
    for (rank, table) in view.tables().enumerate() {
        let mut cursor = table.file.cursor();
        let mut ordinal = 0;
        while report.note(cursor.next().map_err(|error| table.file.error(error))) == Some(true) {
            let key = cursor.key();
            let mut newer = view.tables().take(rank).filter(|newer| newer.file.spans(key));
            let is_hidden = newer.any(|newer| {
                newer
                    .get(key, Overlays::default())
                    .is_ok_and(|value| value.is_some())
            });
            visible += u64::from(!is_hidden && !is_dead(&table.dead, ordinal));
            ordinal += 1;
        }
    }
    visible
}
