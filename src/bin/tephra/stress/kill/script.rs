//! What each thread of the child writes: a function of its number and of how far it is, so that the parent knows it too.
//!
//! A commit of a thread sets its counter in one keyspace and puts or deletes records in another, in one batch: a batch that came back
//! in part is a counter that does not fit its records.

use std::collections::BTreeMap;

use tephradb::{Batch, Db, Durability, Keyspace, KeyspaceOptions, Options, Result};

/// Threads of a child.
pub(super) const THREADS: u32 = 4;
/// Keys a thread writes to.
const KEYS: u64 = 40;

/// The records of one thread.
pub(super) type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// Small enough that a second's work flushes, compacts and rolls the manifest over many times.
pub(super) fn options() -> Options {
    Options::default()
        .memtable_bytes(24 << 10)
        .target_table_bytes(16 << 10)
        .l0_compaction_trigger(2)
        .manifest_bytes(4 << 10)
}

/// The two keyspaces.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) counters: Keyspace,
    pub(super) records: Keyspace,
}

impl Places {
    pub(super) fn of(db: &Db) -> Result<Places> {
        Ok(Places {
            counters: db.default_keyspace().clone(),
            records: db.keyspace("records", KeyspaceOptions::default())?,
        })
    }

    /// How far a thread is.
    pub(super) fn counter(&self, thread: u32) -> Result<u64> {
        let value = self.counters.get(counter_key(thread))?;
        let bytes = value.as_deref().and_then(|bytes| bytes.try_into().ok());
        Ok(bytes.map_or(0, u64::from_be_bytes))
    }

    /// The records of a thread.
    pub(super) fn records_of(&self, thread: u32) -> Result<Records> {
        let items = self.records.prefix(format!("{thread}/"));
        items
            .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec())))
            .collect()
    }

    /// Fills a batch with the commit of a thread that brings its counter to `count`.
    pub(super) fn fill(&self, batch: &mut Batch, thread: u32, count: u64) {
        batch.put(&self.counters, counter_key(thread), count.to_be_bytes());
        for (key, value) in changes(thread, count) {
            match value {
                Some(value) => batch.put(&self.records, key, value),
                None => batch.delete(&self.records, key),
            };
        }
    }
}

fn counter_key(thread: u32) -> String {
    format!("counter {thread}")
}

/// Every eighth commit is durable before it is acknowledged.
pub(super) fn durability(count: u64) -> Durability {
    if count.is_multiple_of(8) {
        Durability::Sync
    } else {
        Durability::Process
    }
}

/// What a commit changes besides the counter.
fn changes(thread: u32, count: u64) -> [(Vec<u8>, Option<Vec<u8>>); 3] {
    let key = |number: u64| format!("{thread}/{:03}", number % KEYS).into_bytes();
    let value = |salt: u64| {
        let len = usize::try_from((count * 37 + salt) % 120).unwrap_or_default();
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.resize(8 + len, b'.');
        bytes
    };
    [
        (key(count * 7), Some(value(1))),
        (key(count * 7 + 13), None),
        (key(count * 11 + 5), (!count.is_multiple_of(3)).then(|| value(2))),
    ]
}

/// Does to a model what a commit does.
pub(super) fn apply(records: &mut Records, thread: u32, count: u64) {
    for (key, value) in changes(thread, count) {
        match value {
            Some(value) => drop(records.insert(key, value)),
            None => drop(records.remove(&key)),
        }
    }
}
