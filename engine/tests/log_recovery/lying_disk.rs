//! A segment whose syncs can be skipped: the planted fault of the canaries.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tephra_wal::{LogSegment, SegmentSync};

use crate::history::Disk;

/// Wraps a segment of the simulated machine.
#[derive(Debug)]
pub(crate) struct LyingSegment {
    pub(crate) inner: Box<dyn LogSegment>,
    pub(crate) liar: Arc<Liar>,
}

/// Decides which syncs happen.
#[derive(Debug)]
pub(crate) struct Liar {
    pub(crate) disk: Disk,
    /// The header is always synced: the first call goes through.
    pub(crate) has_header: AtomicBool,
    /// This segment's number, and the one in use.
    pub(crate) number: u64,
    pub(crate) in_use: Arc<AtomicU64>,
}

impl LogSegment for LyingSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.append(bytes)
    }

    fn len_bytes(&self) -> u64 {
        self.inner.len_bytes()
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::new(LyingSyncer {
            inner: self.inner.syncer(),
            liar: Arc::clone(&self.liar),
        })
    }

    fn trim(&mut self) -> io::Result<()> {
        self.inner.trim()
    }
}

#[derive(Debug)]
struct LyingSyncer {
    inner: Arc<dyn SegmentSync>,
    liar: Arc<Liar>,
}

impl SegmentSync for LyingSyncer {
    fn sync(&self) -> io::Result<()> {
        let has_header = self.liar.has_header.swap(true, Ordering::Relaxed);
        let is_old = self.liar.number < self.liar.in_use.load(Ordering::Relaxed);
        match self.liar.disk {
            Disk::SkipsSyncs if has_header => Ok(()),
            Disk::SkipsOldSegments if has_header && is_old => Ok(()),
            _ => self.inner.sync(),
        }
    }
}
