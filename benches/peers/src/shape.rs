//! Keys and values, all derived from a record's number, so that any answer can be checked without a second copy of the data.
//!
//! ```text
//! position   64 bits, ascending with the record's number but with random gaps:  number * gap + hash(number) % gap
//!            lowest two bits: 0 a loaded record, 1 a key that is never written, 2 a record inserted later
//! key        8 bytes: the position, big-endian        16 bytes: the position in hexadecimal
//!            70 bytes: 54 bytes that 100 neighbours share (a path with a number), then the position in hexadecimal
//! value      8 bytes: hash of the key, its lowest byte replaced by the version      the rest: from a pool of random
//!            bytes, at an offset that hash and version say
//! ```
//!
//! Checking reads a value's first and last eight bytes and its length: a few nanoseconds, the same for every engine.

use std::fmt::Write as _;

use crate::random::{Random, mix};

/// Width of keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) key_bytes: usize,
    pub(crate) value_bytes: usize,
    /// Records unless the command line says otherwise.
    pub(crate) records: u64,
}

/// The shapes, the usual one first.
pub(crate) const SHAPES: [Shape; 4] = [
    Shape {
        name: "16/100",
        key_bytes: 16,
        value_bytes: 100,
        records: 1_000_000,
    },
    Shape {
        name: "70/32",
        key_bytes: 70,
        value_bytes: 32,
        records: 1_000_000,
    },
    Shape {
        name: "8/8",
        key_bytes: 8,
        value_bytes: 8,
        records: 1_000_000,
    },
    Shape {
        name: "16/4096",
        key_bytes: 16,
        value_bytes: 4_096,
        records: 100_000,
    },
];

/// Neighbours that share the front of a 70-byte key.
const GROUP: u64 = 100;
const POOL_BYTES: usize = 64 << 10;
const KEY_BYTES_MAX: usize = 70;

/// A key on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    bytes: [u8; KEY_BYTES_MAX],
    len: u8,
}

impl std::ops::Deref for Key {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Which of the keys beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Loaded at first.
    Loaded = 0,
    /// Never written.
    Missing = 1,
    /// Inserted after the load.
    Inserted = 2,
}

/// The records of one shape.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) shape: Shape,
    pub(crate) records: u64,
    gap: u64,
    pool: Vec<u8>,
    /// What 70-byte keys begin with.
    path: [u8; KEY_BYTES_MAX],
}

impl Data {
    pub(crate) fn new(shape: Shape, records: u64) -> Data {
        let mut random = Random::new(7);
        let pool = (0..POOL_BYTES / 8)
            .flat_map(|_| random.next().to_le_bytes())
            .collect();
        let mut path = [0; KEY_BYTES_MAX];
        let mut text = String::new();
        write!(text, "/stations/kverkfjoll/instruments/tiltmeter-{:010}/", 0).unwrap();
        assert_eq!(text.len(), 54, "54 bytes in front of a position");
        path[..54].copy_from_slice(text.as_bytes());
        Data {
            shape,
            records,
            gap: (u64::MAX / (records + 1)) & !3,
            pool,
            path,
        }
    }

    /// The key of a record.
    pub(crate) fn key(&self, number: u64, kind: Kind) -> Key {
        let within = ((u128::from(mix(number)) * u128::from(self.gap)) >> 64) as u64;
        let position = (number * self.gap + within) & !3 | kind as u64;
        let mut bytes = self.path;
        match self.shape.key_bytes {
            8 => bytes[..8].copy_from_slice(&position.to_be_bytes()),
            16 => hexadecimal(position, &mut bytes[..16]),
            _ => {
                decimal(number / GROUP, &mut bytes[43..53]);
                hexadecimal(position, &mut bytes[54..70]);
            }
        }
        Key {
            bytes,
            len: self.shape.key_bytes as u8,
        }
    }

    /// Puts the value of a key at a version into a buffer.
    pub(crate) fn value<'a>(&self, key: &[u8], version: u8, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let tag = tag(key, version);
        buffer.clear();
        buffer.extend_from_slice(&tag.to_le_bytes());
        let rest = self.shape.value_bytes - 8;
        let start = self.start(tag);
        buffer.extend_from_slice(&self.pool[start..start + rest]);
        buffer
    }

    /// Checks a value and gives its version.
    #[inline]
    pub(crate) fn check(&self, key: &[u8], value: &[u8]) -> u8 {
        assert_eq!(
            value.len(),
            self.shape.value_bytes,
            "width of the value of {key:?}"
        );
        let tag_found = u64::from_le_bytes(value[..8].try_into().unwrap());
        let version = tag_found as u8;
        assert_eq!(tag_found, tag(key, version), "value of {key:?}");
        let rest = self.shape.value_bytes - 8;
        if rest >= 8 {
            let end = self.start(tag_found) + rest;
            assert_eq!(
                value[value.len() - 8..],
                self.pool[end - 8..end],
                "end of the value of {key:?}"
            );
        }
        version
    }

    fn start(&self, tag: u64) -> usize {
        let end = (POOL_BYTES - self.shape.value_bytes) as u64;
        (((tag >> 32) * end) >> 32) as usize
    }

    /// Bytes of all records' keys and values.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.records * (self.shape.key_bytes + self.shape.value_bytes) as u64
    }
}

fn tag(key: &[u8], version: u8) -> u64 {
    let last = u64::from_le_bytes(key[key.len() - 8..].try_into().unwrap());
    let before = if key.len() < 16 {
        0
    } else {
        u64::from_le_bytes(key[key.len() - 16..key.len() - 8].try_into().unwrap())
    };
    mix(last ^ before.rotate_left(29)) & !0xff | u64::from(version)
}

fn hexadecimal(number: u64, digits: &mut [u8]) {
    for (index, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (60 - 4 * index)) as usize & 15];
    }
}

fn decimal(mut number: u64, digits: &mut [u8]) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_and_values_are_told_apart() {
        for shape in SHAPES {
            let data = Data::new(shape, 1_000);
            let mut buffer = Vec::new();
            for number in 0..1_000 {
                let key = data.key(number, Kind::Loaded);
                assert_eq!(key.len(), shape.key_bytes);
                assert!(number == 0 || *data.key(number - 1, Kind::Inserted) < *key);
                assert!(*key < *data.key(number, Kind::Missing));
                let value = data.value(&key, 3, &mut buffer);
                assert_eq!(value.len(), shape.value_bytes);
                assert_eq!(data.check(&key, value), 3);
            }
        }
    }

    #[test]
    #[should_panic(expected = "value of")]
    fn a_value_of_another_key_is_noticed() {
        let data = Data::new(SHAPES[0], 10);
        let mut buffer = Vec::new();
        let value = data.value(&data.key(3, Kind::Loaded), 0, &mut buffer).to_vec();
        data.check(&data.key(4, Kind::Loaded), &value);
    }
}
