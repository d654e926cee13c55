//! What the engine's own tests share.

use std::ops::Deref;

use crate::options::{Background, Options};
use crate::{Db, Result};

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

/// Options that leave background work to the test.
pub(crate) fn manual() -> Options {
    Options::default().background(Background::Manual)
}

/// A database in a directory of its own, removed with it.
pub(crate) struct TestDb {
    db: Option<Db>,
    options: Options,
    pub(crate) dir: tempfile::TempDir,
}

impl TestDb {
    pub(crate) fn open(options: Options) -> TestDb {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let db = Db::open(dir.path(), options.clone()).expect("opens");
        TestDb {
            db: Some(db),
            options,
            dir,
        }
    }

    /// Closes in order and opens again.
    pub(crate) fn reopen(&mut self) {
        self.try_reopen().expect("reopens");
    }

    pub(crate) fn try_reopen(&mut self) -> Result<()> {
        if let Some(db) = self.db.take() {
            db.close()?;
        }
        self.db = Some(Db::open(self.dir.path(), self.options.clone())?);
        Ok(())
    }

    /// Everything in the default keyspace.
    pub(crate) fn contents(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.iter()
            .map(|item| item.expect("readable"))
            .map(|(key, value)| (key.into_vec(), value.to_vec()))
            .collect()
    }

    /// Refuses a database that does not verify.
    pub(crate) fn assert_sound(&self) {
        let report = self.verify().expect("verifies");
        assert!(report.is_sound(), "{report:#?}");
    }
}

impl Deref for TestDb {
    type Target = Db;

    fn deref(&self) -> &Db {
        self.db.as_ref().expect("open")
    }
}
