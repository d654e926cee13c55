//! Writes records of one keyspace as a table.

use std::sync::Arc;

use tephra_sstable::{Bit, Byte, TableOptions, TableSummary, TableWriteError, TableWriter, UnitKind};

use super::sort::Record;
use crate::bit_key;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::keyspace::KeyspaceCore;
use crate::settings::KeyspaceSettings;
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
    let options = settings.table_options(number, creation, common_width_units(settings, records));
    let out = directory.file_system.create_new(&path)?;
    let written = match settings.unit {
        UnitKind::Byte => write_bytes(out, options, records),
        UnitKind::Bit => write_bits(out, options, records),
    };
    let (mut out, summary) = written.map_err(write_error)?;
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

type Out = Box<dyn WritableFile>;

fn write_bytes(
    out: Out,
    options: TableOptions,
    records: &[Record<'_>],
) -> std::result::Result<(Out, TableSummary), TableWriteError> {
    let mut writer = TableWriter::<_, Byte>::new(out, options)?;
    for record in records {
        writer.append(record.key(), record.value())?;
    }
    writer.finish()
}

fn write_bits(
    out: Out,
    options: TableOptions,
    records: &[Record<'_>],
) -> std::result::Result<(Out, TableSummary), TableWriteError> {
    let encoded = "keys and values of bit keyspaces are encoded where they enter";
    let mut writer = TableWriter::<_, Bit>::new(out, options)?;
    for record in records {
        let key = bit_key::decode_key(record.key()).expect(encoded);
        let value = bit_key::decode_value(record.value()).expect(encoded);
        writer.append(key.as_str(), value)?;
    }
    writer.finish()
}

/// The length all values have, if they have one.
fn common_width_units(settings: &KeyspaceSettings, records: &[Record<'_>]) -> Option<u64> {
    let mut lengths = records.iter().map(|record| settings.len_units(record.value()));
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}
