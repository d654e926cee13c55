//! Takes tables: whole ones as they are, others record by record.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;
use tephra_sstable::{LostRecords, UnitKind};

use super::RepairOptions;
use super::build::NewDatabase;
use super::manifests::{History, told};
use super::report::{Loss, RepairReport, SetAside, Undeleted};
use crate::directory::{Directory, Listing};
use crate::error::Result;
use crate::file_name::FileName;
use crate::settings::KeyspaceSettings;
use crate::unit_table::UnitTable;
use crate::version::{TableRecord, TableState};
use crate::vfs::FileBytes;

/// What the tables add to the new manifest.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) tables: Vec<TableState>,
    /// Keyspaces for tables that nobody knows the place of: name, settings, table.
    pub(super) strays: Vec<(String, KeyspaceSettings, TableRecord)>,
}

/// Takes every table that can be taken.
pub(super) fn take(
    source: &Directory,
    listing: &Listing,
    history: &History,
    options: RepairOptions,
    database: &mut NewDatabase,
    report: &mut RepairReport,
) -> Result<Taken> {
    let mut taken = Taken::default();
    for (&number, table) in &history.state.tables {
        let name = FileName::Table(number);
        let unit = history.state.keyspaces[&table.record.keyspace].settings.unit;
        let opened = match open(source, listing, &table.record, unit) {
            Ok(opened) => opened,
            Err(reason) => {
                let reason = format!(
                    "{reason}; keys of this table alone are gone, of others an older value may answer"
                );
                report.lose(Loss::of(name, reason).records(table.live_count()));
                continue;
            }
        };
        if history.doubtful.contains(&number) {
            let killed = table.dead.len();
            if !options.accept_undeleted {
                report.set_aside.push(SetAside {
                    file: name.to_string(),
                    record_count: table.record.record_count,
                    reason: format!("edits of the manifest are lost, so more than the {killed} records known to be dead may be deleted"),
                });
                continue;
            }
            let reason = format!(
                "taken with the {killed} records known to be dead, since edits of the manifest are lost"
            );
            let made = take_one(&opened, table, database, report)?;
            if let Some(made) = &made {
                report.undeleted.push(Undeleted {
                    file: name.to_string(),
                    record_count: made.live_count(),
                    reason,
                });
            }
            taken.tables.extend(made);
            continue;
        }
        taken.tables.extend(take_one(&opened, table, database, report)?);
    }
    take_unnamed(source, listing, history, options, database, report, &mut taken)?;
    report.table_count = taken.tables.len() + taken.strays.len();
    Ok(taken)
}

/// A table that could be opened.
struct Opened {
    bytes: FileBytes,
    table: UnitTable,
}

fn open(
    source: &Directory,
    listing: &Listing,
    record: &TableRecord,
    unit: UnitKind,
) -> std::result::Result<Opened, String> {
    let name = FileName::Table(record.number);
    if !listing.own.contains(&name) {
        return Err("no such file".into());
    }
    let mut bytes = told(
        source
            .file_system
            .open_map(&source.path_of(name))
            .map_err(Into::into),
    )?;
    let len_bytes = usize::try_from(record.len_bytes).unwrap_or(usize::MAX);
    if bytes.len() > len_bytes {
        // Something was written behind its end.
        bytes = FileBytes::memory(Arc::new(bytes[..len_bytes].to_vec()));
    }
    let table = UnitTable::open(bytes.clone(), unit).map_err(|error| error.to_string())?;
    let (number, count) = (table.id(), table.record_count());
    if (number, count) != (record.number, record.record_count) {
        return Err(format!(
            "expected a table {} of {} records, found table {number} of {count}",
            record.number, record.record_count
        ));
    }
    Ok(Opened { bytes, table })
}

