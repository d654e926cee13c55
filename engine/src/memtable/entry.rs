//! One entry of a memtable: what the writes of this generation said about one key.
//!
//! ```text
//! Slot    keyspace  key_len_bytes, kind     head   bytes ----> | key | value or oldest part |     in the memtable's arena
//!         u32       30 bits, 2 bits         u64    newer ----> parts merged on top of it, or nothing
//!
//! Put     alive with this value; ends the history of the key: nothing older counts
//! Delete  dead; ends the history too
//! Merge   an operand for whatever older layers hold
//!
//! Write      what a batch says of a key: borrows the batch              -> a memtable copies it into its arena
//! EntryRef   a slot, read while its memtable is borrowed
//! Entry      a slot with its arena: outlives the memtable
//! ```
//!
//! A slot alone says where bytes lie and keeps nothing alive, so maps copy their nodes by copying words. Slots are seen in this folder
//! alone: they stand in the maps of a memtable, which holds their arena, and leave it with that. `head` is the
//! key's first eight bytes, big-endian and zero-padded: two heads that differ order as their keys do, and most
//! comparisons end there without touching the bytes.
//!
//! What is merged onto a put or a merge stands behind it as further parts, oldest first, as far as it is not composed yet
//! (`merge.rs`). A plain keyspace has none.

use std::cmp::Ordering;
use std::sync::Arc;

use super::arena::{Arena, ArenaBytes};
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

/// What an operation says about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write<'a> {
    pub(crate) keyspace: u32,
    pub(crate) kind: EntryKind,
    pub(crate) key: &'a [u8],
    /// Value or operand; empty in a delete.
    pub(crate) value: &'a [u8],
}

impl<'a> Write<'a> {
    /// A delete of `key`.
    pub(crate) fn delete(keyspace: u32, key: &'a [u8]) -> Self {
        Write {
            keyspace,
            kind: EntryKind::Delete,
            key,
            value: &[],
        }
    }

    /// Whether it says that the key is alive: a put or a merge.
    pub(crate) fn is_live(&self) -> bool {
        self.kind != EntryKind::Delete
    }
}

/// An entry as it stands in a memtable's maps. Its bytes are those of that memtable's arena.
#[derive(Clone)]
pub(super) struct Slot {
    keyspace: u32,
    key_len_and_kind: u32,
    head: u64,
    bytes: ArenaBytes,
    newer: Option<Arc<Vec<Part>>>,
}

/// Where the kind stands beside the key's length.
const KIND_SHIFT: u32 = 30;
const KEY_LEN_MASK: u32 = (1 << KIND_SHIFT) - 1;

const _: () = assert!(KEY_LEN_BYTES_MAX <= KEY_LEN_MASK as usize);
const _: () = assert!(size_of::<Slot>() == 40, "maps copy nodes of slots at every write");

/// Bytes an entry is taken to cost beside its key and value: the slot in the map, and its share of half-full nodes.
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = size_of::<Slot>() + 40;

/// Bytes a further part is taken to cost beside its content.
const PART_OVERHEAD_BYTES: usize = size_of::<Part>() + 32;

impl Slot {
    /// Copies the bytes into the arena.
    pub(super) fn new(write: Write<'_>, arena: &Arena) -> Slot {
        Slot::of(write, arena.push(write.key, write.value))
    }

    /// The slot of a write whose bytes were copied.
    fn of(write: Write<'_>, bytes: ArenaBytes) -> Slot {
        let key_len_bytes = u32::try_from(write.key.len()).expect("key lengths are limited before the log");
        assert!(
            key_len_bytes <= KEY_LEN_MASK,
            "key lengths are limited before the log"
        );
        Slot {
            keyspace: write.keyspace,
            key_len_and_kind: key_len_bytes | (write.kind as u32) << KIND_SHIFT,
            head: head_of(write.key),
            bytes,
            newer: None,
        }
    }

    pub(super) fn keyspace(&self) -> u32 {
        self.keyspace
    }

    pub(super) fn kind(&self) -> EntryKind {
        match self.key_len_and_kind >> KIND_SHIFT {
            0 => EntryKind::Put,
            1 => EntryKind::Delete,
            _ => EntryKind::Merge,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.kind() != EntryKind::Delete
    }

    fn newer_parts(&self) -> &[Part] {
        self.newer.as_ref().map_or(&[], |parts| &parts[..])
    }

    /// Memory the slot is taken to cost beside what it has in the arena, in bytes.
    pub(super) fn cost_bytes(&self) -> usize {
        let newer = self.newer_parts().iter();
        let newer: usize = newer.map(|part| part.len() + PART_OVERHEAD_BYTES).sum();
        ENTRY_OVERHEAD_BYTES + newer
    }

    fn key_len_bytes(&self) -> usize {
        (self.key_len_and_kind & KEY_LEN_MASK) as usize
    }

    fn as_probe(&self) -> Probe<'_> {
        Probe {
            keyspace: self.keyspace,
            head: self.head,
            key: self.key(),
        }
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key_value()[..self.key_len_bytes()]
    }

    /// Key and value, or oldest part.
    #[expect(unsafe_code, reason = "comparisons of a map have nothing but the slots")]
    fn key_value(&self) -> &[u8] {
        // SAFETY: whoever has a slot has its arena: a memtable has those of its maps and of inner nodes that keep copies of slots, and
        // empties the maps before it changes its arena; `EntryRef` and `Entry` have it beside the slot; the slots of a `Loader` wait for the
        // memtable beside them, which nobody else reaches meanwhile. Nothing else in this folder keeps slots, and no other file sees any.
        unsafe { self.bytes.get() }
    }
}

