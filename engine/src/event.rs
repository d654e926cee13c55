//! Events: what the database does beside its callers, told to listeners.
//!
//! ```text
//! whoever does something   --emit-->   queue   --deliver, without a lock of the engine-->   listeners, one event at a time
//! ```
//!
//! Events are queued where they happen, often under locks, and handed out by the next thread that holds none: at the end of a
//! commit that waited, of a step of background work, of a call that made an edit. One thread delivers at a time, so the
//! order is that of the queue; a listener may call the database. Its panics are caught and counted. Without listeners nothing
//! is queued for them. The event log (`event_log/mod.rs`) is told first, and keeps what it tells in a queue of its own.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::Error;
use crate::event_log::EventLog;

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A frozen memtable begins to be flushed. Listeners may be told only when it has ended.
    FlushBegun {
        /// Its entries, deletes included.
        entry_count: usize,
        /// Memory it is taken to hold, in bytes.
        memtable_bytes: usize,
    },
    /// That flush ended; tables and edit are durable, unless it failed.
    FlushEnded {
        /// Tables written, at most one a keyspace unless records do not compose.
        table_count: usize,
        /// Records in them.
        record_count: u64,
        /// Bytes of the tables written.
        written_bytes: u64,
        /// How long it took.
        took: Duration,
        /// Why it failed.
        error: Option<Arc<Error>>,
    },
    /// A compaction begins.
    CompactionBegun {
        /// Counts compactions since the database was opened; its end has the same.
        number: u64,
        /// Name of the keyspace.
        keyspace: String,
        /// What is done with which tables, and why, as the picker says it.
        job: String,
        /// `merge`, `move` or `drop`.
        kind: &'static str,
        /// Why, as the picker says it.
        reason: String,
        /// What it takes from which level, oldest records first.
        inputs: Vec<CompactionInput>,
        /// The level of its output.
        output_level: u32,
        /// Bytes of the input tables.
        input_bytes: u64,
        /// Records in the input tables, dead ones included.
        input_record_count: u64,
    },
    /// That compaction ended.
    CompactionEnded {
        /// That of its begin.
        number: u64,
        /// Name of the keyspace.
        keyspace: String,
        /// `merge`, `move` or `drop`.
        kind: &'static str,
        /// The level of its output.
        output_level: u32,
        /// Tables written; none where tables were moved or dropped.
        table_count: usize,
        /// Records in them.
        record_count: u64,
        /// Bytes of the tables written; none where tables were moved or dropped.
        written_bytes: u64,
        /// How long it took.
        took: Duration,
        /// Why it failed.
        error: Option<Arc<Error>>,
    },
    /// A writer stops until flush or compaction have caught up.
    StallBegun,
    /// It goes on.
    StallEnded {
        /// How long it waited.
        waited: Duration,
    },
    /// A table became part of the database.
    TableCreated {
        /// Its file number.
        number: u64,
        /// Its level.
        level: u32,
        /// Length of its file in bytes.
        len_bytes: u64,
    },
    /// The file of a table was removed, after the last reader let go of it.
    TableRemoved {
        /// Its file number.
        number: u64,
    },
    /// Sorted records were taken in as tables.
    Ingested {
        /// Name of the keyspace.
        keyspace: String,
        /// Tables taken in.
        table_count: usize,
        /// Records in them.
        record_count: u64,
        /// Bytes of the tables.
        written_bytes: u64,
    },
    /// An instant was made a database of its own.
    Checkpointed {
        /// Its directory.
        path: PathBuf,
        /// Tables of the instant.
        table_count: usize,
        /// How long it took, its flush included.
        took: Duration,
    },
    /// The database was opened for writing.
    Opened {
        /// Tables of the version.
        table_count: usize,
        /// Bytes of their files.
        table_bytes: u64,
        /// Log bytes that were never completely written.
        dropped_log_bytes: u64,
        /// How long it took.
        took: Duration,
    },
    /// The database is closed: the last event. What look-ups came to since it was opened is told with it.
    Closed {
        /// Look-ups of a key in a table that its filter turned away.
        filter_negative_count: u64,
        /// Look-ups that found the key, dead or alive.
        filter_true_positive_count: u64,
        /// Look-ups that the filter let pass in vain.
        filter_false_positive_count: u64,
    },
    /// A flush or compaction failed; it is tried again.
    BackgroundFailed {
        /// Why.
        error: Arc<Error>,
    },
    /// Nothing is written any more until the database is opened again.
    WriterStopped {
        /// The first failure.
        cause: Arc<Error>,
    },
}

/// What a compaction takes from one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactionInput {
    /// The level.
    pub level: u32,
    /// Tables taken from it.
    pub table_count: usize,
}

/// Is told of events; see [`Options::listener`](crate::Options::listener).
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tephra_engine::{Db, Event, EventListener, Options};
///
/// #[derive(Debug, Default)]
/// struct Counter(AtomicUsize);
///
/// impl EventListener for Counter {
///     fn on_event(&self, _event: &Event) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let counter = Arc::new(Counter::default());
/// let db = Db::open(path, Options::default().listener(counter.clone()))?;
/// db.put("a", "1")?;
/// db.flush()?;
/// assert!(counter.0.load(Ordering::Relaxed) > 0);
/// # Ok(()) }
/// ```
pub trait EventListener: Send + Sync + fmt::Debug {
    /// Called on some thread that works with the database, without a lock of it, for one event at a time. The thread waits until it
    /// returns. It may call the database; events of that are told later.
    fn on_event(&self, event: &Event);
}

/// The queue of one database.
#[derive(Debug, Default)]
pub(crate) struct Events {
    listeners: Vec<Arc<dyn EventListener>>,
    log: EventLog,
    queue: Mutex<VecDeque<Event>>,
    /// Held by the thread that delivers.
    delivering: Mutex<()>,
    panic_count: AtomicU64,
}

impl Events {
    pub(crate) fn new(listeners: Vec<Arc<dyn EventListener>>, log: EventLog) -> Arc<Events> {
        Arc::new(Events {
            listeners,
            log,
            ..Events::default()
        })
    }

    /// Queues an event. May be called under any lock; `event` is not called where nobody is told.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if self.listeners.is_empty() && !self.log.is_on() {
            return;
        }
        let event = event();
        self.log.note(&event);
        if !self.listeners.is_empty() {
            self.queue.lock().push_back(event);
        }
    }

    /// The event log.
    pub(crate) fn log(&self) -> &EventLog {
        &self.log
    }

    /// Tells listeners, and writes the log. To be called without any lock, and not by a commit.
    pub(crate) fn deliver(&self) {
        self.tell();
        self.log.write();
    }

    /// Hands out what is queued for listeners. To be called without any lock. Where another thread is at it, that one does it.
    pub(crate) fn tell(&self) {
        if self.listeners.is_empty() {
            return;
        }
        // Looked at again after letting go: what came meanwhile found this thread delivering.
        while !self.queue.lock().is_empty() {
            let Some(_alone) = self.delivering.try_lock() else {
                return;
            };
            loop {
                // In a statement of its own: the queue is free while listeners are called.
                let next = self.queue.lock().pop_front();
                let Some(event) = next else {
                    break;
                };
                for listener in &self.listeners {
                    if catch_unwind(AssertUnwindSafe(|| listener.on_event(&event))).is_err() {
                        self.panic_count.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    /// Panics of listeners so far.
    pub(crate) fn panic_count(&self) -> u64 {
        self.panic_count.load(Ordering::Relaxed)
    }
}
