//! What can go wrong, and what is left of the database afterwards.
//!
//! One enum for the whole engine. Every variant says what was being done to which file; where bytes were wrong it
//! says at which offset, what was expected and what was found. [`Error::usability`] tells the caller whether going
//! on makes sense:
//!
//! ```text
//! Usable      this call failed, nothing else changed: try again, or do something else
//! ReadsOnly   the writer has stopped for good (a sync of log or manifest failed): reads go on, reopen to write
//! Unusable    the database could not be opened, is damaged beyond one table, or is closed
//! ```
//!
//! Errors are cheap to clone (sources are shared), because the first failure of the writer is kept and handed to
//! every later caller as the original cause.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tephra_compaction::{CompactionError, LawFailure};
use tephra_sstable::{TableError, TableWriteError};
use tephra_wal::LogError;

use crate::directory::Directory;
use crate::file_name::FileName;
use crate::vfs::{FsError, LockError, Operation};

/// The result of an engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// How much of the database works after an error.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options, Usability};
///
/// Db::open(path, Options::default())?.put("a", "1")?;
/// let db = Db::open_read_only(path, Options::default())?;
/// let refused = db.put("b", "2").expect_err("read only");
/// assert_eq!(refused.usability(), Usability::ReadsOnly);
/// assert_eq!(db.get("a")?.as_deref(), Some(&b"1"[..]));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usability {
    /// Only this call failed.
    Usable,
    /// Reads work; writes are refused until the database is opened again.
    ReadsOnly,
    /// Nothing works through this handle.
    Unusable,
}

