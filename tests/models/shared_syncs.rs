//! The log's writer and its shared syncs, as they are, on the scheduler's locks and a disk that knows what it synced.
//!
//! A sync takes its time: what is appended between its beginning and its end is not durable by it. After a sync of a segment has failed, the disk says that
//! further ones succeed and makes nothing durable any more, as real ones do that drop what they could not write.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use shuttle::rand::Rng as _;
use shuttle::thread;
use tephra_wal::{BootId, FileHeader, LogError, LogSegment, SegmentSync};

use crate::writer::{LogPosition, LogWriter, PreparedSegment};

const THREADS: usize = 3;
const COMMITS: usize = 2;

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    /// A sync of a segment covers what had been appended when its handle was made.
    ShortSync,
    /// A sync that failed is tried again, and believed.
    RetriedSync,
    /// A caller takes the end of its record for durable because a sync is at work.
    NoWait,
}

/// All segments together. Says what is durable.
#[derive(Debug, Default)]
struct Disk {
    sync_count: AtomicUsize,
    /// This sync fails.
    failing_sync: Option<usize>,
}

#[derive(Clone, Debug)]
struct Segment {
    disk: Arc<Disk>,
    planted: Planted,
    has_failed: Arc<AtomicBool>,
    len_bytes: Arc<AtomicU64>,
    synced_bytes: Arc<AtomicU64>,
}

/// Room for all that a model appends.
const CAPACITY_BYTES: u64 = 4096;

impl LogSegment for Segment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len_bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Ok(())
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes.load(Ordering::SeqCst)
    }

    fn capacity_bytes(&self) -> u64 {
        CAPACITY_BYTES
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::new(Syncer {
            segment: self.clone(),
            made_at_bytes: self.len_bytes(),
        })
    }
}

#[derive(Debug)]
struct Syncer {
    segment: Segment,
    made_at_bytes: u64,
}

