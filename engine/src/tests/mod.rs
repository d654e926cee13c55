//! What the engine's own tests share.

mod checkpoint;
mod compaction;
mod crash;
mod damage;
mod dead_marks;
mod early_kills;
mod existing;
mod faults;
mod full_disk;
mod ingest;
mod limits;
mod many_keyspaces;
mod mixed;
mod observed;
mod opening;
mod pace;
mod power_cuts;
mod queue;
mod range_deletes;
mod restarts;
mod threads;

use std::io::Write as _;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::Db;
use crate::options::{Background, Options};
use crate::vfs::{FileSystem as _, MemFs};

/// A small generator; its seed is its history.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below a usize")
    }
}

/// Options that leave background work to the test. Small segments: a machine in memory copies its files when it crashes.
pub(crate) fn manual() -> Options {
    Options::default()
        .background(Background::Manual)
        .memtable_bytes(256 << 10)
}

/// A database on a machine in memory.
pub(crate) struct TestDb {
    db: Option<Db>,
    options: Options,
    pub(crate) machine: MemFs,
}

/// Where the databases of tests live on their machines.
pub(crate) const DIR: &str = "/db";

impl TestDb {
    pub(crate) fn open(options: Options) -> TestDb {
        TestDb::open_on(MemFs::new(), options)
    }

    pub(crate) fn open_on(machine: MemFs, options: Options) -> TestDb {
        let db = Db::open_with(Arc::new(machine.clone()), DIR, options.clone()).expect("opens");
        TestDb {
            db: Some(db),
            options,
            machine,
        }
    }

    /// Closes in order and opens again.
    pub(crate) fn reopen(&mut self) {
        self.close();
        let db = Db::open_with(Arc::new(self.machine.clone()), DIR, self.options.clone());
        self.db = Some(db.expect("reopens"));
    }

    /// Closes in order.
    pub(crate) fn close(&mut self) {
        if let Some(db) = self.db.take() {
            db.close().expect("closes");
        }
    }

    /// A copy of a closed database, on a machine of its own.
    pub(crate) fn closed_copy(original: &TestDb) -> TestDb {
        assert!(original.db.is_none(), "only what is closed can be copied");
        TestDb {
            db: None,
            options: original.options.clone(),
            machine: original.machine.after_kill(),
        }
    }

    /// The names of the files in the directory.
    pub(crate) fn files(&self) -> Vec<String> {
        files_of(&self.machine)
    }

    /// Removes a file from the directory.
    pub(crate) fn remove_file(&self, name: &str) {
        self.machine.remove(&Path::new(DIR).join(name)).expect("removes");
    }

    /// Number of files with an ending.
    pub(crate) fn count_files(&self, ending: &str) -> usize {
        self.files().iter().filter(|name| name.ends_with(ending)).count()
    }

    /// Puts a file into the directory.
    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) {
        let mut file = self
            .machine
            .create_new(&Path::new(DIR).join(name))
            .expect("creates");
        file.write_all(bytes).expect("writes");
        file.sync().expect("syncs");
    }

    /// The bytes of a file in the directory.
    pub(crate) fn read_file(&self, name: &str) -> Vec<u8> {
        self.machine.read(&Path::new(DIR).join(name)).expect("readable")
    }

    /// Puts other bytes into a file.
    pub(crate) fn replace_file(&self, name: &str, bytes: &[u8]) {
        self.machine.remove(&Path::new(DIR).join(name)).expect("removes");
        self.write_file(name, bytes);
    }

    /// Everything in the default keyspace.
    pub(crate) fn contents(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        contents(self)
    }

    /// Refuses a database that does not verify.
    pub(crate) fn assert_sound(&self) {
        assert_sound(self);
    }
}

/// The names of the files in the database's directory on a machine.
pub(crate) fn files_of(machine: &MemFs) -> Vec<String> {
    let entries = machine.list(Path::new(DIR)).expect("listable");
    entries
        .into_iter()
        .map(|entry| entry.name.into_string().expect("text"))
        .collect()
}

/// Everything in the default keyspace.
pub(crate) fn contents(db: &Db) -> Vec<(Vec<u8>, Vec<u8>)> {
    db.iter()
        .map(|item| item.expect("readable"))
        .map(|(key, value)| (key.into_vec(), value.to_vec()))
        .collect()
}

/// Refuses a database that does not verify.
pub(crate) fn assert_sound(db: &Db) {
    let report = db.verify().expect("verifies");
    assert!(report.is_sound(), "{report:#?}");
}

impl Deref for TestDb {
    type Target = Db;

    fn deref(&self) -> &Db {
        self.db.as_ref().expect("open")
    }
}
