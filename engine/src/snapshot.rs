//! Snapshots: one instant of the whole database, for as long as somebody wants to look at it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::db::DbHandle;
use crate::error::{Error, Result};
use crate::instant::{Instant, Layers};
use crate::iter::{Bounds, Range};
use crate::key::{KeyRange, prefix_bounds};
use crate::keyspace::Keyspace;
use crate::value::Value;

/// One instant over all keyspaces. Taking one is O(1); it never blocks a write, a flush or a compaction, it only keeps
/// old tables on disk until it is dropped. Clones are cheap.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// db.put("layer", "ash")?;
/// let before = db.snapshot();
/// db.put("layer", "lava")?;
/// db.put("another", "soil")?;
/// assert_eq!(before.get(&db, "layer")?.as_deref(), Some(&b"ash"[..]));
/// assert_eq!(before.iter(&db).count(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    handle: Arc<DbHandle>,
    instant: Instant,
    /// Shared by clones.
    _entry: Arc<RegistryEntry>,
}

impl Snapshot {
    pub(crate) fn new(handle: Arc<DbHandle>, instant: Instant) -> Self {
        let engine = handle.engine();
        let entry = SnapshotRegistry::enter(&engine.snapshots, &instant, engine.clock().now_ns());
        Snapshot {
            handle,
            instant,
            _entry: Arc::new(entry),
        }
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

/// The snapshots that are held, for the statistics.
#[derive(Debug, Default)]
pub(crate) struct SnapshotRegistry {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    /// In the order they were taken.
    snapshots: BTreeMap<u64, Taken>,
}

#[derive(Debug)]
struct Taken {
    at_ns: u64,
    layers: Weak<Layers>,
    active_bytes: usize,
}

/// What the registry tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SnapshotFigures {
    pub(crate) count: usize,
    pub(crate) oldest_age: Option<Duration>,
    /// Of memtables that `now` does not hold any more; of the active ones, the largest.
    pub(crate) memtable_bytes: usize,
}

impl SnapshotRegistry {
    /// Notes a snapshot until the entry is dropped. O(log snapshots).
    fn enter(registry: &Arc<SnapshotRegistry>, instant: &Instant, at_ns: u64) -> RegistryEntry {
        let mut held = registry.held.lock();
        let number = held.next;
        held.next += 1;
        let taken = Taken {
            at_ns,
            layers: Arc::downgrade(&instant.layers),
            active_bytes: instant.active.cost_bytes(),
        };
        held.snapshots.insert(number, taken);
        RegistryEntry {
            registry: Arc::clone(registry),
            number,
        }
    }

    /// What is held beside `now`. Costs a step a snapshot and memtable.
    pub(crate) fn figures(&self, now: &Layers, now_ns: u64) -> SnapshotFigures {
        let held = self.held.lock();
        let in_force: BTreeSet<u64> = now.frozen.iter().map(|frozen| frozen.segment).collect();
        // Memtables by segment; snapshots share them.
        let mut pinned = BTreeMap::new();
        let mut active_bytes = 0;
        for taken in held.snapshots.values() {
            let Some(layers) = taken.layers.upgrade() else {
                continue;
            };
            let gone = layers
                .frozen
                .iter()
                .filter(|frozen| !in_force.contains(&frozen.segment));
            pinned.extend(gone.map(|frozen| (frozen.segment, frozen.root.cost_bytes())));
            if !std::ptr::eq(Arc::as_ptr(&layers), now) {
                active_bytes = active_bytes.max(taken.active_bytes);
            }
        }
        let oldest = held.snapshots.values().next();
        SnapshotFigures {
            count: held.snapshots.len(),
            oldest_age: oldest.map(|taken| Duration::from_nanos(now_ns.saturating_sub(taken.at_ns))),
            memtable_bytes: pinned.values().sum::<usize>() + active_bytes,
        }
    }
}

/// A snapshot's place in the registry.
#[derive(Debug)]
struct RegistryEntry {
    registry: Arc<SnapshotRegistry>,
    number: u64,
}

impl Drop for RegistryEntry {
    fn drop(&mut self) {
        self.registry.held.lock().snapshots.remove(&self.number);
    }
}
