//! fjall: an LSM tree, its journal handed to the operating system at every commit.

use std::path::Path;

use fjall::config::{BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::engine::{BACKGROUND_THREADS, CACHE_BYTES, Engine, FILTER_BITS, Records, WRITE_BUFFER_BYTES};

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

impl Engine for Fjall {
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

    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.keyspace.get(key).unwrap().map(|value| look(&value))
    }

    fn scan(&self, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in self.keyspace.range(from..).take(limit as usize) {
            let (key, value) = item.into_inner().unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn scan_back(&self, limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in self.keyspace.iter().rev().take(limit as usize) {
            let (key, value) = item.into_inner().unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn settle(&self) {
        self.keyspace.rotate_memtable_and_wait().unwrap();
    }
}
