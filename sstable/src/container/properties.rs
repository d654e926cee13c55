//! What a table says of itself: bounds, counts, totals, how it was made.
//!
//! ```text
//! field     tag (2), flags (2), length (4), that many bytes          ascending tags, no tag twice
//!           numbers are 8 bytes; keys are their length in units (8) and their bytes, zero-padded
//! ```
//!
//! A field's flag 1 marks one that a reader must know; others that it does not know it passes over.

use super::{TableError, TableRule, TableSection};
use crate::elias_fano::to_index;
use crate::unit::Unit;

/// The properties of a table of unit `U`. All lengths and totals count units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties<U: Unit> {
    /// The id given by whoever wrote the table, the number of its file as a rule.
    pub table_id: u64,
    /// When the table was made, on the clock of whoever made it.
    pub creation: u64,
    /// How many records there are.
    pub record_count: u64,
    /// The smallest key; empty if there are no records.
    pub first_key: U::Owned,
    /// The largest key; empty if there are no records.
    pub last_key: U::Owned,
    /// The width of every value, if records do not say it.
    pub common_width: Option<u64>,
    /// Whether every key is known to retain exactly its common prefix with the one before it.
    pub ordinary_front_coding: bool,
    /// The name of the law by which values of equal keys are composed.
    pub composition_law: String,
    /// Length of the payload.
    pub extent_units: u64,
    /// Length of all keys.
    pub key_units_total: u64,
    /// Length of what the frames hold of the keys.
    pub literal_units_total: u64,
    /// Length of all values.
    pub value_units_total: u64,
    /// Length of the longest key.
    pub key_units_max: u64,
    /// Length of the longest value.
    pub value_units_max: u64,
}

/// The tags of the fields. Numbers are never used again for something else.
mod tag {
    pub(super) const RECORD_COUNT: u16 = 1;
    pub(super) const EXTENT: u16 = 2;
    pub(super) const FIRST_KEY: u16 = 3;
    pub(super) const LAST_KEY: u16 = 4;
    pub(super) const COMMON_WIDTH: u16 = 5;
    pub(super) const ORDINARY_FRONT_CODING: u16 = 6;
    pub(super) const COMPOSITION_LAW: u16 = 7;
    pub(super) const KEY_UNITS_TOTAL: u16 = 8;
    pub(super) const LITERAL_UNITS_TOTAL: u16 = 9;
    pub(super) const VALUE_UNITS_TOTAL: u16 = 10;
    pub(super) const KEY_UNITS_MAX: u16 = 11;
    pub(super) const VALUE_UNITS_MAX: u16 = 12;
    pub(super) const LAST: u16 = VALUE_UNITS_MAX;
}

const FLAG_REQUIRED: u16 = 1;
const FIELD_HEADER_LEN_BYTES: usize = 8;

impl<U: Unit> Properties<U> {
    /// The fields as bytes. Table id and creation are in the header.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut field = |tag: u16, parts: &[&[u8]]| {
            let len = parts.iter().map(|part| part.len()).sum::<usize>();
            let len = u32::try_from(len).expect("keys and names are shorter than 4 GiB");
            out.extend(tag.to_le_bytes());
            out.extend(FLAG_REQUIRED.to_le_bytes());
            out.extend(len.to_le_bytes());
            parts.iter().for_each(|part| out.extend(*part));
        };
        let key_bytes = |key: &U::Owned| (U::len(U::as_str(key)).to_le_bytes(), U::into_bytes(key.clone()));
        let (first, last) = (key_bytes(&self.first_key), key_bytes(&self.last_key));
        field(tag::RECORD_COUNT, &[&self.record_count.to_le_bytes()]);
        field(tag::EXTENT, &[&self.extent_units.to_le_bytes()]);
        field(tag::FIRST_KEY, &[&first.0, &first.1]);
        field(tag::LAST_KEY, &[&last.0, &last.1]);
        if let Some(width) = self.common_width {
            field(tag::COMMON_WIDTH, &[&width.to_le_bytes()]);
        }
        field(
            tag::ORDINARY_FRONT_CODING,
            &[&u64::from(self.ordinary_front_coding).to_le_bytes()],
        );
        field(tag::COMPOSITION_LAW, &[self.composition_law.as_bytes()]);
        field(tag::KEY_UNITS_TOTAL, &[&self.key_units_total.to_le_bytes()]);
        field(
            tag::LITERAL_UNITS_TOTAL,
            &[&self.literal_units_total.to_le_bytes()],
        );
        field(tag::VALUE_UNITS_TOTAL, &[&self.value_units_total.to_le_bytes()]);
        field(tag::KEY_UNITS_MAX, &[&self.key_units_max.to_le_bytes()]);
        field(tag::VALUE_UNITS_MAX, &[&self.value_units_max.to_le_bytes()]);
        out
    }

    /// Reads the fields from `bytes`, which lie at byte `base` of the file.
    pub(crate) fn decode(bytes: &[u8], base: u64, table_id: u64, creation: u64) -> Result<Self, TableError> {
        let fields = Fields::split(bytes, base)?;
        Ok(Self {
            table_id,
            creation,
            record_count: fields.number(tag::RECORD_COUNT)?,
            first_key: fields.key::<U>(tag::FIRST_KEY)?,
            last_key: fields.key::<U>(tag::LAST_KEY)?,
            common_width: match fields.get(tag::COMMON_WIDTH) {
                Some(_) => Some(fields.number(tag::COMMON_WIDTH)?),
                None => None,
            },
            ordinary_front_coding: match fields.number(tag::ORDINARY_FRONT_CODING)? {
                0 => false,
                1 => true,
                found => {
                    let rule = TableRule::Field("certificate of ordinary front coding: at most");
                    return Err(fields.error(tag::ORDINARY_FRONT_CODING, rule, 1, found));
                }
            },
            composition_law: fields.text(tag::COMPOSITION_LAW)?,
            extent_units: fields.number(tag::EXTENT)?,
            key_units_total: fields.number(tag::KEY_UNITS_TOTAL)?,
            literal_units_total: fields.number(tag::LITERAL_UNITS_TOTAL)?,
            value_units_total: fields.number(tag::VALUE_UNITS_TOTAL)?,
            key_units_max: fields.number(tag::KEY_UNITS_MAX)?,
            value_units_max: fields.number(tag::VALUE_UNITS_MAX)?,
        })
    }
}

