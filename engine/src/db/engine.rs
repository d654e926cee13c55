//! The machine behind the handles: what it holds, and in which order its locks are taken.
//!
//! ```text
//! lock        guards                                  held across I/O?    taken while holding
//! flushing    one flush at a time                     yes                 -
//! compacting  no compaction runs (shared: one does)   yes                 -
//! resolving   one early resolution of deletes         reads of tables     compacting
//! versions    the version set and its manifest        yes                 flushing, compacting or resolving
//! writer      the order of commits; rotation          log segment; the    resolving or versions
//!                                                     edit of an ingest
//! schedule    who compacts what                       never               versions
//! spare       the next log segment                    never               writer
//! state       the published instant                   never               versions, schedule or writer
//! ```
//!
//! A reader takes `state` for a look-up in the active memtable or to clone two pointers, and nothing else. The published
//! instant is changed by the holder of `writer` (a commit, a rotation) and by the holder of `versions` (a new version,
//! a flushed memtable leaving), each time in one step under `state`.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use tephra_wal::{LogSegment, LogWriter};

use super::short_lock::ShortLock;
use super::spare::Prepared;
use crate::background::{Work, default_compaction_threads};
use crate::clock::Clock;
use crate::compact::{CompactionCounters, HeldUpKeyspaces, RangeKills, Schedule};
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::event::{Event, Events};
use crate::instant::{Instant, Layers};
use crate::keyspace::{DEFAULT_KEYSPACE, KeyspaceCore, Keyspaces};
use crate::memtable::{Entry, EntryRef};
use crate::options::{Background, Options};
use crate::snapshot::SnapshotRegistry;
use crate::stats::Counters;
use crate::value::Value;
use crate::version::{Version, VersionSet};
use crate::vfs::LockGuard;

/// The log, open for writing.
pub(crate) type Log = LogWriter<Box<dyn LogSegment>>;

/// What the holder of the commit lock may change.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Number of the segment that belongs to the active memtable.
    pub(crate) segment: u64,
    /// Bytes logged to it.
    pub(crate) log_bytes: u64,
}

/// One open database.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) directory: Directory,
    pub(crate) options: Options,
    pub(crate) state: ShortLock<Instant>,
    pub(crate) writer: Mutex<Writer>,
    /// `None` in a database opened for reading only.
    pub(crate) log: Option<Log>,
    /// Copy of the writer's segment number that can be read without its lock: names the generation of the active memtable.
    pub(crate) active_segment: AtomicU64,
    /// The snapshots that are held.
    pub(crate) snapshots: Arc<SnapshotRegistry>,
    /// Counts ingests: they add keys to the tables beside the log.
    pub(crate) ingest_count: AtomicU64,
    /// So many ingests hold writers back.
    pub(crate) hold_count: AtomicU64,
    /// The next segment, made ahead of time.
    pub(crate) spare: Mutex<Option<Prepared>>,
    pub(crate) versions: Mutex<VersionSet>,
    pub(crate) flushing: Mutex<()>,
    pub(crate) compacting: RwLock<()>,
    pub(crate) schedule: Mutex<Schedule>,
    pub(crate) compactions: CompactionCounters,
    pub(crate) range_kills: RangeKills,
    pub(crate) held_up: HeldUpKeyspaces,
    /// Pending deletes are looked up and settled by its holder alone.
    pub(crate) resolving: Mutex<()>,
    /// Whether deletes have asked to be settled since it was last begun.
    pub(crate) resolution_requested: AtomicBool,
    pub(crate) next_file: AtomicU64,
    pub(crate) work: Work,
    pub(crate) counters: Counters,
    /// The failure after which nothing is written any more.
    pub(crate) stopped: OnceLock<Arc<Error>>,
    pub(crate) closed: AtomicBool,
    pub(crate) directory_lock: Mutex<Option<Box<dyn LockGuard>>>,
}

impl Engine {
    /// The settings.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Threads that compactions use together.
    pub(crate) fn compaction_threads(&self) -> usize {
        compaction_threads(&self.options)
    }

