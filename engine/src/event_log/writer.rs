//! Writes the log; see the head of `event_log/mod.rs`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::HEADER;
use super::line;
use super::queue::Queue;
use crate::clock::Clock;
use crate::event::Event;
use crate::file_name::FileName;
use crate::vfs::{FileSystem, FsError, Operation, WritableFile};

/// Largest size of the file that may be asked for, in bytes: it is read whole at every open.
pub(crate) const EVENT_LOG_BYTES_MAX: u64 = 64 << 20;
/// Pause after a failure, doubled for each further one of a row.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// Ends a torn line, so that it is none.
const TORN: &[u8] = b" torn\n";

/// The log of one database.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    /// From a successful open for writing to the close.
    is_on: AtomicBool,
    setting: Option<Setting>,
    queue: Mutex<Queue>,
    /// Held by the thread that writes.
    out: Mutex<Out>,
    /// Events that were never written.
    lost_count: AtomicU64,
}

/// Where the log is kept.
#[derive(Debug)]
struct Setting {
    file_system: Arc<dyn FileSystem>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
    old_path: PathBuf,
    len_bytes_max: u64,
}

/// The file, if it is open.
#[derive(Debug, Default)]
struct Out {
    file: Option<Box<dyn WritableFile>>,
    len_bytes: u64,
    /// Failures since the last success.
    failure_count: u32,
    /// No try before this moment.
    next_try_ns: u64,
}

impl EventLog {
    /// The log in a directory, not begun yet. A size of 0 is no log.
    pub(crate) fn new(
        file_system: Arc<dyn FileSystem>,
        clock: Arc<dyn Clock>,
        directory: &Path,
        len_bytes_max: u64,
    ) -> Self {
        let setting = Setting {
            file_system,
            clock,
            path: FileName::Events.in_dir(directory),
            old_path: FileName::EventsOld.in_dir(directory),
            len_bytes_max,
        };
        EventLog {
            setting: (len_bytes_max > 0).then_some(setting),
            ..EventLog::default()
        }
    }

    /// From here on events are kept.
    pub(crate) fn begin(&self) {
        self.is_on.store(self.setting.is_some(), Ordering::Release);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// Events that were not written since the database was opened.
    pub(crate) fn lost_count(&self) -> u64 {
        self.lost_count.load(Ordering::Relaxed) + self.queue.lock().lost_count
    }

    /// Keeps an event for the next [`write`](Self::write). May be called under any lock.
    pub(crate) fn note(&self, event: &Event) {
        if let Some(setting) = self.setting.as_ref().filter(|_| self.is_on())
            && let Some(line) = line::render(setting.clock.wall_ms(), event)
        {
            self.queue.lock().push(line);
        }
    }

    /// A commit was delayed.
    pub(crate) fn note_slowdown(&self, waited: Duration) {
        if let Some(setting) = self.setting.as_ref().filter(|_| self.is_on()) {
            let wall_ms = setting.clock.wall_ms();
            self.queue.lock().slowdowns.add(waited, wall_ms);
        }
    }

    /// A commit was stopped.
    pub(crate) fn note_stall(&self, waited: Duration) {
        if let Some(setting) = self.setting.as_ref().filter(|_| self.is_on()) {
            let wall_ms = setting.clock.wall_ms();
            self.queue.lock().stalls.add(waited, wall_ms);
        }
    }

    /// Writes what waits. To be called without any lock, and not by a commit. Where another thread is at it, that one does it.
    pub(crate) fn write(&self) {
        let Some(setting) = self.setting.as_ref().filter(|_| self.is_on()) else {
            return;
        };
        // Looked at again after letting go: what came meanwhile found this thread writing.
        while !self.queue.lock().is_empty() {
            let Some(mut out) = self.out.try_lock() else {
                return;
            };
            let (lines, lost_count) = self.queue.lock().take(setting.clock.wall_ms());
            let event_count = lines.len() as u64 - u64::from(lost_count > 0);
            if out.write(setting, &lines) {
                self.lost_count.fetch_add(lost_count, Ordering::Relaxed);
            } else {
                self.queue.lock().lost_count += event_count + lost_count;
            }
        }
    }

    /// Writes what waits for the last time.
    pub(crate) fn end(&self) {
        self.write();
        self.is_on.store(false, Ordering::Release);
        self.out.lock().file = None;
    }
}

impl Out {
    /// Writes lines, if the last failure is long enough ago. Returns whether they are in the file.
    fn write(&mut self, setting: &Setting, lines: &[String]) -> bool {
        let now_ns = setting.clock.now_ns();
        if self.failure_count > 0 && now_ns < self.next_try_ns {
            return false;
        }
        match self.try_write(setting, lines) {
            Ok(()) => {
                self.failure_count = 0;
                true
            }
            Err(_) => {
                self.file = None;
                let pause = PAUSE_MIN
                    .saturating_mul(1 << self.failure_count.min(10))
                    .min(PAUSE_MAX);
                self.failure_count = self.failure_count.saturating_add(1);
                self.next_try_ns = now_ns.saturating_add(u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
                false
            }
        }
    }

    fn try_write(&mut self, setting: &Setting, lines: &[String]) -> Result<(), FsError> {
        if self.file.is_none() {
            self.open(setting)?;
        }
        let mut waiting = String::new();
        for line in lines {
            let has_lines = self.len_bytes > HEADER.len() as u64;
            if has_lines && self.len_bytes + line.len() as u64 > setting.len_bytes_max {
                self.append(setting, std::mem::take(&mut waiting).as_bytes())?;
                self.rotate(setting)?;
            }
            waiting.push_str(line);
            self.len_bytes += line.len() as u64;
        }
        self.append(setting, waiting.as_bytes())
    }

    fn append(&mut self, setting: &Setting, bytes: &[u8]) -> Result<(), FsError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut write = || -> io::Result<()> {
            file.write_all(bytes)?;
            file.flush()
        };
        write().map_err(|cause| FsError::of(Operation::Write, &setting.path, cause))
    }

    /// Opens the file at its end, or begins a new one.
    fn open(&mut self, setting: &Setting) -> Result<(), FsError> {
        let files = &setting.file_system;
        match files.len_bytes(&setting.path) {
            Err(error) if error.is_not_found() => return self.create(setting),
            Err(error) => return Err(error),
            // It has grown under a larger limit, or is somebody else's.
            Ok(len_bytes) if len_bytes >= setting.len_bytes_max => return self.rotate(setting),
            Ok(_) => {}
        }
        let bytes = files.read(&setting.path)?;
        if !bytes.starts_with(HEADER.as_bytes()) {
            return self.rotate(setting);
        }
        self.file = Some(files.open_append(&setting.path)?);
        self.len_bytes = bytes.len() as u64;
        if bytes.last() != Some(&b'\n') {
            // A crash has torn the last line: what is left of it must not be taken for a whole one.
            self.append(setting, TORN)?;
            self.len_bytes += TORN.len() as u64;
        }
        Ok(())
    }

    /// Makes the file the old one, and begins a new one.
    fn rotate(&mut self, setting: &Setting) -> Result<(), FsError> {
        self.file = None;
        setting.file_system.rename(&setting.path, &setting.old_path)?;
        self.create(setting)
    }

    fn create(&mut self, setting: &Setting) -> Result<(), FsError> {
        self.file = Some(setting.file_system.create_new(&setting.path)?);
        self.len_bytes = HEADER.len() as u64;
        self.append(setting, HEADER.as_bytes())
    }
}
