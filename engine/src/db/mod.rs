//! The database handle: the public face of the engine.

mod approximate_len;
mod close;
mod engine;
mod figures;
mod handle;
mod install;
mod open;
mod pace;
mod recovery;
mod resume;
mod short_lock;
mod spare;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use engine::Engine;
pub(crate) use handle::DbHandle;
pub(crate) use open::{make_directory, sync_ancestors};
#[cfg(test)]
pub(crate) use recovery::LEFT_SEGMENTS_MAX;
pub(crate) use recovery::not_of_bits;

use std::path::Path;
use std::sync::Arc;

use tephra_sstable::UnitKind;

use crate::batch::Batch;
use crate::bit_keyspace::BitKeyspace;
use crate::error::{Error, Result};
use crate::event_log::{self, EventHistory};
use crate::iter::Range;
use crate::key::KeyRange;
use crate::keyspace::Keyspace;
use crate::keyspace_info::{ExistingKeyspace, KeyspaceInfo};
use crate::options::{KeyspaceOptions, Options};
use crate::snapshot::Snapshot;
use crate::stats::Stats;
use crate::table_facts::TableFacts;
use crate::value::Value;
use crate::verify::VerifyReport;
use crate::vfs::{FileSystem, StdFs};

/// An open database. Clones are cheap and share it; any thread may use them. The last handle that goes away (database,
/// keyspace, snapshot or batch) closes it; [`Db::close`] does so at once and reports errors.
///
/// The methods that read and write without naming a keyspace use the default one.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Durability, Options};
///
/// let db = Db::open(path, Options::default())?;
/// db.put("key", "value")?;
/// assert_eq!(db.get("key")?.as_deref(), Some(&b"value"[..]));
/// let mut batch = db.batch();
/// batch.put(&db, "a", "1").delete(&db, "key");
/// batch.commit(Durability::Sync)?;
/// for item in db.range("a".."m").rev() {
///     let (key, value) = item?;
///     assert_eq!((&key[..], &value[..]), (&b"a"[..], &b"1"[..]));
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Db {
    default: Keyspace,
}

