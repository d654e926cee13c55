//! sled 0.34: a Bw-tree over a log of its own.

use std::path::Path;

use sled::{Config, Db};

use crate::engine::{CACHE_BYTES, Engine, Records};

pub(crate) struct Sled {
    db: Db,
}

impl Engine for Sled {
    fn open(dir: &Path) -> Self {
        let config = Config::new()
            .path(dir.join("sled"))
            .cache_capacity(CACHE_BYTES as u64)
            .flush_every_ms(None);
        Sled {
            db: config.open().unwrap(),
        }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.db.insert(key, value).unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.db.insert(key, value).unwrap();
        self.db.flush().unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut batch = sled::Batch::default();
        for (key, value) in records.iter() {
            batch.insert(key, value);
        }
        self.db.apply_batch(batch).unwrap();
    }

    fn delete(&self, key: &[u8]) {
        self.db.remove(key).unwrap();
    }

    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.db.get(key).unwrap().map(|value| look(&value))
    }

    fn scan(&self, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in self.db.range(from..).take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn scan_back(&self, limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in self.db.iter().rev().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn settle(&self) {
        self.db.flush().unwrap();
    }
}
