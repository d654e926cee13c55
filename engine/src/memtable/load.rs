//! Many writes at once.
//!
//! ```text
//! written   d=1  a=1  d=2  c=1      copied to the arena as they come
//! sorted    a=1  c=1  d=1  d=2      by key; of one key the last written stays
//! inserted  a    c    d             in order: neighbours lie in the same nodes, which are in the cache, and are copied once
//! ```
//!
//! A random insert into a large map waits for memory several times; one behind the last insert does not.

use super::entry::Slot;
use super::{Memtable, Write};

/// A memtable that is filled, with the writes that its maps do not show yet.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    memtable: Memtable,
    /// Oldest first. Their bytes lie in the memtable's arena.
    pending: Vec<Slot>,
}

impl Loader {
    /// Does what a write says, once the memtable is looked at. O(1).
    pub(crate) fn write(&mut self, write: Write<'_>) {
        self.pending.push(self.memtable.new_slot(write));
    }

    /// The memtable with all writes in it. O(n log n) in those that were not.
    pub(crate) fn memtable(&mut self) -> &mut Memtable {
        self.memtable.insert_sorted(&mut self.pending);
        &mut self.memtable
    }

    /// As [`Loader::memtable`], for good.
    pub(crate) fn finish(mut self) -> Memtable {
        self.memtable();
        self.memtable
    }
}

impl Memtable {
    /// Does what several writes say, in their order. O(n log n); see the head of the file.
    pub(crate) fn write_all<'a>(&mut self, writes: impl Iterator<Item = Write<'a>>) {
        let mut slots: Vec<Slot> = writes.map(|write| self.new_slot(write)).collect();
        self.insert_sorted(&mut slots);
    }

    /// Inserts slots, oldest first, whose bytes lie in this memtable's arena; leaves none.
    fn insert_sorted(&mut self, slots: &mut Vec<Slot>) {
        slots.sort(); // Stable: of one key the last written stays last.
        let mut rest = slots.drain(..).peekable();
        while let Some(slot) = rest.next() {
            if rest.peek() != Some(&slot) {
                self.write_slot(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EntryKind, Interval};
    use super::*;
    use crate::tests::Rng;

    /// What a memtable says, for comparison.
    fn said(memtable: &Memtable) -> (Vec<String>, usize, u64) {
        let said = |entry: super::super::EntryRef<'_>| format!("{entry:?} {:?}", entry.value());
        let entries = memtable.iter().map(said);
        (entries.collect(), memtable.delete_count(), memtable.live_count(1))
    }

    #[test]
    fn writes_at_once_say_what_they_say_one_by_one() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut expected, mut loader, mut at_once) =
                (Memtable::default(), Loader::default(), Memtable::default());
            for round in 0..5u8 {
                let mut batch = Vec::new();
                for number in 0..rng.below(60) {
                    let key = vec![b'a' + u8::try_from(rng.below(9)).expect("small"); rng.below(12)];
                    let kind = [EntryKind::Put, EntryKind::Delete][rng.below(2)];
                    let value = match kind {
                        EntryKind::Delete => Vec::new(),
                        _ => vec![round; number],
                    };
                    batch.push((u32::try_from(rng.below(3)).expect("small"), kind, key, value));
                }
                let writes = || {
                    batch.iter().map(|(keyspace, kind, key, value)| Write {
                        keyspace: *keyspace,
                        kind: *kind,
                        key,
                        value,
                    })
                };
                writes().for_each(|write| expected.write(write));
                writes().for_each(|write| loader.write(write));
                at_once.write_all(writes());
                if rng.below(3) == 0 {
                    let interval = Interval::new(1, b"b", [Some(&b"f"[..]), None][rng.below(2)]);
                    let shields = rng.below(2) == 0;
                    expected.delete_range(interval.clone(), shields);
                    loader.memtable().delete_range(interval.clone(), shields);
                    at_once.delete_range(interval, shields);
                }
                assert_eq!(said(&at_once), said(&expected), "seed {seed}, round {round}");
            }
            assert_eq!(said(&loader.finish()), said(&expected), "seed {seed}");
        }
    }
}
