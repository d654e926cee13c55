//! Merges the streams of tables into new tables of a level.

use std::collections::BTreeMap;
use std::sync::Arc;

use tephra_compaction::job::table_input;
use tephra_compaction::{
    CompactionError, Law, MergeError, MergeInput, MergeReport, Observer, Replace, merge_tables,
};
use tephra_sstable::{Byte, TableOptions};

use super::sink::TableSink;
use crate::db::Engine;
use crate::error::{Error, Result};
use crate::keyspace::KeyspaceCore;
use crate::law::WithLaw;
use crate::table_file::TableFile;
use crate::version::TableView;

/// Writes, syncs and opens the union of `inputs`, given oldest first, as tables of about the target size. Where it fails, no file
/// stays.
pub(super) fn merge(
    engine: &Engine,
    keyspace: &KeyspaceCore,
    inputs: &[TableView],
    level: u32,
) -> Result<BTreeMap<u64, Arc<TableFile>>> {
    let mut sink = TableSink::new(engine, keyspace.number, level);
    let written = run(engine, keyspace, inputs, &mut sink).and_then(|()| sink.open_tables());
    if written.is_err() {
        sink.remove_files();
    }
    written
}

fn run(
    engine: &Engine,
    keyspace: &KeyspaceCore,
    inputs: &[TableView],
    sink: &mut TableSink<'_>,
) -> Result<()> {
    let alive = inputs.iter().filter(|table| table.live_count() > 0);
    let given: Vec<MergeInput<'_, Byte>> = alive
        .map(|view| {
            // Checks every page of the stream against its checksum.
            table_input(view.file.table(), view.dead.as_deref()).map_err(|error| view.file.error(error))
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
    let outcome = if keyspace.is_composing() {
        keyspace.law()?.apply(merge)
    } else {
        merge.run(Replace)
    };
    match outcome {
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

/// A merge that waits for its law.
struct Merge<'a, 'e> {
    given: &'a [MergeInput<'a, Byte>],
    options: TableOptions,
    target_table_bytes: u64,
    sink: &'a mut TableSink<'e>,
    observer: &'a UntilClosed<'a>,
}

impl WithLaw for Merge<'_, '_> {
    type Outcome = std::result::Result<MergeReport, CompactionError>;

    fn run<L: Law<Byte>>(self, law: L) -> Self::Outcome {
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

/// Ends a merge early when the database is being closed.
struct UntilClosed<'a>(&'a Engine);

impl Observer for UntilClosed<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.work.is_stopping()
    }
}
