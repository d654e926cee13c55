//! Keyspaces: independent ordered maps that share the log, the flush and the instants of one database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::batch::record::RecordBuilder;
use crate::cancel::Cancel;
use crate::db::DbHandle;
use crate::error::{Error, Result};
use crate::ingest::Ingest;
use crate::iter::Range;
use crate::key::{KeyRange, prefix_bounds};
use crate::keyspace_info::KeyspaceInfo;
use crate::law::{Composed, LawFailure, Laws, NamedLaw};
use crate::limits;
use crate::memtable::Interval;
use crate::options::Durability;
use crate::settings::KeyspaceSettings;
use crate::size_estimate::SizeEstimate;
use crate::value::Value;

/// Number of the keyspace that always exists. Its name is the empty string.
pub(crate) const DEFAULT_KEYSPACE: u32 = 0;

/// Bytes of a key that an error shows.
const KEY_SHOWN_BYTES_MAX: usize = 64;

/// All keyspaces by number. A clone is O(1): who works on a few of many takes one along.
pub(crate) type Keyspaces = imbl::OrdMap<u32, Arc<KeyspaceCore>>;

/// What all handles of one keyspace share.
#[derive(Debug)]
pub(crate) struct KeyspaceCore {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) settings: KeyspaceSettings,
    pub(crate) dropped: AtomicBool,
    /// Its drop failed on the way to the manifest, so a restart might find it dropped: nothing more may be written to it until that is
    /// settled.
    pub(crate) drop_in_doubt: AtomicBool,
    /// The law, once the program has given it. Never there in a plain keyspace.
    law: OnceLock<NamedLaw>,
}

impl KeyspaceCore {
    pub(crate) fn new(number: u32, name: &str, settings: KeyspaceSettings, laws: &Laws) -> Arc<KeyspaceCore> {
        let known = settings.law.as_deref().and_then(|name| laws.find(name));
        Arc::new(KeyspaceCore {
            law: known.cloned().map_or_else(OnceLock::new, OnceLock::from),
            number,
            name: name.to_owned(),
            settings,
            dropped: AtomicBool::new(false),
            drop_in_doubt: AtomicBool::new(false),
        })
    }

    /// Whether records of one key compose, and the newer does not simply replace the older.
    pub(crate) fn is_composing(&self) -> bool {
        self.settings.law.is_some()
    }

    /// Takes the law that the manifest names; the first one stays. Returns whether it was missing.
    pub(crate) fn learn(&self, law: NamedLaw) -> bool {
        debug_assert_eq!(Some(&**law.name()), self.settings.law.as_deref());
        self.law.set(law).is_ok()
    }

    /// The law.
    ///
    /// # Errors
    /// The keyspace is plain, or the program has not given its law.
    pub(crate) fn law(&self) -> Result<&NamedLaw> {
        match (&self.settings.law, self.law.get()) {
            (Some(_), Some(law)) => Ok(law),
            (Some(law), None) => Err(Error::LawUnknown {
                keyspace: self.name.clone(),
                law: law.clone(),
            }),
            (None, _) => Err(Error::NoLaw {
                keyspace: self.name.clone(),
            }),
        }
    }

    /// Composes two values of a key, `older` first.
    ///
    /// # Errors
    /// The law is not known, failed, panicked, or made a value that the keyspace cannot hold.
    pub(crate) fn compose(&self, key: &[u8], older: &[u8], newer: &[u8]) -> Result<Composed> {
        let law = self.law()?;
        let composed = law.compose(key, older, newer).and_then(|composed| {
            if let Composed::Owned(value) = &composed {
                self.check_composed(value).map_err(LawFailure::new)?;
            }
            Ok(composed)
        });
        composed.map_err(|failure| Error::LawFailed {
            keyspace: self.name.clone(),
            law: law.name().to_string(),
            key: key[..key.len().min(KEY_SHOWN_BYTES_MAX)]
                .escape_ascii()
                .to_string(),
            source: Arc::new(failure),
        })
    }

