//! RocksDB, its log handed to the operating system at every commit.

use std::path::Path;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DBCompressionType, DBRawIterator, MergeOperands,
    Options, Snapshot, WaitForCompactOptions, WriteBatch, WriteOptions,
};

use crate::engine::{
    BACKGROUND_THREADS, CACHE_BYTES, Engine, FILTER_BITS, Records, WRITE_BUFFER_BYTES, number,
};

pub(crate) struct Rocks {
    db: DB,
    /// For writes that are synced.
    synced: WriteOptions,
}

/// Column families of one database share a cache.
fn options(cache: &Cache) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_bloom_filter(FILTER_BITS as f64, false);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.set_max_background_jobs(BACKGROUND_THREADS as i32);
    options.set_compression_type(DBCompressionType::None);
    options.set_block_based_table_factory(&table);
    options.set_merge_operator_associative("sum", sum);
    options
}

fn sum(_key: &[u8], before: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let sum = before.map_or(0, number) + operands.iter().map(number).sum::<u64>();
    Some(sum.to_le_bytes().to_vec())
}

/// Shows where an iterator stands, and onwards by `step`.
fn walk<'a>(
    iter: &mut DBRawIterator<'a>,
    limit: u64,
    step: impl Fn(&mut DBRawIterator<'a>),
    mut visit: impl FnMut(&[u8], &[u8]),
) -> u64 {
    let mut count = 0;
    while count < limit {
        let Some((key, value)) = iter.item() else {
            iter.status().unwrap();
            break;
        };
        visit(key, value);
        count += 1;
        if count < limit {
            step(iter);
        }
    }
    count
}

impl Engine for Rocks {
    const SURVIVES_KILL: bool = true;
    const MERGES: bool = true;

    type Reader<'a> = &'a Rocks;
    type Snapshot<'a> = Snapshot<'a>;
    /// The column family's name. RocksDB takes a handle that its map of names gives out.
    type Space = String;

    fn open(dir: &Path) -> Self {
        let path = dir.join("rocksdb");
        let cache = Cache::new_lru_cache(CACHE_BYTES);
        let names = DB::list_cf(&Options::default(), &path).unwrap_or_else(|_| vec!["default".to_owned()]);
        let families = names
            .into_iter()
            .map(|name| ColumnFamilyDescriptor::new(name, options(&cache)));
        let db = DB::open_cf_descriptors(&options(&cache), path, families).unwrap();
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        Rocks { db, synced }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.db.put(key, value).unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.db.put_opt(key, value, &self.synced).unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut batch = WriteBatch::default();
        for (key, value) in records.iter() {
            batch.put(key, value);
        }
        self.db.write(batch).unwrap();
    }

    fn delete(&self, key: &[u8]) {
        self.db.delete(key).unwrap();
    }

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        let default = self.db.cf_handle("default").unwrap();
        self.db.delete_range_cf(default, from, to).unwrap();
    }

    fn add(&self, key: &[u8], amount: u64) {
        let before = self.get(key, number).unwrap_or(0);
        self.put(key, &(before + amount).to_le_bytes());
    }

    fn merge(&self, key: &[u8], amount: u64) {
        self.db.merge(key, amount.to_le_bytes()).unwrap();
    }

    fn reader(&self) -> &Rocks {
        self
    }

    fn get_by<R>(reader: &&Rocks, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        reader.db.get_pinned(key).unwrap().map(|value| look(&value))
    }

    fn scan_by(reader: &&Rocks, from: &[u8], limit: u64, visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut iter = reader.db.raw_iterator();
        iter.seek(from);
        walk(&mut iter, limit, DBRawIterator::next, visit)
    }

    fn scan_back_by(reader: &&Rocks, visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut iter = reader.db.raw_iterator();
        iter.seek_to_last();
        walk(&mut iter, u64::MAX, DBRawIterator::prev, visit)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        self.db.snapshot()
    }

    fn get_at<R>(snapshot: &Snapshot<'_>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        snapshot.get_pinned(key).unwrap().map(|value| look(&value))
    }

    fn spaces(&mut self, names: &[String]) -> Vec<String> {
        for name in names {
            if self.db.cf_handle(name).is_none() {
                let cache = Cache::new_lru_cache(CACHE_BYTES);
                self.db.create_cf(name, &options(&cache)).unwrap();
            }
        }
        names.to_vec()
    }

    fn put_in(&self, space: &String, key: &[u8], value: &[u8]) {
        let family = self.db.cf_handle(space).unwrap();
        self.db.put_cf(family, key, value).unwrap();
    }

    fn get_in<R>(&self, space: &String, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let family = self.db.cf_handle(space).unwrap();
        self.db
            .get_pinned_cf(family, key)
            .unwrap()
            .map(|value| look(&value))
    }

    fn settle(&self) {
        self.db.flush().unwrap();
        self.db
            .wait_for_compact(&WaitForCompactOptions::default())
            .unwrap();
    }
}
