//! tephradb, with its log's default durability: a commit survives a killed process.

use std::path::Path;

use tephradb::{Db, Durability, Options};

use crate::engine::{BACKGROUND_THREADS, Engine, Records, WRITE_BUFFER_BYTES};

#[derive(Debug)]
pub(crate) struct Tephra {
    db: Db,
}

impl Engine for Tephra {
    fn open(dir: &Path) -> Self {
        // One of the background threads flushes; the others compact.
        let options = Options::default()
            .memtable_bytes(WRITE_BUFFER_BYTES)
            .compaction_threads(BACKGROUND_THREADS - 1);
        Tephra {
            db: Db::open(dir, options).unwrap(),
        }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.db.put(key, value).unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.db
            .default_keyspace()
            .put_with(key, value, Durability::Sync)
            .unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut batch = self.db.batch();
        for (key, value) in records.iter() {
            batch.put(&self.db, key, value);
        }
        batch.commit(Durability::Process).unwrap();
    }

    fn delete(&self, key: &[u8]) {
        self.db.delete(key).unwrap();
    }

    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.db.get(key).unwrap().map(|value| look(&value))
    }

    fn scan(&self, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let (mut range, mut count) = (self.db.range(from..), 0);
        while count < limit
            && let Some((key, value)) = range.lend_next().unwrap()
        {
            visit(key, value);
            count += 1;
        }
        count
    }

    fn scan_back(&self, limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let (mut range, mut count) = (self.db.iter(), 0);
        while count < limit
            && let Some((key, value)) = range.lend_next_back().unwrap()
        {
            visit(key, value);
            count += 1;
        }
        count
    }

    fn settle(&self) {
        self.db.flush().unwrap();
    }
}
