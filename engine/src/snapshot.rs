//! Snapshots: one instant of the whole database, for as long as somebody wants to look at it.

use std::sync::Arc;

use crate::db::DbHandle;
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::iter::{Bounds, Range};
use crate::key::{KeyRange, prefix_bounds};
use crate::keyspace::Keyspace;
use crate::value::Value;

/// One instant over all keyspaces. Taking one is O(1); it never blocks a write, a flush or a compaction, it only keeps
/// old tables on disk until it is dropped. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Snapshot {
    handle: Arc<DbHandle>,
    instant: Instant,
}

impl Snapshot {
    pub(crate) fn new(handle: Arc<DbHandle>, instant: Instant) -> Self {
        Snapshot { handle, instant }
    }

    /// The value of a key at the instant. `keyspace` is a [`Keyspace`], or the database itself for its default one.
    ///
    /// # Errors
    /// A keyspace of another database; otherwise as [`Keyspace::get`].
    pub fn get(&self, keyspace: impl AsRef<Keyspace>, key: impl AsRef<[u8]>) -> Result<Option<Value>> {
        let keyspace = keyspace.as_ref();
        self.check(keyspace)?;
        self.instant.get(keyspace.core(), key.as_ref())
    }

    /// Whether a key was alive at the instant.
    ///
    /// # Errors
    /// As [`Snapshot::get`].
    pub fn contains(&self, keyspace: impl AsRef<Keyspace>, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.get(keyspace, key)?.is_some())
    }

    /// The keys in a range at the instant; otherwise as [`Keyspace::range`].
    pub fn range(&self, keyspace: impl AsRef<Keyspace>, range: impl KeyRange) -> Range {
        self.range_of(keyspace.as_ref(), range.into_bounds())
    }

    /// The keys that start with `prefix` at the instant; otherwise as [`Keyspace::range`].
    pub fn prefix(&self, keyspace: impl AsRef<Keyspace>, prefix: impl AsRef<[u8]>) -> Range {
        self.range_of(keyspace.as_ref(), prefix_bounds(prefix.as_ref()))
    }

    /// All keys at the instant; otherwise as [`Keyspace::range`].
    pub fn iter(&self, keyspace: impl AsRef<Keyspace>) -> Range {
        self.range(keyspace, ..)
    }

    fn range_of(&self, keyspace: &Keyspace, bounds: Bounds) -> Range {
        match self.check(keyspace) {
            Ok(()) => Range::new(self.instant.clone(), Arc::clone(keyspace.core()), bounds),
            Err(error) => Range::failed(error),
        }
    }

    /// A keyspace dropped after the snapshot was taken is still readable through it.
    fn check(&self, keyspace: &Keyspace) -> Result<()> {
        if !keyspace.belongs_to(&self.handle) {
            return Err(Error::ForeignKeyspace {
                name: keyspace.name().to_owned(),
            });
        }
        Ok(())
    }
}
