//! A keyspace of either kind behind one handle.
//!
//! The history and the model know byte strings alone. In the keyspace of bit strings a key `0110` of four bytes is a key of four bits:
//! the order is the same, and a key that is a prefix of another stays one. Values are written in the same way.

use std::ops::Bound;

use tephradb::{Batch, BitKeyspace, BitStr, BitString, Cancel, Db, Durability, Keyspace, Result, Snapshot};

use super::model::Map;
use super::plan::{BITS, Change, Key, NAMES, Write};
use super::settings::options_of;

/// See the head of the file.
#[derive(Clone, Debug)]
pub(crate) enum Handle {
    Bytes(Keyspace),
    Bits(BitKeyspace),
}

/// The bits that a text of zeros and ones names.
fn bits_of(text: &[u8]) -> BitString {
    let mut bits = BitString::new();
    for digit in text {
        bits.push_bits(u64::from(*digit == b'1'), 1);
    }
    bits
}

/// The text that names bits.
fn text_of(bits: BitStr<'_>) -> Vec<u8> {
    let mut copy = BitString::new();
    copy.push_str(bits);
    let digit = |place: u64| {
        let byte = copy.as_bytes()[usize::try_from(place / 8).expect("bits in memory")];
        b'0' + (byte >> (7 - place % 8) & 1)
    };
    (0..copy.len()).map(digit).collect()
}

/// Records read one after the other, which must be in order.
fn in_order(items: impl Iterator<Item = Result<(Key, Vec<u8>)>>, is_backwards: bool) -> Result<Map> {
    let mut found: Vec<(Key, Vec<u8>)> = items.collect::<Result<_>>()?;
    if is_backwards {
        found.reverse();
    }
    assert!(
        found.is_sorted_by(|(one, _), (other, _)| one < other),
        "a scan out of order"
    );
    Ok(found.into_iter().collect())
}

