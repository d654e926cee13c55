//! Keyspaces of bit strings: keys of any number of bits, ordered as unsigned bits, a prefix before its extensions.
//!
//! ```text
//! caller        BitStr                        101  <  1010  <  11
//! log, memory   bytes of the same order       bit_key.rs
//! tables        bits, front-coded as bits     a key costs the bits in which it differs from the one before it
//! ```
//!
//! A [`BitKeyspace`] is a [`Keyspace`] whose bytes nobody sees: it shares log, flush, instants and batches with all others.

#[cfg(test)]
mod tests;

use std::ops::{Bound, RangeBounds};

use tephra_sstable::{BitStr, BitString};

use crate::batch::Batch;
use crate::bit_key::{encode_key, encode_value, prefix_successor};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::ingest::BitIngest;
use crate::iter::{Bounds, Range};
use crate::key::Key;
use crate::keyspace::Keyspace;
use crate::keyspace_info::KeyspaceInfo;
use crate::size_estimate::SizeEstimate;
use crate::snapshot::Snapshot;
use crate::value::Value;

/// A handle to one keyspace of bit strings, from [`Db::bit_keyspace`](crate::Db::bit_keyspace). Clones are cheap and may be used
/// from any thread; the database stays open while one lives.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{BitString, Db, KeyspaceOptions, Options};
///
/// // The longest matching prefix of a network address is the last key at or before it that is its prefix.
/// let db = Db::open(path, Options::default())?;
/// let routes = db.bit_keyspace("routes", KeyspaceOptions::default())?;
/// let network = |bits: u64, len| {
///     let mut string = BitString::new();
///     string.push_bits(bits, len);
///     string
/// };
/// routes.put(network(10, 8).as_str(), network(1, 16).as_str())?;
/// assert!(routes.contains(network(10, 8).as_str())?);
/// assert!(!routes.contains(network(20, 9).as_str())?, "other bits, another key");
/// assert_eq!(routes.prefix(network(0, 4).as_str()).count(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct BitKeyspace {
    inner: Keyspace,
}

impl BitKeyspace {
    pub(crate) fn new(inner: Keyspace) -> Self {
        BitKeyspace { inner }
    }

    pub(crate) fn inner(&self) -> &Keyspace {
        &self.inner
    }

    /// The name given at creation.
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// The settings it was created with.
    pub fn info(&self) -> KeyspaceInfo {
        self.inner.info()
    }

    /// About how many keys there are; as [`Keyspace::approximate_len`].
    ///
    /// # Errors
    /// As [`Keyspace::approximate_len`].
    pub fn approximate_len(&self) -> Result<u64> {
        self.inner.approximate_len()
    }

    /// About how much a range takes on disk; as [`Keyspace::approximate_size`].
    ///
    /// # Errors
    /// As [`Keyspace::approximate_size`].
    pub fn approximate_size<'a>(&self, range: impl RangeBounds<BitStr<'a>>) -> Result<SizeEstimate> {
        self.inner.approximate_size(encode_bounds(range))
    }

    /// Merges the tables that touch a range of keys; as [`Keyspace::compact_range`].
    ///
    /// # Errors
    /// As [`Keyspace::compact_range`].
    pub fn compact_range<'a>(&self, range: impl RangeBounds<BitStr<'a>>, cancel: &Cancel) -> Result<()> {
        self.inner.compact_range(encode_bounds(range), cancel)
    }

    /// Sets the value of a key, with the database's default durability.
    ///
    /// # Errors
    /// As [`Keyspace::put`]. A key counts nine bytes for each 64 bits begun.
    pub fn put(&self, key: BitStr<'_>, value: BitStr<'_>) -> Result<()> {
        self.inner.put(encode_key(key), encode_value(value))
    }

    /// Removes a key, with the database's default durability. Removing an absent key is no error.
    ///
    /// # Errors
    /// As [`Keyspace::delete`].
    pub fn delete(&self, key: BitStr<'_>) -> Result<()> {
        self.inner.delete(encode_key(key))
    }

    /// Removes all keys in a range, with the database's default durability; as [`Keyspace::delete_range`].
    ///
    /// # Errors
    /// As [`Keyspace::delete_range`].
    pub fn delete_range<'a>(&self, range: impl RangeBounds<BitStr<'a>>) -> Result<()> {
        self.inner.delete_range(encode_bounds(range))
    }

    /// Removes all keys that start with some bits; as [`BitKeyspace::delete_range`].
    ///
    /// # Errors
    /// As [`BitKeyspace::delete_range`].
    pub fn delete_prefix(&self, prefix: BitStr<'_>) -> Result<()> {
        self.inner.delete_range(prefix_bounds(prefix))
    }

    /// Removes all keys; as [`Keyspace::clear`].
    ///
    /// # Errors
    /// As [`Keyspace::clear`].
    pub fn clear(&self) -> Result<()> {
        self.inner.clear()
    }

    /// Begins to take sorted records straight into tables; as [`Keyspace::ingest`].
    ///
    /// # Errors
    /// As [`Keyspace::ingest`].
    pub fn ingest(&self) -> Result<BitIngest> {
        BitIngest::begin(self)
    }

    /// Flushes, then merges the tables that touch a range of keys; as [`Keyspace::compact`].
    ///
    /// # Errors
    /// As [`Keyspace::compact`].
    pub fn compact<'a>(&self, range: impl RangeBounds<BitStr<'a>>) -> Result<()> {
        self.compact_range(range, &Cancel::new())
    }

    /// The value of a key now.
    ///
    /// # Errors
    /// As [`Keyspace::get`].
    pub fn get(&self, key: BitStr<'_>) -> Result<Option<BitValue>> {
        Ok(self.inner.get(encode_key(key))?.map(BitValue))
    }

    /// Whether a key is alive now.
    ///
    /// # Errors
    /// As [`Keyspace::get`].
    pub fn contains(&self, key: BitStr<'_>) -> Result<bool> {
        self.inner.contains(encode_key(key))
    }

    /// The keys in a range with their values, in order, from either end; otherwise as [`Keyspace::range`].
    pub fn range<'a>(&self, range: impl RangeBounds<BitStr<'a>>) -> BitRange {
        BitRange(self.inner.range(encode_bounds(range)))
    }

    /// The keys that start with some bits; otherwise as [`BitKeyspace::range`].
    pub fn prefix(&self, prefix: BitStr<'_>) -> BitRange {
        BitRange(self.inner.range(prefix_bounds(prefix)))
    }

    /// All keys; otherwise as [`BitKeyspace::range`].
    pub fn iter(&self) -> BitRange {
        self.range(..)
    }
}