    /// The clock.
    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.directory.clock
    }

    /// What is told to listeners.
    pub(crate) fn events(&self) -> &Events {
        &self.directory.events
    }

    /// A flush or compaction failed. One that a close has ended did not.
    pub(crate) fn background_failed(&self, error: &Error) {
        if matches!(error, Error::Closed) {
            return;
        }
        self.counters.background_failed(error);
        self.events().emit(|| Event::BackgroundFailed {
            error: Arc::new(error.clone()),
        });
    }

    /// A file number never given out before.
    pub(crate) fn next_file_number(&self) -> u64 {
        loop {
            let number = self.next_file.fetch_add(1, Ordering::Relaxed);
            if !self.directory.taken.contains(&number) {
                return number;
            }
        }
    }

    /// The published instant. Two clones under a lock that is never held across I/O.
    pub(crate) fn instant(&self) -> Instant {
        self.state.read().clone()
    }

    /// The published instant, and the log segment of its active memtable: the name of the generation.
    pub(crate) fn instant_and_segment(&self) -> (Instant, u64) {
        let state = self.state.read();
        // Stored under the state's lock.
        (state.clone(), self.active_segment.load(Ordering::Acquire))
    }

    /// Everything below the active memtable.
    pub(crate) fn layers(&self) -> Arc<Layers> {
        Arc::clone(&self.state.read().layers)
    }

    /// The value of a key now.
    pub(crate) fn get(&self, keyspace: &KeyspaceCore, key: &[u8]) -> Result<Option<Value>> {
        self.check_open()?;
        let (layers, entry, overlay) = {
            let state = self.state.read();
            match state.active.get(keyspace.number, key) {
                Some(entry) if entry.part_count() == 1 && entry.ends_history() => {
                    return Ok(crate::instant::value_of(entry));
                }
                None if state.active.covers(keyspace.number, key) => return Ok(None),
                entry => {
                    let overlay = state.active.overlay().clone();
                    (Arc::clone(&state.layers), entry.map(EntryRef::to_entry), overlay)
                }
            }
        };
        layers.get(keyspace, key, entry.as_ref().map(Entry::as_ref), &overlay)
    }

    /// Publishes a version, and lets a flushed memtable go. The caller holds `versions`.
    pub(crate) fn publish(&self, version: Arc<Version>, flushed_segment: Option<u64>) {
        let mut state = self.state.write();
        let mut frozen = state.layers.frozen.clone();
        frozen.retain(|memtable| Some(memtable.segment) != flushed_segment);
        let retired = std::mem::replace(&mut state.layers, Arc::new(Layers { frozen, version }));
        drop(state);
        // Whoever was stopped by what the layers were looks at what they are.
        self.work.announce_progress();
        // Freeing a memtable takes a while; readers need not wait for it.
        drop(retired);
    }

    /// Refuses a closed database.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            Err(Error::Closed)
        } else {
            Ok(())
        }
    }

    /// Refuses where nothing may be written; gives the log where it may.
    pub(crate) fn check_writable(&self) -> Result<&Log> {
        self.check_open()?;
        if let Some(cause) = self.stopped.get() {
            return Err(Error::WriterStopped {
                cause: Arc::clone(cause),
            });
        }
        self.log.as_ref().ok_or_else(|| Error::ReadOnly {
            path: self.directory.path.clone(),
        })
    }

    /// Stops all writing for good: the first failure is kept as the cause. Gives back the error to return.
    pub(crate) fn stop_writing(&self, failure: Error) -> Error {
        let first = || {
            let cause = Arc::new(failure);
            self.events().emit(|| Event::WriterStopped {
                cause: Arc::clone(&cause),
            });
            cause
        };
        let cause = Arc::clone(self.stopped.get_or_init(first));
        self.work.announce_progress();
        Error::WriterStopped { cause }
    }

    /// What the handles of each keyspace share. Takes the version lock shortly.
    pub(crate) fn cores(&self) -> Keyspaces {
        self.versions.lock().cores().clone()
    }

    /// The keyspace that always exists.
    pub(crate) fn default_keyspace(&self) -> Arc<KeyspaceCore> {
        let versions = self.versions.lock();
        Arc::clone(
            versions
                .cores()
                .get(&DEFAULT_KEYSPACE)
                .expect("open refuses a manifest without it"),
        )
    }
}

/// Threads that compactions use together. Where the caller steps through the work, chance has no part in it.
pub(super) fn compaction_threads(options: &Options) -> usize {
    options
        .compaction_threads
        .unwrap_or_else(|| match options.background {
            Background::Manual => 1,
            Background::Threads => default_compaction_threads(),
        })
}
