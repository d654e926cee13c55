//! A file system that fails on purpose. Test support.
//!
//! [`FaultFs`] hands every call to another file system, counts it, and lets the first [`Rule`] that matches it fail. So a test runs a
//! history once to count its calls, and then once for each of them, with that call failing once, or with everything
//! failing from it on, as on a machine that stopped.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tephra_wal::{LogSegment, SegmentSync};

use super::{
    DirEntry, FileBytes, FileKind, FileSystem, FsError, LockError, LockGuard, Operation, WritableFile,
};

/// What happens instead of a call.
#[derive(Clone, Debug)]
pub enum Fault {
    /// An error of the device.
    DeviceError,
    /// No room. On writes half of the bytes are written first.
    StorageFull,
    /// A write takes half of its bytes, and succeeds. Other calls go through.
    ShortWrite,
    /// A write takes nothing, and succeeds. Other calls go through.
    ZeroWrite,
    /// The bit of this number, counted round the file, is read wrong. Other calls go through.
    FlipBit(u64),
    /// The call waits until the gate is opened, then goes through: a disk that stalls.
    Stall(Gate),
}

/// Holds calls back until it is opened, once and for all. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Debug, Default)]
struct GateState {
    is_open: bool,
    arrived_count: usize,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.0.0.lock().is_open = true;
        self.0.1.notify_all();
    }

    /// Returns when so many calls have come to the gate.
    pub fn wait_for(&self, call_count: usize) {
        let mut state = self.0.0.lock();
        while state.arrived_count < call_count {
            self.0.1.wait(&mut state);
        }
    }

    fn pass(&self) {
        let mut state = self.0.0.lock();
        state.arrived_count += 1;
        self.0.1.notify_all();
        while !state.is_open {
            self.0.1.wait(&mut state);
        }
    }
}

/// Which calls a rule means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// All of them.
    Any,
    /// Those that change something on the disk.
    Changing,
    /// Those of one kind.
    Only(Operation),
}

impl Calls {
    fn include(self, operation: Operation) -> bool {
        use Operation::{Inspect, List, Lock, Map, Read};
        match self {
            Self::Any => true,
            Self::Changing => !matches!(operation, List | Inspect | Map | Read | Lock),
            Self::Only(only) => operation == only,
        }
    }
}

/// Which calls fail, and how.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Which calls are meant.
    pub calls: Calls,
    /// Only those whose path contains this.
    pub path_contains: String,
    /// So many of them pass first.
    pub skip_count: u64,
    /// All of them fail from then on, not only the next.
    pub lasts: bool,
    /// How.
    pub fault: Fault,
}

impl Rule {
    /// The next such call fails, once.
    #[must_use]
    pub fn once(calls: Calls, fault: Fault) -> Self {
        Self {
            calls,
            path_contains: String::new(),
            skip_count: 0,
            lasts: false,
            fault,
        }
    }

    /// All such calls fail from now on.
    #[must_use]
    pub fn always(calls: Calls, fault: Fault) -> Self {
        Self {
            lasts: true,
            ..Self::once(calls, fault)
        }
    }

    /// The same, after so many calls.
    #[must_use]
    pub fn after(self, skip_count: u64) -> Self {
        Self { skip_count, ..self }
    }

    /// The same, on paths that contain a text.
    #[must_use]
    pub fn on(self, path_contains: &str) -> Self {
        Self {
            path_contains: path_contains.to_owned(),
            ..self
        }
    }
}

/// The rules in force, and what was called.
#[derive(Debug, Default)]
struct Record {
    rules: Vec<Rule>,
    counts: BTreeMap<Operation, u64>,
    fault_count: u64,
}

/// Shared by a file system, its files and its segments.
#[derive(Clone, Debug, Default)]
struct Faults(Arc<Mutex<Record>>);

impl Faults {
    /// Counts a call; says how it fails, if it does.
    fn call(&self, operation: Operation, path: &Path) -> Option<Fault> {
        let mut record = self.0.lock();
        *record.counts.entry(operation).or_default() += 1;
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
        record.fault_count += u64::from(hit.is_some());
        drop(record);
        if let Some(Fault::Stall(gate)) = &hit {
            gate.pass();
            return None;
        }
        hit
    }

    /// For calls that fail or not, and nothing between.
    fn check(&self, operation: Operation, path: &Path) -> Result<(), FsError> {
        let fault = self.call(operation, path).and_then(error_of);
        fault.map_or(Ok(()), |error| Err(FsError::new(operation, path, error)))
    }
}

/// The error of a fault, if it is one.
fn error_of(fault: Fault) -> Option<io::Error> {
    match fault {
        Fault::DeviceError => Some(io::Error::other("injected device error")),
        Fault::StorageFull => Some(io::Error::new(io::ErrorKind::StorageFull, "injected full disk")),
        Fault::ShortWrite | Fault::ZeroWrite | Fault::FlipBit(_) | Fault::Stall(_) => None,
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
        self.faults.check(Operation::CreateDir, dir)?;
        self.inner.create_dir_all(dir)
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
        self.faults.check(Operation::Sync, path)?;
        self.inner.sync_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        self.faults.check(Operation::Rename, to)?;
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<(), FsError> {
        self.faults.check(Operation::Remove, path)?;
        self.inner.remove(path)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.faults.check(Operation::RemoveDir, dir)?;
        self.inner.remove_dir(dir)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        self.faults.check(Operation::Link, new)?;
        self.inner.hard_link(existing, new)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), FsError> {
        self.faults.check(Operation::SyncDir, dir)?;
        self.inner.sync_dir(dir)
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
        self.faults.check(Operation::Sync, &self.path)?;
        self.inner.sync()
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

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        let (inner, path) = (self.inner.syncer(), self.path.clone());
        Arc::new(FaultSyncer {
            inner,
            path,
            faults: self.faults.clone(),
        })
    }

    fn trim(&mut self) -> io::Result<()> {
        self.faults.check(Operation::Trim, &self.path)?;
        self.inner.trim()
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
        self.faults.check(Operation::SyncSegment, &self.path)?;
        self.inner.sync()
    }
}

#[cfg(test)]
mod tests;
