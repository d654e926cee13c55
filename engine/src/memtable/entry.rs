//! One entry of a memtable: what the latest write of this generation said about one key.
//!
//! ```text
//! Entry   keyspace  key_len_bytes  head      kind        bytes ----> | key | value |     one shared allocation
//!         u32       u32            u64       Put|Delete
//! ```
//!
//! A clone shares the allocation, so persistent maps, snapshots and value handles hold the same bytes. `head` is the
//! key's first eight bytes, big-endian and zero-padded: two heads that differ order as their keys do, and most
//! comparisons end there without touching the allocation.

use std::cmp::Ordering;
use std::sync::Arc;

/// What an entry says about its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// The key is alive with this value.
    Put,
    /// The key is dead; whatever older layers hold is shielded.
    Delete,
}

/// One key with its latest state; cheap to clone.
#[derive(Clone)]
pub(crate) struct Entry {
    keyspace: u32,
    key_len_bytes: u32,
    head: u64,
    kind: EntryKind,
    bytes: Arc<[u8]>,
}

/// Bytes an entry is taken to cost beside its key and value: the slot in the map and the allocation's header.
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = size_of::<Entry>() + 40;

impl Entry {
    /// A put of `key_value[..key_len_bytes]` with the rest as value. Copies the bytes once.
    pub(crate) fn put(keyspace: u32, key_len_bytes: usize, key_value: &[u8]) -> Entry {
        Entry::new(keyspace, key_len_bytes, key_value, EntryKind::Put)
    }

    /// A delete of `key`.
    pub(crate) fn delete(keyspace: u32, key: &[u8]) -> Entry {
        Entry::new(keyspace, key.len(), key, EntryKind::Delete)
    }

    fn new(keyspace: u32, key_len_bytes: usize, key_value: &[u8], kind: EntryKind) -> Entry {
        let head = head_of(&key_value[..key_len_bytes]);
        let key_len_bytes = u32::try_from(key_len_bytes).expect("key lengths are limited before the log");
        Entry {
            keyspace,
            key_len_bytes,
            head,
            kind,
            bytes: Arc::from(key_value),
        }
    }

    /// Number of the keyspace the key lives in.
    pub(crate) fn keyspace(&self) -> u32 {
        self.keyspace
    }

    /// Whether the key is alive.
    pub(crate) fn is_put(&self) -> bool {
        self.kind == EntryKind::Put
    }

    /// The key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_len_bytes as usize]
    }

    /// The value; empty for a delete.
    pub(crate) fn value(&self) -> &[u8] {
        &self.bytes[self.key_len_bytes as usize..]
    }

    /// Memory the entry is taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.bytes.len() + ENTRY_OVERHEAD_BYTES
    }

    fn as_probe(&self) -> Probe<'_> {
        Probe {
            keyspace: self.keyspace,
            head: self.head,
            key: self.key(),
        }
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("keyspace", &self.keyspace)
            .field("kind", &self.kind)
            .field("key", &self.key().escape_ascii().to_string())
            .field("value_len_bytes", &self.value().len())
            .finish()
    }
}

/// Entries are ordered, and equal, by keyspace and key alone: a map holds one entry a key.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_probe().cmp(&other.as_probe())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// A borrowed key to search a map of entries with. The field order is the sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Probe<'a> {
    keyspace: u32,
    head: u64,
    key: &'a [u8],
}

impl<'a> Probe<'a> {
    /// A probe for `key` in `keyspace`.
    pub(crate) fn new(keyspace: u32, key: &'a [u8]) -> Self {
        Probe::of_parts(keyspace, head_of(key), key)
    }

    /// A probe whose head is known.
    pub(super) fn of_parts(keyspace: u32, head: u64, key: &'a [u8]) -> Self {
        Probe { keyspace, head, key }
    }
}

impl equivalent::Equivalent<Entry> for Probe<'_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        *self == entry.as_probe()
    }
}

impl equivalent::Comparable<Entry> for Probe<'_> {
    fn compare(&self, entry: &Entry) -> Ordering {
        self.cmp(&entry.as_probe())
    }
}

/// The first eight bytes, big-endian; missing ones count as zero. `head_of(a) < head_of(b)` implies `a < b`.
pub(super) fn head_of(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = key.len().min(8);
    head[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(head)
}
