//! A table of either unit, asked and answering in the engine's keys.
//!
//! ```text
//! engine      byte strings; those of a bit keyspace encode bit strings (bit_key.rs)
//!                |  encode, decode
//! table       bytes as they are            bits, front-coded as bits
//! ```
//!
//! This is the only place that reads tables and knows what their keys are strings of.

use std::io::Write;
use std::ops::Range;

use tephra_sstable::{
    Bit, BitStr, BitString, Byte, Salvaged, Table, TableCursor, TableError, TableSection, TableWriteError,
    UnitKind, VerifyReport,
};

use crate::bit_key;
use crate::read_counters::ReadCounters;
use crate::settings::{KeyspaceSettings, REPLACE};
use crate::table_facts::TableFacts;
use crate::vfs::FileBytes;

/// Where a value lies in its table's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValuePlace {
    /// The bytes it touches.
    pub(crate) bytes: Range<usize>,
    /// Bits of the first of them that come before it. None in a table of bytes.
    lead_bits: u8,
    /// Bits of the last of them that come behind it. None in a table of bytes.
    trail_bits: u8,
}

impl ValuePlace {
    fn of_bytes(bytes: Range<usize>) -> Self {
        ValuePlace {
            bytes,
            lead_bits: 0,
            trail_bits: 0,
        }
    }

    fn of_bits(bytes: Range<usize>, value: BitStr<'_>) -> Self {
        let lead_bits = value.parts().1 % 8;
        let trail_bits = bytes.len() as u64 * 8 - lead_bits - value.len();
        let narrow = |bits| u8::try_from(bits).expect("the bytes are no more than the value touches");
        ValuePlace {
            bytes,
            lead_bits: narrow(lead_bits),
            trail_bits: narrow(trail_bits),
        }
    }

    /// The value as bits, in the bytes of its file.
    pub(crate) fn bits<'a>(&self, file: &'a [u8]) -> BitStr<'a> {
        let bytes = &file[self.bytes.clone()];
        let (lead_bits, trail_bits) = (u64::from(self.lead_bits), u64::from(self.trail_bits));
        BitStr::new(bytes, lead_bits, bytes.len() as u64 * 8 - lead_bits - trail_bits)
            .expect("it lies in its bytes")
    }
}

/// Where a record lies in its table.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its ordinal.
    pub(crate) ordinal: u64,
    /// Its value.
    pub(crate) value: ValuePlace,
}

/// An open table.
pub(crate) enum UnitTable {
    Byte(Table<FileBytes, Byte>),
    Bit(BitTable),
}

/// A table of bit strings, with the keys at its ends in the engine's form.
pub(crate) struct BitTable {
    table: Table<FileBytes, Bit>,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
}

/// Does the same to a table of either unit.
macro_rules! with_table {
    ($table:expr, $name:ident => $body:expr) => {
        match $table {
            UnitTable::Byte($name) => $body,
            UnitTable::Bit(BitTable { table: $name, .. }) => $body,
        }
    };
}

impl UnitTable {
    /// Opens the table in the bytes of a file.
    pub(crate) fn open(bytes: FileBytes, unit: UnitKind) -> Result<Self, TableError> {
        if unit == UnitKind::Byte {
            return Ok(UnitTable::Byte(Table::open(bytes)?));
        }
        let table = Table::<_, Bit>::open(bytes)?;
        let properties = table.properties();
        let first_key = bit_key::encode_key(properties.first_key.as_str());
        let last_key = bit_key::encode_key(properties.last_key.as_str());
        Ok(UnitTable::Bit(BitTable {
            table,
            first_key,
            last_key,
        }))
    }

    /// Fills in what the table says of itself.
    pub(crate) fn read_into(&self, facts: &mut TableFacts) {
        with_table!(self, table => {
            let (properties, meta) = (table.properties(), table.meta());
            facts.unit_bits = meta.policy.unit.bits();
            facts.block_count = meta.block_count();
            facts.records_per_block = meta.policy.records_per_block.get();
            facts.key_units = properties.key_units_total;
            facts.literal_units = properties.literal_units_total;
            facts.value_units = properties.value_units_total;
            facts.payload_bytes = table.section_len_bytes(TableSection::Payload);
            facts.directory_bytes = table.section_len_bytes(TableSection::Directory);
            facts.separators_bytes = table.section_len_bytes(TableSection::Separators);
            facts.filter_bytes = table.section_len_bytes(TableSection::Filter);
        });
    }

