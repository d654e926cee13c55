//! Writes the live entries of one keyspace as a table.

use std::sync::Arc;

use tephra_sstable::{Byte, FilterPolicy, Policy, TableOptions, TableWriter};

use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::memtable::Entry;
use crate::version::TableRecord;
use crate::vfs::WritableFile;

/// Options of a table of this engine's keyspaces. `common_width_bytes` if all its values have one length.
pub(crate) fn table_options(number: u64, creation: u64, common_width_bytes: Option<u64>) -> TableOptions {
    TableOptions {
        policy: Policy::byte_variable(),
        common_width: common_width_bytes,
        filter: FilterPolicy::default(),
        table_id: number,
        creation,
        composition_law: "replace".into(),
    }
}

/// Writes and syncs table `number` from entries in key order. The caller syncs the directory.
pub(super) fn write(
    directory: &Directory,
    number: u64,
    keyspace: u32,
    creation: u64,
    entries: &[&Entry],
) -> Result<TableRecord> {
    let path = directory.path_of(FileName::Table(number));
    let write_error = |source| Error::TableWrite {
        path: path.clone(),
        source: Arc::new(source),
    };
    let options = table_options(number, creation, common_width_bytes(entries));
    let out = directory.file_system.create_new(&path)?;
    let mut writer = TableWriter::<Box<dyn WritableFile>, Byte>::new(out, options).map_err(write_error)?;
    for entry in entries {
        writer.append(entry.key(), entry.value()).map_err(write_error)?;
    }
    let (mut out, summary) = writer.finish().map_err(write_error)?;
    out.sync()?;
    Ok(TableRecord {
        number,
        keyspace,
        level: 0,
        len_bytes: summary.file_len_bytes,
        record_count: summary.record_count,
    })
}

/// The length all values have, if they have one.
fn common_width_bytes(entries: &[&Entry]) -> Option<u64> {
    let mut lengths = entries.iter().map(|entry| entry.value().len() as u64);
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}
