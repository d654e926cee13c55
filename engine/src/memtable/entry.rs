//! One entry of a memtable: what the writes of this generation said about one key.
//!
//! ```text
//! Entry   keyspace  key_len_bytes, kind     head   bytes ----> | key | value or oldest part |     one shared allocation
//!         u32       30 bits, 2 bits         u64    newer ----> parts merged on top of it, or nothing
//!
//! Put     alive with this value; ends the history of the key: nothing older counts
//! Delete  dead; ends the history too
//! Merge   an operand for whatever older layers hold
//! ```
//!
//! A clone shares the allocations, so persistent maps, snapshots and value handles hold the same bytes. `head` is the
//! key's first eight bytes, big-endian and zero-padded: two heads that differ order as their keys do, and most
//! comparisons end there without touching the allocation.
//!
//! What is merged onto a put or a merge stands behind it as further parts, oldest first, as far as it is not composed yet
//! (`merge.rs`). A plain keyspace has none.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::limits::KEY_LEN_BYTES_MAX;

/// What an entry says about its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum EntryKind {
    /// The key is alive with this value.
    Put = 0,
    /// The key is dead; whatever older layers hold is shielded.
    Delete = 1,
    /// Whatever older layers hold goes on with this operand.
    Merge = 2,
}

/// A value or operand that is not the oldest of its entry.
pub(crate) type Part = Arc<[u8]>;

/// One key with its latest state; cheap to clone.
#[derive(Clone)]
pub(crate) struct Entry {
    keyspace: u32,
    key_len_and_kind: u32,
    head: u64,
    bytes: Arc<[u8]>,
    newer: Option<Arc<Vec<Part>>>,
}

/// Where the kind stands beside the key's length.
const KIND_SHIFT: u32 = 30;
const KEY_LEN_MASK: u32 = (1 << KIND_SHIFT) - 1;

const _: () = assert!(KEY_LEN_BYTES_MAX <= KEY_LEN_MASK as usize);
const _: () = assert!(
    size_of::<Entry>() == 40,
    "maps copy nodes of entries at every write"
);

/// Bytes an entry is taken to cost beside its key and value: the slot in the map and the allocation's header.
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = size_of::<Entry>() + 40;

/// Bytes a further part is taken to cost beside its content.
const PART_OVERHEAD_BYTES: usize = size_of::<Part>() + 32;

impl Entry {
    /// A put of `key_value[..key_len_bytes]` with the rest as value. Copies the bytes once.
    pub(crate) fn put(keyspace: u32, key_len_bytes: usize, key_value: &[u8]) -> Entry {
        Entry::new(keyspace, key_len_bytes, key_value, EntryKind::Put)
    }

    /// A merge of `key_operand[..key_len_bytes]` with the rest as operand. Copies the bytes once.
    pub(crate) fn merge(keyspace: u32, key_len_bytes: usize, key_operand: &[u8]) -> Entry {
        Entry::new(keyspace, key_len_bytes, key_operand, EntryKind::Merge)
    }

    /// A delete of `key`.
    pub(crate) fn delete(keyspace: u32, key: &[u8]) -> Entry {
        Entry::new(keyspace, key.len(), key, EntryKind::Delete)
    }

    fn new(keyspace: u32, key_len_bytes: usize, key_value: &[u8], kind: EntryKind) -> Entry {
        let head = head_of(&key_value[..key_len_bytes]);
        let key_len_bytes = u32::try_from(key_len_bytes).expect("key lengths are limited before the log");
        assert!(
            key_len_bytes <= KEY_LEN_MASK,
            "key lengths are limited before the log"
        );
        Entry {
            keyspace,
            key_len_and_kind: key_len_bytes | (kind as u32) << KIND_SHIFT,
            head,
            bytes: Arc::from(key_value),
            newer: None,
        }
    }

    /// The same key and bytes, saying something else.
    pub(crate) fn with_kind(mut self, kind: EntryKind) -> Entry {
        self.key_len_and_kind = self.key_len_and_kind & KEY_LEN_MASK | (kind as u32) << KIND_SHIFT;
        self
    }

    /// The same key and kind with another oldest part and nothing newer. Copies key and part.
    pub(crate) fn with_value(&self, value: &[u8]) -> Entry {
        Entry {
            bytes: [self.key(), value].concat().into(),
            newer: None,
            ..*self
        }
    }

    /// Number of the keyspace the key lives in.
    pub(crate) fn keyspace(&self) -> u32 {
        self.keyspace
    }

    /// What the entry says.
    pub(crate) fn kind(&self) -> EntryKind {
        match self.key_len_and_kind >> KIND_SHIFT {
            0 => EntryKind::Put,
            1 => EntryKind::Delete,
            _ => EntryKind::Merge,
        }
    }

    /// Whether the key is alive: a put or a merge.
    pub(crate) fn is_live(&self) -> bool {
        self.kind() != EntryKind::Delete
    }

    /// Whether nothing older counts: a put or a delete.
    pub(crate) fn ends_history(&self) -> bool {
        self.kind() != EntryKind::Merge
    }

    fn key_len_bytes(&self) -> usize {
        (self.key_len_and_kind & KEY_LEN_MASK) as usize
    }

    /// The key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_len_bytes()]
    }

    /// The oldest part: the whole value or operand, unless there are newer parts. Empty for a delete.
    pub(crate) fn value(&self) -> &[u8] {
        &self.bytes[self.key_len_bytes()..]
    }

    /// The parts merged on top of the oldest one, oldest first.
    pub(crate) fn newer_parts(&self) -> &[Part] {
        self.newer.as_ref().map_or(&[], |parts| &parts[..])
    }

    /// All parts, oldest first; of a delete an empty one.
    pub(crate) fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        std::iter::once(self.value()).chain(self.newer_parts().iter().map(|part| &part[..]))
    }

    /// Number of parts.
    pub(crate) fn part_count(&self) -> usize {
        1 + self.newer_parts().len()
    }

    /// Leaves the oldest `count` parts, at least one, and puts another on top. Copies handles that are shared.
    pub(crate) fn push_part(&mut self, count: usize, part: Part) {
        let newer = Arc::make_mut(self.newer.get_or_insert_default());
        newer.truncate(count - 1);
        newer.push(part);
    }

    /// Memory the entry is taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        let newer = self.newer_parts().iter();
        let newer: usize = newer.map(|part| part.len() + PART_OVERHEAD_BYTES).sum();
        self.bytes.len() + ENTRY_OVERHEAD_BYTES + newer
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
            .field("kind", &self.kind())
            .field("key", &self.key().escape_ascii().to_string())
            .field("value_len_bytes", &self.value().len())
            .field("part_count", &self.part_count())
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
