//! redb: a copy-on-write B-tree with a cache of its own.

use std::path::Path;

use redb::{
    Builder, Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition,
    WriteTransaction,
};

use crate::engine::{CACHE_BYTES, Engine, Records, number};

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
    const SURVIVES_KILL: bool = false;

    type Reader<'a> = ReadOnlyTable<&'static [u8], &'static [u8]>;
    type Snapshot<'a> = ReadOnlyTable<&'static [u8], &'static [u8]>;
    /// The table's name: tables are opened in each transaction.
    type Space = String;

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

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        self.write(Durability::None, |txn| {
            let mut table = txn.open_table(TABLE).unwrap();
            table.retain_in(from..to, |_, _| false).unwrap();
        });
    }

    fn add(&self, key: &[u8], amount: u64) {
        self.write(Durability::None, |txn| {
            let mut table = txn.open_table(TABLE).unwrap();
            let before = table.get(key).unwrap().map_or(0, |value| number(value.value()));
            table
                .insert(key, (before + amount).to_le_bytes().as_slice())
                .unwrap();
        });
    }

    fn reader(&self) -> ReadOnlyTable<&'static [u8], &'static [u8]> {
        self.db.begin_read().unwrap().open_table(TABLE).unwrap()
    }

    fn get_by<R>(table: &Self::Reader<'_>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        table.get(key).unwrap().map(|value| look(value.value()))
    }

    fn scan_by(
        table: &Self::Reader<'_>,
        from: &[u8],
        limit: u64,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> u64 {
        let mut count = 0;
        for item in table.range(from..).unwrap().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(key.value(), value.value());
            count += 1;
        }
        count
    }

    fn scan_back_by(table: &Self::Reader<'_>, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in table.iter().unwrap().rev() {
            let (key, value) = item.unwrap();
            visit(key.value(), value.value());
            count += 1;
        }
        count
    }

    fn snapshot(&self) -> Self::Snapshot<'_> {
        self.reader()
    }

    fn get_at<R>(snapshot: &Self::Snapshot<'_>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Self::get_by(snapshot, key, look)
    }

    fn spaces(&mut self, names: &[String]) -> Vec<String> {
        self.write(Durability::None, |txn| {
            for name in names {
                txn.open_table(table_of(name)).unwrap();
            }
        });
        names.to_vec()
    }

    fn put_in(&self, space: &String, key: &[u8], value: &[u8]) {
        self.write(Durability::None, |txn| {
            txn.open_table(table_of(space))
                .unwrap()
                .insert(key, value)
                .unwrap();
        });
    }

    fn get_in<R>(&self, space: &String, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let table = self.db.begin_read().unwrap().open_table(table_of(space)).unwrap();
        Self::get_by(&table, key, look)
    }

    fn settle(&self) {
        self.write(Durability::Immediate, |_| ());
    }
}

fn table_of(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}
