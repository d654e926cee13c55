//! LMDB through heed: a copy-on-write B-tree over one read-only mapping, written by system calls.

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, WithTls};

use crate::engine::{Engine, Records};

/// Address space of the mapping; the file grows as it is written.
const MAP_BYTES: usize = 64 << 30;

pub(crate) struct Lmdb {
    env: Env<WithTls>,
    db: Database<'static, Bytes, Bytes>,
}

impl Engine for Lmdb {
    fn open(dir: &Path) -> Self {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES).max_dbs(2_000);
        // SAFETY: without syncs a power cut may lose the store; a benchmark's may go.
        unsafe { options.flags(EnvFlags::NO_SYNC) };
        // SAFETY: nobody else opens or changes the files of this directory.
        let env = unsafe { options.open(dir) }.unwrap();
        let txn = env.write_txn().unwrap();
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            let db = opener.create_database::<Bytes, Bytes>(txn, None)?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(db))
        });
        let db = created.unwrap().unwrap_commit();
        Lmdb { env, db }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        let mut txn = self.env.write_txn().unwrap();
        self.db.put(&mut txn, key, value).unwrap();
        txn.commit().unwrap();
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.put(key, value);
        self.env.force_sync().unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut txn = self.env.write_txn().unwrap();
        for (key, value) in records.iter() {
            self.db.put(&mut txn, key, value).unwrap();
        }
        txn.commit().unwrap();
    }

    fn delete(&self, key: &[u8]) {
        let mut txn = self.env.write_txn().unwrap();
        self.db.delete(&mut txn, key).unwrap();
        txn.commit().unwrap();
    }

    fn get<R>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let txn = self.env.read_txn().unwrap();
        self.db.get(&txn, key).unwrap().map(look)
    }

    fn scan(&self, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let txn = self.env.read_txn().unwrap();
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(from), Bound::Unbounded);
        let mut count = 0;
        for item in self.db.range(&txn, &bounds).unwrap().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(key, value);
            count += 1;
        }
        count
    }

    fn scan_back(&self, limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let txn = self.env.read_txn().unwrap();
        let mut count = 0;
        for item in self.db.rev_iter(&txn).unwrap().take(limit as usize) {
            let (key, value) = item.unwrap();
            visit(key, value);
            count += 1;
        }
        count
    }

    fn settle(&self) {
        self.env.force_sync().unwrap();
    }
}
