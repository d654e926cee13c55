//! The payload of one log record: the operations of one batch, in order.
//!
//! ```text
//! payload    version (1 byte, = 1)   op op op ...                    an empty batch is never logged
//! op   0     delete         keyspace  key length  key
//!      1     put            keyspace  key length  value length  key  value
//!      2     merge          keyspace  key length  operand length  key  operand
//!      3     delete range   keyspace  start length  end length + 1, or 0 without an end  start  [end]
//!
//! put "user:7" = "ada" in keyspace 0:   01 | 01 00 06 03  75 73 65 72 3a 37  61 64 61        14 bytes
//! delete "b".."d" in keyspace 0:        01 | 03 00 01 02  62  64                              7 bytes
//! ```
//!
//! Numbers are canonical base-128, at most 64 bits. Key and value are adjacent. A range holds its start and not its end, and is never empty. Deletes name keys, never a place in a table: nothing that is
//! replayed depends on a layout.

use tephra_sstable::counts::varint;

use crate::byte_reader::{ByteReader, Malformed};
use crate::memtable::{EntryKind, Interval, Write};

const VERSION: u8 = 1;
const DELETE: u8 = 0;
const PUT: u8 = 1;
const MERGE: u8 = 2;
const DELETE_RANGE: u8 = 3;

/// One operation of a batch.
#[derive(Clone, Debug)]
pub(crate) enum Op<'a> {
    /// A write of one key.
    Write(Write<'a>),
    /// A delete of all keys in an interval.
    DeleteRange(Interval),
}

impl Op<'_> {
    /// The number of its keyspace.
    pub(crate) fn keyspace(&self) -> u32 {
        match self {
            Op::Write(write) => write.keyspace,
            Op::DeleteRange(interval) => interval.keyspace(),
        }
    }

    /// Whether it only removes keys.
    pub(crate) fn is_delete(&self) -> bool {
        match self {
            Op::Write(write) => !write.is_live(),
            Op::DeleteRange(_) => true,
        }
    }
}

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
        self.with_value(PUT, keyspace, key, value);
    }

    /// Adds a merge.
    pub(crate) fn merge(&mut self, keyspace: u32, key: &[u8], operand: &[u8]) {
        self.with_value(MERGE, keyspace, key, operand);
    }

    fn with_value(&mut self, kind: u8, keyspace: u32, key: &[u8], value: &[u8]) {
        self.payload.reserve(key.len() + value.len() + 24);
        self.payload.push(kind);
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

    /// Adds a delete of all keys in an interval that is not empty.
    pub(crate) fn delete_range(&mut self, interval: &Interval) {
        self.payload.push(DELETE_RANGE);
        varint::push(&mut self.payload, u64::from(interval.keyspace()));
        varint::push(&mut self.payload, interval.start().len() as u64);
        let end_len_bytes = interval.end().map_or(0, |end| end.len() as u64 + 1);
        varint::push(&mut self.payload, end_len_bytes);
        self.payload.extend_from_slice(interval.start());
        self.payload.extend_from_slice(interval.end().unwrap_or_default());
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

/// Decodes a payload into operations, in the order they were added.
pub(crate) fn decode(payload: &[u8]) -> Result<Vec<Op<'_>>, Malformed> {
    let mut reader = ByteReader::new(payload);
    let version = reader.u8("a batch's version")?;
    if version != VERSION {
        return Err(ByteReader::new(payload).malformed("a batch of version 1", format!("version {version}")));
    }
    let mut ops = Vec::new();
    while !reader.is_empty() {
        ops.push(decode_op(&mut reader)?);
    }
    Ok(ops)
}

fn decode_op<'a>(reader: &mut ByteReader<'a>) -> Result<Op<'a>, Malformed> {
    let start = reader.clone();
    let kind = reader.u8("an operation's kind")?;
    let keyspace = reader.varint_u32("a keyspace number")?;
    let key_len_bytes = reader.len("a key's length")?;
    match kind {
        DELETE => {
            let key = reader.bytes(key_len_bytes, "a key")?;
            Ok(Op::Write(Write::delete(keyspace, key)))
        }
        PUT | MERGE => {
            let value_len_bytes = reader.len("a value's length")?;
            let key_value = reader.bytes(key_len_bytes + value_len_bytes, "a key and its value")?;
            let (key, value) = key_value.split_at(key_len_bytes);
            let kind = if kind == PUT {
                EntryKind::Put
            } else {
                EntryKind::Merge
            };
            Ok(Op::Write(Write {
                keyspace,
                kind,
                key,
                value,
            }))
        }
        DELETE_RANGE => decode_delete_range(reader, keyspace, key_len_bytes),
        other => Err(start.malformed("an operation's kind, 0 to 3", format!("{other}"))),
    }
}

