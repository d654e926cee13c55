//! A file system that fails on purpose. Test support.
//!
//! [`FaultFs`] hands every call to another file system, counts it, and lets the first [`Rule`] that matches it fail. So a test runs a
//! history once to count its calls, and then once for each of them, with that call failing once, or with everything
//! failing from it on, as on a machine that stopped.
//!
//! ```text
//!   call --> rules: does one mean it? --no--> the file system below
//!                        |
//!                        '--yes--> an error, a part of the call, nothing, a wrong bit, a pause, time, an interlude
//! ```

mod rule;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tephra_wal::{LogSegment, SegmentSync};

use super::{
    DirEntry, FileBytes, FileKind, FileSystem, FsError, LockError, LockGuard, Operation, WritableFile,
};

use crate::sorted_map::SortedMap;

pub use rule::{Calls, Fault, Gate, Interlude, Rule};

/// The rules in force, and what was called.
#[derive(Debug, Default)]
struct Record {
    rules: Vec<Rule>,
    counts: SortedMap<Operation, u64>,
    fault_count: u64,
}

/// Shared by a file system, its files and its segments.
#[derive(Clone, Debug, Default)]
struct Faults(Arc<Mutex<Record>>);

impl Faults {
    /// Counts a call; says how it fails, if it does.
    fn call(&self, operation: Operation, path: &Path) -> Option<Fault> {
        let mut record = self.0.lock();
        *record.counts.get_or_insert_with(operation, Default::default) += 1;
        let path = path.to_string_lossy();
        let mut hit = None;
        record.rules.retain_mut(|rule| {
            if hit.is_some() || !rule.calls.include(operation) || !path.contains(&rule.path_contains) {
                return true;
            }
            if rule.skip_count > 0 {
                rule.skip_count -= 1;
                return true;
            }
            hit = Some(rule.fault.clone());
            rule.lasts
        });
        let is_failure = |fault: &Fault| !matches!(fault, Fault::Interlude(_) | Fault::Slow(..));
        record.fault_count += u64::from(hit.as_ref().is_some_and(is_failure));
        drop(record);
        match &hit {
            Some(Fault::Stall(gate)) => gate.pass(),
            Some(Fault::Slow(clock, ms)) => clock.advance_ms(*ms),
            Some(Fault::Interlude(interlude)) => interlude.play(),
            _ => return hit,
        }
        None
    }

    /// For calls that fail or not, and nothing between.
    fn check(&self, operation: Operation, path: &Path) -> Result<(), FsError> {
        let fault = self.call(operation, path).and_then(error_of);
        fault.map_or(Ok(()), |error| Err(FsError::new(operation, path, error)))
    }

    /// For calls that give nothing back: they can also be left out.
    fn pass<E: From<FsError>>(
        &self,
        operation: Operation,
        path: &Path,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        match self.call(operation, path) {
            Some(Fault::Skipped) => Ok(()),
            fault => match fault.and_then(error_of) {
                Some(error) => Err(FsError::new(operation, path, error).into()),
                None => call(),
            },
        }
    }
}

/// The error of a fault, if it is one.
fn error_of(fault: Fault) -> Option<io::Error> {
    match fault {
        Fault::DeviceError => Some(io::Error::other("injected device error")),
        Fault::StorageFull => Some(io::Error::new(io::ErrorKind::StorageFull, "injected full disk")),
        Fault::ShortWrite
        | Fault::ZeroWrite
        | Fault::FlipBit(_)
        | Fault::Stall(_)
        | Fault::Slow(..)
        | Fault::Skipped
        | Fault::Interlude(_) => None,
    }
}

/// A file system with faults; clones share rules and counts.
#[derive(Clone)]
pub struct FaultFs {
    inner: Arc<dyn FileSystem>,
    faults: Faults,
}

impl FaultFs {
    /// Wraps a file system. No call fails until a rule is added.
    #[must_use]
    pub fn new(inner: Arc<dyn FileSystem>) -> Self {
        Self {
            inner,
            faults: Faults::default(),
        }
    }

    /// Adds a rule. The first that matches a call decides; a rule that means one call is gone after it.
    pub fn add(&self, rule: Rule) {
        self.faults.0.lock().rules.push(rule);
    }

    /// Drops all rules: the disk is well again.
    pub fn heal(&self) {
        self.faults.0.lock().rules.clear();
    }

    /// Calls made so far.
    #[must_use]
    pub fn call_count(&self, calls: Calls) -> u64 {
        let record = self.faults.0.lock();
        record
            .counts
            .iter()
            .filter(|&(&operation, _)| calls.include(operation))
            .map(|(_, count)| count)
            .sum()
    }

    /// Faults injected so far.
    #[must_use]
    pub fn fault_count(&self) -> u64 {
        self.faults.0.lock().fault_count
    }
}