    #[cfg(feature = "planted-faults")]
    pub(crate) fn leave_pages_unchecked(&self) {
        with_table!(self, table => table.leave_pages_unchecked());
    }

    /// The table of a keyspace of byte strings.
    pub(crate) fn as_bytes(&self) -> &Table<FileBytes, Byte> {
        match self {
            UnitTable::Byte(table) => table,
            UnitTable::Bit(_) => panic!("a keyspace's tables have its unit: opening them has checked it"),
        }
    }

    /// The table of a keyspace of bit strings.
    pub(crate) fn as_bits(&self) -> &Table<FileBytes, Bit> {
        match self {
            UnitTable::Bit(BitTable { table, .. }) => table,
            UnitTable::Byte(_) => panic!("a keyspace's tables have its unit: opening them has checked it"),
        }
    }

    /// The number that the table says it has.
    pub(crate) fn id(&self) -> u64 {
        with_table!(self, table => table.properties().table_id)
    }

    /// How many records there are.
    pub(crate) fn record_count(&self) -> u64 {
        with_table!(self, table => table.record_count())
    }

    /// The smallest key.
    pub(crate) fn first_key(&self) -> &[u8] {
        match self {
            UnitTable::Byte(table) => &table.properties().first_key,
            UnitTable::Bit(table) => &table.first_key,
        }
    }

    /// The largest key.
    pub(crate) fn last_key(&self) -> &[u8] {
        match self {
            UnitTable::Byte(table) => &table.properties().last_key,
            UnitTable::Bit(table) => &table.last_key,
        }
    }

    /// The record of a key; counts what came of it. In a table of bits the look-up allocates the key's bits.
    pub(crate) fn find(&self, key: &[u8], reads: &ReadCounters) -> Result<Option<Place>, TableError> {
        match self {
            UnitTable::Byte(table) => {
                let lookup = table.look_up(key)?;
                reads.count(&lookup);
                Ok(lookup.found().map(|located| Place {
                    ordinal: located.ordinal,
                    value: ValuePlace::of_bytes(located.value_range),
                }))
            }
            UnitTable::Bit(BitTable { table, .. }) => {
                let lookup = table.look_up(bits_of(key).as_str())?;
                reads.count(&lookup);
                Ok(lookup.found().map(|located| Place {
                    ordinal: located.ordinal,
                    value: ValuePlace::of_bits(located.value_range.clone(), table.value(&located)),
                }))
            }
        }
    }

    /// Bytes of the file that the blocks between two keys take; `None` is an open end. Reads no payload.
    pub(crate) fn estimate_len_bytes(
        &self,
        start: Option<&[u8]>,
        end: Option<&[u8]>,
    ) -> Result<u64, TableError> {
        match self {
            UnitTable::Byte(table) => table.estimate_len_bytes(start, end),
            UnitTable::Bit(BitTable { table, .. }) => {
                let (start, end) = (start.map(bits_of), end.map(bits_of));
                table.estimate_len_bytes(
                    start.as_ref().map(BitString::as_str),
                    end.as_ref().map(BitString::as_str),
                )
            }
        }
    }

    /// Length of a section of the file, in bytes.
    pub(crate) fn section_len_bytes(&self, section: TableSection) -> u64 {
        with_table!(self, table => table.section_len_bytes(section))
    }

    /// Whether the filter lets a key pass.
    pub(crate) fn may_contain(&self, key: &[u8]) -> Result<bool, TableError> {
        match self {
            UnitTable::Byte(table) => table.may_contain(key),
            UnitTable::Bit(BitTable { table, .. }) => table.may_contain(bits_of(key).as_str()),
        }
    }

    /// The number of keys below a bound: a key, or a key with a zero byte behind it, which is what intervals start and
    /// end with.
    pub(crate) fn count_below(&self, bound: &[u8]) -> Result<u64, TableError> {
        match self {
            UnitTable::Byte(table) => table.lower_bound(bound),
            UnitTable::Bit(BitTable { table, .. }) => match bit_key::decode_key(bound) {
                Some(key) => table.lower_bound(key.as_str()),
                None => {
                    let (_, key) = bound
                        .split_last()
                        .expect("the empty bound is in front of every table");
                    self.count_through(key)
                }
            },
        }
    }

    /// The number of keys up to and with `key`.
    pub(crate) fn count_through(&self, key: &[u8]) -> Result<u64, TableError> {
        // The smallest key above `key` is `key` with a zero behind it.
        match self {
            UnitTable::Byte(table) => table.lower_bound(&[key, &[0]].concat()),
            UnitTable::Bit(BitTable { table, .. }) => {
                let mut next = bits_of(key);
                next.push_bits(0, 1);
                table.lower_bound(next.as_str())
            }
        }
    }

