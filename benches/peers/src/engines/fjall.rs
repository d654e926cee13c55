//! fjall: an LSM tree, its journal handed to the operating system at every commit.

use std::path::Path;

use fjall::config::{BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable as _, Snapshot};

use crate::engine::{
    BACKGROUND_THREADS, CACHE_BYTES, Engine, FILTER_BITS, Records, WRITE_BUFFER_BYTES, number,
};

pub(crate) struct Fjall {
    db: Database,
    keyspace: Keyspace,
}

fn keyspace_options() -> KeyspaceCreateOptions {
    let filter = FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(FILTER_BITS as f32));
    KeyspaceCreateOptions::default()
        .max_memtable_size(WRITE_BUFFER_BYTES as u64)
        .filter_policy(FilterPolicy::all(filter))
        .data_block_compression_policy(CompressionPolicy::all(fjall::CompressionType::None))
}

/// Deletes in one commit, where a range is deleted key by key.
const DELETES: usize = 1_000;

impl Engine for Fjall {
    const SURVIVES_KILL: bool = true;

    type Reader<'a> = &'a Fjall;
    type Snapshot<'a> = (Snapshot, &'a Keyspace);
    type Space = Keyspace;

    fn open(dir: &Path) -> Self {
        let db = Database::builder(dir)
            .cache_size(CACHE_BYTES as u64)
            .worker_threads(BACKGROUND_THREADS)
            .journal_compression(fjall::CompressionType::None)
            .open()
            .unwrap();
        let keyspace = db.keyspace("default", keyspace_options).unwrap();
        Fjall { db, keyspace }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.keyspace.insert(key, value).unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.keyspace.insert(key, value).unwrap();
        self.db.persist(PersistMode::SyncData).unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut batch = self.db.batch();
        for (key, value) in records.iter() {
            batch.insert(&self.keyspace, key, value);
        }
        batch.commit().unwrap();
    }

    fn delete(&self, key: &[u8]) {
        self.keyspace.remove(key).unwrap();
    }

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        let mut keys = self.keyspace.range(from..to).peekable();
        while keys.peek().is_some() {
            let mut batch = self.db.batch();
            for item in keys.by_ref().take(DELETES) {
                batch.remove(&self.keyspace, item.key().unwrap());
            }
            batch.commit().unwrap();
        }
    }

    fn add(&self, key: &[u8], amount: u64) {
        let before = self.get(key, number).unwrap_or(0);
        self.put(key, &(before + amount).to_le_bytes());
    }

    fn reader(&self) -> &Fjall {
        self
    }

    fn get_by<R>(reader: &&Fjall, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        reader.keyspace.get(key).unwrap().map(|value| look(&value))
    }

    fn scan_by(reader: &&Fjall, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in reader.keyspace.range(from..).take(limit as usize) {
            let (key, value) = item.into_inner().unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn scan_back_by(reader: &&Fjall, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in reader.keyspace.iter().rev() {
            let (key, value) = item.into_inner().unwrap();
            visit(&key, &value);
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
        names
            .iter()
            .map(|name| self.db.keyspace(name, keyspace_options).unwrap())
            .collect()
    }

    fn put_in(&self, space: &Keyspace, key: &[u8], value: &[u8]) {
        space.insert(key, value).unwrap();
    }

    fn get_in<R>(&self, space: &Keyspace, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        space.get(key).unwrap().map(|value| look(&value))
    }

    fn settle(&self) {
        self.keyspace.rotate_memtable_and_wait().unwrap();
    }
}
