//! Errors of the file-system port: what was being done, to which path, and why it failed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What was being done to a file. Also the key by which `FaultFs` counts and fails calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Make a directory.
    CreateDir,
    /// List a directory.
    List,
    /// Ask what a path names or how long a file is.
    Inspect,
    /// Make a new file.
    Create,
    /// Open a file for appending.
    OpenAppend,
    /// Write to a file under construction.
    Write,
    /// Make a file durable.
    Sync,
    /// Map a file.
    Map,
    /// Read a file.
    Read,
    /// Rename a file.
    Rename,
    /// Remove a file.
    Remove,
    /// Remove a directory.
    RemoveDir,
    /// Link a file under a second name.
    Link,
    /// Make the names in a directory durable.
    SyncDir,
    /// Make a log segment.
    CreateSegment,
    /// Append to a log segment.
    Append,
    /// Make a log segment durable.
    SyncSegment,
    /// Give back what a log segment did not use.
    Trim,
    /// Lock a database.
    Lock,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateDir => "create the directory",
            Self::List => "list",
            Self::Inspect => "inspect",
            Self::Create => "create",
            Self::OpenAppend => "open for appending",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Map => "map",
            Self::Read => "read",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::RemoveDir => "remove the directory",
            Self::Link => "link",
            Self::SyncDir => "sync the directory",
            Self::CreateSegment => "create the log segment",
            Self::Append => "append to the log segment",
            Self::SyncSegment => "sync the log segment",
            Self::Trim => "trim the log segment",
            Self::Lock => "lock",
        })
    }
}

/// A failed call of the file system.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {cause}", path.display())]
pub struct FsError {
    /// What was being done.
    pub operation: Operation,
    /// The path it was done to; of a rename or a link, the new one.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

impl FsError {
    /// Puts operation and path to an error of the system.
    pub fn new(operation: Operation, path: &Path, cause: io::Error) -> Self {
        Self {
            operation,
            path: path.to_owned(),
            cause,
        }
    }

    /// Puts operation and path to an error that came through [`io`]. One of this file system's own names both already.
    pub(crate) fn of(operation: Operation, path: &Path, cause: io::Error) -> Self {
        cause
            .downcast::<FsError>()
            .unwrap_or_else(|cause| Self::new(operation, path, cause))
    }

    /// The kind of the system's error.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }

    /// Is it that the path names nothing?
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }

    /// Is there no room left, so that the call may succeed later?
    #[must_use]
    pub fn is_storage_full(&self) -> bool {
        matches!(
            self.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

/// Keeps the kind, the operation and the path.
impl From<FsError> for io::Error {
    fn from(error: FsError) -> Self {
        io::Error::new(error.kind(), error)
    }
}

/// Puts operation and path to the errors of a call.
pub(super) trait Context<T> {
    fn context(self, operation: Operation, path: &Path) -> Result<T, FsError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, operation: Operation, path: &Path) -> Result<T, FsError> {
        self.map_err(|cause| FsError::new(operation, path, cause))
    }
}

/// Why a database was not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody has it open.
    #[error("{} is already open {holder}", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// Who has it.
        holder: LockHolder,
    },
    /// The lock file could not be opened or locked.
    #[error(transparent)]
    Failed(#[from] FsError),
}

/// Who holds a lock, as far as the lock file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// The process that asks, through another handle.
    ThisProcess(u32),
    /// The process of this number.
    Process(u32),
    /// One or more readers. They write nothing, so they leave no number.
    Readers,
    /// Somebody who left no number.
    Unknown,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess(id) => write!(f, "by this process ({id})"),
            Self::Process(id) => write!(f, "by process {id}"),
            Self::Readers => f.write_str("for reading, by somebody who left no number"),
            Self::Unknown => f.write_str("by another user"),
        }
    }
}
