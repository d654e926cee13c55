//! One random history of a log, over several lives of the machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tephra_engine::vfs::{Calls, Fault, FaultFs, FileSystem, MemFs, Operation, Rule};
use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogError, LogPosition, LogWriter, PreparedSegment, Replay, ReplayOptions,
    SegmentBytes,
};

use crate::lying_disk::{Liar, LyingSegment};

const CAPACITY_BYTES: u64 = 4_096;

/// How the disk under the log behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disk {
    Honest,
    SkipsSyncs,
    SkipsOldSegments,
}

/// What happened in the histories.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) power_cuts: u64,
    pub(crate) kills: u64,
    pub(crate) records_lost: u64,
    pub(crate) torn_ends: u64,
    pub(crate) segments_given_up: u64,
    pub(crate) failed_syncs: u64,
    pub(crate) failed_appends: u64,
}

struct Random(u64);

impl Random {
    /// SplitMix64, below a limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

pub(crate) struct History<'c> {
    random: Random,
    disk: Disk,
    seen: &'c mut Coverage,
    mem: MemFs,
    fs: FaultFs,
    /// What was appended and not lost, in order.
    logged: Vec<Vec<u8>>,
    /// So many of them must survive a power cut.
    durable_count: usize,
    next_number: u64,
    in_use: Arc<AtomicU64>,
    serial: u64,
}

fn segment_path(number: u64) -> PathBuf {
    Path::new("db").join(format!("{number:06}.log"))
}

impl<'c> History<'c> {
    /// Runs the history of a seed; an error says what was wrong.
    pub(crate) fn run(seed: u64, disk: Disk, seen: &'c mut Coverage) -> Result<(), String> {
        let mem = MemFs::new();
        mem.create_dir_all(Path::new("db")).expect("no faults yet");
        mem.sync_dir(Path::new("")).expect("no faults yet");
        let mut history = Self {
            random: Random(seed),
            disk,
            seen,
            fs: FaultFs::new(Arc::new(mem.clone())),
            mem,
            logged: Vec::new(),
            durable_count: 0,
            next_number: 1,
            in_use: Arc::default(),
            serial: 0,
        };
        let lives = 2 + history.random.below(4);
        for _ in 0..lives {
            let end = history.recover()?;
            history.live(end);
            history.end_of_life();
        }
        history.recover().map(drop)
    }

    /// Replays the log, checks it, and makes what was found durable.
    fn recover(&mut self) -> Result<LogPosition, String> {
        let (replayed, end) = self.replay()?;
        if replayed.len() < self.durable_count {
            return Err(format!(
                "{} records replayed, {} were synced",
                replayed.len(),
                self.durable_count
            ));
        }
        if !self.logged.starts_with(&replayed) {
            return Err(String::from("what replays is no prefix of what was logged"));
        }
        self.seen.records_lost += (self.logged.len() - replayed.len()) as u64;
        self.logged = replayed;
        if self.random.below(4) == 0 && self.replay()?.1 != end {
            return Err(String::from("a second replay ends elsewhere"));
        }
        for number in self.numbers() {
            self.mem.sync_file(&segment_path(number)).expect("no faults now");
        }
        self.durable_count = self.logged.len();
        Ok(end)
    }

    fn numbers(&self) -> Vec<u64> {
        let list = self.mem.list(Path::new("db")).expect("the directory is durable");
        let number = |name: &str| name.trim_end_matches(".log").parse().expect("only logs are here");
        list.iter()
            .map(|entry| number(entry.name.to_str().expect("our names")))
            .collect()
    }

    fn replay(&mut self) -> Result<(Vec<Vec<u8>>, LogPosition), String> {
        let mut files = Vec::new();
        for number in self.numbers() {
            files.push((
                number,
                self.mem.read(&segment_path(number)).map_err(|e| e.to_string())?,
            ));
        }
        let given: Vec<_> = files
            .iter()
            .map(|(number, bytes)| SegmentBytes {
                number: *number,
                bytes,
            })
            .collect();
        let options = ReplayOptions {
            magic: LOG_MAGIC,
            boot_id: BootId(self.mem.boot_id()),
        };
        let mut replay = Replay::new(&given, options).map_err(|error| error.to_string())?;
        let mut records = Vec::new();
        for record in &mut replay {
            records.push(record.map_err(|error| error.to_string())?.payload.to_vec());
        }
        let report = replay.report();
        self.seen.torn_ends += u64::from(!report.dropped.is_empty());
        self.seen.segments_given_up += report.dropped.len().saturating_sub(1) as u64;
        Ok((records, report.end))
    }