/// The known fields of the section, by tag: where each is in the file, and its bytes.
struct Fields<'a> {
    base: u64,
    by_tag: [Option<(u64, &'a [u8])>; tag::LAST as usize + 1],
}

impl<'a> Fields<'a> {
    fn split(bytes: &'a [u8], base: u64) -> Result<Self, TableError> {
        let mut by_tag = [None; tag::LAST as usize + 1];
        let (mut at, mut last_tag) = (0, 0);
        let error = |at: usize, rule, expected, found| {
            Err(TableError::new(
                TableSection::Properties,
                base + at as u64,
                rule,
                expected,
                found,
            ))
        };
        while at < bytes.len() {
            let Some(head) = bytes[at..].first_chunk::<FIELD_HEADER_LEN_BYTES>() else {
                return error(
                    at,
                    TableRule::Field("field header: bytes"),
                    8,
                    (bytes.len() - at) as u64,
                );
            };
            let [t0, t1, f0, f1, l0, l1, l2, l3] = *head;
            let (tag, flags) = (u16::from_le_bytes([t0, t1]), u16::from_le_bytes([f0, f1]));
            let len = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
            if tag <= last_tag {
                return error(
                    at,
                    TableRule::Field("tag above"),
                    u64::from(last_tag),
                    u64::from(tag),
                );
            }
            let rest = &bytes[at + FIELD_HEADER_LEN_BYTES..];
            if len > rest.len() as u64 {
                return error(
                    at + 4,
                    TableRule::Field("field length: at most"),
                    rest.len() as u64,
                    len,
                );
            }
            match by_tag.get_mut(usize::from(tag)) {
                Some(slot) => *slot = Some((base + at as u64, &rest[..to_index(len)])),
                None if flags & FLAG_REQUIRED == 0 => {}
                None => {
                    return error(
                        at,
                        TableRule::Field("unknown tag: at most"),
                        u64::from(tag::LAST),
                        u64::from(tag),
                    );
                }
            }
            last_tag = tag;
            at += FIELD_HEADER_LEN_BYTES + to_index(len);
        }
        Ok(Self { base, by_tag })
    }

    fn get(&self, tag: u16) -> Option<&'a [u8]> {
        self.by_tag[usize::from(tag)].map(|(_, bytes)| bytes)
    }

    fn error(&self, tag: u16, rule: TableRule, expected: u64, found: u64) -> TableError {
        let offset = self.by_tag[usize::from(tag)].map_or(self.base, |(offset, _)| offset);
        TableError::new(TableSection::Properties, offset, rule, expected, found)
    }

    fn required(&self, tag: u16) -> Result<&'a [u8], TableError> {
        let missing = TableRule::Field("missing field");
        self.get(tag)
            .ok_or_else(|| self.error(tag, missing, u64::from(tag), 0))
    }

    fn number(&self, tag: u16) -> Result<u64, TableError> {
        let bytes = self.required(tag)?;
        let wrong = TableRule::Field("length of a number: bytes");
        let word = bytes
            .try_into()
            .map_err(|_| self.error(tag, wrong, 8, bytes.len() as u64))?;
        Ok(u64::from_le_bytes(word))
    }

    fn text(&self, tag: u16) -> Result<String, TableError> {
        let bytes = self.required(tag)?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            self.error(
                tag,
                TableRule::Field("valid UTF-8: bytes"),
                bytes.len() as u64,
                error.valid_up_to() as u64,
            )
        })?;
        Ok(text.to_owned())
    }

    fn key<U: Unit>(&self, tag: u16) -> Result<U::Owned, TableError> {
        let field = self.required(tag)?;
        let short = TableRule::Field("length of a key field: bytes at least");
        let Some((len, bytes)) = field.split_first_chunk::<8>() else {
            return Err(self.error(tag, short, 8, field.len() as u64));
        };
        let len_units = u64::from_le_bytes(*len);
        let len_bytes = len_units
            .checked_mul(U::BITS)
            .map_or(u64::MAX, |bits| bits.div_ceil(8));
        let key = U::string_at(bytes, 0, len_units).filter(|_| len_bytes == bytes.len() as u64);
        let wrong = TableRule::Field("length of a key: bytes");
        let key = key.ok_or_else(|| self.error(tag, wrong, len_bytes, bytes.len() as u64))?;
        let mut owned = U::Owned::default();
        U::push(&mut owned, key);
        Ok(owned)
    }
}