impl fmt::Debug for FaultFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultFs")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl FileSystem for FaultFs {
    fn create_dir_all(&self, dir: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::CreateDir, dir, || self.inner.create_dir_all(dir))
    }

    fn list(&self, dir: &Path) -> Result<Vec<DirEntry>, FsError> {
        self.faults.check(Operation::List, dir)?;
        self.inner.list(dir)
    }

    fn kind(&self, path: &Path) -> Result<Option<FileKind>, FsError> {
        self.faults.check(Operation::Inspect, path)?;
        self.inner.kind(path)
    }

    fn len_bytes(&self, path: &Path) -> Result<u64, FsError> {
        self.faults.check(Operation::Inspect, path)?;
        self.inner.len_bytes(path)
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        self.faults.check(Operation::Create, path)?;
        let inner = self.inner.create_new(path)?;
        Ok(Box::new(FaultFile {
            inner,
            path: path.to_owned(),
            faults: self.faults.clone(),
        }))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>, FsError> {
        self.faults.check(Operation::OpenAppend, path)?;
        Ok(Box::new(FaultFile {
            inner: self.inner.open_append(path)?,
            path: path.to_owned(),
            faults: self.faults.clone(),
        }))
    }

    fn open_map(&self, path: &Path) -> Result<FileBytes, FsError> {
        let bytes = || self.inner.open_map(path);
        match self.faults.call(Operation::Map, path) {
            Some(Fault::FlipBit(bit)) => Ok(FileBytes::memory(Arc::new(flipped(bytes()?.to_vec(), bit)))),
            fault => finish(fault, Operation::Map, path, bytes),
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        let bytes = || self.inner.read(path);
        match self.faults.call(Operation::Read, path) {
            Some(Fault::FlipBit(bit)) => Ok(flipped(bytes()?, bit)),
            fault => finish(fault, Operation::Read, path, bytes),
        }
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::Sync, path, || self.inner.sync_file(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::Rename, to, || self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::Remove, path, || self.inner.remove(path))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::RemoveDir, dir, || self.inner.remove_dir(dir))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::Link, new, || self.inner.hard_link(existing, new))
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.faults
            .pass(Operation::SyncDir, dir, || self.inner.sync_dir(dir))
    }

    fn create_segment(&self, path: &Path, capacity_bytes: u64) -> Result<Box<dyn LogSegment>, FsError> {
        self.faults.check(Operation::CreateSegment, path)?;
        let inner = self.inner.create_segment(path, capacity_bytes)?;
        Ok(Box::new(FaultSegment {
            inner,
            path: path.to_owned(),
            faults: self.faults.clone(),
        }))
    }

    fn lock_exclusive(&self, path: &Path) -> Result<Box<dyn LockGuard>, LockError> {
        self.faults.check(Operation::Lock, path)?;
        self.inner.lock_exclusive(path)
    }

    fn lock_shared(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, LockError> {
        self.faults.check(Operation::Lock, path)?;
        self.inner.lock_shared(path)
    }

    fn boot_id(&self) -> [u8; 16] {
        self.inner.boot_id()
    }
}

/// The error of a fault, or the call itself.
fn finish<T>(
    fault: Option<Fault>,
    operation: Operation,
    path: &Path,
    call: impl FnOnce() -> Result<T, FsError>,
) -> Result<T, FsError> {
    match fault.and_then(error_of) {
        Some(error) => Err(FsError::new(operation, path, error)),
        None => call(),
    }
}

fn flipped(mut bytes: Vec<u8>, bit: u64) -> Vec<u8> {
    if !bytes.is_empty() {
        let bit = bit % (bytes.len() as u64 * 8);
        bytes[usize::try_from(bit / 8).expect("within the file")] ^= 1 << (bit % 8);
    }
    bytes
}

#[derive(Debug)]
struct FaultFile {
    inner: Box<dyn WritableFile>,
    path: PathBuf,
    faults: Faults,
}

impl io::Write for FaultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let half = &bytes[..bytes.len().div_ceil(2)];
        match self.faults.call(Operation::Write, &self.path) {
            Some(Fault::ZeroWrite) => Ok(0),
            Some(Fault::ShortWrite) => self.inner.write(half),
            Some(Fault::Skipped) => Ok(bytes.len()),
            Some(fault) => {
                if matches!(fault, Fault::StorageFull) {
                    self.inner.write_all(half)?;
                }
                let error = error_of(fault).unwrap_or_else(|| io::Error::other("injected"));
                Err(FsError::new(Operation::Write, &self.path, error).into())
            }
            None => self.inner.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WritableFile for FaultFile {
    fn sync(&mut self) -> Result<(), FsError> {
        let inner = &mut self.inner;
        self.faults.pass(Operation::Sync, &self.path, || inner.sync())
    }
}

#[derive(Debug)]
struct FaultSegment {
    inner: Box<dyn LogSegment>,
    path: PathBuf,
    faults: Faults,
}

impl LogSegment for FaultSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fault = self.faults.call(Operation::Append, &self.path);
        let leaves_half = matches!(fault, Some(Fault::StorageFull));
        let Some(error) = fault.and_then(error_of) else {
            return self.inner.append(bytes);
        };
        if leaves_half {
            self.inner.append(&bytes[..bytes.len() / 2])?;
        }
        Err(FsError::new(Operation::Append, &self.path, error).into())
    }

    fn len_bytes(&self) -> u64 {
        self.inner.len_bytes()
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn make_room(&mut self, len_bytes: u64) -> io::Result<()> {
        self.inner.make_room(len_bytes)
    }

    fn reserved_bytes(&self) -> u64 {
        self.inner.reserved_bytes()
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        let (inner, path) = (self.inner.syncer(), self.path.clone());
        Arc::new(FaultSyncer {
            inner,
            path,
            faults: self.faults.clone(),
        })
    }

    fn trim(&mut self) -> io::Result<()> {
        let inner = &mut self.inner;
        self.faults.pass(Operation::Trim, &self.path, || inner.trim())
    }
}

#[derive(Debug)]
struct FaultSyncer {
    inner: Arc<dyn SegmentSync>,
    path: PathBuf,
    faults: Faults,
}

impl SegmentSync for FaultSyncer {
    fn sync(&self) -> io::Result<()> {
        self.faults
            .pass(Operation::SyncSegment, &self.path, || self.inner.sync())
    }
}

#[cfg(test)]
mod tests;