/// An error of the engine.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation on a file.
    #[error("{source}")]
    Io {
        /// What was being done to which file, and the system's own error.
        source: Arc<FsError>,
    },

    /// The path holds no database, and creating one was not asked for (or not possible).
    #[error("no database at {}: {reason}", path.display())]
    NotADatabase {
        /// The directory asked for.
        path: PathBuf,
        /// What is missing or in the way.
        reason: &'static str,
    },

    /// A database exists where a new one was asked for.
    #[error("a database already exists at {}", path.display())]
    AlreadyExists {
        /// The directory asked for.
        path: PathBuf,
    },

    /// Another handle, in this process or another, has the database open.
    #[error("{source}")]
    Locked {
        /// The lock file and, where it is known, who holds it.
        source: Arc<LockError>,
    },

    /// The database was opened for reading only.
    #[error("the database at {} is open for reading only", path.display())]
    ReadOnly {
        /// The directory of the database.
        path: PathBuf,
    },

    /// A file of the database holds bytes it must not hold.
    #[error("{} is damaged at offset {offset}: expected {expected}, found {found}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset in bytes of the first wrong byte, as far as it is known.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },

    /// The manifest names a file that is missing or is not what the manifest says.
    #[error("{}: the manifest expects {expected}, found {found}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What the manifest says.
        expected: String,
        /// What the directory or the file says.
        found: String,
    },

    /// The log cannot be written.
    #[error("{}: {source}", path.display())]
    Log {
        /// The segment's file.
        path: PathBuf,
        /// The log layer's error.
        source: LogError,
    },

    /// A table could not be opened or read.
    #[error("table {}: {source}", path.display())]
    Table {
        /// The table's file.
        path: PathBuf,
        /// What the table layer found, with offset.
        source: Arc<TableError>,
    },

    /// A table could not be written.
    #[error("cannot write table {}: {source}", path.display())]
    TableWrite {
        /// The table's file.
        path: PathBuf,
        /// The table layer's error.
        source: Arc<TableWriteError>,
    },

    /// A background thread could not be started.
    #[error("cannot start a background thread: {source}")]
    Thread {
        /// The system's own error.
        source: Arc<io::Error>,
    },

    /// A compaction gave up. Its inputs are untouched.
    #[error(
        "compaction of {} into level {level} failed, the tables are unchanged: {source}",
        shown(keyspace)
    )]
    Compaction {
        /// The keyspace's name.
        keyspace: String,
        /// The level of the outputs.
        level: u32,
        /// What went wrong.
        source: Arc<CompactionError>,
    },

    /// A compaction was ended by its caller's [`Cancel`](crate::Cancel). The steps it had finished stay, the rest is as it was.
    #[error(
        "compaction of {} was cancelled; the tables it had not finished are unchanged",
        shown(keyspace)
    )]
    CompactionCancelled {
        /// The keyspace's name.
        keyspace: String,
    },

    /// A key is longer than [`limits::KEY_LEN_BYTES_MAX`](crate::limits).
    #[error(
        "a key of {len_bytes} bytes is longer than the limit of {limit_bytes} bytes; nothing was written"
    )]
    KeyTooLong {
        /// Length of the key in bytes.
        len_bytes: usize,
        /// The limit in bytes.
        limit_bytes: usize,
    },

    /// A value is longer than [`limits::VALUE_LEN_BYTES_MAX`](crate::limits).
    #[error(
        "a value of {len_bytes} bytes is longer than the limit of {limit_bytes} bytes; nothing was written"
    )]
    ValueTooLong {
        /// Length of the value in bytes.
        len_bytes: usize,
        /// The limit in bytes.
        limit_bytes: usize,
    },

    /// A value has another width than the keyspace fixes.
    #[error(
        "{} holds values of {expected_units} {unit}, not of {found_units}; nothing was written",
        shown(keyspace)
    )]
    ValueWidth {
        /// The keyspace's name.
        keyspace: String,
        /// The width of its values.
        expected_units: u64,
        /// Length of the value.
        found_units: u64,
        /// What both count: bytes or bits.
        unit: &'static str,
    },

    /// A value has another width than the keyspace's law composes ([`Compose::value_width_bytes`](crate::Compose::value_width_bytes)).
    #[error(
        "{}: law {law:?} composes values of {expected_bytes} bytes, this one has {found_bytes}; nothing was written",
        shown(keyspace)
    )]
    LawValueWidth {
        /// The keyspace's name.
        keyspace: String,
        /// The law's name.
        law: String,
        /// The width the law composes, in bytes.
        expected_bytes: usize,
        /// Length of the value in bytes.
        found_bytes: usize,
    },

    /// A batch is larger than [`limits::BATCH_LEN_BYTES_MAX`](crate::limits).
    #[error(
        "a batch of {len_bytes} bytes is larger than the limit of {limit_bytes} bytes; nothing was written"
    )]
    BatchTooLong {
        /// Encoded length of the batch in bytes.
        len_bytes: usize,
        /// The limit in bytes.
        limit_bytes: usize,
    },

    /// A keyspace name is longer than [`limits::KEYSPACE_NAME_LEN_BYTES_MAX`](crate::limits).
    #[error("a keyspace name of {len_bytes} bytes is longer than the limit of {limit_bytes} bytes")]
    KeyspaceNameTooLong {
        /// Length of the name in bytes.
        len_bytes: usize,
        /// The limit in bytes.
        limit_bytes: usize,
    },

    /// A keyspace exists with other settings than those asked for.
    #[error(
        "{} was created with {stored}, and is asked for with {asked}; settings are fixed at creation",
        shown(name)
    )]
    KeyspaceMismatch {
        /// The keyspace's name.
        name: String,
        /// The settings in the manifest that differ.
        stored: String,
        /// The same settings as this call has them.
        asked: String,
    },

    /// More keyspaces than a database can have ([`limits`](crate::limits)).
    #[error(
        "a database has at most {limit_count} keyspaces {span}, this would be {asked_count}; nothing was created"
    )]
    TooManyKeyspaces {
        /// As many there would be.
        asked_count: u64,
        /// The limit.
        limit_count: u64,
        /// What it counts: keyspaces at one time, or ever.
        span: &'static str,
    },

    /// As many tables are open as may be ([`Options::tables_max`](crate::Options::tables_max)). Deletes still work, and so does writing
    /// once compactions have merged tables or keyspaces were dropped.
    #[error(
        "the database has {count} tables, and takes no more puts and merges from {limit_count} on; nothing was written"
    )]
    TooManyTables {
        /// Tables that are open.
        count: usize,
        /// The limit.
        limit_count: usize,
    },

    /// A merge into a keyspace that has no composition law.
    #[error(
        "{} has no composition law, so nothing can be merged into it; nothing was written",
        shown(keyspace)
    )]
    NoLaw {
        /// The keyspace's name.
        keyspace: String,
    },

    /// A value, or a place in a table, needs a composition law that this program has not given.
    #[error(
        "{} composes with law {law:?}, which this program has not given (Options::law, KeyspaceOptions::compose)",
        shown(keyspace)
    )]
    LawUnknown {
        /// The keyspace's name.
        keyspace: String,
        /// The law's name in the manifest.
        law: String,
    },

    /// A composition law failed or panicked. The records it was asked about are as they were; a put or a delete of the key takes their place.
    #[error(
        "{}: law {law:?} gave no value for key \"{key}\": {source}; to get out, put or delete the key",
        shown(keyspace)
    )]
    LawFailed {
        /// The keyspace's name.
        keyspace: String,
        /// The law's name.
        law: String,
        /// The key, escaped; of a long one the beginning.
        key: String,
        /// What the law said.
        source: Arc<LawFailure>,
    },

    /// A composition law failed or panicked in a compaction, which left its inputs as they were. A walk over the keyspace names the keys
    /// ([`Error::LawFailed`]). Other keyspaces are compacted as ever; this one
    /// is tried again when its tables have changed.
    #[error(
        "{}: law {law:?} stops the compaction, the tables are unchanged: {source}; to get out, put or delete the keys that a scan cannot read",
        shown(keyspace)
    )]
    LawStopsCompaction {
        /// The keyspace's name.
        keyspace: String,
        /// The law's name.
        law: String,
        /// What went wrong.
        source: Arc<CompactionError>,
    },

    /// As many freshly flushed tables wait for a compaction that the keyspace's law holds up as may. Deletes still work, and so do other
    /// keyspaces.
    #[error(
        "{} takes no more puts and merges, since its tables cannot be compacted: {cause}",
        shown(keyspace)
    )]
    LawHoldsUp {
        /// The keyspace's name.
        keyspace: String,
        /// Why its tables are not compacted.
        cause: Arc<Error>,
    },

    /// The keyspace was dropped; its handles are dead.
    #[error("{} was dropped", shown(name))]
    KeyspaceDropped {
        /// The keyspace's name.
        name: String,
    },

    /// A keyspace handle of one database was used with another.
    #[error("{} belongs to another database", shown(name))]
    ForeignKeyspace {
        /// The keyspace's name.
        name: String,
    },

    /// An option has a value the engine cannot work with.
    #[error("option {option}: {reason}")]
    InvalidOption {
        /// The option's name.
        option: &'static str,
        /// Why it does not work.
        reason: String,
    },

    /// The writer stopped after a failed sync of the log or the manifest. Reads go on.
    #[error("writes are refused until the database is reopened, after an earlier failure: {cause}")]
    WriterStopped {
        /// The failure that stopped the writer.
        cause: Arc<Error>,
    },

    /// Flush or compaction falls behind because it keeps failing; writing works again by itself once it succeeds.
    #[error("writes wait for background work that keeps failing: {cause}")]
    BackgroundFailing {
        /// The last failure.
        cause: Arc<Error>,
    },

    /// A flush has to mark what deletes killed, and cannot read the part of a table that may hold their keys. To go on without would bring
    /// deleted keys back. The log keeps everything; writes are refused once [`Options::frozen_memtables_max`](crate::Options::frozen_memtables_max)
    /// memtables wait.
    #[error(
        "deletes cannot be flushed, for what they delete may lie where a table cannot be read; the log keeps them: {cause}"
    )]
    DeletesUnresolved {
        /// What of the table cannot be read.
        cause: Arc<Error>,
    },

    /// A checkpoint cannot be made there. Nothing was written.
    #[error("cannot make a checkpoint at {}: {reason}", path.display())]
    CheckpointTarget {
        /// The directory asked for.
        path: PathBuf,
        /// What is in the way.
        reason: &'static str,
    },

    /// The keys of an ingest must rise strictly. The record was not taken.
    #[error(
        "ingest: key \"{key}\" {} \"{previous}\"",
        if *is_duplicate { "comes twice, after" } else { "comes after the greater" }
    )]
    IngestOrder {
        /// The key, escaped.
        key: String,
        /// The key before it, escaped.
        previous: String,
        /// Whether they are equal.
        is_duplicate: bool,
    },

    /// Dropping the keyspace failed half way. Reads of it go on; writes do once it is settled that it was not dropped: with the next
    /// flush or [`Db::resume`](crate::Db::resume).
    #[error(
        "{} takes no writes: an attempt to drop it failed and is not undone yet",
        shown(name)
    )]
    DropInDoubt {
        /// The keyspace's name.
        name: String,
    },

    /// A repaired database cannot be made there. Nothing was written.
    #[error("cannot repair into {}: {reason}", path.display())]
    RepairTarget {
        /// The directory asked for.
        path: PathBuf,
        /// What is in the way.
        reason: &'static str,
    },

    /// The database was closed.
    #[error("the database is closed")]
    Closed,
}

