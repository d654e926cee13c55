//! Edits: what one record of the manifest says has changed.
//!
//! ```text
//! edit      version (1 byte, = 1)   change change ...
//! change    tag (1 byte)            fields: canonical base-128 numbers; byte strings behind their length
//!
//!   1 create keyspace    number, name, settings        settings: `settings.rs`
//!   2 drop keyspace      number                        its tables go with it
//!   3 add table          number, keyspace, level, file length, record count, age
//!   4 remove table       number                        its dead set goes with it
//!   5 kill               table, ordinals               added to the table's dead set; roaring's portable form
//!   6 flushed            segment                       this and all older log segments are no longer needed
//!   7 next file          number                        no file with this number or a higher one was ever made
//!   8 next keyspace      number                        no keyspace with this number or a higher one ever was
//!   9 move table         number, level
//!  10 log segment        number                        the log has come this far: the segment is there until it is flushed
//! ```
//!
//! A flush is one edit: the new tables, the ordinals its deletes killed, the tables that emptied, the segment it
//! covers. So is a compaction. The first record of every manifest is an edit that builds the whole state from
//! nothing.

use roaring::RoaringTreemap;
use tephra_sstable::counts::varint;

use crate::byte_reader::{ByteReader, Malformed};
use crate::settings::KeyspaceSettings;

const VERSION: u8 = 1;

/// What the manifest remembers of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRecord {
    /// The file number: the table's identity, for ever.
    pub(crate) number: u64,
    /// The keyspace the table belongs to.
    pub(crate) keyspace: u32,
    /// 0 for flushed tables, which may overlap; higher levels are sorted runs.
    pub(crate) level: u32,
    /// Length of the file in bytes.
    pub(crate) len_bytes: u64,
    /// Records in the table, dead ones included.
    pub(crate) record_count: u64,
    /// The place among the tables of level 0 of its keyspace: greater is newer. Drawn from the file numbers: the table's own, or, for a
    /// table that was begun long before it was put in force, a later one.
    pub(crate) age: u64,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    CreateKeyspace {
        number: u32,
        name: String,
        settings: KeyspaceSettings,
    },
    DropKeyspace {
        number: u32,
    },
    AddTable(TableRecord),
    RemoveTable {
        number: u64,
    },
    Kill {
        table: u64,
        ordinals: RoaringTreemap,
    },
    Flushed {
        segment: u64,
    },
    NextFile {
        number: u64,
    },
    NextKeyspace {
        number: u32,
    },
    MoveTable {
        number: u64,
        level: u32,
    },
    LogSegment {
        number: u64,
    },
}

/// Changes that happen together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Edit {
    pub(crate) changes: Vec<Change>,
}

impl Edit {
    /// The edit as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        for change in &self.changes {
            encode_change(change, &mut out);
        }
        out
    }

    /// Reads an edit. Strict: every byte must belong to a known change.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Edit, Malformed> {
        let mut reader = ByteReader::new(bytes);
        let version = reader.u8("an edit's version")?;
        if version != VERSION {
            return Err(
                ByteReader::new(bytes).malformed("an edit of version 1", format!("version {version}"))
            );
        }
        let mut changes = Vec::new();
        while !reader.is_empty() {
            changes.push(decode_change(&mut reader)?);
        }
        Ok(Edit { changes })
    }
}

fn encode_change(change: &Change, out: &mut Vec<u8>) {
    let mut tagged = |tag: u8, fields: &[u64]| {
        out.push(tag);
        for &field in fields {
            varint::push(out, field);
        }
    };
    match change {
        Change::CreateKeyspace {
            number,
            name,
            settings,
        } => {
            tagged(1, &[u64::from(*number), name.len() as u64]);
            out.extend_from_slice(name.as_bytes());
            let settings = settings.encode();
            varint::push(out, settings.len() as u64);
            out.extend_from_slice(&settings);
        }
        Change::DropKeyspace { number } => tagged(2, &[u64::from(*number)]),
        Change::AddTable(table) => {
            let (keyspace, level) = (u64::from(table.keyspace), u64::from(table.level));
            let TableRecord {
                number,
                len_bytes,
                record_count,
                age,
                ..
            } = *table;
            tagged(3, &[number, keyspace, level, len_bytes, record_count, age]);
        }
        Change::RemoveTable { number } => tagged(4, &[*number]),
        Change::Kill { table, ordinals } => {
            tagged(5, &[*table, ordinals.serialized_size() as u64]);
            ordinals
                .serialize_into(&mut *out)
                .expect("writing to memory cannot fail");
        }
        Change::Flushed { segment } => tagged(6, &[*segment]),
        Change::NextFile { number } => tagged(7, &[*number]),
        Change::MoveTable { number, level } => tagged(9, &[*number, u64::from(*level)]),
        Change::LogSegment { number } => tagged(10, &[*number]),
        Change::NextKeyspace { number } => tagged(8, &[u64::from(*number)]),
    }
}

