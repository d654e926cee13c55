//! The file-system port: everything the engine does to files goes through [`FileSystem`].
//!
//! ```text
//!                        FileSystem
//!            .---------------+----------------.
//!          StdFs           MemFs           FaultFs
//!      the real system   in memory, with   wraps another one:
//!      (mmap.rs maps)    power cuts        errors by rule, counts
//! ```
//!
//! `MemFs` and `FaultFs` are test support that ships with the engine, so that whole databases, also those of users,
//! can be run on a machine that loses power or a disk that fails.
//!
//! What an implementation promises:
//!
//! * A file made by [`FileSystem::create_new`] is written once from front to back, synced, and never written again.
//!   Only then may it be opened with [`FileSystem::open_map`].
//! * Bytes written survive the process; [`WritableFile::sync`] makes them survive the loss of power. The *name* of a
//!   new, renamed, linked or removed file survives it only after [`FileSystem::sync_dir`] on its directory.
//! * Every error says what was being done to which path.

mod error;
mod fault_fs;
mod file_bytes;
mod mem_fs;
mod mmap;
mod std_fs;
mod std_segment;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;

use tephra_wal::LogSegment;

pub use error::{FsError, LockError, LockHolder, Operation};
pub use fault_fs::{Calls, Fault, FaultFs, Gate, Interlude, Rule};
pub use file_bytes::FileBytes;
pub use mem_fs::MemFs;
pub use std_fs::StdFs;

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An ordinary file.
    File,
    /// A directory.
    Directory,
    /// Anything else: a device, a socket, a link that leads nowhere.
    Other,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, without the directory.
    pub name: OsString,
    /// What it names.
    pub kind: FileKind,
}

/// A file under construction. Writes may be buffered until [`io::Write::flush`] or [`WritableFile::sync`]; a file
/// dropped without either may lack its tail.
pub trait WritableFile: io::Write + Send + fmt::Debug {
    /// Writes out what is buffered and returns when the contents would survive the loss of power.
    ///
    /// # Errors
    /// The file is to be given up then: a second sync that succeeds proves nothing about the bytes of the first.
    fn sync(&mut self) -> Result<(), FsError>;
}

/// Holds the lock of a directory until it is dropped, or the process dies.
pub trait LockGuard: Send + Sync + fmt::Debug {}

/// The operating system's files, or something that behaves like them.
///
/// Every method may be called from any thread, blocks until it is done, and reports the path it failed on.
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// Makes a directory and those above it that are missing. One that exists already is no error; a file is.
    fn create_dir_all(&self, dir: &Path) -> Result<(), FsError>;

    /// The entries of a directory, sorted by name.
    fn list(&self, dir: &Path) -> Result<Vec<DirEntry>, FsError>;

    /// What a path names, `None` if nothing.
    fn kind(&self, path: &Path) -> Result<Option<FileKind>, FsError>;

    /// Does the path name anything?
    fn exists(&self, path: &Path) -> Result<bool, FsError> {
        Ok(self.kind(path)?.is_some())
    }

    /// Length of a file.
    fn len_bytes(&self, path: &Path) -> Result<u64, FsError>;

    /// A new, empty file for writing from front to back. A path that exists is an error
    /// ([`io::ErrorKind::AlreadyExists`]).
    fn create_new(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError>;

    /// A file for appending to what it holds; made if it is missing. For files whose readers know that the end may be torn.
    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError>;

    /// The contents of a finished file, without reading them all where the system can map files.
    fn open_map(&self, path: &Path) -> Result<FileBytes, FsError>;

    /// The contents of a file in memory of our own, for files that may still be written.
    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError>;

    /// Makes what a file holds now survive the loss of power, whoever wrote it, and whatever syncs of it failed before. A system
    /// may call bytes clean that it failed to write, so they are written over themselves first: for files whose writer is gone.
    fn sync_file(&self, path: &Path) -> Result<(), FsError>;

    /// Gives a file another name, replacing a file of that name in one step.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError>;

    /// Removes a file. Readers that hold it open or mapped keep it.
    fn remove(&self, path: &Path) -> Result<(), FsError>;

    /// Removes an empty directory.
    fn remove_dir(&self, dir: &Path) -> Result<(), FsError>;

    /// Gives a file a second name. A path that exists is an error.
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError>;

    /// Returns when the names in a directory would survive the loss of power.
    fn sync_dir(&self, dir: &Path) -> Result<(), FsError>;

    /// A new log segment with all its room set aside: a full disk is an error here, before anything is logged.
    /// A path that exists is an error.
    fn create_segment(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogSegment>, FsError>;

    /// Takes the lock of a database, through a file that is made if it is missing. Never waits. The lock belongs to
    /// the open file: it goes with the guard or with the process, and a second one is refused in the same process
    /// too.
    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn LockGuard>, LockError>;

    /// Keeps writers out while a reader looks, without writing anything: `None` if there is no lock file to hold
    /// on to. Any number of readers share it.
    fn lock_shared(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, LockError>;

    /// A number that stays the same until the machine loses its memory, and zeros where the system tells none.
    fn boot_id(&self) -> [u8; 16];
}

#[cfg(test)]
mod tests;
