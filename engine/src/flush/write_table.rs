//! Writes records of one keyspace as a table.

use std::sync::Arc;

use tephra_sstable::{Byte, TableWriter};

use super::sort::Record;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::keyspace::KeyspaceCore;
use crate::version::TableRecord;
use crate::vfs::WritableFile;

/// Writes and syncs table `number` from records in key order. The caller syncs the directory.
pub(super) fn write(
    directory: &Directory,
    number: u64,
    keyspace: &KeyspaceCore,
    creation: u64,
    records: &[Record<'_>],
) -> Result<TableRecord> {
    let path = directory.path_of(FileName::Table(number));
    let write_error = |source| Error::TableWrite {
        path: path.clone(),
        source: Arc::new(source),
    };
    let settings = &keyspace.settings;
    let options = settings.table_options(number, creation, common_width_bytes(records));
    let out = directory.file_system.create_new(&path)?;
    let mut writer = TableWriter::<Box<dyn WritableFile>, Byte>::new(out, options).map_err(write_error)?;
    for record in records {
        writer.append(record.key(), record.value()).map_err(write_error)?;
    }
    let (mut out, summary) = writer.finish().map_err(write_error)?;
    out.sync()?;
    Ok(TableRecord {
        number,
        keyspace: keyspace.number,
        level: 0,
        len_bytes: summary.file_len_bytes,
        record_count: summary.record_count,
        age: number,
    })
}

/// The length all values have, if they have one.
fn common_width_bytes(records: &[Record<'_>]) -> Option<u64> {
    let mut lengths = records.iter().map(|record| record.value().len() as u64);
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}