    /// Refuses a value that the keyspace cannot hold, or that its law could not compose. A law that is not known refuses nothing.
    pub(crate) fn check_value(&self, value: &[u8]) -> Result<()> {
        self.settings.check_value(&self.name, value)?;
        match self.law.get().map(|law| (law, law.value_width_bytes())) {
            Some((law, Some(expected_bytes))) if value.len() != expected_bytes => Err(Error::LawValueWidth {
                keyspace: self.name.clone(),
                law: law.name().to_string(),
                expected_bytes,
                found_bytes: value.len(),
            }),
            _ => Ok(()),
        }
    }

    fn check_composed(&self, value: &[u8]) -> std::result::Result<(), String> {
        let len_bytes = value.len();
        match self.settings.value_width_units {
            Some(width) if len_bytes as u64 != width => Err(format!(
                "it made a value of {len_bytes} bytes, the keyspace holds values of {width}"
            )),
            _ if len_bytes > limits::VALUE_LEN_BYTES_MAX => Err(format!(
                "it made a value of {len_bytes} bytes, the limit is {}",
                limits::VALUE_LEN_BYTES_MAX
            )),
            _ => Ok(()),
        }
    }
}

/// A handle to one keyspace. Clones are cheap and may be used from any thread; the database stays open while one
/// lives.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, KeyspaceOptions, Options};
///
/// let db = Db::open(path, Options::default())?;
/// let depths = db.keyspace("depths", KeyspaceOptions::default())?;
/// depths.put("crust", "35 km")?;
/// depths.put("mantle", "2890 km")?;
/// assert_eq!(depths.get("crust")?.as_deref(), Some(&b"35 km"[..]));
/// assert_eq!(depths.prefix("m").count(), 1);
/// assert!(!db.contains("crust")?, "another keyspace");
/// depths.delete_range("c".."d")?;
/// assert_eq!(depths.approximate_len()?, 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Keyspace {
    handle: Arc<DbHandle>,
    core: Arc<KeyspaceCore>,
}

impl Keyspace {
    pub(crate) fn new(handle: Arc<DbHandle>, core: Arc<KeyspaceCore>) -> Self {
        Keyspace { handle, core }
    }

    /// The name given at creation.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// The settings it was created with.
    pub fn info(&self) -> KeyspaceInfo {
        KeyspaceInfo::of(&self.core)
    }

    /// The number under which log, memtable and manifest know the keyspace.
    pub(crate) fn number(&self) -> u32 {
        self.core.number
    }

    pub(crate) fn core(&self) -> &Arc<KeyspaceCore> {
        &self.core
    }

    pub(crate) fn handle(&self) -> &Arc<DbHandle> {
        &self.handle
    }

    pub(crate) fn belongs_to(&self, handle: &Arc<DbHandle>) -> bool {
        Arc::ptr_eq(&self.handle, handle)
    }

    /// Refuses a dropped keyspace.
    pub(crate) fn check_alive(&self) -> Result<()> {
        if self.core.dropped.load(Ordering::Acquire) {
            return Err(Error::KeyspaceDropped {
                name: self.core.name.clone(),
            });
        }
        Ok(())
    }

    /// Refuses a dropped keyspace, and one of which nobody knows whether a restart would find it dropped.
    pub(crate) fn check_takes_writes(&self) -> Result<()> {
        self.check_alive()?;
        if self.core.drop_in_doubt.load(Ordering::Acquire) {
            return Err(Error::DropInDoubt {
                name: self.core.name.clone(),
            });
        }
        Ok(())
    }

