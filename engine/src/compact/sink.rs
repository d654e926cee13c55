//! Where a merge's outputs go: files of the database's directory, not yet named by the manifest.

use std::io;
use std::sync::Arc;

use tephra_compaction::OutputSink;
use tephra_sstable::{TableSummary, UnitKind};

use crate::db::Engine;
use crate::error::Result;
use crate::file_name::FileName;
use crate::keyspace::KeyspaceCore;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::TableRecord;
use crate::vfs::WritableFile;

/// The tables of one part of a merge.
pub(super) struct TableSink<'a> {
    engine: &'a Engine,
    keyspace: u32,
    level: u32,
    /// Synced tables.
    records: Vec<TableRecord>,
    /// Numbers of files that may exist.
    numbers: Vec<u64>,
}

impl<'a> TableSink<'a> {
    pub(super) fn new(engine: &'a Engine, keyspace: &KeyspaceCore, level: u32) -> Self {
        TableSink {
            engine,
            keyspace: keyspace.number,
            level,
            records: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Removes every file made.
    pub(super) fn remove_files(&self) {
        self.engine.remove_tables(self.numbers.iter().copied());
    }
}

/// Makes the names of all tables durable and opens them.
pub(super) fn open_tables(
    engine: &Engine,
    unit: UnitKind,
    sinks: &[TableSink<'_>],
) -> Result<SortedMap<u64, Arc<TableFile>>> {
    let mut records = sinks.iter().flat_map(|sink| &sink.records).peekable();
    if records.peek().is_some() {
        engine.directory.sync()?;
    }
    records
        .map(|record| {
            Ok((
                record.number,
                TableFile::open(&engine.directory, record.clone(), unit)?,
            ))
        })
        .collect()
}

impl OutputSink for TableSink<'_> {
    type Write = Box<dyn WritableFile>;

    fn create(&mut self) -> io::Result<(u64, Self::Write)> {
        let number = self.engine.next_file_number();
        self.numbers.push(number);
        let path = self.engine.directory.path_of(FileName::Table(number));
        Ok((number, self.engine.directory.file_system.create_new(&path)?))
    }

    fn finish(&mut self, mut out: Self::Write, summary: TableSummary) -> io::Result<()> {
        out.sync()?;
        self.records.push(TableRecord {
            number: summary.table_id,
            keyspace: self.keyspace,
            level: self.level,
            len_bytes: summary.file_len_bytes,
            record_count: summary.record_count,
            age: summary.table_id,
        });
        Ok(())
    }

    fn abandon(&mut self, table_id: u64) {
        self.engine.remove_tables(std::iter::once(table_id));
    }
}
