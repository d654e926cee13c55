//! The settings of a keyspace, as the manifest remembers them.
//!
//! ```text
//! record    field field ...               ascending tags; a field that is not there has its default
//! field     tag (1 byte)  length  bytes   so that a later version can tell which setting it does not know
//!
//!   1 unit                  1 byte        1: bit strings; default: byte strings
//!   2 value width           number        every value has this many units; default: any width
//!   3 law                   name          how records of one key compose; default: the newer replaces the older
//!   4 target table bytes    number        default: the database's option
//!
//! values of 8 bytes that add up:   02 01 08 | 03 07 61 64 64 2d 75 36 34                          12 bytes
//! ```
//!
//! Numbers are canonical base-128. There is one encoding of a record: defaults are left out. Settings are fixed when a keyspace is
//! created, because its tables depend on them.

use tephra_sstable::counts::varint;
use tephra_sstable::{Policy, TableOptions, UnitKind};

use crate::bit_key;
use crate::byte_reader::{ByteReader, Malformed};
use crate::error::{Error, Result};

/// Name of the law of a plain keyspace.
pub(crate) const REPLACE: &str = "replace";

const UNIT: u8 = 1;
const VALUE_WIDTH: u8 = 2;
const LAW: u8 = 3;
const TARGET_TABLE_BYTES: u8 = 4;

/// What was settled when a keyspace was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyspaceSettings {
    /// What keys and values are strings of.
    pub(crate) unit: UnitKind,
    /// The width of all values in units; `None`: any.
    pub(crate) value_width_units: Option<u64>,
    /// Name of the composition law; `None`: the newer value replaces the older.
    pub(crate) law: Option<String>,
    /// Size at which a compaction starts its next table; `None`: the database's option.
    pub(crate) target_table_bytes: Option<u64>,
}

impl Default for KeyspaceSettings {
    fn default() -> Self {
        KeyspaceSettings {
            unit: UnitKind::Byte,
            value_width_units: None,
            law: None,
            target_table_bytes: None,
        }
    }
}

impl KeyspaceSettings {
    /// Name of the law, also of that of a plain keyspace.
    pub(crate) fn law_name(&self) -> &str {
        self.law.as_deref().unwrap_or(REPLACE)
    }

    /// The settings in which two differ, each in words: these, and the others'.
    pub(crate) fn differences(&self, other: &KeyspaceSettings) -> (String, String) {
        let (mine, others) = (self.words(), other.words());
        let differing = |words: &[String; 4], than: &[String; 4]| {
            let differing: Vec<&str> = words
                .iter()
                .zip(than)
                .filter_map(|(word, other)| (word != other).then_some(word.as_str()))
                .collect();
            differing.join(", ")
        };
        (differing(&mine, &others), differing(&others, &mine))
    }

    /// Each setting in words.
    fn words(&self) -> [String; 4] {
        let unit = unit_name(self.unit);
        let units = |count: u64| match count {
            1 => format!("1 {}", unit.trim_end_matches('s')),
            count => format!("{count} {unit}"),
        };
        [
            format!("{} strings", unit.trim_end_matches('s')),
            self.value_width_units.map_or_else(
                || "values of any width".to_owned(),
                |width| format!("values of {}", units(width)),
            ),
            self.law
                .as_ref()
                .map_or_else(|| "no law".to_owned(), |law| format!("law {law:?}")),
            self.target_table_bytes.map_or_else(
                || "tables of the database's target size".to_owned(),
                |bytes| format!("target tables of {bytes} bytes"),
            ),
        ]
    }

    /// Refuses a value that the keyspace `name` cannot hold.
    pub(crate) fn check_value(&self, name: &str, value: &[u8]) -> Result<()> {
        match self.value_width_units {
            Some(expected_units) if self.len_units(value) != expected_units => Err(Error::ValueWidth {
                keyspace: name.to_owned(),
                expected_units,
                found_units: self.len_units(value),
                unit: unit_name(self.unit),
            }),
            _ => Ok(()),
        }
    }

    /// The length of a value in units.
    pub(crate) fn len_units(&self, value: &[u8]) -> u64 {
        match self.unit {
            UnitKind::Byte => value.len() as u64,
            UnitKind::Bit => bit_key::value_len_bits(value),
        }
    }

    /// Options of a table of the keyspace. `common_width_units` if all its values have one length.
    pub(crate) fn table_options(
        &self,
        number: u64,
        creation: u64,
        common_width_units: Option<u64>,
    ) -> TableOptions {
        let (variable, fixed): (_, fn(u64) -> Policy) = match self.unit {
            UnitKind::Byte => (Policy::byte_variable(), Policy::byte_fixed),
            UnitKind::Bit => (Policy::bit_variable(), Policy::bit_fixed),
        };
        TableOptions {
            policy: self.value_width_units.map_or(variable, fixed),
            common_width: self.value_width_units.or(common_width_units),
            composition_law: self.law_name().into(),
            table_id: number,
            creation,
            filter: tephra_sstable::FilterPolicy::default(),
        }
    }