/// A keyspace in a message. The default one has no name to show.
fn shown(name: &str) -> String {
    if name.is_empty() {
        "the default keyspace".to_owned()
    } else {
        format!("keyspace {name:?}")
    }
}

impl Error {
    /// Whether the system may have forgotten bytes that it was given: after a sync that failed, of a file or of names, a later one
    /// that succeeds proves nothing. Not so where there was merely no room.
    pub(crate) fn is_failed_sync(&self) -> bool {
        match self {
            Error::Io { source } => {
                matches!(source.operation, Operation::Sync | Operation::SyncDir) && !source.is_storage_full()
            }
            _ => false,
        }
    }

    /// Whether there was no room left on the disk, or not by the quota: the same call may succeed later.
    pub fn is_storage_full(&self) -> bool {
        let is_full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let in_table = |error: &TableWriteError| match error {
            TableWriteError::Io(cause) => is_full(cause.kind()),
            _ => false,
        };
        match self {
            Error::Io { source } => source.is_storage_full(),
            Error::Log { source, .. } => source.cause().is_some_and(|cause| is_full(cause.kind())),
            Error::TableWrite { source, .. } => in_table(source),
            Error::Compaction { source, .. } => match &**source {
                CompactionError::Write { error, .. } => in_table(error),
                CompactionError::Sink(cause) => is_full(cause.kind()),
                _ => false,
            },
            Error::WriterStopped { cause } | Error::BackgroundFailing { cause } => cause.is_storage_full(),
            _ => false,
        }
    }