impl IntoIterator for &BitKeyspace {
    type Item = Result<(BitString, BitValue)>;
    type IntoIter = BitRange;

    fn into_iter(self) -> BitRange {
        self.iter()
    }
}

/// Operations of a batch on keyspaces of bit strings.
impl Batch {
    /// Adds a put to a keyspace of bit strings; as [`Batch::put`].
    pub fn put_bits(&mut self, keyspace: &BitKeyspace, key: BitStr<'_>, value: BitStr<'_>) -> &mut Self {
        self.put(keyspace.inner(), encode_key(key), encode_value(value))
    }

    /// Adds a delete in a keyspace of bit strings; as [`Batch::delete`].
    pub fn delete_bits(&mut self, keyspace: &BitKeyspace, key: BitStr<'_>) -> &mut Self {
        self.delete(keyspace.inner(), encode_key(key))
    }

    /// Adds a range delete in a keyspace of bit strings; as [`Batch::delete_range`].
    pub fn delete_range_bits<'a>(
        &mut self,
        keyspace: &BitKeyspace,
        range: impl RangeBounds<BitStr<'a>>,
    ) -> &mut Self {
        self.delete_range(keyspace.inner(), encode_bounds(range))
    }
}

/// Reads of keyspaces of bit strings at a snapshot's instant.
impl Snapshot {
    /// The value of a key; as [`Snapshot::get`].
    ///
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn get_bits(&self, keyspace: &BitKeyspace, key: BitStr<'_>) -> Result<Option<BitValue>> {
        Ok(self.get(keyspace.inner(), encode_key(key))?.map(BitValue))
    }

    /// The keys in a range; as [`Snapshot::range`].
    pub fn range_bits<'a>(&self, keyspace: &BitKeyspace, range: impl RangeBounds<BitStr<'a>>) -> BitRange {
        BitRange(self.range(keyspace.inner(), encode_bounds(range)))
    }
}

/// A value of a keyspace of bit strings. Borrows and copies nothing; keeps alive what it points into, as a [`Value`] does.
#[derive(Clone)]
pub struct BitValue(Value);

impl BitValue {
    /// The bits.
    #[must_use]
    pub fn bits(&self) -> BitStr<'_> {
        self.0.bits()
    }
}

impl std::fmt::Debug for BitValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bits().fmt(f)
    }
}

impl PartialEq for BitValue {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for BitValue {}

impl PartialEq<BitStr<'_>> for BitValue {
    fn eq(&self, other: &BitStr<'_>) -> bool {
        self.bits() == *other
    }
}

/// The keys and values of a range of bit strings, in key order, at one instant. As [`Range`].
#[derive(Debug)]
pub struct BitRange(Range);

impl BitRange {
    fn item(item: Result<(Key, Value)>) -> Result<(BitString, BitValue)> {
        let (key, value) = item?;
        let key =
            crate::bit_key::decode_key(&key).expect("a keyspace of bit strings holds encoded keys alone");
        Ok((key, BitValue(value)))
    }
}

impl BitRange {
    /// Sends the front to the first key of the range that is not below `key`; as [`Range::seek`].
    pub fn seek(&mut self, key: BitStr<'_>) {
        self.0.seek(encode_key(key));
    }

    /// Sends the back to the last key of the range that is not above `key`; as [`Range::seek_back`].
    pub fn seek_back(&mut self, key: BitStr<'_>) {
        self.0.seek_back(encode_key(key));
    }
}

impl Iterator for BitRange {
    type Item = Result<(BitString, BitValue)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Self::item)
    }
}

impl DoubleEndedIterator for BitRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(Self::item)
    }
}

impl std::iter::FusedIterator for BitRange {}

fn encode_bounds<'a>(range: impl RangeBounds<BitStr<'a>>) -> Bounds {
    let encoded = |bound: Bound<&BitStr<'a>>| bound.map(|&bits| Key::from(&encode_key(bits)[..]));
    (encoded(range.start_bound()), encoded(range.end_bound()))
}

fn prefix_bounds(prefix: BitStr<'_>) -> Bounds {
    let encoded = |bits: BitStr<'_>| Key::from(&encode_key(bits)[..]);
    let upper =
        prefix_successor(prefix).map_or(Bound::Unbounded, |next| Bound::Excluded(encoded(next.as_str())));
    (Bound::Included(encoded(prefix)), upper)
}
