//! What a record costs the log: appended, and made durable, alone and by eight threads that share syncs.
//!
//! ```text
//! cargo bench --bench wal -- [--json] [--quick] [--filter TEXT] [--dir DIR]
//! ```
//!
//! The variants of a group alternate in every round. Records have 140 bytes. Durable commits depend on the disk under `--dir` (a
//! directory of its own is made there and removed; default: the system's place for temporary files); appends do not. What was
//! written is replayed and counted outside the timer.

#![expect(clippy::print_stdout, reason = "the results are the output")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tephra_engine::clock::{Clock, SystemClock};
use tephra_engine::vfs::{FileSystem, StdFs};
use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogSegment, LogWriter, MemorySegment, PreparedSegment, Replay,
    ReplayOptions, SegmentBytes,
};

const RECORD: [u8; 140] = [0x5A; 140];
const CAPACITY_BYTES: u64 = 64 << 20;
const APPEND_COUNT: usize = 400_000;
const THREAD_COUNT: usize = 8;

struct Bench {
    clock: SystemClock,
    fs: StdFs,
    dir: TempDir,
    file_count: u64,
    quick: bool,
    json: bool,
    /// Only variants whose fixture or name contains this.
    filter: String,
    add_ns: f64,
}

/// A name, and one round of it.
type Variant = (&'static str, fn(&mut Bench) -> f64);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let value = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1).cloned()
    };
    let dir = value("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let clock = SystemClock::new();
    let mut bench = Bench {
        clock,
        fs: StdFs::new(),
        dir: TempDir::with_prefix_in("tephra-bench-", dir).expect("a directory for the logs"),
        file_count: 0,
        quick: has("--quick"),
        json: has("--json"),
        filter: value("--filter").unwrap_or_default(),
        add_ns: add_ns(&clock),
    };
    bench.appends();
    bench.commits();
}

/// Nanoseconds of an addition that waits for the one before: tells machines apart.
fn add_ns(clock: &SystemClock) -> f64 {
    let start = clock.now_ns();
    let mut sum = 1_u64;
    for i in 0..20_000_000_u64 {
        sum = std::hint::black_box(sum + i);
    }
    let elapsed = clock.now_ns() - start;
    std::hint::black_box(sum);
    elapsed as f64 / 20_000_000.0
}

impl Bench {
    /// A round of each variant in turn, as often as it takes; then a line each.
    fn alternate(&mut self, fixture: &str, metric: &str, variants: &[Variant]) {
        let rounds = if self.quick { 5 } else { 15 };
        let filter = self.filter.clone();
        let is_selected = |(name, _): &&Variant| fixture.contains(&filter) || name.contains(&filter);
        let variants: Vec<_> = variants.iter().filter(is_selected).collect();
        let mut samples = vec![Vec::new(); variants.len()];
        for _ in 0..rounds {
            for (samples, (_, run)) in samples.iter_mut().zip(&variants) {
                samples.push(run(self));
            }
        }
        for (mut samples, (variant, _)) in samples.into_iter().zip(variants) {
            samples.sort_by(f64::total_cmp);
            let (min, median, max) = (samples[0], samples[samples.len() / 2], samples[samples.len() - 1]);
            if self.json {
                println!(
                    "{{\"bench\":\"wal\",\"fixture\":\"{fixture}\",\"records\":{APPEND_COUNT},\"variant\":\"{variant}\",\
                     \"metric\":\"{metric}\",\"median\":{median:.2},\"min\":{min:.2},\"max\":{max:.2},\"samples\":{},\"add_ns\":{:.3}}}",
                    samples.len(),
                    self.add_ns
                );
            } else {
                println!("{fixture:8} {variant:32} {median:10.2} {metric} ({min:.2} to {max:.2})");
            }
        }
    }

    fn path(&mut self) -> PathBuf {
        self.file_count += 1;
        self.dir.path().join(format!("{}.log", self.file_count))
    }

    fn writer(&self, segment: Box<dyn LogSegment>) -> LogWriter<Box<dyn LogSegment>> {
        let header = FileHeader::log(1, 99, BootId(self.fs.boot_id()));
        let prepared = PreparedSegment::new(segment, header).expect("a fresh segment");
        LogWriter::begin(prepared, None).expect("a fresh segment")
    }