impl Db {
    /// Opens the database in a directory, creating it unless the options say otherwise. Replays the log.
    ///
    /// # Errors
    /// No database there, or a damaged one; another handle has it open; the directory cannot be written.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Db> {
        Db::open_with(Arc::new(StdFs::new()), path, options)
    }

    /// Opens the database in a directory for reading alone: nothing is written, the log is replayed in memory. Any number of readers
    /// may have it open at once; writers are kept out meanwhile. The other options count as ever.
    ///
    /// # Errors
    /// No database there, or a damaged one; another handle has it open for writing.
    pub fn open_read_only(path: impl AsRef<Path>, options: Options) -> Result<Db> {
        Db::open(path, options.read_only(true))
    }

    /// As [`Db::open`], on a file system of the caller's choice: a simulated one in tests.
    ///
    /// # Errors
    /// As [`Db::open`].
    pub fn open_with(
        file_system: Arc<dyn FileSystem>,
        path: impl AsRef<Path>,
        options: Options,
    ) -> Result<Db> {
        let handle = DbHandle::open(file_system, path.as_ref(), options)?;
        Ok(Db {
            default: handle.default_keyspace(),
        })
    }

    fn handle(&self) -> &Arc<DbHandle> {
        self.default.handle()
    }

    /// Runs a call that may make edits, and then tells listeners what came of it.
    fn telling<T>(&self, call: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let outcome = call(self.handle().engine());
        self.handle().engine().events().deliver();
        outcome
    }

    /// The keyspace that always exists.
    pub fn default_keyspace(&self) -> &Keyspace {
        &self.default
    }

    /// Opens a keyspace, creating it if there is none of that name. Any string of up to 1,024 bytes is a name; the
    /// empty one is the default keyspace. Creating one is durable when it returns.
    ///
    /// # Errors
    /// It exists with other settings; the name is too long; the manifest cannot be written.
    pub fn keyspace(&self, name: &str, options: KeyspaceOptions) -> Result<Keyspace> {
        self.keyspace_of(UnitKind::Byte, name, &options)
    }

    /// Opens a keyspace of bit strings, creating it if there is none of that name; otherwise as [`Db::keyspace`]. Its newer values
    /// replace the older.
    ///
    /// # Errors
    /// As [`Db::keyspace`]; also if a keyspace of byte strings has the name.
    pub fn bit_keyspace(&self, name: &str, options: KeyspaceOptions) -> Result<BitKeyspace> {
        Ok(BitKeyspace::new(self.keyspace_of(
            UnitKind::Bit,
            name,
            &options,
        )?))
    }

    /// Opens keyspaces of the same settings, in the order of the names, creating those that are missing: all of them in one durable step,
    /// or none. Ten thousand cost little more than one.
    ///
    /// # Errors
    /// As [`Db::keyspace`]; nothing was created then.
    pub fn keyspaces(&self, names: &[&str], options: KeyspaceOptions) -> Result<Vec<Keyspace>> {
        self.keyspaces_of(UnitKind::Byte, names, &options)
    }

    fn keyspace_of(&self, unit: UnitKind, name: &str, options: &KeyspaceOptions) -> Result<Keyspace> {
        let mut opened = self.keyspaces_of(unit, &[name], options)?;
        Ok(opened.pop().expect("one name gives one keyspace"))
    }

    fn keyspaces_of(
        &self,
        unit: UnitKind,
        names: &[&str],
        options: &KeyspaceOptions,
    ) -> Result<Vec<Keyspace>> {
        let cores = self.telling(|engine| engine.keyspaces(names, unit, options))?;
        Ok(cores
            .into_iter()
            .map(|core| Keyspace::new(Arc::clone(self.handle()), core))
            .collect())
    }

    /// Opens a keyspace as what it is, with the settings it was created with; the empty name is the default one. `None` if there is none of
    /// that name: nothing is ever created. A law that this program does not know stays unknown; what needs it is refused one call at a
    /// time ([`Error::LawUnknown`]).
    ///
    /// # Errors
    /// The database is closed.
    pub fn existing_keyspace(&self, name: &str) -> Result<Option<ExistingKeyspace>> {
        let core = self.handle().engine().existing_keyspace(name)?;
        Ok(core.map(|core| {
            let is_of_bits = core.settings.unit == UnitKind::Bit;
            let keyspace = Keyspace::new(Arc::clone(self.handle()), core);
            if is_of_bits {
                ExistingKeyspace::Bits(BitKeyspace::new(keyspace))
            } else {
                ExistingKeyspace::Bytes(keyspace)
            }
        }))
    }

    /// The settings of all keyspaces, the default one first.
    pub fn keyspace_infos(&self) -> Vec<KeyspaceInfo> {
        self.handle().engine().keyspace_infos()
    }

    /// Names of all keyspaces, the default one (the empty string) first.
    pub fn keyspace_names(&self) -> Vec<String> {
        self.handle().engine().keyspace_names()
    }

    /// Drops a keyspace with everything in it, durably, and with it makes durable what was committed before: a power cut does not take
    /// a copy of its records and leave the drop. Its name is free again, its handles are dead; snapshots and iterators
    /// taken before still read it.
    ///
    /// # Errors
    /// It was dropped before, belongs to another database, or is the default one; the manifest cannot be written.
    pub fn drop_keyspace(&self, keyspace: &Keyspace) -> Result<()> {
        if !keyspace.belongs_to(self.handle()) {
            return Err(Error::ForeignKeyspace {
                name: keyspace.name().to_owned(),
            });
        }
        self.telling(|engine| engine.drop_keyspace(keyspace.core()))
    }

    /// Drops a keyspace of bit strings; as [`Db::drop_keyspace`].
    ///
    /// # Errors
    /// As [`Db::drop_keyspace`].
    pub fn drop_bit_keyspace(&self, keyspace: &BitKeyspace) -> Result<()> {
        self.drop_keyspace(keyspace.inner())
    }

    /// Sets the value of a key in the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.default.put(key, value)
    }

    /// Removes a key from the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::delete`].
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.default.delete(key)
    }

    /// Removes all keys in a range of the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::delete_range`].
    pub fn delete_range(&self, range: impl KeyRange) -> Result<()> {
        self.default.delete_range(range)
    }

    /// Removes everything in the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::clear`].
    pub fn clear(&self) -> Result<()> {
        self.default.clear()
    }

    /// Merges an operand in the default keyspace, which has no law.
    ///
    /// # Errors
    /// Always [`Error::NoLaw`]: a keyspace that composes is created with [`KeyspaceOptions::compose`].
    pub fn merge(&self, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
        self.default.merge(key, operand)
    }

    /// The value of a key in the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::get`].
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Value>> {
        self.default.get(key)
    }

    /// Whether a key is alive in the default keyspace.
    ///
    /// # Errors
    /// As [`Keyspace::get`].
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.default.contains(key)
    }

    /// About how many keys the default keyspace holds; see [`Keyspace::approximate_len`].
    ///
    /// # Errors
    /// As [`Keyspace::approximate_len`].
    pub fn approximate_len(&self) -> Result<u64> {
        self.default.approximate_len()
    }

    /// A range of the default keyspace; see [`Keyspace::range`].
    pub fn range(&self, range: impl KeyRange) -> Range {
        self.default.range(range)
    }

    /// The keys of the default keyspace that start with `prefix`; see [`Keyspace::prefix`].
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Range {
        self.default.prefix(prefix)
    }

    /// All keys of the default keyspace; see [`Keyspace::iter`].
    pub fn iter(&self) -> Range {
        self.default.iter()
    }

    /// Starts an empty batch.
    pub fn batch(&self) -> Batch {
        Batch::new(Arc::clone(self.handle()))
    }

    /// This instant of all keyspaces. O(1).
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(self.handle()), self.handle().engine().instant())
    }

    /// Writes everything committed before the call into tables, and returns when that is durable.
    ///
    /// # Errors
    /// A table or the manifest cannot be written. Nothing is lost: the log still holds it.
    pub fn flush(&self) -> Result<()> {
        self.telling(Engine::flush_all)
    }

    /// Flushes, then merges all tables of every keyspace into one sorted run without dead records. Returns when the
    /// merged files are removed; those that a reader still holds open go when it lets go of them (see
    /// [`Stats::pinned_file_count`]).
    ///
    /// # Errors
    /// As [`Db::flush`]; a damaged table. The tables that could not be merged stay as they were.
    pub fn compact(&self) -> Result<()> {
        self.telling(Engine::compact_all)
    }

    /// Runs one pending flush or compaction on this thread. Returns whether there was one. Meant for
    /// [`Background::Manual`](crate::Background::Manual), allowed always.
    ///
    /// # Errors
    /// As [`Db::flush`] and [`Db::compact`].
    pub fn run_background_step(&self) -> Result<bool> {
        self.handle().engine().run_background_step()
    }

    /// Makes this instant of all keyspaces a database of its own in `dir`, which must not exist or be empty. What was committed
    /// before the call is in it; commits meanwhile are in it up to one of them. Durable when it returns. Tables get a second name (hard link),
    /// so that it costs a flush and hardly any room; on another file system they are copied.
    ///
    /// # Errors
    /// The target is not empty; a failed flush, link or write. What was made of the copy is removed.
    pub fn checkpoint(&self, dir: impl AsRef<Path>) -> Result<()> {
        self.telling(|engine| engine.checkpoint(dir.as_ref()))
    }

    /// Tries at once what failed for want of room and is tried again by itself anyway: a manifest whose last write failed is replaced,
    /// pending flushes are done, compactions are looked for. To be called when there is room again and waiting for the
    /// next try (some seconds) is too long; harmless at any time.
    ///
    /// # Errors
    /// What still fails, with file and operation. [`Error::WriterStopped`] after a failed sync: only opening the database again helps
    /// then.
    pub fn resume(&self) -> Result<()> {
        self.telling(Engine::resume)
    }

    /// Reads and checks everything: each table against its checksums, order, directory, separators and filter, live and
    /// dead counts, which table answers a key, the manifest against the directory. Costs a full read.
    ///
    /// # Errors
    /// Only what keeps the check from running at all; whatever it finds wrong is in the report.
    pub fn verify(&self) -> Result<VerifyReport> {
        self.handle().engine().verify()
    }

    /// Numbers about the database now and since it was opened.
    pub fn stats(&self) -> Stats {
        self.handle().engine().stats()
    }

    /// The tables of this instant, keyspace by keyspace, level by level. Reads nothing but what is in memory; O(tables).
    pub fn tables(&self) -> Vec<TableFacts> {
        self.handle().engine().table_facts()
    }

    /// What the event log still holds of what the database did: flushes, compactions, waits of writers, failures. Reads two files of at most
    /// [`Options::event_log_bytes`] each. Lines that cannot be read are counted, and files that cannot be are named, not refused.
    ///
    /// # Errors
    /// The database is closed.
    pub fn event_history(&self) -> Result<EventHistory> {
        let engine = self.handle().engine();
        engine.check_open()?;
        engine.events().log().write();
        Ok(event_log::read(&engine.directory))
    }

    /// Stops background work, seals and syncs the log and releases the lock. Other handles get
    /// [`Error::Closed`](crate::Error::Closed) from then on; iterators, snapshots and values stay readable.
    ///
    /// # Errors
    /// The log cannot be synced or sealed, or the writer had stopped: the lock is released all the same, and what was durable
    /// before still is.
    pub fn close(self) -> Result<()> {
        self.handle().close()
    }
}

/// The default keyspace, so that a database can stand where a keyspace is asked for.
impl AsRef<Keyspace> for Db {
    fn as_ref(&self) -> &Keyspace {
        &self.default
    }
}
