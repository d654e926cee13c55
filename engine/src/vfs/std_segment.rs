//! Log segments of the real file system.
//!
//! ```text
//!   0            len          prepared                set aside          capacity
//!   | appended    |  pages at hand |  room on disk, no page yet |  promised to nobody |
//! ```
//!
//! Where the system can set room aside (Linux, most file systems) the segment is a shared mapping of a fresh file, and an append is a copy
//! into it. Room is set aside in steps, ahead of the appends: a segment takes as much of the disk as it needs, and a full disk refuses a record
//! before a byte of it is copied. What is not set aside is not touched. Pages are made present in steps, ahead of the appends, in one call a step: a page fault each would cost a
//! multiple of the copy. Nothing is ever filled with zeros by writing: the kernel keeps such pages in large folios and
//! would write a whole one back at every sync.
//!
//! A file whose room is only promised must not be mapped, since a full disk would then kill the process; there, and on
//! other systems, an append is an ordinary write.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::MmapMut;
use tephra_wal::{LogSegment, SegmentSync};

use super::error::Context as _;
use super::{FsError, Operation, mmap};

/// Pages are prepared in steps of this many bytes: long enough to share the call, short enough that no writer waits for it long.
const PREPARE_STEP_LEN_BYTES: usize = 256 << 10;

/// Room on disk is set aside in steps of this many bytes: a call for tens of thousands of records, and little that is never used.
const SET_ASIDE_STEP_LEN_BYTES: usize = 4 << 20;

/// Sets the first room aside and makes the segment.
pub(super) fn create(file: File, path: &Path, capacity_bytes: u64) -> io::Result<Box<dyn LogSegment>> {
    let syncer = Arc::new(FileSyncer {
        file,
        path: path.to_owned(),
    });
    let first_bytes = capacity_bytes.min(SET_ASIDE_STEP_LEN_BYTES as u64);
    if !set_aside(&syncer.file, 0, first_bytes)? {
        return Ok(Box::new(PlainSegment {
            syncer,
            len_bytes: 0,
            capacity_bytes,
        }));
    }
    let len = usize::try_from(capacity_bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "larger than memory can address"))?;
    // The rest of the file is a hole: its length says from the start how long the segment is.
    syncer.file.set_len(capacity_bytes)?;
    let map = mmap::map_segment(&syncer.file, len)?;
    Ok(Box::new(MappedSegment {
        syncer,
        map,
        len: 0,
        prepared: 0,
        set_aside: len.min(SET_ASIDE_STEP_LEN_BYTES),
        capacity: len,
    }))
}

/// Reserves blocks on disk for a part of the file, and makes it as long. `false` where that is not possible; a full disk is an error.
#[cfg(target_os = "linux")]
fn set_aside(file: &File, start_bytes: u64, len_bytes: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    if len_bytes == 0 {
        return Ok(false);
    }
    loop {
        return match fallocate(file, FallocateFlags::empty(), start_bytes, len_bytes) {
            Ok(()) => Ok(true),
            Err(Errno::INTR) => continue,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
            Err(error) => Err(error.into()),
        };
    }
}

/// Other systems write.
#[cfg(not(target_os = "linux"))]
fn set_aside(_file: &File, _start_bytes: u64, _len_bytes: u64) -> io::Result<bool> {
    Ok(false)
}

/// Syncs the file, whichever way it was written.
#[derive(Debug)]
struct FileSyncer {
    file: File,
    path: PathBuf,
}

impl SegmentSync for FileSyncer {
    fn sync(&self) -> io::Result<()> {
        Ok(self
            .file
            .sync_data()
            .context(Operation::SyncSegment, &self.path)?)
    }
}

impl FileSyncer {
    fn trim(&self, len_bytes: u64) -> io::Result<()> {
        Ok(self
            .file
            .set_len(len_bytes)
            .context(Operation::Trim, &self.path)?)
    }

    /// Refuses `bytes` that do not fit.
    fn check_room(&self, bytes: &[u8], room_bytes: u64) -> io::Result<()> {
        if bytes.len() as u64 <= room_bytes {
            return Ok(());
        }
        let full = io::Error::new(io::ErrorKind::StorageFull, "the segment is full");
        Err(FsError::new(Operation::Append, &self.path, full).into())
    }
}

/// A segment that is a mapping.
#[derive(Debug)]
struct MappedSegment {
    syncer: Arc<FileSyncer>,
    map: MmapMut,
    len: usize,
    prepared: usize,
    set_aside: usize,
    capacity: usize,
}

impl MappedSegment {
    /// Makes the pages up to `end`, and a step beyond, present and writable.
    fn prepare(&mut self, end: usize) {
        let until = (end + PREPARE_STEP_LEN_BYTES).min(self.set_aside);
        #[cfg(target_os = "linux")]
        {
            // Advice: where the kernel does not know it, pages come by faults, as they would without it.
            drop(self.map.advise_range(
                memmap2::Advice::PopulateWrite,
                self.prepared,
                until - self.prepared,
            ));
        }
        self.prepared = until;
    }

    /// Sets room aside up to `end`, and to the end of that step.
    fn set_aside_until(&mut self, end: usize) -> io::Result<()> {
        if end <= self.set_aside {
            return Ok(());
        }
        let until = end.next_multiple_of(SET_ASIDE_STEP_LEN_BYTES).min(self.capacity);
        let (start, len) = (self.set_aside as u64, (until - self.set_aside) as u64);
        match set_aside(&self.syncer.file, start, len) {
            Ok(true) => {
                self.set_aside = until;
                Ok(())
            }
            Ok(false) => Err(io::Error::from(io::ErrorKind::Unsupported)),
            Err(error) => Err(error),
        }
        .context(Operation::Append, &self.syncer.path)
        .map_err(io::Error::from)
    }
}

impl LogSegment for MappedSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.syncer.check_room(bytes, (self.capacity - self.len) as u64)?;
        let end = self.len + bytes.len();
        self.set_aside_until(end)?;
        if end > self.prepared {
            self.prepare(end);
        }
        self.map[self.len..end].copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    fn make_room(&mut self, len_bytes: u64) -> io::Result<()> {
        let end = usize::try_from(len_bytes).map_or(usize::MAX, |len| self.len.saturating_add(len));
        self.set_aside_until(end.min(self.capacity))
    }

    fn len_bytes(&self) -> u64 {
        self.len as u64
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity as u64
    }

    fn reserved_bytes(&self) -> u64 {
        self.capacity as u64
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::clone(&self.syncer) as Arc<dyn SegmentSync>
    }

    fn trim(&mut self) -> io::Result<()> {
        // First the promise not to touch the rest of the mapping, then the cut.
        (self.capacity, self.set_aside) = (self.len, self.len);
        self.syncer.trim(self.len as u64)
    }
}

/// A segment that is written to.
#[derive(Debug)]
struct PlainSegment {
    syncer: Arc<FileSyncer>,
    len_bytes: u64,
    capacity_bytes: u64,
}

impl LogSegment for PlainSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.syncer
            .check_room(bytes, self.capacity_bytes - self.len_bytes)?;
        (&self.syncer.file)
            .write_all(bytes)
            .context(Operation::Append, &self.syncer.path)?;
        self.len_bytes += bytes.len() as u64;
        Ok(())
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::clone(&self.syncer) as Arc<dyn SegmentSync>
    }

    fn trim(&mut self) -> io::Result<()> {
        self.capacity_bytes = self.len_bytes;
        Ok(())
    }
}
