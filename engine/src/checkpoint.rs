//! Checkpoints: an instant of a database as a database of its own.
//!
//! ```text
//!   /data/ash                      checkpoint                  /backup/ash
//!   000012.table  ----------------- hard link ---------------> 000012.table      one file, two names
//!   000031.table  ---- copy, where the link fails -----------> 000031.table
//!   manifest's state  ---------------------------------------> MANIFEST-000034
//!                                                              CURRENT            last: from here on it is a database
//! ```
//!
//! The instant is the end of a log segment: everything committed before the call is flushed, and the state of the version lock
//! then says exactly what the segments up to the flushed one hold, whatever was flushed or merged meanwhile. Dead sets
//! are part of the state. There is no log in the copy, and no event log.
//!
//! Tables are never written again, so both names may be used, moved and removed without regard to each other. Merging them
//! away in one database frees no room while the other still names them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::db::{Engine, make_directory, sync_ancestors};
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::file_name::FileName;
use crate::table_file::TableFile;
use crate::version::{Manifest, ManifestState};
use crate::vfs::{FileKind, FsError, LockGuard, Operation};

impl Engine {
    /// Makes a database of this instant in `target`. Takes the version lock for a copy of the state; nobody waits for the files.
    pub(crate) fn checkpoint(&self, target: &Path) -> Result<()> {
        self.check_writable()?;
        let began_ns = self.clock().now_ns();
        let refusal = |path, reason| Error::CheckpointTarget { path, reason };
        let mut copy = NewDirectory::begin(&self.directory, target, refusal)?;
        let made = self.fill(&mut copy);
        match made {
            Ok(_) => copy.keep(),
            Err(_) => copy.undo(),
        }
        let table_count = made?;
        self.events().emit(|| Event::Checkpointed {
            path: target.to_path_buf(),
            table_count,
            took: Duration::from_nanos(self.clock().now_ns().saturating_sub(began_ns)),
        });
        Ok(())
    }

    /// Returns the number of tables.
    fn fill(&self, copy: &mut NewDirectory) -> Result<usize> {
        self.flush_all()?;
        // The version keeps its files on disk until they are linked.
        let (state, version) = {
            let versions = self.versions.lock();
            (versions.state().clone(), Arc::clone(versions.current()))
        };
        for table in version.tables() {
            copy.take(&table.file)?;
        }
        copy.finish(state)?;
        Ok(version.tables().count())
    }
}

/// The directory of a new database, and what of it was made so far.
pub(crate) struct NewDirectory {
    pub(crate) directory: Directory,
    /// The directory itself is ours to remove.
    is_new: bool,
    /// Keeps openers out until everything is there.
    lock: Option<Box<dyn LockGuard>>,
    pub(crate) made: Vec<FileName>,
}

impl NewDirectory {
    /// Makes and locks the directory, beside the database in `source`. It must not exist, or be empty; `refusal` says so otherwise.
    pub(crate) fn begin(
        source: &Directory,
        target: &Path,
        refusal: fn(PathBuf, &'static str) -> Error,
    ) -> Result<NewDirectory> {
        let refuse = |reason| Err(refusal(target.to_path_buf(), reason));
        if target.as_os_str().is_empty() {
            return refuse("the path is empty");
        }
        let file_system = Arc::clone(&source.file_system);
        let directory = Directory::new(file_system, Arc::clone(&source.clock), target);
        let kind = directory.file_system.kind(target)?;
        match kind {
            None => {}
            Some(FileKind::Directory) if directory.file_system.list(target)?.is_empty() => {}
            Some(FileKind::Directory) => return refuse("the directory is not empty"),
            Some(_) => return refuse("a file of that name is in the way"),
        }
        let mut copy = NewDirectory {
            directory,
            is_new: kind.is_none(),
            lock: None,
            made: Vec::new(),
        };
        copy.enter().inspect_err(|_| copy.undo())?;
        Ok(copy)
    }

    /// Makes the directory and its name durable, and locks it.
    fn enter(&mut self) -> Result<()> {
        if self.is_new {
            make_directory(&self.directory)?;
        }
        // Directories that are there may be the work of somebody who was cut short before their names were durable.
        sync_ancestors(&self.directory)?;
        self.made.push(FileName::Lock);
        let lock_path = self.directory.path_of(FileName::Lock);
        self.lock = Some(self.directory.file_system.lock_exclusive(&lock_path)?);
        Ok(())
    }

    /// Gives a table a second name here; where that is not possible, a copy.
    fn take(&mut self, table: &TableFile) -> Result<()> {
        let name = FileName::Table(table.number());
        let path = self.directory.path_of(name);
        self.made.push(name);
        // Another file system, or one without links, or with too many of them already.
        if self.directory.file_system.hard_link(table.path(), &path).is_ok() {
            return Ok(());
        }
        self.write_copy(table, &path)
    }

    fn write_copy(&self, table: &TableFile, path: &Path) -> Result<()> {
        let mut out = self.directory.file_system.create_new(path)?;
        out.write_all(table.bytes())
            .map_err(|cause| FsError::of(Operation::Write, path, cause))?;
        Ok(out.sync()?)
    }

    /// Puts the state in force, durably.
    fn finish(&mut self, mut state: ManifestState) -> Result<()> {
        let number = state.next_file.max(1);
        state.next_file = number + 1;
        // The log stays behind.
        state.log_segment = 0;
        self.made.extend([
            FileName::Manifest(number),
            FileName::CurrentTmp,
            FileName::Current,
        ]);
        drop(Manifest::create(&self.directory, number, &state)?);
        Ok(())
    }

    /// All is there: openers may come.
    pub(crate) fn keep(&mut self) {
        self.lock = None;
    }

    /// Removes what was made, `CURRENT` first. What cannot be removed stays; it is no database.
    pub(crate) fn undo(&mut self) {
        self.lock = None;
        for &name in self.made.iter().rev() {
            drop(self.directory.remove(name));
        }
        if self.is_new {
            drop(self.directory.file_system.remove_dir(&self.directory.path));
        }
    }
}
