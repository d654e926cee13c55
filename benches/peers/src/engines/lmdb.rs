//! LMDB through heed: a copy-on-write B-tree over one read-only mapping, written by system calls.
//!
//! LMDB keeps the slot of a read transaction either with the thread, which makes beginning one fast and allows one a thread, or with the
//! transaction: [`Lmdb`] is generic over that, and only the workload that holds many snapshots takes the second.

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, TlsUsage, WithTls, WithoutTls};

use crate::engine::{Engine, Records, number};

/// Address space of the mapping; the file grows as it is written.
const MAP_BYTES: usize = 64 << 30;
const SPACES_MAX: u32 = 2_000;

/// Where the slots of read transactions are kept.
pub(crate) trait Slots: TlsUsage + Sized + Send + Sync + 'static {
    fn options() -> EnvOpenOptions<Self>;

    fn any<'a, 'e>(txn: &'a RoTxn<'e, Self>) -> &'a RoTxn<'e>;
}

impl Slots for WithTls {
    fn options() -> EnvOpenOptions<WithTls> {
        EnvOpenOptions::new()
    }

    fn any<'a, 'e>(txn: &'a RoTxn<'e, WithTls>) -> &'a RoTxn<'e> {
        txn
    }
}

impl Slots for WithoutTls {
    fn options() -> EnvOpenOptions<WithoutTls> {
        EnvOpenOptions::new().read_txn_without_tls()
    }

    fn any<'a, 'e>(txn: &'a RoTxn<'e, WithoutTls>) -> &'a RoTxn<'e> {
        txn
    }
}

type Map = Database<'static, Bytes, Bytes>;

pub(crate) struct Lmdb<T: Slots> {
    env: Env<T>,
    map: Map,
}

/// A read transaction and the map that it reads.
pub(crate) struct Reader<'a, T: Slots> {
    txn: RoTxn<'a, T>,
    map: Map,
}

impl<T: Slots> Lmdb<T> {
    fn map(env: &Env<T>, name: Option<&str>) -> Map {
        let txn = env.write_txn().unwrap();
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            let map = opener.create_database::<Bytes, Bytes>(txn, name)?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(map))
        });
        created.unwrap().unwrap_commit()
    }
}

impl<T: Slots> Engine for Lmdb<T> {
    const SURVIVES_KILL: bool = true;

    type Reader<'a> = Reader<'a, T>;
    type Snapshot<'a> = Reader<'a, T>;
    type Space = Map;

    fn open(dir: &Path) -> Self {
        let mut options = T::options();
        options.map_size(MAP_BYTES).max_dbs(SPACES_MAX).max_readers(256);
        // SAFETY: without syncs a power cut may lose the store; a benchmark's may go.
        unsafe { options.flags(EnvFlags::NO_SYNC) };
        // SAFETY: nobody else opens or changes the files of this directory.
        let env = unsafe { options.open(dir) }.unwrap();
        let map = Self::map(&env, None);
        Lmdb { env, map }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.put_in(&self.map, key, value);
    }

    fn put_sync(&self, key: &[u8], value: &[u8]) {
        self.put(key, value);
        self.env.force_sync().unwrap();
    }

    fn put_batch(&self, records: &Records) {
        let mut txn = self.env.write_txn().unwrap();
        for (key, value) in records.iter() {
            self.map.put(&mut txn, key, value).unwrap();
        }
        txn.commit().unwrap();
    }

    fn delete(&self, key: &[u8]) {
        let mut txn = self.env.write_txn().unwrap();
        self.map.delete(&mut txn, key).unwrap();
        txn.commit().unwrap();
    }

    fn delete_range(&self, from: &[u8], to: &[u8]) {
        let mut txn = self.env.write_txn().unwrap();
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(from), Bound::Excluded(to));
        self.map.delete_range(&mut txn, &bounds).unwrap();
        txn.commit().unwrap();
    }

    fn add(&self, key: &[u8], amount: u64) {
        let mut txn = self.env.write_txn().unwrap();
        let before = self.map.get(&txn, key).unwrap().map_or(0, number);
        self.map
            .put(&mut txn, key, &(before + amount).to_le_bytes())
            .unwrap();
        txn.commit().unwrap();
    }

    fn reader(&self) -> Reader<'_, T> {
        Reader {
            txn: self.env.read_txn().unwrap(),
            map: self.map,
        }
    }

    fn get_by<R>(reader: &Reader<'_, T>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        reader.map.get(T::any(&reader.txn), key).unwrap().map(look)
    }

    fn scan_by(reader: &Reader<'_, T>, from: &[u8], limit: u64, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(from), Bound::Unbounded);
        let mut count = 0;
        for item in reader
            .map
            .range(T::any(&reader.txn), &bounds)
            .unwrap()
            .take(limit as usize)
        {
            let (key, value) = item.unwrap();
            visit(key, value);
            count += 1;
        }
        count
    }

    fn scan_back_by(reader: &Reader<'_, T>, mut visit: impl FnMut(&[u8], &[u8])) -> u64 {
        let mut count = 0;
        for item in reader.map.rev_iter(T::any(&reader.txn)).unwrap() {
            let (key, value) = item.unwrap();
            visit(key, value);
            count += 1;
        }
        count
    }

    fn snapshot(&self) -> Reader<'_, T> {
        self.reader()
    }

    fn get_at<R>(snapshot: &Reader<'_, T>, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        Self::get_by(snapshot, key, look)
    }

    fn spaces(&mut self, names: &[String]) -> Vec<Map> {
        names
            .iter()
            .map(|name| Self::map(&self.env, Some(name)))
            .collect()
    }

    fn put_in(&self, space: &Map, key: &[u8], value: &[u8]) {
        let mut txn = self.env.write_txn().unwrap();
        space.put(&mut txn, key, value).unwrap();
        txn.commit().unwrap();
    }

    fn get_in<R>(&self, space: &Map, key: &[u8], look: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let txn = self.env.read_txn().unwrap();
        space.get(T::any(&txn), key).unwrap().map(look)
    }

    fn settle(&self) {
        self.env.force_sync().unwrap();
    }
}
