//! The board on which background work is asked for and its progress announced.
//!
//! ```text
//!   writer --request_flush-->  | flush? compact? stop? | <--next_request--  flush thread, compaction threads
//!   writer <--wait_for_progress--  progress, failure   <--done/failed--
//! ```
//!
//! Requests are flags, not a queue: a thread that takes one looks for itself what there is to do, until nothing is. Nobody
//! polls; with no requests nothing runs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;

/// The kinds of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Flush,
    /// Looking pending deletes up in older tables.
    Resolve,
    Compact,
}

#[derive(Debug, Default)]
struct Board {
    flush_requested: bool,
    resolution_requested: bool,
    compaction_requested: bool,
    stopping: bool,
    /// Announcements so far.
    progress_count: u64,
    flush_failure: Option<Arc<Error>>,
}

impl Board {
    fn request_of(&mut self, job: Job) -> &mut bool {
        match job {
            Job::Flush => &mut self.flush_requested,
            Job::Resolve => &mut self.resolution_requested,
            Job::Compact => &mut self.compaction_requested,
        }
    }
}

/// See the head of the file.
#[derive(Debug, Default)]
pub(crate) struct Work {
    board: Mutex<Board>,
    /// Something was requested, or the threads are to stop.
    requested: Condvar,
    /// A step ended, well or not.
    progressed: Condvar,
    /// The threads are to stop.
    stopped: Condvar,
}

impl Work {
    /// Asks for frozen memtables to be flushed.
    pub(crate) fn request_flush(&self) {
        self.request(Job::Flush);
    }

    /// Asks for pending deletes to be looked up.
    pub(crate) fn request_resolution(&self) {
        self.request(Job::Resolve);
    }

    /// Lets a moment pass, in which more may come together. Ends early when the threads are to stop.
    pub(crate) fn rest(&self, pause: Duration) {
        let mut board = self.board.lock();
        if !board.stopping {
            self.stopped.wait_for(&mut board, pause);
        }
    }

    /// Asks for a look at whether tables should be compacted.
    pub(crate) fn request_compaction(&self) {
        self.request(Job::Compact);
    }

    fn request(&self, job: Job) {
        *self.board.lock().request_of(job) = true;
        self.requested.notify_all();
    }

    /// Waits for a request and takes it, at most so long. `false`: the thread is to end.
    pub(crate) fn next_request(&self, job: Job, at_most: Option<Duration>) -> bool {
        let mut board = self.board.lock();
        while !board.stopping && !*board.request_of(job) {
            match at_most {
                None => self.requested.wait(&mut board),
                Some(pause) => {
                    if self.requested.wait_for(&mut board, pause).timed_out() {
                        break;
                    }
                }
            }
        }
        *board.request_of(job) = false;
        !board.stopping
    }

    /// Sleeps after a failure, and leaves the request standing. Ends early when the threads are to stop.
    pub(crate) fn back_off(&self, job: Job, pause: Duration) {
        let mut board = self.board.lock();
        *board.request_of(job) = true;
        if !board.stopping {
            self.requested.wait_for(&mut board, pause);
        }
    }

    /// A flush ended well: whoever waits may look again.
    pub(crate) fn flush_succeeded(&self) {
        let mut board = self.board.lock();
        board.flush_failure = None;
        self.announce(&mut board);
    }

    /// A flush failed: whoever waits gets to know why.
    pub(crate) fn flush_failed(&self, failure: Error) {
        let mut board = self.board.lock();
        board.flush_failure = Some(Arc::new(failure));
        self.announce(&mut board);
    }

    /// Why the last flush failed, if it did.
    pub(crate) fn flush_failure(&self) -> Option<Arc<Error>> {
        self.board.lock().flush_failure.clone()
    }

    /// Wakes everybody who waits for progress.
    pub(crate) fn announce_progress(&self) {
        self.announce(&mut self.board.lock());
    }

    fn announce(&self, board: &mut Board) {
        board.progress_count += 1;
        self.progressed.notify_all();
    }

    /// A ticket for [`Work::wait_for_progress`]: to be taken before looking at what one might wait for, so that nothing announced
    /// between the look and the wait is missed.
    pub(crate) fn ticket(&self) -> u64 {
        self.board.lock().progress_count
    }

    /// Waits for progress announced since the ticket was taken, at most so long. Once the threads are to end nobody waits.
    pub(crate) fn wait_for_progress(&self, ticket: u64, at_most: Duration) {
        let mut board = self.board.lock();
        if board.progress_count == ticket && !board.stopping {
            self.progressed.wait_for(&mut board, at_most);
        }
    }

    /// Tells the threads to end, and whoever works to stop early.
    pub(crate) fn stop(&self) {
        let mut board = self.board.lock();
        board.stopping = true;
        self.requested.notify_all();
        self.stopped.notify_all();
        self.announce(&mut board);
    }

    /// Whether the threads are to end.
    pub(crate) fn is_stopping(&self) -> bool {
        self.board.lock().stopping
    }
}
