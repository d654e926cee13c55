//! Merges the streams of tables into new tables of a level.

use std::collections::BTreeMap;
use std::sync::Arc;

use tephra_compaction::job::table_input;
use tephra_compaction::{
    CompactionError, Law, MergeError, MergeInput, MergeReport, MergeUnit, Observer, Replace, merge_tables,
};
use tephra_sstable::{Bit, Byte, Table, TableOptions, UnitKind};

use super::sink::TableSink;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::keyspace::KeyspaceCore;
use crate::law::WithLaw;
use crate::table_file::TableFile;
use crate::unit_table::UnitTable;
use crate::version::TableView;
use crate::vfs::FileBytes;

/// Writes, syncs and opens the union of `inputs`, given oldest first, as tables of about the target size. Where it fails, no file
/// stays.
pub(super) fn merge(
    engine: &Engine,
    keyspace: &KeyspaceCore,
    inputs: &[TableView],
    level: u32,
) -> Result<BTreeMap<u64, Arc<TableFile>>> {
    let mut sink = TableSink::new(engine, keyspace, level);
    let written = match keyspace.settings.unit {
        UnitKind::Byte => run(engine, keyspace, inputs, &mut sink, UnitTable::as_bytes, with_law),
        UnitKind::Bit => run(
            engine,
            keyspace,
            inputs,
            &mut sink,
            UnitTable::as_bits,
            |_, merge: Merge<'_, '_, Bit>| {
                // No law composes bits.
                Ok(merge.with(Replace))
            },
        ),
    };
    let written = written.and_then(|()| sink.open_tables());
    if written.is_err() {
        sink.remove_files();
    }
    written
}

/// `table_of` gives the table of an open one that has the unit; `start` merges under the keyspace's law.
fn run<U: MergeUnit>(
    engine: &Engine,
    keyspace: &KeyspaceCore,
    inputs: &[TableView],
    sink: &mut TableSink<'_>,
    table_of: fn(&UnitTable) -> &Table<FileBytes, U>,
    start: fn(&KeyspaceCore, Merge<'_, '_, U>) -> Result<Outcome>,
) -> Result<()> {
    let alive = inputs.iter().filter(|table| table.live_count() > 0);
    let given: Vec<MergeInput<'_, U>> = alive
        .map(|view| {
            // Checks every page of the stream against its checksum.
            table_input(table_of(view.file.table()), view.dead.as_deref())
                .map_err(|error| view.file.error(error))
        })
        .collect::<Result<_>>()?;
    if given.is_empty() {
        return Ok(());
    }
    let merge = Merge {
        given: &given,
        options: keyspace.settings.table_options(0, 0, None),
        target_table_bytes: keyspace
            .settings
            .target_table_bytes
            .unwrap_or(engine.options.target_table_bytes),
        sink,
        observer: &UntilClosed(engine),
    };
    match start(keyspace, merge)? {
        Ok(_) => Ok(()),
        Err(CompactionError::Cancelled { .. }) => Err(Error::Closed),
        Err(source @ CompactionError::Merge(MergeError::Law { .. } | MergeError::ValueWidth { .. })) => {
            Err(Error::LawStopsCompaction {
                keyspace: keyspace.name.clone(),
                law: keyspace.settings.law_name().to_owned(),
                source: Arc::new(source),
            })
        }
        Err(source) => Err(Error::Compaction {
            source: Arc::new(source),
        }),
    }
}

type Outcome = std::result::Result<MergeReport, CompactionError>;

/// A merge that waits for its law.
struct Merge<'a, 'e, U: MergeUnit> {
    given: &'a [MergeInput<'a, U>],
    options: TableOptions,
    target_table_bytes: u64,
    sink: &'a mut TableSink<'e>,
    observer: &'a UntilClosed<'a>,
}

impl<U: MergeUnit> Merge<'_, '_, U> {
    fn with<L: Law<U>>(self, law: L) -> Outcome {
        merge_tables(
            self.given,
            law,
            self.target_table_bytes,
            &self.options,
            self.sink,
            self.observer,
        )
    }
}

impl WithLaw for Merge<'_, '_, Byte> {
    type Outcome = Outcome;

    fn run<L: Law<Byte>>(self, law: L) -> Outcome {
        self.with(law)
    }
}

/// Merges under the law of a keyspace of byte strings.
fn with_law(keyspace: &KeyspaceCore, merge: Merge<'_, '_, Byte>) -> Result<Outcome> {
    Ok(if keyspace.is_composing() {
        keyspace.law()?.apply(merge)
    } else {
        merge.with(Replace)
    })
}

/// Ends a merge early when the database is being closed.
struct UntilClosed<'a>(&'a Engine);

impl Observer for UntilClosed<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.work.is_stopping()
    }
}