impl Syncer {
    fn sync_once(&self) -> io::Result<()> {
        let Segment {
            disk,
            planted,
            has_failed,
            len_bytes,
            synced_bytes,
        } = &self.segment;
        let number = disk.sync_count.fetch_add(1, Ordering::SeqCst);
        let reached = match planted {
            Planted::ShortSync => self.made_at_bytes,
            _ => len_bytes.load(Ordering::SeqCst),
        };
        thread::yield_now();
        if disk.failing_sync == Some(number) {
            has_failed.store(true, Ordering::SeqCst);
            return Err(io::Error::other("the disk failed"));
        }
        if !has_failed.load(Ordering::SeqCst) {
            synced_bytes.fetch_max(reached, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl SegmentSync for Syncer {
    fn sync(&self) -> io::Result<()> {
        match self.sync_once() {
            Err(_) if self.segment.planted == Planted::RetriedSync => self.sync_once(),
            outcome => outcome,
        }
    }
}

/// A log with its segments, the oldest first.
struct Log {
    writer: LogWriter<Segment>,
    disk: Arc<Disk>,
    planted: Planted,
    segments: crate::Mutex<Vec<Segment>>,
}

impl Log {
    fn begin(failing_sync: Option<usize>, planted: Planted) -> Log {
        // The first sync is that of the first segment's header.
        let failing_sync = failing_sync.map(|number| number + 1);
        let disk = Arc::new(Disk {
            failing_sync,
            ..Disk::default()
        });
        let (segment, prepared) = Log::segment(&disk, planted, 1);
        Log {
            writer: LogWriter::begin(prepared.unwrap(), None).unwrap(),
            disk,
            planted,
            segments: crate::Mutex::new(vec![segment]),
        }
    }

    fn segment(
        disk: &Arc<Disk>,
        planted: Planted,
        number: u64,
    ) -> (Segment, Result<PreparedSegment<Segment>, LogError>) {
        let segment = Segment {
            disk: Arc::clone(disk),
            planted,
            has_failed: Arc::default(),
            len_bytes: Arc::default(),
            synced_bytes: Arc::default(),
        };
        let header = FileHeader::log(number, 7, BootId::UNKNOWN);
        (segment.clone(), PreparedSegment::new(segment, header))
    }

    /// Whether all that was appended up to a position is on the disk.
    fn is_durable(&self, position: LogPosition) -> bool {
        let segments = self.segments.lock();
        (1..).zip(segments.iter()).all(|(number, segment)| {
            let needed_bytes = match number.cmp(&position.segment) {
                std::cmp::Ordering::Less => segment.len_bytes(),
                std::cmp::Ordering::Equal => position.offset,
                std::cmp::Ordering::Greater => 0,
            };
            segment.synced_bytes.load(Ordering::SeqCst) >= needed_bytes
        })
    }

    fn commit(&self) -> Result<(), LogError> {
        let position = self.writer.append(b"record")?;
        let is_at_work = self.disk.sync_count.load(Ordering::SeqCst) > 1;
        if self.planted != Planted::NoWait || !is_at_work {
            self.writer.sync_through(position)?;
            assert!(self.writer.durable() >= position);
        }
        assert!(self.is_durable(position), "acknowledged before it was durable");
        Ok(())
    }

    /// What one thread does: once refused, always refused.
    fn client(&self) {
        let mut refused = false;
        for _ in 0..COMMITS {
            match self.commit() {
                Ok(()) => assert!(!refused, "a commit went well after a failed sync"),
                Err(error) => {
                    assert!(matches!(error, LogError::SyncFailed { .. }), "{error}");
                    refused = true;
                }
            }
        }
    }

    fn rotate(&self) {
        // Sealed at its end, so that its length stands while the segments are locked.
        let mut segments = self.segments.lock();
        let (segment, prepared) = Log::segment(&self.disk, self.planted, 2);
        if prepared.and_then(|prepared| self.writer.rotate(prepared)).is_ok() {
            segments.push(segment);
        }
    }
}

fn run(log: Log, is_rotated: bool) -> Arc<Log> {
    let log = Arc::new(log);
    let clients = (0..THREADS).map(|_| {
        let log = Arc::clone(&log);
        thread::spawn(move || log.client())
    });
    let mut threads: Vec<_> = clients.collect();
    if is_rotated {
        let log = Arc::clone(&log);
        threads.push(thread::spawn(move || log.rotate()));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    log
}

fn healthy(planted: Planted, is_rotated: bool) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let log = run(Log::begin(None, planted), is_rotated);
        log.writer.sync().unwrap();
        let stats = log.writer.stats();
        assert_eq!(stats.record_count, (THREADS * COMMITS) as u64);
        assert!(
            stats.sync_count <= stats.record_count + 2,
            "syncs are shared: {stats:?}"
        );
    }
}

fn failing(planted: Planted, is_rotated: bool) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let failing_sync = shuttle::rand::thread_rng().gen_range(0..5);
        let log = run(Log::begin(Some(failing_sync), planted), is_rotated);
        // A failed sync of a new segment's header is that segment's own, which is not used then.
        let segments = log.segments.lock();
        if segments
            .iter()
            .any(|segment| segment.has_failed.load(Ordering::SeqCst))
        {
            assert!(log.writer.failure().is_some(), "kept");
            assert!(log.writer.append(b"later").is_err() && log.writer.sync().is_err());
        }
    }
}

#[test]
fn nobody_returns_before_its_record_is_durable() {
    crate::explore("group commit", healthy(Planted::Nothing, false));
    crate::explore("group commit beside a rotation", healthy(Planted::Nothing, true));
}

#[test]
fn a_failed_sync_reaches_everybody_who_waits_and_all_later() {
    crate::explore(
        "group commit on a disk that fails",
        failing(Planted::Nothing, false),
    );
}

#[test]
fn canary_faults_in_group_commit_are_found() {
    crate::must_find(
        "a sync that reaches no further than its handle",
        healthy(Planted::ShortSync, false),
    );
    crate::must_find(
        "a failed sync that is tried again",
        failing(Planted::RetriedSync, false),
    );
    crate::must_find("a caller that does not wait", healthy(Planted::NoWait, false));
}