fn decode_change(reader: &mut ByteReader<'_>) -> Result<Change, Malformed> {
    let start = reader.clone();
    match reader.u8("a change's tag")? {
        1 => {
            let number = reader.varint_u32("a keyspace number")?;
            let len_bytes = reader.len("a name's length")?;
            let name = reader.clone();
            let bytes = reader.bytes(len_bytes, "a keyspace's name")?;
            let text = std::str::from_utf8(bytes);
            let text = text.map_err(|error| name.malformed("a name in UTF-8", error.to_string()))?;
            let len_bytes = reader.len("the length of a keyspace's settings")?;
            Ok(Change::CreateKeyspace {
                number,
                name: text.to_owned(),
                settings: KeyspaceSettings::decode(reader, len_bytes)?,
            })
        }
        2 => Ok(Change::DropKeyspace {
            number: reader.varint_u32("a keyspace number")?,
        }),
        3 => Ok(Change::AddTable(TableRecord {
            number: reader.varint("a table's number")?,
            keyspace: reader.varint_u32("a keyspace number")?,
            level: reader.varint_u32("a level")?,
            len_bytes: reader.varint("a file length")?,
            record_count: reader.varint("a record count")?,
            age: reader.varint("a table's age")?,
        })),
        4 => Ok(Change::RemoveTable {
            number: reader.varint("a table's number")?,
        }),
        5 => {
            let table = reader.varint("a table's number")?;
            let len_bytes = reader.len("a dead set's length")?;
            let at = reader.clone();
            let bytes = reader.bytes(len_bytes, "a dead set")?;
            Ok(Change::Kill {
                table,
                ordinals: decode_ordinals(bytes, &at)?,
            })
        }
        6 => Ok(Change::Flushed {
            segment: reader.varint("a segment's number")?,
        }),
        7 => Ok(Change::NextFile {
            number: reader.varint("a file number")?,
        }),
        9 => Ok(Change::MoveTable {
            number: reader.varint("a table's number")?,
            level: reader.varint_u32("a level")?,
        }),
        8 => Ok(Change::NextKeyspace {
            number: reader.varint_u32("a keyspace number")?,
        }),
        10 => Ok(Change::LogSegment {
            number: reader.varint("a segment's number")?,
        }),
        tag => Err(start.malformed("the tag of a change, 1 to 10", format!("{tag}"))),
    }
}

/// Reads a dead set; it must be the one encoding of its ordinals, so that every byte counts.
fn decode_ordinals(bytes: &[u8], at: &ByteReader<'_>) -> Result<RoaringTreemap, Malformed> {
    let expected = "a dead set in roaring's portable form";
    let ordinals =
        RoaringTreemap::deserialize_from(bytes).map_err(|error| at.malformed(expected, error.to_string()))?;
    let mut again = Vec::with_capacity(bytes.len());
    ordinals
        .serialize_into(&mut again)
        .expect("writing to memory cannot fail");
    if again != bytes {
        return Err(at.malformed(expected, "another encoding of its ordinals"));
    }
    Ok(ordinals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_change() -> Edit {
        let table = TableRecord {
            number: 300,
            keyspace: 2,
            level: 6,
            len_bytes: 1 << 40,
            record_count: 0,
            age: 301,
        };
        let ordinals: RoaringTreemap = [0, 1, 65_535, 65_536, 1 << 33].into_iter().collect();
        let mut runs = RoaringTreemap::new();
        runs.insert_range(7..100_000);
        runs.optimize();
        Edit {
            changes: vec![
                Change::CreateKeyspace {
                    number: 0,
                    name: String::new(),
                    settings: KeyspaceSettings::default(),
                },
                Change::CreateKeyspace {
                    number: u32::MAX,
                    name: "../é\0".into(),
                    settings: KeyspaceSettings {
                        law: Some("add-u64".into()),
                        value_width_units: Some(8),
                        ..KeyspaceSettings::default()
                    },
                },
                Change::DropKeyspace { number: 1 },
                Change::AddTable(table),
                Change::RemoveTable { number: u64::MAX },
                Change::Kill { table: 7, ordinals },
                Change::Kill {
                    table: 8,
                    ordinals: runs,
                },
                Change::Flushed { segment: 12 },
                Change::NextFile { number: 13 },
                Change::NextKeyspace { number: 0 },
                Change::MoveTable {
                    number: 300,
                    level: 1,
                },
                Change::LogSegment { number: 301 },
            ],
        }
    }

    #[test]
    fn every_change_survives_encoding() {
        let edit = every_change();
        assert_eq!(Edit::decode(&edit.encode()).as_ref(), Ok(&edit));
    }

    #[test]
    fn every_cut_and_flip_is_an_error_or_another_edit_never_a_panic() {
        let bytes = every_change().encode();
        let whole = every_change().changes.len();
        for cut in 0..bytes.len() {
            if let Ok(edit) = Edit::decode(&bytes[..cut]) {
                assert!(edit.changes.len() < whole, "a cut at {cut} must lose a change");
            }
        }
        for index in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[index] ^= 1 << bit;
                if let Ok(edit) = Edit::decode(&damaged) {
                    assert_ne!(edit, every_change(), "bit {bit} of byte {index} must matter");
                }
            }
        }
    }
}
