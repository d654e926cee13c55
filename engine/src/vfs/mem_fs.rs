//! A file system in memory, on a machine that can lose its process or its power. Test support.
//!
//! [`MemFs`] behaves like the real one, and tells written from synced bytes, contents from names, names from synced names. The two
//! disasters do not touch the machine they happen to; they give the machine that comes up afterwards:
//!
//! * [`MemFs::after_kill`]: everything written is there, locks are free, the boot is the same.
//! * [`MemFs::after_power_cut`]: what was synced is there. Of the rest a legal subset, chosen by the seed: bytes
//!   lost sector by sector, in any order, or written back half filled; lengths old, new or between; new names, renames and removals
//!   undone, each on its own, until their directory was synced. The boot is another one.
//!
//! So threads that are still at work on the old machine do no harm, and one history can be cut many times at one point.
//! Mapped and written bytes are treated alike: here as on Linux both are pages that a sync of the file writes back. A file is only
//! ever appended to.

mod contents;
mod machine;
mod random;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tephra_wal::{LogSegment, SegmentSync};

use super::error::Context as _;
use super::{
    DirEntry, FileBytes, FileKind, FileSystem, FsError, LockError, LockGuard, LockHolder, Operation,
    WritableFile,
};
use contents::Contents;
use machine::{FileId, Holder, Machine, Node, plain};
use random::Random;

/// A machine in memory; clones are the same machine.
#[derive(Clone)]
pub struct MemFs {
    machine: Arc<Mutex<Machine>>,
}

impl MemFs {
    /// A machine with an empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Machine::new())
    }

    fn of(machine: Machine) -> Self {
        Self {
            machine: Arc::new(Mutex::new(machine)),
        }
    }

    /// The machine after the death of its process, as of now.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        Self::of(self.machine.lock().after_kill())
    }

    /// The machine after a power cut now. The seed decides what of the unsynced survives.
    #[must_use]
    pub fn after_power_cut(&self, seed: u64) -> Self {
        Self::of(self.machine.lock().after_power_cut(&mut Random(seed)))
    }

    /// After so many good ones, one sync of a file fails as real ones do: nothing of what it covers is on the disk, and no later
    /// sync will bring it there, because the system calls those bytes clean. [`FileSystem::sync_file`] does.
    pub fn fail_sync_after(&self, good_count: u64) {
        self.machine.lock().syncs_before_failure = Some(good_count);
    }

    /// Gives the disk room for so many bytes of contents. What is there already stays; by default there is no end of room.
    pub fn set_capacity(&self, bytes: u64) {
        self.machine.lock().capacity_bytes = bytes;
    }

    /// Bytes that the contents of all files take.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        let machine = self.machine.lock();
        let mut limited = machine.clone();
        drop(machine);
        limited.capacity_bytes = u64::MAX - 1;
        limited.capacity_bytes - limited.room_bytes()
    }

    fn open(&self, path: &Path, file: FileId) -> OpenFile {
        OpenFile {
            machine: Arc::clone(&self.machine),
            path: path.to_owned(),
            file,
        }
    }

    fn held(path: &Path, holder: LockHolder) -> LockError {
        LockError::Held {
            path: path.to_owned(),
            holder,
        }
    }

    fn guard(&self, path: PathBuf) -> Box<dyn LockGuard> {
        Box::new(MemLock {
            machine: Arc::clone(&self.machine),
            path,
        })
    }
}

impl Default for MemFs {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemFs")
            .field("boot_count", &self.machine.lock().boot_count)
            .finish()
    }
}

impl FileSystem for MemFs {
    fn create_dir_all(&self, dir: &Path) -> Result<(), FsError> {
        self.machine
            .lock()
            .create_dir_all(dir)
            .context(Operation::CreateDir, dir)
    }

    fn list(&self, dir: &Path) -> Result<Vec<DirEntry>, FsError> {
        let machine = self.machine.lock();
        let names = machine.list(dir).context(Operation::List, dir)?;
        Ok(names
            .iter()
            .map(|(name, &node)| DirEntry {
                name: name.clone(),
                kind: kind_of(node),
            })
            .collect())
    }

    fn kind(&self, path: &Path) -> Result<Option<FileKind>, FsError> {
        Ok(self.machine.lock().node(path).map(kind_of))
    }

