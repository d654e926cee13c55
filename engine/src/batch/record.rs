//! The payload of one log record: the operations of one batch, in order.
//!
//! ```text
//! payload    version (1 byte, = 1)   op op op ...                    an empty batch is never logged
//! op         kind (0 delete, 1 put)  keyspace  key length  [value length]  key  [value]
//!
//! put "user:7" = "ada" in keyspace 0:   01 | 01 00 06 03  75 73 65 72 3a 37  61 64 61        14 bytes
//! ```
//!
//! Numbers are canonical base-128, at most 64 bits. Key and value are adjacent, so a memtable entry is one copy of
//! both. Deletes name their key, never a place in a table: nothing that is replayed depends on a layout.

use tephra_sstable::counts::varint;

use crate::byte_reader::{ByteReader, Malformed};
use crate::memtable::Entry;

const VERSION: u8 = 1;
const DELETE: u8 = 0;
const PUT: u8 = 1;

/// Builds a payload.
#[derive(Clone, Debug)]
pub(crate) struct RecordBuilder {
    payload: Vec<u8>,
    op_count: usize,
}

impl RecordBuilder {
    /// An empty payload.
    pub(crate) fn new() -> Self {
        RecordBuilder {
            payload: vec![VERSION],
            op_count: 0,
        }
    }

    /// Adds a put.
    pub(crate) fn put(&mut self, keyspace: u32, key: &[u8], value: &[u8]) {
        self.payload.reserve(key.len() + value.len() + 24);
        self.payload.push(PUT);
        varint::push(&mut self.payload, u64::from(keyspace));
        varint::push(&mut self.payload, key.len() as u64);
        varint::push(&mut self.payload, value.len() as u64);
        self.payload.extend_from_slice(key);
        self.payload.extend_from_slice(value);
        self.op_count += 1;
    }

    /// Adds a delete.
    pub(crate) fn delete(&mut self, keyspace: u32, key: &[u8]) {
        self.payload.reserve(key.len() + 16);
        self.payload.push(DELETE);
        varint::push(&mut self.payload, u64::from(keyspace));
        varint::push(&mut self.payload, key.len() as u64);
        self.payload.extend_from_slice(key);
        self.op_count += 1;
    }

    /// The encoded operations.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Number of operations.
    pub(crate) fn op_count(&self) -> usize {
        self.op_count
    }
}

/// Decodes a payload into memtable entries, in the order they were added.
pub(crate) fn decode(payload: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let mut reader = ByteReader::new(payload);
    let version = reader.u8("a batch's version")?;
    if version != VERSION {
        return Err(ByteReader::new(payload).malformed("a batch of version 1", format!("version {version}")));
    }
    let mut entries = Vec::new();
    while !reader.is_empty() {
        entries.push(decode_op(&mut reader)?);
    }
    Ok(entries)
}

fn decode_op(reader: &mut ByteReader<'_>) -> Result<Entry, Malformed> {
    let start = reader.clone();
    let kind = reader.u8("an operation's kind")?;
    let keyspace = reader.varint_u32("a keyspace number")?;
    let key_len_bytes = reader.len("a key's length")?;
    match kind {
        DELETE => Ok(Entry::delete(keyspace, reader.bytes(key_len_bytes, "a key")?)),
        PUT => {
            let value_len_bytes = reader.len("a value's length")?;
            let key_value = reader.bytes(key_len_bytes + value_len_bytes, "a key and its value")?;
            Ok(Entry::put(keyspace, key_len_bytes, key_value))
        }
        other => Err(start.malformed("an operation's kind, 0 or 1", format!("{other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_is_true() {
        let mut record = RecordBuilder::new();
        record.put(0, b"user:7", b"ada");
        assert_eq!(record.payload(), b"\x01\x01\x00\x06\x03user:7ada");
    }

    #[test]
    fn decodes_what_it_encoded_in_order() {
        let mut record = RecordBuilder::new();
        record.put(3, b"", b"");
        record.delete(u32::MAX, b"\x00\xff");
        record.put(0, &[7; 300], &[9; 70_000]);
        record.delete(0, &[7; 300]);
        let entries = decode(record.payload()).expect("well formed");
        let seen: Vec<_> = entries
            .iter()
            .map(|e| (e.keyspace(), e.is_put(), e.key().len(), e.value().len()))
            .collect();
        assert_eq!(
            seen,
            [
                (3, true, 0, 0),
                (u32::MAX, false, 2, 0),
                (0, true, 300, 70_000),
                (0, false, 300, 0)
            ]
        );
        assert_eq!(record.op_count(), 4);
    }

    #[test]
    fn every_cut_and_every_flipped_length_is_an_error_or_another_batch_never_a_panic() {
        let mut record = RecordBuilder::new();
        record.put(1, b"key", b"value");
        record.delete(1, b"other");
        let payload = record.payload().to_vec();
        let whole = decode(&payload).expect("well formed").len();
        for cut in 0..payload.len() {
            if let Ok(entries) = decode(&payload[..cut]) {
                assert!(entries.len() < whole, "a cut at {cut} must lose an operation");
            }
        }
        for index in 0..payload.len() {
            for bit in 0..8 {
                let mut damaged = payload.clone();
                damaged[index] ^= 1 << bit;
                let _ = decode(&damaged).map(|entries| assert!(entries.len() <= payload.len()));
            }
        }
    }
}