/// An entry of a memtable that is borrowed.
#[derive(Clone, Copy)]
pub(crate) struct EntryRef<'a> {
    slot: &'a Slot,
    arena: &'a Arc<Arena>,
}

impl<'a> EntryRef<'a> {
    /// `slot` stands in a map of the memtable that `arena` is of.
    pub(super) fn new(slot: &'a Slot, arena: &'a Arc<Arena>) -> Self {
        EntryRef { slot, arena }
    }

    /// Number of the keyspace the key lives in.
    pub(crate) fn keyspace(self) -> u32 {
        self.slot.keyspace
    }

    /// What the entry says.
    pub(crate) fn kind(self) -> EntryKind {
        self.slot.kind()
    }

    /// Whether the key is alive: a put or a merge.
    pub(crate) fn is_live(self) -> bool {
        self.slot.is_live()
    }

    /// Whether nothing older counts: a put or a delete.
    pub(crate) fn ends_history(self) -> bool {
        self.kind() != EntryKind::Merge
    }

    /// The key.
    pub(crate) fn key(self) -> &'a [u8] {
        &self.slot.key_value()[..self.slot.key_len_bytes()]
    }

    /// The oldest part: the whole value or operand, unless there are newer parts. Empty for a delete.
    pub(crate) fn value(self) -> &'a [u8] {
        &self.slot.key_value()[self.slot.key_len_bytes()..]
    }

    /// The parts merged on top of the oldest one, oldest first.
    pub(crate) fn newer_parts(self) -> &'a [Part] {
        self.slot.newer_parts()
    }

    /// All parts, oldest first; of a delete an empty one.
    pub(crate) fn parts(self) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        std::iter::once(self.value()).chain(self.newer_parts().iter().map(|part| &part[..]))
    }

    /// Number of parts.
    pub(crate) fn part_count(self) -> usize {
        1 + self.newer_parts().len()
    }

    /// The entry, with all of its memtable's bytes kept alive.
    pub(crate) fn to_entry(self) -> Entry {
        Entry {
            slot: self.slot.clone(),
            arena: Arc::clone(self.arena),
        }
    }
}

/// An entry on its own. Keeps the arena alive that its bytes lie in: all bytes of the memtable it came from.
#[derive(Clone)]
pub(crate) struct Entry {
    slot: Slot,
    arena: Arc<Arena>,
}

impl Entry {
    /// What a write says, on its own. Copies the bytes.
    pub(crate) fn new(write: Write<'_>) -> Entry {
        let (arena, bytes) = Arena::of(write.key, write.value);
        Entry {
            slot: Slot::of(write, bytes),
            arena: Arc::new(arena),
        }
    }

    /// To read it.
    pub(crate) fn as_ref(&self) -> EntryRef<'_> {
        EntryRef {
            slot: &self.slot,
            arena: &self.arena,
        }
    }

    /// Whether its bytes lie in `arena`.
    pub(super) fn is_in(&self, arena: &Arc<Arena>) -> bool {
        Arc::ptr_eq(arena, &self.arena)
    }

    /// The slot, with its bytes in `arena`: copied, unless that is where they are.
    pub(super) fn into_slot(self, arena: &Arc<Arena>) -> Slot {
        if self.is_in(arena) {
            return self.slot;
        }
        Slot {
            bytes: arena.push(self.slot.key_value(), &[]),
            ..self.slot
        }
    }

    /// The same key and bytes, saying something else.
    pub(crate) fn with_kind(mut self, kind: EntryKind) -> Entry {
        self.slot.key_len_and_kind = self.slot.key_len_and_kind & KEY_LEN_MASK | (kind as u32) << KIND_SHIFT;
        self
    }

    /// The same key and kind with another oldest part and nothing newer. Copies key and part.
    pub(crate) fn with_value(&self, value: &[u8]) -> Entry {
        let entry = self.as_ref();
        Entry::new(Write {
            keyspace: entry.keyspace(),
            kind: entry.kind(),
            key: entry.key(),
            value,
        })
    }

    /// Leaves the oldest `count` parts, at least one, and puts another on top. Copies handles that are shared.
    pub(crate) fn push_part(&mut self, count: usize, part: Part) {
        let newer = Arc::make_mut(self.slot.newer.get_or_insert_default());
        newer.truncate(count - 1);
        newer.push(part);
    }
}

impl std::fmt::Debug for EntryRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("keyspace", &self.keyspace())
            .field("kind", &self.kind())
            .field("key", &self.key().escape_ascii().to_string())
            .field("value_len_bytes", &self.value().len())
            .field("part_count", &self.part_count())
            .finish()
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_probe().fmt(f)
    }
}

/// Slots are ordered, and equal, by keyspace and key alone: a map holds one entry a key.
impl Ord for Slot {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_probe().cmp(&other.as_probe())
    }
}

impl PartialOrd for Slot {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Slot {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Slot {}

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

impl equivalent::Equivalent<Slot> for Probe<'_> {
    fn equivalent(&self, slot: &Slot) -> bool {
        *self == slot.as_probe()
    }
}

impl equivalent::Comparable<Slot> for Probe<'_> {
    fn compare(&self, slot: &Slot) -> Ordering {
        self.cmp(&slot.as_probe())
    }
}

/// The first eight bytes, big-endian; missing ones count as zero. `head_of(a) < head_of(b)` implies `a < b`.
pub(super) fn head_of(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = key.len().min(8);
    head[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(head)
}
