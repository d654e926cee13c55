//! The first 64 bytes: what kind of file this is, and how to read its stream.
//!
//! ```text
//!  0  8  magic                         24  8  backspace parameter (order or modulus)
//!  8  2  container version             32  8  policy width, 0 unless the layout is fixed
//! 10  2  stream version                40  8  table id
//! 12  1  unit: 0 byte, 1 bit           48  8  creation
//! 13  1  values: 0 variable, 1 fixed   56  8  features a reader must know
//! 14  1  backspace: 0 exp-Golomb, 1 Golomb
//! 15  1  zero
//! 16  4  W     20  4  K
//! ```

use std::num::NonZeroU32;

use super::{TableError, TableRule, TableSection};
use crate::policy::{BackspaceCode, Policy, ValueLayout};
use crate::stream::FORMAT_VERSION;
use crate::unit::UnitKind;

/// Length of the header.
pub(crate) const HEADER_LEN_BYTES: usize = 64;

/// The container's version: raised when a reader of the old one would read a file wrongly.
pub(crate) const CONTAINER_VERSION: u16 = 1;

/// The first bytes of a table's file.
pub const TABLE_MAGIC: [u8; 8] = *b"\xf2tephra\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) policy: Policy,
    pub(crate) table_id: u64,
    pub(crate) creation: u64,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_LEN_BYTES] {
        let policy = &self.policy;
        let (backspace, parameter) = match policy.backspace {
            BackspaceCode::ExpGolomb { order } => (0, u64::from(order)),
            BackspaceCode::Golomb { modulus } => (1, modulus),
        };
        let (layout, width) = match policy.values {
            ValueLayout::Variable => (0, 0),
            ValueLayout::Fixed { width_units } => (1, width_units),
        };
        let mut bytes = [0; HEADER_LEN_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &TABLE_MAGIC);
        put(8, &CONTAINER_VERSION.to_le_bytes());
        put(10, &FORMAT_VERSION.to_le_bytes());
        put(12, &[u8::from(policy.unit == UnitKind::Bit), layout, backspace]);
        put(16, &policy.records_per_block.get().to_le_bytes());
        put(20, &policy.sampling_interval.get().to_le_bytes());
        put(24, &parameter.to_le_bytes());
        put(32, &width.to_le_bytes());
        put(40, &self.table_id.to_le_bytes());
        put(48, &self.creation.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_LEN_BYTES]) -> Result<Self, TableError> {
        use TableRule::{Features, Field, Magic, Version};
        let number = |at: usize, len: usize| {
            bytes[at..at + len]
                .iter()
                .rev()
                .fold(0u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let check = |at: usize, len: usize, rule: TableRule, expected: u64| match number(at, len) {
            found if found == expected => Ok(()),
            found => Err(error(at, rule, expected, found)),
        };
        check(0, 8, Magic, u64::from_le_bytes(TABLE_MAGIC))?;
        check(8, 2, Version, u64::from(CONTAINER_VERSION))?;
        check(10, 2, Version, u64::from(FORMAT_VERSION))?;
        check(56, 8, Features, 0)?;
        check(15, 1, Field("reserved byte"), 0)?;
        let unit = match bytes[12] {
            0 => UnitKind::Byte,
            1 => UnitKind::Bit,
            found => return Err(error(12, Field("unit: at most"), 1, u64::from(found))),
        };
        let values = match bytes[13] {
            0 => {
                check(32, 8, Field("width of a policy that fixes none"), 0)?;
                ValueLayout::Variable
            }
            1 => ValueLayout::Fixed {
                width_units: number(32, 8),
            },
            found => return Err(error(13, Field("value layout: at most"), 1, u64::from(found))),
        };
        let parameter = number(24, 8);
        let backspace = match bytes[14] {
            0 => match u8::try_from(parameter) {
                Ok(order) => BackspaceCode::ExpGolomb { order },
                Err(_) => {
                    return Err(error(
                        24,
                        Field("exponential-Golomb order: at most"),
                        63,
                        parameter,
                    ));
                }
            },
            1 => BackspaceCode::Golomb { modulus: parameter },
            found => return Err(error(14, Field("backspace code: at most"), 1, u64::from(found))),
        };
        let positive = |at: usize, rule: TableRule| {
            let word = u32::from_le_bytes(*bytes[at..].first_chunk().expect("the field lies in the header"));
            NonZeroU32::new(word).ok_or_else(|| error(at, rule, 1, 0))
        };
        let policy = Policy {
            unit,
            values,
            records_per_block: positive(16, Field("records a block"))?,
            sampling_interval: positive(20, Field("sampling interval"))?,
            backspace,
        };
        policy
            .validate()
            .map_err(|_| error(24, Field("backspace parameter"), 0, parameter))?;
        Ok(Self {
            policy,
            table_id: number(40, 8),
            creation: number(48, 8),
        })
    }
}

fn error(at: usize, rule: TableRule, expected: u64, found: u64) -> TableError {
    TableError::new(TableSection::Header, at as u64, rule, expected, found)
}