    /// Whether bytes on the disk are wrong or missing, so that trying again is of no use: [`repair`](crate::repair) makes a new database of
    /// what can be read.
    ///
    /// ```
    /// # fn main() -> Result<(), tephra_engine::Error> {
    /// # let folder = tempfile::tempdir().expect("a temporary directory");
    /// # let path = folder.path();
    /// use tephra_engine::{Db, Options};
    ///
    /// Db::open(path, Options::default())?.close()?;
    /// # #[expect(clippy::disallowed_methods, reason = "damage done on purpose")]
    /// std::fs::write(path.join("CURRENT"), "nonsense").expect("writes");
    /// let error = Db::open(path, Options::default()).expect_err("damaged");
    /// assert!(error.is_damage());
    /// # Ok(()) }
    /// ```
    pub fn is_damage(&self) -> bool {
        match self {
            Error::Damaged { .. }
            | Error::Inconsistent { .. }
            | Error::Table { .. }
            | Error::DeletesUnresolved { .. } => true,
            Error::Compaction { source, .. } => {
                matches!(
                    **source,
                    CompactionError::Merge(_)
                        | CompactionError::Table(_)
                        | CompactionError::WrongCertificate { .. }
                )
            }
            Error::WriterStopped { cause } | Error::BackgroundFailing { cause } => cause.is_damage(),
            _ => false,
        }
    }

    /// How much of the database works after this error.
    pub fn usability(&self) -> Usability {
        match self {
            Error::WriterStopped { .. } | Error::ReadOnly { .. } => Usability::ReadsOnly,
            Error::NotADatabase { .. }
            | Error::Damaged { .. }
            | Error::Inconsistent { .. }
            | Error::AlreadyExists { .. }
            | Error::Locked { .. }
            | Error::Thread { .. }
            | Error::Closed => Usability::Unusable,
            _ => Usability::Usable,
        }
    }

    /// Whether the error tells of one key alone, so that a walk may go on behind it.
    pub(crate) fn concerns_one_key(&self) -> bool {
        matches!(self, Error::LawFailed { .. } | Error::LawUnknown { .. })
    }

    /// Puts the file's name to an error of the log.
    pub(crate) fn from_log(directory: &Directory, source: LogError) -> Error {
        let segment = match &source {
            LogError::SegmentFull { segment, .. }
            | LogError::Sealed { segment }
            | LogError::SegmentFailed { segment, .. }
            | LogError::SyncFailed { segment, .. } => *segment,
            LogError::RecordTooLong { .. } => 0,
        };
        Error::Log {
            path: directory.path_of(FileName::Segment(segment)),
            source,
        }
    }
}

impl From<FsError> for Error {
    fn from(source: FsError) -> Error {
        Error::Io {
            source: Arc::new(source),
        }
    }
}

impl From<LockError> for Error {
    fn from(error: LockError) -> Error {
        match error {
            LockError::Failed(source) => Error::from(source),
            held => Error::Locked {
                source: Arc::new(held),
            },
        }
    }
}