    fn len_bytes(&self, path: &Path) -> Result<u64, FsError> {
        Ok(self
            .machine
            .lock()
            .read(path)
            .context(Operation::Inspect, path)?
            .len() as u64)
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        let file = self
            .machine
            .lock()
            .create(path, Contents::default())
            .context(Operation::Create, path)?;
        Ok(Box::new(self.open(path, file)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        let mut machine = self.machine.lock();
        let file = match machine.node(path) {
            None => machine.create(path, Contents::default()),
            Some(_) => machine.file(path),
        };
        Ok(Box::new(
            self.open(path, file.context(Operation::OpenAppend, path)?),
        ))
    }

    fn open_map(&self, path: &Path) -> Result<FileBytes, FsError> {
        let mut machine = self.machine.lock();
        Ok(FileBytes::memory(
            machine.read(path).context(Operation::Map, path)?.read(),
        ))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        let mut machine = self.machine.lock();
        Ok(machine.read(path).context(Operation::Read, path)?.read().to_vec())
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        self.machine
            .lock()
            .read(path)
            .context(Operation::Sync, path)?
            .rewrite();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        self.machine
            .lock()
            .rename(from, to)
            .context(Operation::Rename, to)
    }

    fn remove(&self, path: &Path) -> Result<(), FsError> {
        self.machine.lock().remove(path).context(Operation::Remove, path)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.machine
            .lock()
            .remove_dir(dir)
            .context(Operation::RemoveDir, dir)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        self.machine
            .lock()
            .link(existing, new)
            .context(Operation::Link, new)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.machine.lock().sync_dir(dir).context(Operation::SyncDir, dir)
    }

    fn create_segment(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogSegment>, FsError> {
        let create = || {
            let len = usize::try_from(capacity_bytes).map_err(|_| io::ErrorKind::StorageFull)?;
            let mut machine = self.machine.lock();
            if capacity_bytes > machine.room_bytes() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            machine.create(path, Contents::zeros(len))
        };
        let file = create().context(Operation::CreateSegment, path)?;
        Ok(Box::new(MemSegment {
            file: Arc::new(self.open(path, file)),
            len_bytes: 0,
            capacity_bytes,
        }))
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn LockGuard>, LockError> {
        let mut machine = self.machine.lock();
        let key = plain(path);
        match machine.locks.get(&key) {
            None => {}
            Some(Holder::Writer) => return Err(Self::held(path, LockHolder::Unknown)),
            Some(Holder::Readers(_)) => return Err(Self::held(path, LockHolder::Readers)),
        }
        if machine.node(path).is_none() {
            machine
                .create(path, Contents::default())
                .context(Operation::Lock, path)?;
        }
        machine.file(path).context(Operation::Lock, path)?;
        machine.locks.insert(key.clone(), Holder::Writer);
        Ok(self.guard(key))
    }

    fn lock_shared(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, LockError> {
        let mut machine = self.machine.lock();
        if machine.node(path).is_none() {
            return Ok(None);
        }
        match machine
            .locks
            .get_or_insert_with(plain(path), || Holder::Readers(0))
        {
            Holder::Writer => Err(Self::held(path, LockHolder::Unknown)),
            Holder::Readers(count) => {
                *count += 1;
                Ok(Some(self.guard(plain(path))))
            }
        }
    }

    fn boot_id(&self) -> [u8; 16] {
        u128::from(self.machine.lock().boot_count).to_be_bytes()
    }
}

fn kind_of(node: Node) -> FileKind {
    match node {
        Node::File(_) => FileKind::File,
        Node::Directory => FileKind::Directory,
    }
}

/// A file somebody writes to.
struct OpenFile {
    machine: Arc<Mutex<Machine>>,
    path: PathBuf,
    file: FileId,
}

impl OpenFile {
    /// A file without a name is written to in vain.
    fn change(&self, change: impl FnOnce(&mut Contents)) {
        if let Some(contents) = self.machine.lock().contents(self.file) {
            change(contents);
        }
    }
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenFile({})", self.path.display())
    }
}

impl io::Write for OpenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // As much as there is room for, as real ones do.
        let room = usize::try_from(self.machine.lock().room_bytes()).unwrap_or(usize::MAX);
        if room == 0 && !bytes.is_empty() {
            return Err(FsError::new(Operation::Write, &self.path, io::ErrorKind::StorageFull.into()).into());
        }
        let taken = &bytes[..bytes.len().min(room)];
        self.change(|contents| contents.append(taken));
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WritableFile for OpenFile {
    fn sync(&mut self) -> Result<(), FsError> {
        self.machine
            .lock()
            .sync(self.file)
            .context(Operation::Sync, &self.path)
    }
}

impl SegmentSync for OpenFile {
    fn sync(&self) -> io::Result<()> {
        Ok(self
            .machine
            .lock()
            .sync(self.file)
            .context(Operation::SyncSegment, &self.path)?)
    }
}

/// A log segment in memory.
#[derive(Debug)]
struct MemSegment {
    file: Arc<OpenFile>,
    len_bytes: u64,
    capacity_bytes: u64,
}

impl LogSegment for MemSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() as u64 > self.capacity_bytes - self.len_bytes {
            let full = io::Error::new(io::ErrorKind::StorageFull, "the segment is full");
            return Err(FsError::new(Operation::Append, &self.file.path, full).into());
        }
        self.file.change(|contents| contents.append(bytes));
        self.len_bytes += bytes.len() as u64;
        Ok(())
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn reserved_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::clone(&self.file) as Arc<dyn SegmentSync>
    }

    fn trim(&mut self) -> io::Result<()> {
        self.capacity_bytes = self.len_bytes;
        self.file.change(Contents::trim);
        Ok(())
    }
}

#[derive(Debug)]
struct MemLock {
    machine: Arc<Mutex<Machine>>,
    path: PathBuf,
}

impl LockGuard for MemLock {}

impl Drop for MemLock {
    fn drop(&mut self) {
        let mut machine = self.machine.lock();
        match machine.locks.get_mut(&self.path) {
            Some(Holder::Readers(count)) if *count > 1 => *count -= 1,
            _ => drop(machine.locks.remove(&self.path)),
        }
    }
}

#[cfg(test)]
mod tests;
