//! sled 0.34: a Bw-tree over a log of its own.

use std::path::Path;

use sled::{Config, Db, Tree};

use crate::engine::{CACHE_BYTES, Engine, Records, number};

pub(crate) struct Sled {
    db: Db,
}

/// Deletes in one commit, where a range is deleted key by key.
const DELETES: usize = 1_000;

fn sum(_key: &[u8], before: Option<&[u8]>, amount: &[u8]) -> Option<Vec<u8>> {
    let sum = before.map_or(0, number) + number(amount);
    Some(sum.to_le_bytes().to_vec())
}

impl Engine for Sled {
    const SURVIVES_KILL: bool = false;
    const MERGES: bool = true;
    const SNAPSHOTS: bool = false;

    type Reader<'a> = &'a Sled;
    /// sled has no snapshots.
    type Snapshot<'a> = std::convert::Infallible;
    type Space = Tree;

    fn open_counters(dir: &Path) -> Self {
        let engine = Self::open(dir);
        engine.db.set_merge_operator(sum);
        engine
    }

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

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        let mut keys = self.db.range(from..to).keys().peekable();
        while keys.peek().is_some() {
            let mut batch = sled::Batch::default();
            for key in keys.by_ref().take(DELETES) {
                batch.remove(key.unwrap());
            }
            self.db.apply_batch(batch).unwrap();
        }
    }

    fn add(&self, key: &[u8], amount: u64) {
        let add = |before: Option<&[u8]>| sum(key, before, &amount.to_le_bytes());
        self.db.update_and_fetch(key, add).unwrap();
    }

    fn merge(&self, key: &[u8], amount: u64) {
        self.db.merge(key, amount.to_le_bytes()).unwrap();
    }

    fn reader(&self) -> &Sled {
        self
    }

    fn get_by<R>(reader: &&Sled, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        reader.db.get(key).unwrap().map(|value| look(&value))
    }

    fn scan_by(reader: &&Sled, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in reader.db.range(from..).take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn scan_back_by(reader: &&Sled, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in reader.db.iter().rev() {
            let (key, value) = item.unwrap();
            visit(&key, &value);
            count += 1;
        }
        count
    }

    fn snapshot(&self) -> std::convert::Infallible {
        unreachable!("sled has no snapshots");
    }

    fn get_at<R>(
        snapshot: &std::convert::Infallible,
        _key: &[u8],
        _look: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        match *snapshot {}
    }

    fn spaces(&mut self, names: &[String]) -> Vec<Tree> {
        names
            .iter()
            .map(|name| self.db.open_tree(name).unwrap())
            .collect()
    }

    fn put_in(&self, space: &Tree, key: &[u8], value: &[u8]) {
        space.insert(key, value).unwrap();
    }

    fn get_in<R>(&self, space: &Tree, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        space.get(key).unwrap().map(|value| look(&value))
    }

    fn settle(&self) {
        self.db.flush().unwrap();
    }
}
