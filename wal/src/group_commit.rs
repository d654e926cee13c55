//! Shares syncs among threads that commit at the same time.
//!
//! ```text
//!   A  append -> sync_through(a)  leads:  sync ............ done: durable = b, because b was appended
//!   B      append -> sync_through(b)  waits ............... returns                before the sync began
//!   C           append -> sync_through(c)  waits .......... leads: sync ...
//! ```
//!
//! One caller at a time leads: it reads the end of the log, syncs without any lock, and publishes that end. Everybody
//! who waits below it returns; the others elect the next leader. So a sync is shared by all who appended before it
//! began, and nobody waits for more than the sync in progress and the next one.
//!
//! A failed sync is final: it is kept, and everybody gets it from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::error::LogError;
use crate::segment::SegmentSync;
use crate::writer::LogPosition;

/// A segment to be synced.
#[derive(Clone, Debug)]
pub(crate) struct Unsynced {
    pub(crate) segment: u64,
    pub(crate) syncer: Arc<dyn SegmentSync>,
}

/// What one sync has to do: these segments in order, and then everything up to `through` is durable.
#[derive(Debug)]
pub(crate) struct SyncTask {
    pub(crate) through: LogPosition,
    pub(crate) segments: Vec<Unsynced>,
}

#[derive(Debug)]
struct State {
    durable: LogPosition,
    leader_at_work: bool,
    failure: Option<LogError>,
}

#[derive(Debug)]
pub(crate) struct GroupCommit {
    state: Mutex<State>,
    changed: Condvar,
    /// Copy of `failure.is_some()` that an append can read without the lock.
    failed: AtomicBool,
    sync_count: AtomicU64,
}

impl GroupCommit {
    pub(crate) fn new(durable: LogPosition) -> Self {
        Self {
            state: Mutex::new(State {
                durable,
                leader_at_work: false,
                failure: None,
            }),
            changed: Condvar::new(),
            failed: AtomicBool::new(false),
            sync_count: AtomicU64::new(0),
        }
    }

    /// Refuses once a sync has failed.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), LogError> {
        if !self.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        match &self.state.lock().failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn durable(&self) -> LogPosition {
        self.state.lock().durable
    }

    pub(crate) fn sync_count(&self) -> u64 {
        self.sync_count.load(Ordering::Relaxed)
    }

    /// Returns when everything up to `position` is durable: `Some(durable)` to the caller that led the last sync for it.
    /// `task` is asked, without a lock of ours held, what there is to sync.
    pub(crate) fn sync_through(
        &self,
        position: LogPosition,
        task: impl FnOnce() -> SyncTask,
    ) -> Result<Option<LogPosition>, LogError> {
        let mut state = self.state.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.durable >= position {
                return Ok(None);
            }
            if !state.leader_at_work {
                break;
            }
            self.changed.wait(&mut state);
        }
        state.leader_at_work = true;
        drop(state);

        let leader = Leader {
            group: self,
            is_finished: false,
        };
        let task = task();
        let outcome = self.run(&task);
        leader.finish(task.through, outcome)?;
        assert!(
            task.through >= position,
            "a caller may only wait for what it appended"
        );
        Ok(Some(task.through))
    }

    fn run(&self, task: &SyncTask) -> Result<(), LogError> {
        for unsynced in &task.segments {
            self.sync_count.fetch_add(1, Ordering::Relaxed);
            unsynced.syncer.sync().map_err(|cause| LogError::SyncFailed {
                segment: unsynced.segment,
                cause: Arc::new(cause),
            })?;
        }
        Ok(())
    }
}

/// The right to sync. If a storage panics instead of returning, those who wait must not wait for ever.
struct Leader<'a> {
    group: &'a GroupCommit,
    is_finished: bool,
}

impl Leader<'_> {
    fn finish(mut self, through: LogPosition, outcome: Result<(), LogError>) -> Result<(), LogError> {
        self.is_finished = true;
        let mut state = self.group.state.lock();
        match &outcome {
            Ok(()) => state.durable = state.durable.max(through),
            Err(failure) => {
                state.failure = Some(failure.clone());
                self.group.failed.store(true, Ordering::Release);
            }
        }
        outcome
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let mut state = self.group.state.lock();
        state.leader_at_work = false;
        if !self.is_finished {
            let cause = Arc::new(std::io::Error::other("the sync panicked"));
            state.failure = Some(LogError::SyncFailed {
                segment: state.durable.segment,
                cause,
            });
            self.group.failed.store(true, Ordering::Release);
        }
        drop(state);
        self.group.changed.notify_all();
    }
}