    /// What the keys and values are strings of.
    pub(crate) fn unit(&self) -> UnitKind {
        match self {
            UnitTable::Byte(_) => UnitKind::Byte,
            UnitTable::Bit(_) => UnitKind::Bit,
        }
    }

    /// Settings of a keyspace that could hold the table.
    pub(crate) fn settings(&self) -> KeyspaceSettings {
        let law = with_table!(self, table => &table.properties().composition_law);
        KeyspaceSettings {
            unit: self.unit(),
            value_width_units: with_table!(self, table => table.meta().policy.fixed_width()),
            law: (law != REPLACE).then(|| law.clone()),
            target_table_bytes: None,
        }
    }

    /// Writes a table of the records that can be read.
    pub(crate) fn salvage<W: Write>(&self, out: W) -> Result<(W, Salvaged), TableWriteError> {
        with_table!(self, table => table.salvage(out))
    }

    /// Checks everything that one table can be asked alone.
    pub(crate) fn verify(&self) -> Result<VerifyReport, TableError> {
        with_table!(self, table => table.verify())
    }

    /// A cursor, nowhere yet.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        match self {
            UnitTable::Byte(table) => Cursor::Byte(table.cursor()),
            UnitTable::Bit(BitTable { table, .. }) => Cursor::Bit(BitCursor {
                cursor: table.cursor(),
                key: Vec::new(),
            }),
        }
    }
}

/// A cursor over a table.
pub(crate) enum Cursor<'a> {
    Byte(TableCursor<'a, FileBytes, Byte>),
    Bit(BitCursor<'a>),
}

/// A cursor over a table of bit strings, with the key it stands on in the engine's form.
pub(crate) struct BitCursor<'a> {
    cursor: TableCursor<'a, FileBytes, Bit>,
    key: Vec<u8>,
}

impl Cursor<'_> {
    /// The key of the record it stands on.
    #[inline]
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Cursor::Byte(cursor) => cursor.key(),
            Cursor::Bit(bit) => &bit.key,
        }
    }

    /// Where the value of the record it stands on lies.
    pub(crate) fn value(&self) -> ValuePlace {
        match self {
            Cursor::Byte(cursor) => ValuePlace::of_bytes(cursor.value_range()),
            Cursor::Bit(bit) => ValuePlace::of_bits(bit.cursor.value_range(), bit.cursor.value()),
        }
    }

    /// Goes to the next record. Whether there is one.
    pub(crate) fn next(&mut self) -> Result<bool, TableError> {
        match self {
            Cursor::Byte(cursor) => cursor.next(),
            Cursor::Bit(bit) => bit.go(TableCursor::next),
        }
    }

    /// Goes to the record before. Whether there is one.
    pub(crate) fn prev(&mut self) -> Result<bool, TableError> {
        match self {
            Cursor::Byte(cursor) => cursor.prev(),
            Cursor::Bit(bit) => bit.go(TableCursor::prev),
        }
    }

    /// Goes to the first record whose key is at least `key`; gives its ordinal, or the record count behind the last.
    pub(crate) fn seek(&mut self, key: &[u8]) -> Result<u64, TableError> {
        match self {
            Cursor::Byte(cursor) => cursor.seek(key).map(|_| cursor.ordinal()),
            Cursor::Bit(bit) => {
                let key = bits_of(key);
                bit.go(|cursor| cursor.seek(key.as_str()))?;
                Ok(bit.cursor.ordinal())
            }
        }
    }

    /// Goes to a record. Whether there is one.
    pub(crate) fn seek_ordinal(&mut self, ordinal: u64) -> Result<bool, TableError> {
        match self {
            Cursor::Byte(cursor) => cursor.seek_ordinal(ordinal),
            Cursor::Bit(bit) => bit.go(|cursor| cursor.seek_ordinal(ordinal)),
        }
    }
}

impl<'a> BitCursor<'a> {
    fn go(
        &mut self,
        step: impl FnOnce(&mut TableCursor<'a, FileBytes, Bit>) -> Result<bool, TableError>,
    ) -> Result<bool, TableError> {
        let found = step(&mut self.cursor)?;
        bit_key::encode_key_into(self.cursor.key(), &mut self.key);
        Ok(found)
    }
}

/// The bits of a key that a caller of this engine encoded.
fn bits_of(key: &[u8]) -> BitString {
    bit_key::decode_key(key).expect("keys of bit keyspaces are encoded where they enter")
}
