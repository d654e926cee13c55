//! Merges the streams of tables into new tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use tephra_compaction::{MergeInput, Merger, Replace, Trust};
use tephra_sstable::{Byte, EncodedStream, write_encoded_table};

use crate::db::Engine;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::flush::write_table::table_options;
use crate::table_file::TableFile;
use crate::version::{TableRecord, TableView};

/// Distinct keys between two looks at the output's size and at whether the database is closing.
const KEYS_A_STEP: u64 = 256;

/// Writes, syncs and opens the union of `inputs`, given oldest first, as tables of about the target size. Where it fails, no file
/// stays.
pub(super) fn merge(
    engine: &Engine,
    keyspace_name: &str,
    keyspace: u32,
    inputs: &[TableView],
    level: u32,
) -> Result<BTreeMap<u64, Arc<TableFile>>> {
    let mut output = Output {
        engine,
        keyspace,
        level,
        records: Vec::new(),
        numbers: Vec::new(),
    };
    let written = run(engine, keyspace_name, inputs, &mut output).and_then(|()| output.open());
    if written.is_err() {
        engine.remove_tables(output.numbers.iter().copied());
    }
    written
}

fn run(engine: &Engine, keyspace_name: &str, inputs: &[TableView], output: &mut Output<'_>) -> Result<()> {
    let failed = |error: tephra_compaction::MergeError| Error::Compaction {
        keyspace: keyspace_name.to_owned(),
        reason: error.to_string(),
    };
    let mut given = Vec::new();
    for table in inputs.iter().filter(|table| table.live_count() > 0) {
        let is_certified = table.file.table().properties().ordinary_front_coding;
        given.push(MergeInput {
            // Checks every page of the stream against its checksum.
            stream: table.file.encoded()?,
            trust: if is_certified {
                Trust::Certified
            } else {
                Trust::Validating
            },
            dead: table.dead.as_deref(),
            ordinals: None,
            prefixes: None,
        });
    }
    if given.is_empty() {
        return Ok(());
    }
    let mut merger = Merger::<Byte, _>::new(&given, Replace).map_err(failed)?;
    while !merger.step(KEYS_A_STEP).map_err(failed)?.done {
        if engine.is_closing() {
            return Err(Error::Closed);
        }
        if merger.output_len_bytes() >= engine.options.target_table_bytes {
            output.write(&merger.cut().map_err(failed)?)?;
        }
    }
    let last = merger.finish().map_err(failed)?;
    if last.meta.record_count > 0 {
        output.write(&last)
    } else {
        Ok(())
    }
}

/// The tables written so far.
struct Output<'a> {
    engine: &'a Engine,
    keyspace: u32,
    level: u32,
    records: Vec<TableRecord>,
    /// Numbers of files that may exist.
    numbers: Vec<u64>,
}

impl Output<'_> {
    fn write(&mut self, stream: &EncodedStream) -> Result<()> {
        let number = self.engine.next_file_number();
        self.numbers.push(number);
        let path = self.engine.directory.path_of(FileName::Table(number));
        let out = self.engine.directory.file_system.create_new(&path)?;
        let options = table_options(number, number, stream.meta.common_width);
        let (mut out, summary) =
            write_encoded_table(stream.view(), &options, out).map_err(|source| Error::TableWrite {
                path,
                source: Arc::new(source),
            })?;
        out.sync()?;
        self.records.push(TableRecord {
            number,
            keyspace: self.keyspace,
            level: self.level,
            len_bytes: summary.file_len_bytes,
            record_count: summary.record_count,
        });
        Ok(())
    }

    /// Makes the names durable and opens the tables.
    fn open(&mut self) -> Result<BTreeMap<u64, Arc<TableFile>>> {
        if !self.records.is_empty() {
            self.engine.directory.sync()?;
        }
        let records = std::mem::take(&mut self.records).into_iter();
        records
            .map(|record| Ok((record.number, TableFile::open(&self.engine.directory, record)?)))
            .collect()
    }
}