    /// Nanoseconds an append, over a whole segment.
    fn time_appends(&self, mut append: impl FnMut()) -> f64 {
        let start = self.clock.now_ns();
        for _ in 0..APPEND_COUNT {
            append();
        }
        (self.clock.now_ns() - start) as f64 / APPEND_COUNT as f64
    }

    fn check(&self, bytes: &[u8], expected: usize) {
        let options = ReplayOptions {
            magic: LOG_MAGIC,
            boot_id: BootId(self.fs.boot_id()),
        };
        let replay = Replay::new(&[SegmentBytes { number: 1, bytes }], options).expect("a good log");
        assert_eq!(
            replay
                .filter(|record| record.expect("a good record").payload == RECORD)
                .count(),
            expected
        );
    }

    fn check_file(&self, path: &Path, expected: usize) {
        self.check(&self.fs.read(path).expect("the log"), expected);
        self.fs.remove(path).expect("the log");
    }

    fn appends(&mut self) {
        self.alternate(
            "append",
            "ns_per_append",
            &[
                ("log on a mapping", |bench| {
                    let path = bench.path();
                    let segment = bench
                        .fs
                        .create_segment(&path, CAPACITY_BYTES)
                        .expect("room for a segment");
                    let writer = bench.writer(segment);
                    let ns = bench.time_appends(|| _ = writer.append(&RECORD).expect("room for a record"));
                    bench.check_file(&path, APPEND_COUNT);
                    ns
                }),
                ("mapping alone, no checksums", |bench| {
                    let path = bench.path();
                    let mut segment = bench
                        .fs
                        .create_segment(&path, CAPACITY_BYTES)
                        .expect("room for a segment");
                    let ns = bench.time_appends(|| {
                        segment.append(&[1; 13]).expect("room for a header");
                        segment.append(&RECORD).expect("room for a record");
                    });
                    bench.fs.remove(&path).expect("the segment");
                    ns
                }),
                ("log in memory", |bench| {
                    let memory = MemorySegment::new(CAPACITY_BYTES);
                    let writer = bench.writer(Box::new(memory.clone()));
                    let ns = bench.time_appends(|| _ = writer.append(&RECORD).expect("room for a record"));
                    bench.check(&memory.to_vec(), APPEND_COUNT);
                    ns
                }),
                ("a write call each", |bench| {
                    let path = bench.path();
                    let mut file = bench.fs.create_new(&path).expect("a new file");
                    let ns = bench.time_appends(|| {
                        file.write_all(&RECORD)
                            .and_then(|()| file.flush())
                            .expect("room for a record");
                    });
                    bench.fs.remove(&path).expect("the file");
                    ns
                }),
            ],
        );
    }

    /// Microseconds a durable commit, by so many threads.
    fn time_commits(&mut self, thread_count: usize) -> f64 {
        let commits = if self.quick { 50 } else { 200 };
        let path = self.path();
        let segment = self
            .fs
            .create_segment(&path, 4 << 20)
            .expect("room for a segment");
        let writer = self.writer(segment);
        let start = self.clock.now_ns();
        std::thread::scope(|scope| {
            for _ in 0..thread_count {
                scope.spawn(|| {
                    for _ in 0..commits {
                        let position = writer.append(&RECORD).expect("room for a record");
                        writer.sync_through(position).expect("a disk that works");
                    }
                });
            }
        });
        let elapsed_us = (self.clock.now_ns() - start) as f64 / 1e3;
        self.check_file(&path, commits * thread_count);
        elapsed_us / (commits * thread_count) as f64
    }

    fn commits(&mut self) {
        self.alternate(
            "durable",
            "us_per_commit",
            &[
                ("one thread", |bench| bench.time_commits(1)),
                ("eight threads sharing syncs", |bench| {
                    bench.time_commits(THREAD_COUNT)
                }),
                ("write and sync a file, one thread", |bench| {
                    let commits = if bench.quick { 50 } else { 200 };
                    let path = bench.path();
                    let mut file = bench.fs.create_new(&path).expect("a new file");
                    let start = bench.clock.now_ns();
                    for _ in 0..commits {
                        file.write_all(&RECORD).expect("room for a record");
                        file.sync().expect("a disk that works");
                    }
                    let elapsed_us = (bench.clock.now_ns() - start) as f64 / 1e3;
                    bench.fs.remove(&path).expect("the file");
                    elapsed_us / f64::from(commits)
                }),
            ],
        );
    }
}