impl Handle {
    /// Opens the keyspace of a name, or creates it.
    pub(crate) fn open(db: &Db, name: &str) -> Result<Handle> {
        if name == NAMES[BITS] {
            return db.bit_keyspace(name, options_of(name)).map(Handle::Bits);
        }
        db.keyspace(name, options_of(name)).map(Handle::Bytes)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Handle::Bytes(keyspace) => Ok(keyspace.get(key)?.map(|value| value.to_vec())),
            Handle::Bits(keyspace) => {
                let found = keyspace.get(bits_of(key).as_str())?;
                Ok(found.map(|value| text_of(value.bits())))
            }
        }
    }

    /// Everything between two keys, from one of the ends.
    pub(crate) fn scan(&self, from: &[u8], to: &[u8], is_backwards: bool) -> Result<Map> {
        match self {
            Handle::Bytes(keyspace) => {
                let range = keyspace.range(from..to);
                let items: Box<dyn Iterator<Item = _>> = match is_backwards {
                    true => Box::new(range.rev()),
                    false => Box::new(range),
                };
                let bytes = |item: Result<(_, _)>| item.map(pair_of_bytes);
                in_order(items.map(bytes), is_backwards)
            }
            Handle::Bits(keyspace) => {
                let (from, to) = (bits_of(from), bits_of(to));
                let range = keyspace.range(from.as_str()..to.as_str());
                let items: Box<dyn Iterator<Item = _>> = match is_backwards {
                    true => Box::new(range.rev()),
                    false => Box::new(range),
                };
                let texts = |item: Result<(_, _)>| item.map(pair_of_bits);
                in_order(items.map(texts), is_backwards)
            }
        }
    }

    /// Everything.
    pub(crate) fn read(&self) -> Result<Map> {
        match self {
            Handle::Bytes(keyspace) => in_order(keyspace.iter().map(|item| item.map(pair_of_bytes)), false),
            Handle::Bits(keyspace) => in_order(keyspace.iter().map(|item| item.map(pair_of_bits)), false),
        }
    }

    /// Everything at a snapshot's instant.
    pub(crate) fn read_at(&self, snapshot: &Snapshot) -> Result<Map> {
        match self {
            Handle::Bytes(keyspace) => {
                in_order(snapshot.iter(keyspace).map(|item| item.map(pair_of_bytes)), false)
            }
            Handle::Bits(keyspace) => {
                let all = snapshot.range_bits(keyspace, ..);
                in_order(all.map(|item| item.map(pair_of_bits)), false)
            }
        }
    }

    /// Adds a write to a batch.
    fn add_to(&self, batch: &mut Batch, write: &Write) {
        let value_of = |value: &super::plan::Value| value.bytes_in(write.keyspace);
        match (self, &write.change) {
            (Handle::Bytes(keyspace), Change::Put(key, value)) => batch.put(keyspace, key, value_of(value)),
            (Handle::Bytes(keyspace), Change::Delete(key)) => batch.delete(keyspace, key),
            (Handle::Bytes(keyspace), Change::DeleteRange(from, to)) => {
                batch.delete_range(keyspace, from.as_slice()..to.as_slice())
            }
            (Handle::Bytes(keyspace), Change::Clear) => batch.clear(keyspace),
            (Handle::Bytes(keyspace), Change::Merge(key, value)) => {
                batch.merge(keyspace, key, value_of(value))
            }
            (Handle::Bits(keyspace), Change::Put(key, value) | Change::Merge(key, value)) => {
                let value = bits_of(&value_of(value));
                batch.put_bits(keyspace, bits_of(key).as_str(), value.as_str())
            }
            (Handle::Bits(keyspace), Change::Delete(key)) => {
                batch.delete_bits(keyspace, bits_of(key).as_str())
            }
            (Handle::Bits(keyspace), Change::DeleteRange(from, to)) => {
                let (from, to) = (bits_of(from), bits_of(to));
                batch.delete_range_bits(keyspace, from.as_str()..to.as_str())
            }
            (Handle::Bits(keyspace), Change::Clear) => batch.delete_range_bits(keyspace, ..),
        };
    }

    /// A put or a delete outside of a batch, where there is such a call.
    fn write_alone(&self, write: &Write, durability: Durability) -> Option<Result<()>> {
        match (self, &write.change) {
            (Handle::Bytes(keyspace), Change::Put(key, value)) => {
                Some(keyspace.put_with(key, value.bytes_in(write.keyspace), durability))
            }
            (Handle::Bytes(keyspace), Change::Delete(key)) => Some(keyspace.delete_with(key, durability)),
            _ => None,
        }
    }

    /// Sorted records, past the log.
    pub(crate) fn ingest(&self, records: &[(Key, Vec<u8>)]) -> Result<()> {
        match self {
            Handle::Bytes(keyspace) => {
                let mut ingest = keyspace.ingest()?;
                for (key, value) in records {
                    ingest.put(key, value)?;
                }
                ingest.finish()
            }
            Handle::Bits(keyspace) => {
                let mut ingest = keyspace.ingest()?;
                for (key, value) in records {
                    ingest.put(bits_of(key).as_str(), bits_of(value).as_str())?;
                }
                ingest.finish()
            }
        }
    }

    /// Merges what lies between two keys, until the flag is raised.
    pub(crate) fn compact_range(&self, from: &[u8], to: &[u8], cancel: &Cancel) -> Result<()> {
        match self {
            Handle::Bytes(keyspace) => {
                let bounds = (Bound::Included(from), Bound::Excluded(to));
                keyspace.compact_range(bounds, cancel)
            }
            Handle::Bits(keyspace) => {
                let (from, to) = (bits_of(from), bits_of(to));
                keyspace.compact_range(from.as_str()..to.as_str(), cancel)
            }
        }
    }

    /// Drops the keyspace.
    pub(crate) fn drop_from(&self, db: &Db) -> Result<()> {
        match self {
            Handle::Bytes(keyspace) => db.drop_keyspace(keyspace),
            Handle::Bits(keyspace) => db.drop_bit_keyspace(keyspace),
        }
    }
}

fn pair_of_bytes((key, value): (tephradb::Key, tephradb::Value)) -> (Key, Vec<u8>) {
    (key.into_vec(), value.to_vec())
}

fn pair_of_bits((key, value): (BitString, tephradb::BitValue)) -> (Key, Vec<u8>) {
    (text_of(key.as_str()), text_of(value.bits()))
}

/// One commit.
pub(crate) fn write(
    db: &Db,
    handles: &std::collections::BTreeMap<usize, Handle>,
    writes: &[Write],
    durability: Durability,
) -> Result<()> {
    if let [write] = writes
        && let Some(outcome) = handles[&write.keyspace].write_alone(write, durability)
    {
        return outcome;
    }
    let mut batch = db.batch();
    for write in writes {
        handles[&write.keyspace].add_to(&mut batch, write);
    }
    batch.commit(durability)
}
