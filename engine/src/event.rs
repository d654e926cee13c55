//! Events: what the database does beside its callers, told to listeners.
//!
//! ```text
//! whoever does something   --emit-->   queue   --deliver, without a lock of the engine-->   listeners, one event at a time
//! ```
//!
//! Events are queued where they happen, often under locks, and handed out by the next thread that holds none: at the end of a
//! commit that waited, of a step of background work, of a call that made an edit. One thread delivers at a time, so the
//! order is that of the queue; a listener may call the database. Its panics are caught and counted. Without listeners nothing
//! is queued.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::Error;

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A frozen memtable begins to be flushed.
    FlushBegun {
        /// Its entries, deletes included.
        entry_count: usize,
        /// Memory it is taken to hold, in bytes.
        memtable_bytes: usize,
    },
    /// That flush ended; tables and edit are durable, unless it failed.
    FlushEnded {
        /// Bytes of the tables written.
        written_bytes: u64,
        /// Why it failed.
        error: Option<Arc<Error>>,
    },
    /// A compaction begins.
    CompactionBegun {
        /// Name of the keyspace.
        keyspace: String,
        /// What is done with which tables, and why, as the picker says it.
        job: String,
        /// Bytes of the input tables.
        input_bytes: u64,
    },
    /// That compaction ended.
    CompactionEnded {
        /// Name of the keyspace.
        keyspace: String,
        /// The level of its output.
        output_level: u32,
        /// Bytes of the tables written; none where tables were moved or dropped.
        written_bytes: u64,
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

/// Is told of events; see [`Options::listener`](crate::Options::listener).
pub trait EventListener: Send + Sync + fmt::Debug {
    /// Called on some thread that works with the database, without a lock of it, for one event at a time. The thread waits until it
    /// returns. It may call the database; events of that are told later.
    fn on_event(&self, event: &Event);
}

/// The queue of one database.
#[derive(Debug, Default)]
pub(crate) struct Events {
    listeners: Vec<Arc<dyn EventListener>>,
    queue: Mutex<VecDeque<Event>>,
    /// Held by the thread that delivers.
    delivering: Mutex<()>,
    panic_count: AtomicU64,
}

impl Events {
    pub(crate) fn new(listeners: Vec<Arc<dyn EventListener>>) -> Arc<Events> {
        Arc::new(Events {
            listeners,
            ..Events::default()
        })
    }

    /// Queues an event. May be called under any lock; `event` is not called without listeners.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if !self.listeners.is_empty() {
            let event = event();
            self.queue.lock().push_back(event);
        }
    }

    /// Hands out what is queued. To be called without any lock. Where another thread is at it, that one does it.
    pub(crate) fn deliver(&self) {
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