    fn prepare(&mut self, capacity_bytes: u64) -> Option<PreparedSegment<LyingSegment>> {
        let number = self.next_number;
        self.next_number += 1;
        let inner = self
            .fs
            .create_segment(&segment_path(number), capacity_bytes)
            .ok()?;
        let liar = Liar {
            disk: self.disk,
            has_header: false.into(),
            number,
            in_use: Arc::clone(&self.in_use),
        };
        let segment = LyingSegment {
            inner,
            liar: Arc::new(liar),
        };
        let header = FileHeader::log(number, self.random.below(u64::MAX), BootId(self.mem.boot_id()));
        let prepared = PreparedSegment::new(segment, header).ok()?;
        self.fs.sync_dir(Path::new("db")).ok()?;
        Some(prepared)
    }

    fn live(&mut self, end: LogPosition) {
        let Some(first) = self.prepare(CAPACITY_BYTES) else {
            return;
        };
        self.in_use.store(first.number(), Ordering::Relaxed);
        let Ok(writer) = LogWriter::begin(first, Some(end)) else {
            return;
        };
        self.plan_faults();
        for _ in 0..self.random.below(60) {
            match self.random.below(12) {
                0 => self.rotate(&writer, CAPACITY_BYTES),
                1 => self.sync(&writer),
                _ => self.append(&writer),
            }
        }
        if self.random.below(6) == 0 && writer.seal().is_ok() {
            self.durable_count = self.logged.len();
        }
    }

    fn plan_faults(&mut self) {
        let rule = match self.random.below(8) {
            0 => Rule::once(Calls::Only(Operation::SyncSegment), Fault::DeviceError)
                .after(self.random.below(4)),
            1 => Rule::once(Calls::Only(Operation::Append), Fault::StorageFull).after(self.random.below(40)),
            2 => Rule::once(Calls::Changing, Fault::DeviceError).after(self.random.below(60)),
            3 => Rule::always(Calls::Changing, Fault::DeviceError).after(self.random.below(60)),
            4 => return self.mem.fail_sync_after(self.random.below(6)),
            _ => return,
        };
        self.fs.add(rule);
    }

    fn append(&mut self, writer: &LogWriter<LyingSegment>) {
        self.serial += 1;
        let limit = if self.random.below(10) == 0 { 9_000 } else { 300 };
        let len = self.random.below(limit);
        let mut record = self.serial.to_le_bytes().to_vec();
        record.extend((0..len).map(|i| (i % 7 * self.serial).to_le_bytes()[0]));
        // Not zero: half of a record, and then zeros, is never the whole of it.
        record.push(0xFF);
        let mut outcome = writer.append(&record);
        if let Err(LogError::SegmentFull { .. }) = outcome {
            self.rotate(
                writer,
                CAPACITY_BYTES.max(tephra_wal::segment_capacity_for(record.len() as u64)),
            );
            outcome = writer.append(&record);
        }
        match outcome {
            Ok(_) => self.logged.push(record),
            Err(LogError::SegmentFailed { .. }) => {
                self.seen.failed_appends += 1;
                self.rotate(writer, CAPACITY_BYTES);
            }
            Err(_) => {}
        }
    }

    fn rotate(&mut self, writer: &LogWriter<LyingSegment>, capacity_bytes: u64) {
        if let Some(next) = self.prepare(capacity_bytes) {
            let number = next.number();
            if writer.rotate(next).is_ok() {
                self.in_use.store(number, Ordering::Relaxed);
            }
        }
    }

    fn sync(&mut self, writer: &LogWriter<LyingSegment>) {
        match writer.sync() {
            Ok(()) => self.durable_count = self.logged.len(),
            Err(_) => self.seen.failed_syncs += 1,
        }
    }

    /// The machine that comes up next.
    fn end_of_life(&mut self) {
        if self.random.below(2) == 0 {
            self.seen.power_cuts += 1;
            self.mem = self.mem.after_power_cut(self.random.below(u64::MAX));
        } else {
            self.seen.kills += 1;
            // The process is gone, what it wrote is not.
            self.durable_count = self.logged.len();
            self.mem = self.mem.after_kill();
        }
        self.fs = FaultFs::new(Arc::new(self.mem.clone()));
    }
}
