//! tephradb, with its log's default durability: a commit survives a killed process.

use std::path::Path;

use tephradb::{AddU64, Db, Durability, Keyspace, KeyspaceOptions, Options, Snapshot};

use crate::engine::{BACKGROUND_THREADS, Engine, Records, WRITE_BUFFER_BYTES, number};

#[derive(Debug)]
pub(crate) struct Tephra {
    db: Db,
    /// The keyspace that single operations go to: the default one, or one of counters.
    keyspace: Keyspace,
}

/// A database with one flushing thread; the other background threads compact.
fn open(dir: &Path) -> Db {
    let options = Options::default()
        .memtable_bytes(WRITE_BUFFER_BYTES)
        .compaction_threads(BACKGROUND_THREADS - 1);
    Db::open(dir, options).unwrap()
}

impl Engine for Tephra {
    const SURVIVES_KILL: bool = true;
    const MERGES: bool = true;

    type Reader<'a> = &'a Tephra;
    type Snapshot<'a> = (Snapshot, &'a Keyspace);
    type Space = Keyspace;

    fn open(dir: &Path) -> Self {
        let db = open(dir);
        let keyspace = db.default_keyspace().clone();
        Tephra { db, keyspace }
    }

    fn open_counters(dir: &Path) -> Self {
        let db = open(dir);
        let options = KeyspaceOptions::default()
            .value_width_bytes(8)
            .compose(AddU64::NAME, AddU64);
        let keyspace = db.keyspace("counters", options).unwrap();
        Tephra { db, keyspace }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.keyspace.put(key, value).unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.keyspace.put_with(key, value, Durability::Sync).unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut batch = self.db.batch();
        for (key, value) in records.iter() {
            batch.put(&self.keyspace, key, value);
        }
        batch.commit(Durability::Process).unwrap();
    }

    fn delete(&self, key: &[u8]) {
        self.keyspace.delete(key).unwrap();
    }

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        self.keyspace.delete_range(from..to).unwrap();
    }

    fn add(&self, key: &[u8], amount: u64) {
        let before = self.get(key, number).unwrap_or(0);
        self.put(key, &(before + amount).to_le_bytes());
    }

    fn merge(&self, key: &[u8], amount: u64) {
        self.keyspace.merge(key, amount.to_le_bytes()).unwrap();
    }

    fn reader(&self) -> &Tephra {
        self
    }

    fn get_by<R>(reader: &&Tephra, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        reader.keyspace.get(key).unwrap().map(|value| look(&value))
    }

    fn scan_by(reader: &&Tephra, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let (mut range, mut count) = (reader.keyspace.range(from..), 0);
        while count < limit
            && let Some((key, value)) = range.lend_next().unwrap()
        {
            visit(key, value);
            count += 1;
        }
        count
    }

    fn scan_back_by(reader: &&Tephra, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let (mut range, mut count) = (reader.keyspace.iter(), 0);
        while let Some((key, value)) = range.lend_next_back().unwrap() {
            visit(key, value);
            count += 1;
        }
        count
    }

    fn snapshot(&self) -> (Snapshot, &Keyspace) {
        (self.db.snapshot(), &self.keyspace)
    }

    fn get_at<R>(
        (snapshot, keyspace): &(Snapshot, &Keyspace),
        key: &[u8],
        look: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        snapshot.get(keyspace, key).unwrap().map(|value| look(&value))
    }

    fn spaces(&mut self, names: &[String]) -> Vec<Keyspace> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.db.keyspaces(&names, KeyspaceOptions::default()).unwrap()
    }

    fn put_in(&self, space: &Keyspace, key: &[u8], value: &[u8]) {
        space.put(key, value).unwrap();
    }

    fn get_in<R>(&self, space: &Keyspace, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        space.get(key).unwrap().map(|value| look(&value))
    }

    fn settle(&self) {
        self.db.flush().unwrap();
    }
}