/// The rest of a range delete, from its end's length on.
fn decode_delete_range<'a>(
    reader: &mut ByteReader<'a>,
    keyspace: u32,
    start_len_bytes: usize,
) -> Result<Op<'a>, Malformed> {
    let at = reader.clone();
    let end_len_bytes = reader.varint("the length of a range's end")?.checked_sub(1);
    let end_len_bytes = end_len_bytes.map(usize::try_from).transpose();
    let end_len_bytes =
        end_len_bytes.map_err(|_| at.malformed("the length of a range's end", "more than memory holds"))?;
    let start = reader.bytes(start_len_bytes, "the start of a range")?;
    let end = end_len_bytes.map(|len_bytes| reader.bytes(len_bytes, "the end of a range"));
    let interval = Interval::new(keyspace, start, end.transpose()?);
    if interval.is_empty() {
        return Err(at.malformed("a range that is not empty", format!("{interval:?}")));
    }
    Ok(Op::DeleteRange(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_is_true() {
        let mut record = RecordBuilder::new();
        record.put(0, b"user:7", b"ada");
        assert_eq!(record.payload(), b"\x01\x01\x00\x06\x03user:7ada");
        let mut record = RecordBuilder::new();
        record.delete_range(&Interval::new(0, b"b", Some(b"d")));
        assert_eq!(record.payload(), b"\x01\x03\x00\x01\x02bd");
    }

    #[test]
    fn decodes_what_it_encoded_in_order() {
        let mut record = RecordBuilder::new();
        record.put(3, b"", b"");
        record.delete(u32::MAX, b"\x00\xff");
        record.put(0, &[7; 300], &[9; 70_000]);
        record.delete(0, &[7; 300]);
        record.merge(1, b"counter", &[1; 8]);
        let ops = decode(record.payload()).expect("well formed");
        let seen: Vec<_> = ops
            .iter()
            .map(|op| match op {
                Op::Write(write) => (write.keyspace, write.kind, write.key.len(), write.value.len()),
                Op::DeleteRange(interval) => panic!("{interval:?} was never added"),
            })
            .collect();
        assert_eq!(
            seen,
            [
                (3, EntryKind::Put, 0, 0),
                (u32::MAX, EntryKind::Delete, 2, 0),
                (0, EntryKind::Put, 300, 70_000),
                (0, EntryKind::Delete, 300, 0),
                (1, EntryKind::Merge, 7, 8),
            ]
        );
        assert_eq!(record.op_count(), 5);
    }

    #[test]
    fn range_deletes_of_every_kind_come_back_and_empty_ones_are_refused() {
        let ends: [Option<&[u8]>; 4] = [None, Some(b"\xff"), Some(&[0xff; 300]), Some(b"b\0")];
        for end in ends {
            for start in [&b""[..], b"\0", b"b"] {
                let mut record = RecordBuilder::new();
                record.delete_range(&Interval::new(9, start, end));
                let ops = decode(record.payload()).expect("well formed");
                let [Op::DeleteRange(interval)] = &ops[..] else {
                    panic!("{ops:?}")
                };
                let found = (interval.keyspace(), interval.start(), interval.end());
                assert_eq!(found, (9, start, end));
            }
        }
        for end in [&b""[..], b"a", b"b"] {
            let mut record = RecordBuilder::new();
            record.delete_range(&Interval::new(0, b"b", Some(end)));
            assert!(decode(record.payload()).is_err(), "an end at {end:?}");
        }
    }

    #[test]
    fn every_cut_and_every_flipped_length_is_an_error_or_another_batch_never_a_panic() {
        let mut record = RecordBuilder::new();
        record.put(1, b"key", b"value");
        record.delete(1, b"other");
        record.delete_range(&Interval::new(1, b"from", Some(b"to")));
        record.merge(1, b"key", b"operand");
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