    /// Appends the record's fields.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut field = |tag: u8, bytes: &[u8]| {
            out.push(tag);
            varint::push(&mut out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        };
        let number = |value: u64| {
            let mut bytes = Vec::new();
            varint::push(&mut bytes, value);
            bytes
        };
        if self.unit == UnitKind::Bit {
            field(UNIT, &[1]);
        }
        if let Some(width_units) = self.value_width_units {
            field(VALUE_WIDTH, &number(width_units));
        }
        if let Some(law) = &self.law {
            field(LAW, law.as_bytes());
        }
        if let Some(bytes) = self.target_table_bytes {
            field(TARGET_TABLE_BYTES, &number(bytes));
        }
        out
    }

    /// Reads a record of `len_bytes`. Strict: what is not understood is an error, never passed over.
    pub(crate) fn decode(
        reader: &mut ByteReader<'_>,
        len_bytes: usize,
    ) -> std::result::Result<Self, Malformed> {
        let end = reader.offset() + len_bytes;
        let mut settings = KeyspaceSettings::default();
        let mut previous = 0;
        while reader.offset() < end {
            let start = reader.clone();
            let tag = reader.u8("the tag of a keyspace's setting")?;
            if tag <= previous {
                return Err(start.malformed(
                    "settings in ascending order",
                    format!("tag {tag} after {previous}"),
                ));
            }
            previous = tag;
            let field_len_bytes = reader.len("a setting's length")?;
            let field = reader.clone();
            let field_end = field.offset() + field_len_bytes;
            settings.decode_field(tag, field_len_bytes, &start, reader)?;
            if reader.offset() != field_end || field_end > end {
                return Err(field.malformed(
                    "a setting of the length before it, within the settings",
                    format!("{} bytes", reader.offset() - field.offset()),
                ));
            }
        }
        Ok(settings)
    }

    fn decode_field(
        &mut self,
        tag: u8,
        len_bytes: usize,
        start: &ByteReader<'_>,
        reader: &mut ByteReader<'_>,
    ) -> std::result::Result<(), Malformed> {
        match tag {
            UNIT => match reader.u8("a unit")? {
                1 => {
                    self.unit = UnitKind::Bit;
                    Ok(())
                }
                unit => Err(start.malformed("unit 1, bits, or none for bytes", format!("unit {unit}"))),
            },
            VALUE_WIDTH => {
                self.value_width_units = Some(reader.varint("a width of values")?);
                Ok(())
            }
            LAW => {
                let bytes = reader.bytes(len_bytes, "the name of a law")?;
                let name = std::str::from_utf8(bytes)
                    .map_err(|error| start.malformed("the name of a law in UTF-8", error.to_string()))?;
                if name == REPLACE {
                    return Err(start.malformed("the default law left out", format!("law {name:?}")));
                }
                self.law = Some(name.to_owned());
                Ok(())
            }
            TARGET_TABLE_BYTES => {
                self.target_table_bytes = Some(reader.varint("a size of tables")?);
                Ok(())
            }
            other => Err(start.malformed(
                "a setting that this version knows, 1 to 4",
                format!("setting {other}"),
            )),
        }
    }
}

fn unit_name(unit: UnitKind) -> &'static str {
    match unit {
        UnitKind::Byte => "bytes",
        UnitKind::Bit => "bits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> std::result::Result<KeyspaceSettings, Malformed> {
        KeyspaceSettings::decode(&mut ByteReader::new(bytes), bytes.len())
    }

    fn every_setting() -> KeyspaceSettings {
        KeyspaceSettings {
            unit: UnitKind::Bit,
            value_width_units: Some(300),
            law: Some("a law".into()),
            target_table_bytes: Some(1 << 20),
        }
    }

    #[test]
    fn the_worked_example_is_true() {
        let settings = KeyspaceSettings {
            value_width_units: Some(8),
            law: Some("add-u64".into()),
            ..KeyspaceSettings::default()
        };
        assert_eq!(settings.encode(), b"\x02\x01\x08\x03\x07add-u64");
        assert!(KeyspaceSettings::default().encode().is_empty());
    }

    #[test]
    fn settings_survive_encoding_and_no_bit_is_idle() {
        let bytes = every_setting().encode();
        assert_eq!(decode(&bytes), Ok(every_setting()));
        for cut in 0..bytes.len() {
            assert_ne!(decode(&bytes[..cut]), Ok(every_setting()));
        }
        for index in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[index] ^= 1 << bit;
                assert_ne!(decode(&damaged), Ok(every_setting()), "bit {bit} of byte {index}");
            }
        }
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (bytes, found) in [
            (&[9, 0][..], "setting 9"),
            (&[1, 1, 0], "unit 0"),
            (&[1, 1, 2], "unit 2"),
            (&[4, 1, 1, 2, 1, 1], "tag 2 after 4"),
            (&[2, 2, 8, 0], "1 bytes"),
        ] {
            let error = decode(bytes).expect_err("refused");
            assert_eq!(error.found, found, "{error:?}");
        }
    }
}