/// Copies a table, or what can be read of it. `None` if nothing in it is alive.
fn take_one(
    opened: &Opened,
    table: &TableState,
    database: &mut NewDatabase,
    report: &mut RepairReport,
) -> Result<Option<TableState>> {
    let name = FileName::Table(table.record.number);
    if opened.table.verify().is_ok() {
        database.write_file(name, &opened.bytes)?;
        report.table_record_count += table.record.record_count;
        return Ok(Some(table.clone()));
    }
    let salvaged = database.write_table(name, |out| opened.table.salvage(out))?;
    let dead = renumbered(&table.dead, &salvaged.lost);
    let summary = salvaged.summary;
    if salvaged.lost.is_empty() {
        report
            .notes
            .push(format!("{name}: damaged outside its records, made anew"));
    }
    for lost in &salvaged.lost {
        let count = lost.ordinals.end - lost.ordinals.start;
        let dead_count = table.dead.range_cardinality(lost.ordinals.clone());
        let place = database.neighbours(name, &summary, lost, &salvaged.lost, opened.table.unit())?;
        let reason = format!(
            "{}; {count} records ({dead_count} of them deleted) cannot be read, {place}: those keys are gone, or an older value answers",
            lost.error
        );
        report.lose(Loss::of(name, reason).records(count - dead_count));
    }
    report.rebuilt_table_count += 1;
    if summary.record_count == dead.len() {
        database.remove(name);
        return Ok(None);
    }
    report.table_record_count += summary.record_count;
    let record = TableRecord {
        len_bytes: summary.file_len_bytes,
        record_count: summary.record_count,
        ..table.record.clone()
    };
    Ok(Some(TableState { record, dead }))
}

/// Dead ordinals after the lost ones have gone.
fn renumbered(dead: &RoaringTreemap, lost: &[LostRecords]) -> RoaringTreemap {
    let is_lost = |ordinal: u64| lost.iter().any(|lost| lost.ordinals.contains(&ordinal));
    let kept = dead.iter().filter(|&ordinal| !is_lost(ordinal));
    kept.map(|ordinal| ordinal - lost_before(lost, ordinal)).collect()
}

/// How many records in front of an ordinal are lost.
pub(super) fn lost_before(lost: &[LostRecords], ordinal: u64) -> u64 {
    let in_front = |Range { start, end }: &Range<u64>| ordinal.min(*end).saturating_sub(*start);
    lost.iter().map(|lost| in_front(&lost.ordinals)).sum()
}

/// Tables that the state does not name: leftovers if no edit is lost.
fn take_unnamed(
    source: &Directory,
    listing: &Listing,
    history: &History,
    options: RepairOptions,
    database: &mut NewDatabase,
    report: &mut RepairReport,
    taken: &mut Taken,
) -> Result<()> {
    let named: BTreeSet<u64> = history.state.tables.keys().copied().collect();
    for name in &listing.own {
        let FileName::Table(number) = *name else { continue };
        if named.contains(&number) {
            continue;
        }
        if history.is_complete {
            report.notes.push(format!(
                "{name}: no manifest names it; left of work that was cut short"
            ));
            continue;
        }
        let (opened, settings) = match open_unnamed(source, number) {
            Ok(opened) => opened,
            Err(reason) => {
                report.lose(Loss::of(name, reason));
                continue;
            }
        };
        let record_count = opened.table.record_count();
        if !options.accept_undeleted {
            report.set_aside.push(SetAside {
                file: name.to_string(),
                record_count,
                reason: "no readable edit of the manifest names it: its keyspace and its deleted records are unknown".into(),
            });
            continue;
        }
        let keyspace = format!("recovered {name}");
        let reason =
            format!("taken as keyspace {keyspace:?}, since no readable edit of the manifest names it");
        let record = TableRecord {
            number,
            keyspace: 0,
            level: 0,
            len_bytes: opened.bytes.len() as u64,
            record_count,
            age: number,
        };
        let table = TableState {
            record,
            dead: RoaringTreemap::new(),
        };
        if let Some(table) = take_one(&opened, &table, database, report)? {
            report.undeleted.push(Undeleted {
                file: name.to_string(),
                record_count: table.live_count(),
                reason,
            });
            taken.strays.push((keyspace, settings, table.record));
        }
    }
    Ok(())
}

/// Opens a table of whatever unit, and says what keyspace it could belong to.
fn open_unnamed(source: &Directory, number: u64) -> std::result::Result<(Opened, KeyspaceSettings), String> {
    let path = source.path_of(FileName::Table(number));
    let bytes = told(source.file_system.open_map(&path).map_err(Into::into))?;
    let opened = UnitTable::open(bytes.clone(), UnitKind::Byte);
    let table = opened.or_else(|error| UnitTable::open(bytes.clone(), UnitKind::Bit).map_err(|_| error));
    let table = table.map_err(|error| error.to_string())?;
    if table.id() != number {
        return Err(format!("expected table {number}, found table {}", table.id()));
    }
    let settings = table.settings();
    Ok((Opened { bytes, table }, settings))
}