    /// Sets the value of a key, with the database's default durability.
    ///
    /// # Errors
    /// A key or value over its limit, a value of another width than the keyspace's or its law's: nothing was written. A failed log: see
    /// [`Error::usability`].
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.put_with(key, value, self.handle.engine().options().durability)
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn put_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        durability: Durability,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        limits::check(key, value, 0)?;
        self.core.check_value(value)?;
        let mut record = RecordBuilder::new();
        record.put(self.number(), key, value);
        self.handle
            .engine()
            .commit(&record, std::slice::from_ref(self), durability)
    }

    /// Removes a key, with the database's default durability. Removing an absent key is no error.
    ///
    /// # Errors
    /// A key over its limit: nothing was written. A failed log: see [`Error::usability`].
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.delete_with(key, self.handle.engine().options().durability)
    }

    /// Removes a key.
    ///
    /// # Errors
    /// As [`Keyspace::delete`].
    pub fn delete_with(&self, key: impl AsRef<[u8]>, durability: Durability) -> Result<()> {
        let key = key.as_ref();
        limits::check(key, &[], 0)?;
        let mut record = RecordBuilder::new();
        record.delete(self.number(), key);
        self.handle
            .engine()
            .commit(&record, std::slice::from_ref(self), durability)
    }

    /// Removes all keys in a range, with the database's default durability. One short record in the log, whatever the range
    /// holds; a few searches a table at the next flush, and tables that lie in the range go as a whole. A range without keys, and
    /// an inverted one, is no error.
    ///
    /// # Errors
    /// A bound longer than a key may be: nothing was written. A failed log: see [`Error::usability`].
    pub fn delete_range(&self, range: impl KeyRange) -> Result<()> {
        self.delete_range_with(range, self.handle.engine().options().durability)
    }

    /// Removes all keys in a range.
    ///
    /// # Errors
    /// As [`Keyspace::delete_range`].
    pub fn delete_range_with(&self, range: impl KeyRange, durability: Durability) -> Result<()> {
        let interval = Interval::of_bounds(self.number(), &range.into_bounds());
        let mut record = RecordBuilder::new();
        if !interval.is_empty() {
            limits::check_range(&interval, 0)?;
            record.delete_range(&interval);
        }
        self.handle
            .engine()
            .commit(&record, std::slice::from_ref(self), durability)
    }

    /// Removes everything in the keyspace: the range without bounds.
    ///
    /// # Errors
    /// As [`Keyspace::delete_range`].
    pub fn clear(&self) -> Result<()> {
        self.delete_range(..)
    }

    /// Merges an operand onto a key, with the database's default durability. The key is not read: whoever needs the value composes,
    /// oldest first, what was put and merged, by the law the keyspace was created with. On an absent or deleted key the operand itself becomes the
    /// value; the law never sees an empty string in place of nothing.
    ///
    /// # Errors
    /// The keyspace has no law ([`Error::NoLaw`]), or one that this program has not given ([`Error::LawUnknown`]); the law has failed on
    /// this key before, and as many operands wait there as may ([`Error::LawFailed`]); otherwise as [`Keyspace::put`]. Nothing was written.
    pub fn merge(&self, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
        self.merge_with(key, operand, self.handle.engine().options().durability)
    }

    /// Merges an operand onto a key.
    ///
    /// # Errors
    /// As [`Keyspace::merge`].
    pub fn merge_with(
        &self,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
        durability: Durability,
    ) -> Result<()> {
        let (key, operand) = (key.as_ref(), operand.as_ref());
        limits::check(key, operand, 0)?;
        self.core.check_value(operand)?;
        self.core.law()?;
        let mut record = RecordBuilder::new();
        record.merge(self.number(), key, operand);
        self.handle
            .engine()
            .commit(&record, std::slice::from_ref(self), durability)
    }

    /// The value of a key now. Copies nothing, unless a law composes several records; see [`Value`] for what the handle keeps alive.
    ///
    /// # Errors
    /// A damaged or unreadable table. Where several records are to be composed: the law is not known, or failed.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Value>> {
        self.check_alive()?;
        self.handle.engine().get(&self.core, key.as_ref())
    }

    /// Whether a key is alive now.
    ///
    /// # Errors
    /// As [`Keyspace::get`].
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.get(key)?.is_some())
    }

    /// About how many keys there are, from counts that are kept anyway: no key is read. Costs a step a table, and one for each
    /// delete that still waits in memory.
    ///
    /// Exact where every key was written once since it was last deleted and only keys that are there were deleted, and after
    /// [`Db::compact`](crate::Db::compact) with nothing written since. Otherwise it is off by what only a look at keys
    /// could tell: a key that was overwritten counts once for each memtable and table that holds it, until they are merged; a
    /// delete of a key that is not there may take one away for the few milliseconds until it is looked up.
    ///
    /// # Errors
    /// A damaged or unreadable table.
    pub fn approximate_len(&self) -> Result<u64> {
        self.check_alive()?;
        self.handle.engine().approximate_len(self.number())
    }

    /// The keys in a range with their values, in order, from either end. Sees the instant of this call. An inverted
    /// range is empty. Errors, also that the keyspace was dropped, come out of the iterator, once, as its last item; only that a law gave no
    /// value comes out in place of its key's item, and the iteration goes on.
    pub fn range(&self, range: impl KeyRange) -> Range {
        self.range_of(range.into_bounds())
    }

    /// The keys that start with `prefix`; otherwise as [`Keyspace::range`].
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Range {
        self.range_of(prefix_bounds(prefix.as_ref()))
    }

    /// All keys; otherwise as [`Keyspace::range`].
    pub fn iter(&self) -> Range {
        self.range(..)
    }

    /// About how much a range takes on disk, and in how many tables; what is in memtables does not count. Too large by less than two
    /// blocks a table. Asks the tables' directories alone: no record is read.
    ///
    /// # Errors
    /// A table whose directory is damaged; the keyspace was dropped.
    pub fn approximate_size(&self, range: impl KeyRange) -> Result<SizeEstimate> {
        self.check_alive()?;
        self.handle.engine().check_open()?;
        let bounds = range.into_bounds();
        let layers = self.handle.engine().layers();
        match layers.version.keyspace(self.number()) {
            Some(view) if !crate::key::bounds_are_empty(&bounds.0, &bounds.1) => {
                SizeEstimate::of(view, &bounds)
            }
            _ => Ok(SizeEstimate::default()),
        }
    }

    /// Starts taking sorted records for this keyspace, past log and memtable: the fast way in for many. They become visible
    /// together, newer than everything before, when [`Ingest::finish`] returns. In a composing keyspace each record is a put: it ends its
    /// key's history; the keys are kept in memory until the end there.
    ///
    /// # Errors
    /// The database takes no writes, or has as many tables as it may; the keyspace was dropped.
    pub fn ingest(&self) -> Result<Ingest> {
        Ingest::begin(self.clone())
    }

    /// Flushes, then merges the tables that touch a range of keys into one sorted run without dead records: down to the lowest level
    /// that holds some of them. Returns when the merged files are removed. Those that a snapshot, an iterator or a value
    /// still holds go when it lets go of them: a tenth of a second later the call returns without them (see
    /// [`Stats::pinned_file_count`](crate::Stats::pinned_file_count)). What others write meanwhile is left alone.
    ///
    /// # Errors
    /// As [`Db::flush`](crate::Db::flush); a damaged table, a failing law. The steps that were finished stay; the tables that could
    /// not be merged are as they were.
    pub fn compact(&self, range: impl KeyRange) -> Result<()> {
        self.compact_range(range, &Cancel::new())
    }

    /// As [`Keyspace::compact`], and ends early when the flag is raised. It works in steps of a few tables, each an edit of its own: what
    /// was finished by then stays.
    ///
    /// # Errors
    /// As [`Keyspace::compact`]; [`Error::CompactionCancelled`].
    pub fn compact_range(&self, range: impl KeyRange, cancel: &Cancel) -> Result<()> {
        self.check_alive()?;
        let bounds = range.into_bounds();
        let engine = self.handle.engine();
        let outcome = engine.compact_range(&self.core, &bounds, cancel);
        engine.events().deliver();
        outcome
    }

    fn range_of(&self, bounds: crate::iter::Bounds) -> Range {
        match self
            .check_alive()
            .and_then(|()| self.handle.engine().check_open())
        {
            Ok(()) => Range::new(self.handle.engine().instant(), Arc::clone(&self.core), bounds),
            Err(error) => Range::failed(error),
        }
    }
}

impl IntoIterator for &Keyspace {
    type Item = Result<(crate::Key, Value)>;
    type IntoIter = Range;

    fn into_iter(self) -> Range {
        self.iter()
    }
}

impl AsRef<Keyspace> for Keyspace {
    fn as_ref(&self) -> &Keyspace {
        self
    }
}
