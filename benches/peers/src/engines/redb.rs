//! redb: a copy-on-write B-tree with a cache of its own.

use std::path::Path;

use redb::{
    Builder, Database, Durability, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};

use crate::engine::{CACHE_BYTES, Engine, Records};

const TABLE: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("default");

pub(crate) struct Redb {
    db: Database,
}

impl Redb {
    fn write(&self, durability: Durability, change: impl FnOnce(&WriteTransaction)) {
        let mut txn = self.db.begin_write().unwrap();
        txn.set_durability(durability).unwrap();
        change(&txn);
        txn.commit().unwrap();
    }

    fn put_with(&self, key: &[u8], value: &[u8], durability: Durability) {
        self.write(durability, |txn| {
            txn.open_table(TABLE).unwrap().insert(key, value).unwrap();
        });
    }
}

impl Engine for Redb {
    fn open(dir: &Path) -> Self {
        let path = dir.join("redb");
        let is_new = !path.exists();
        let db = Builder::new().set_cache_size(CACHE_BYTES).create(path).unwrap();
        let engine = Redb { db };
        if is_new {
            engine.write(Durability::Immediate, |txn| {
                txn.open_table(TABLE).unwrap();
            });
        }
        engine
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.put_with(key, value, Durability::None);
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.put_with(key, value, Durability::Immediate);
    }

    fn put_batch(&self, records: &Records) {
        self.write(Durability::None, |txn| {
            let mut table = txn.open_table(TABLE).unwrap();
            for (key, value) in records.iter() {
                table.insert(key, value).unwrap();
            }
        });
    }

    fn delete(&self, key: &[u8]) {
        self.write(Durability::None, |txn| {
            txn.open_table(TABLE).unwrap().remove(key).unwrap();
        });
    }

    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let txn = self.db.begin_read().unwrap();
        let table = txn.open_table(TABLE).unwrap();
        table.get(key).unwrap().map(|value| look(value.value()))
    }

    fn scan(&self, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let txn = self.db.begin_read().unwrap();
        let table = txn.open_table(TABLE).unwrap();
        let mut count = 0;
        for item in table.range(from..).unwrap().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(key.value(), value.value());
            count += 1;
        }
        count
    }

    fn scan_back(&self, limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let txn = self.db.begin_read().unwrap();
        let table = txn.open_table(TABLE).unwrap();
        let mut count = 0;
        for item in table.iter().unwrap().rev().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(key.value(), value.value());
            count += 1;
        }
        count
    }

    fn settle(&self) {
        self.write(Durability::Immediate, |_| ());
    }
}
