//! Shared by the tests of the log: a deterministic source of numbers, a segment whose syncs are counted and can fail, and short
//! ways to write and read a log.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogPosition, LogSegment, LogWriter, MemorySegment, PreparedSegment,
    Replay, ReplayError, ReplayOptions, ReplayReport, SegmentBytes, SegmentSync,
};

/// SplitMix64: a seed stays a seed, whatever version of whatever crate.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Bytes of which a quarter are zero.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len)
            .map(|_| if self.below(4) == 0 { 0 } else { self.next() as u8 })
            .collect()
    }
}

pub(crate) const BOOT: BootId = BootId([1; 16]);
pub(crate) const NEXT_BOOT: BootId = BootId([2; 16]);
pub(crate) const THIRD_BOOT: BootId = BootId([3; 16]);

/// A segment in memory whose syncs take a while, are counted, and fail on request.
#[derive(Clone, Debug)]
pub(crate) struct TestSegment {
    pub(crate) memory: MemorySegment,
    pub(crate) disk: Arc<TestDisk>,
    /// Appends beyond this many bytes write half and fail.
    pub(crate) breaks_at: u64,
}

#[derive(Debug, Default)]
pub(crate) struct TestDisk {
    pub(crate) sync_count: AtomicU64,
    pub(crate) sync_fails: AtomicBool,
    pub(crate) sync_takes: Duration,
    /// While set, the disk has room for what was appended and no more.
    pub(crate) is_full: AtomicBool,
}

impl TestSegment {
    pub(crate) fn new(capacity_bytes: u64) -> Self {
        Self {
            memory: MemorySegment::new(capacity_bytes),
            disk: Arc::default(),
            breaks_at: u64::MAX,
        }
    }
}

impl LogSegment for TestSegment {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.len_bytes() + bytes.len() as u64 > self.breaks_at {
            self.memory.append(&bytes[..bytes.len() / 2])?;
            return Err(io::Error::other("the cable fell out"));
        }
        self.memory.append(bytes)
    }

    fn make_room(&mut self, _len_bytes: u64) -> io::Result<()> {
        match self.disk.is_full.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    fn len_bytes(&self) -> u64 {
        self.memory.len_bytes()
    }

    fn capacity_bytes(&self) -> u64 {
        self.memory.capacity_bytes()
    }

    fn syncer(&self) -> Arc<dyn SegmentSync> {
        Arc::clone(&self.disk) as Arc<dyn SegmentSync>
    }
}

impl SegmentSync for TestDisk {
    fn sync(&self) -> io::Result<()> {
        self.sync_count.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.sync_takes);
        if self.sync_fails.load(Ordering::Relaxed) {
            return Err(io::Error::other("the platter cracked"));
        }
        Ok(())
    }
}

/// A prepared segment in memory, and a second handle to its bytes.
pub(crate) fn prepared(
    number: u64,
    boot: BootId,
    capacity_bytes: u64,
) -> (PreparedSegment<MemorySegment>, MemorySegment) {
    let segment = MemorySegment::new(capacity_bytes);
    let header = FileHeader::log(number, 0xABCD_0000 + number, boot);
    (PreparedSegment::new(segment.clone(), header).unwrap(), segment)
}

/// A log of one segment, number 7, with these records.
pub(crate) fn log_of(records: &[&[u8]]) -> (LogWriter<MemorySegment>, MemorySegment) {
    let (prepared, segment) = prepared(7, BOOT, 1 << 20);
    let writer = LogWriter::begin(prepared, None).unwrap();
    for record in records {
        writer.append(record).unwrap();
    }
    (writer, segment)
}

pub(crate) type Outcome = Result<(Vec<Vec<u8>>, ReplayReport), ReplayError>;

/// Replays segments in the given boot.
pub(crate) fn replay(segments: &[(u64, &[u8])], boot_id: BootId) -> Outcome {
    let given: Vec<_> = segments
        .iter()
        .map(|&(number, bytes)| SegmentBytes { number, bytes })
        .collect();
    let mut replay = Replay::new(
        &given,
        ReplayOptions {
            magic: LOG_MAGIC,
            boot_id,
        },
    )?;
    let mut records = Vec::new();
    for record in &mut replay {
        records.push(record?.payload.to_vec());
    }
    Ok((records, replay.report().clone()))
}

pub(crate) fn replay_one(bytes: &[u8], boot_id: BootId) -> Outcome {
    replay(&[(7, bytes)], boot_id)
}

pub(crate) fn at(segment: u64, offset: u64) -> LogPosition {
    LogPosition { segment, offset }
}
