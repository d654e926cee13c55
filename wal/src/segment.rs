//! The port of one log segment: a file of fixed capacity that is appended to and synced.
//!
//! ```text
//!   0                len_bytes                         capacity_bytes
//!   |  bytes appended   |  zeros, never written before      |
//!   '-------------------'-----------------------------------'
//! ```
//!
//! A segment is always *fresh*: a byte that was never appended reads as zero, before and after a crash. Recovery
//! leans on that (see `FORMAT.md`). The syncer is a handle of its own, so that a sync runs while other threads
//! append.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

/// A log segment that is appended to by one writer at a time.
pub trait LogSegment: Send + fmt::Debug {
    /// Copies `bytes` to the end of the segment. After it returns they survive the death of the process, not yet
    /// the loss of power.
    ///
    /// # Errors
    /// Whatever the storage reports. `bytes` that do not fit are refused whole, with
    /// [`io::ErrorKind::StorageFull`]. After any other error the tail of the segment is undefined.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Bytes appended so far.
    fn len_bytes(&self) -> u64;

    /// Bytes the segment was made for.
    fn capacity_bytes(&self) -> u64;

    /// Sees to it that the next `len_bytes` that are appended find room. Storage that sets room aside in steps takes the next ones here, so
    /// that a full disk refuses a record before any of it is appended.
    ///
    /// # Errors
    /// Whatever the storage reports; the segment is as it was.
    fn make_room(&mut self, len_bytes: u64) -> io::Result<()> {
        let _ = len_bytes;
        Ok(())
    }

    /// Length that the file has from the start, whatever is appended, until [`LogSegment::trim`]; 0 if it grows with the appends.
    fn reserved_bytes(&self) -> u64 {
        0
    }

    /// A handle that makes appended bytes durable.
    fn syncer(&self) -> Arc<dyn SegmentSync>;

    /// Gives back the room that was not used. Called once, after the last append; failing to do it is harmless.
    ///
    /// # Errors
    /// Whatever the storage reports.
    fn trim(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a segment durable, from any thread, while another one appends.
pub trait SegmentSync: Send + Sync + fmt::Debug {
    /// Returns when every byte appended before the call would survive the loss of power.
    ///
    /// # Errors
    /// Whatever the storage reports; nothing is known then about the bytes appended since the last success.
    fn sync(&self) -> io::Result<()>;
}

impl<S: LogSegment + ?Sized> LogSegment for Box<S> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).append(bytes)
    }

    fn len_bytes(&self) -> u64 {
        (**self).len_bytes()
    }

    fn capacity_bytes(&self) -> u64 {
        (**self).capacity_bytes()
    }

    fn make_room(&mut self, len_bytes: u64) -> io::Result<()> {
        (**self).make_room(len_bytes)
    }

    fn reserved_bytes(&self) -> u64 {
        (**self).reserved_bytes()
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        (**self).syncer()
    }

    fn trim(&mut self) -> io::Result<()> {
        (**self).trim()
    }
}

/// A segment in memory. Its clones share the bytes, so that a test or a tool can look at what a writer wrote.
#[derive(Clone, Debug)]
pub struct MemorySegment {
    bytes: Arc<Mutex<Vec<u8>>>,
    capacity_bytes: u64,
}

impl MemorySegment {
    /// An empty segment.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            bytes: Arc::default(),
            capacity_bytes,
        }
    }

    /// A copy of the bytes appended so far.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes.lock().clone()
    }
}

impl LogSegment for MemorySegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.lock();
        if bytes.len() as u64 > self.capacity_bytes - held.len() as u64 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        held.extend_from_slice(bytes);
        Ok(())
    }

    fn len_bytes(&self) -> u64 {
        self.bytes.lock().len() as u64
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::new(NothingToSync)
    }
}

/// Memory has nothing to sync.
#[derive(Debug)]
struct NothingToSync;

impl SegmentSync for NothingToSync {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
