//! Time by the processor's time stamp counter, and what the kernel says of this process.
//!
//! ```text
//! start   op   op   op   op         one reading of the counter an operation: the end of one is the start of the next,
//!   |----|----|--|-------|          so latencies add up to the time that throughput is computed from
//! ```

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use quanta::Clock;

/// Significant digits of a latency. More make the histogram compete with the engine for the processor's caches.
const DIGITS: u8 = 2;
/// Longest latency told from longer ones, in ticks.
const TICKS_MAX: u64 = 1 << 42;
/// An engine is quiet when it used less than this share of a processor for [`QUIET_FOR`].
const QUIET_SHARE: f64 = 0.05;
const QUIET_FOR: Duration = Duration::from_millis(300);
const QUIET_AFTER_MAX: Duration = Duration::from_secs(180);

/// Times the operations of one thread.
pub(crate) struct Recorder {
    clock: Clock,
    histogram: Histogram<u64>,
    start: u64,
    last: u64,
    end: u64,
    ops: u64,
    /// Processor time of this thread, at the start and of threads that were joined.
    thread_seconds_before: f64,
    thread_seconds_joined: f64,
}

impl Recorder {
    /// Starts now, and says after `seconds` that it is over.
    pub(crate) fn start(clock: &Clock, seconds: f64) -> Recorder {
        let ticks_a_second = 1e9 / clock.delta_as_nanos(0, 1_000_000_000) as f64 * 1e9;
        let histogram = Histogram::new_with_bounds(1, TICKS_MAX, DIGITS).unwrap();
        let start = clock.raw();
        let end = start.saturating_add((seconds * ticks_a_second) as u64);
        Recorder {
            clock: clock.clone(),
            histogram,
            start,
            last: start,
            end,
            ops: 0,
            thread_seconds_before: thread_seconds(),
            thread_seconds_joined: 0.0,
        }
    }

    /// An operation that ended now, of `count` records. Says whether there is time for another.
    #[inline]
    pub(crate) fn done(&mut self, count: u64) -> bool {
        let now = self.clock.raw();
        self.histogram.saturating_record(now.saturating_sub(self.last));
        self.last = now;
        self.ops += count;
        now < self.end
    }

    /// A recorder that starts now and is over at the same time, for another thread.
    pub(crate) fn beside(&self) -> Recorder {
        let mut recorder = Recorder::start(&self.clock, 0.0);
        recorder.end = self.end;
        recorder
    }

    /// Takes the processor time of this thread, another than it was made by, from now on.
    pub(crate) fn on_this_thread(mut self) -> Recorder {
        self.thread_seconds_before = thread_seconds();
        self
    }

    /// Takes the processor time of this thread, which is done.
    pub(crate) fn stop(mut self) -> Recorder {
        self.thread_seconds_joined = thread_seconds() - self.thread_seconds_before;
        self
    }

    /// Adds the operations of another thread, which ran at the same time and has stopped.
    pub(crate) fn join(&mut self, other: &Recorder) {
        self.thread_seconds_joined += other.thread_seconds_joined;
        self.histogram.add(&other.histogram).unwrap();
        self.ops += other.ops;
        self.start = self.start.min(other.start);
        self.last = self.last.max(other.last);
    }

    /// What it saw; called by the thread that ran the operations, after the last of them.
    pub(crate) fn timing(&self) -> Timing {
        let at = |quantile: f64| {
            self.clock
                .delta_as_nanos(0, self.histogram.value_at_quantile(quantile)) as f64
                / 1e3
        };
        let seconds = self.clock.delta_as_nanos(self.start, self.last) as f64 / 1e9;
        Timing {
            ops: self.ops,
            seconds,
            thread_seconds: thread_seconds() - self.thread_seconds_before + self.thread_seconds_joined,
            ops_per_s: self.ops as f64 / seconds,
            p50_us: at(0.5),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: at(1.0),
        }
    }
}

/// What a recorder saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) ops: u64,
    pub(crate) seconds: f64,
    /// Processor time of the threads that asked for the operations.
    pub(crate) thread_seconds: f64,
    pub(crate) ops_per_s: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) max_us: f64,
}

/// What this process has used so far, all threads together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) cpu_seconds: f64,
    /// Bytes of pages of files made dirty, by system calls or through mappings (`write_bytes`). On tmpfs always 0.
    pub(crate) write_bytes: u64,
    /// Bytes given to system calls that write (`wchar`).
    pub(crate) call_bytes: u64,
}

impl Usage {
    pub(crate) fn now() -> Usage {
        let io = std::fs::read_to_string("/proc/self/io").unwrap();
        let of = |name: &str| field(&io, name);
        Usage {
            cpu_seconds: cpu_seconds(),
            write_bytes: of("write_bytes:"),
            call_bytes: of("wchar:"),
        }
    }

    pub(crate) fn since(self, before: Usage) -> Usage {
        Usage {
            cpu_seconds: self.cpu_seconds - before.cpu_seconds,
            write_bytes: self.write_bytes - before.write_bytes,
            call_bytes: self.call_bytes - before.call_bytes,
        }
    }
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn cpu_seconds() -> f64 {
    // SAFETY: all-zero bytes are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Processor time of the calling thread.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the clock of a thread's processor time");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Forgets the peak of resident memory.
pub(crate) fn reset_peak_memory() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Peak of resident memory since it was reset (`VmHWM`): heap and mapped files.
pub(crate) fn peak_memory_bytes() -> u64 {
    field(&std::fs::read_to_string("/proc/self/status").unwrap(), "VmHWM:") << 10
}

/// Resident memory that belongs to no file (`RssAnon`), now.
pub(crate) fn heap_bytes() -> u64 {
    field(&std::fs::read_to_string("/proc/self/status").unwrap(), "RssAnon:") << 10
}

/// Bytes that the files below a directory take on the disk.
pub(crate) fn disk_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(file) if file.is_dir() => disk_bytes(&entry.path()),
            Ok(file) => file.blocks() * 512,
            Err(_) => 0, // removed meanwhile
        })
        .sum()
}

/// Waits until the threads in the background have nothing left to do: the same test for every engine.
pub(crate) fn wait_until_quiet() {
    let begin = Instant::now();
    while begin.elapsed() < QUIET_AFTER_MAX {
        let before = cpu_seconds();
        std::thread::sleep(QUIET_FOR);
        if cpu_seconds() - before < QUIET_SHARE * QUIET_FOR.as_secs_f64() {
            return;
        }
    }
}
