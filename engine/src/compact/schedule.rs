//! Which keyspaces have compactions to do, without a look at those that have not.
//!
//! ```text
//!  an edit --changed--> [ 3 9 ] --picker--> due, most urgent first     ( 4000: 9 ) ( 1250: 3 )
//!                                              |
//!                             take a job <-----'   reserve its tables, its key range and its threads
//!                                 |
//!               it ends, well:    its keyspace has changed; look again
//!               it fails:         its keyspace is suspended for a while, the others go on
//! ```
//!
//! A keyspace is looked at once when its tables have changed, and again whenever one of its jobs starts or ends. An idle one
//! costs nothing: no list holds it. Failures back off by keyspace, so one damaged table stops its own keyspace's compaction
//! alone.
//!
//! The schedule's lock is a leaf: nothing is read, written or locked while it is held, but the published instant.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tephra_compaction::picker::{Job, Running};

use crate::error::Error;
use crate::keyspace::KeyspaceCore;
use crate::sorted_map::SortedMap;

/// Pause after the first failure of a row; doubled for each further one.
const BACK_OFF_MIN: Duration = Duration::from_millis(50);
/// Longest pause between two tries.
const BACK_OFF_MAX: Duration = Duration::from_secs(5);

/// See the head of the file.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Keyspaces to look at.
    changed: SortedMap<u32, Arc<KeyspaceCore>>,
    /// Keyspaces with a job to do, by score.
    due: BTreeSet<(Reverse<u64>, u32)>,
    /// The same, by number.
    scores: SortedMap<u32, (u64, Arc<KeyspaceCore>)>,
    running: SortedMap<u32, Running>,
    /// The running jobs in the order they started, with their keyspaces.
    jobs: SortedMap<u64, u32>,
    started_count: u64,
    suspended: SortedMap<u32, Suspension>,
    /// Threads that no job uses.
    threads_free: usize,
    look_count: u64,
}

/// A keyspace whose last compaction failed.
#[derive(Clone, Debug)]
struct Suspension {
    until_ns: u64,
    pause: Duration,
    cause: Arc<Error>,
}

impl Schedule {
    /// A schedule for so many threads, with every keyspace still to be looked at.
    pub(crate) fn new(threads: usize, keyspaces: impl Iterator<Item = Arc<KeyspaceCore>>) -> Schedule {
        Schedule {
            threads_free: threads,
            changed: keyspaces.map(|core| (core.number, core)).collect(),
            ..Schedule::default()
        }
    }

    /// The tables of a keyspace have changed.
    pub(crate) fn changed(&mut self, core: Arc<KeyspaceCore>) {
        self.changed.insert(core.number, core);
    }

    /// A keyspace was dropped. Its running jobs end by themselves.
    pub(crate) fn forget(&mut self, keyspace: u32) {
        self.changed.remove(&keyspace);
        self.suspended.remove(&keyspace);
        self.set_due(keyspace, None);
    }

    /// The keyspaces to look at. What is found goes to [`Schedule::set_due`].
    pub(super) fn take_changed(&mut self) -> SortedMap<u32, Arc<KeyspaceCore>> {
        std::mem::take(&mut self.changed)
    }

    /// Notes what a look at a keyspace has found: the score of its next job, if there is one.
    pub(super) fn set_due(&mut self, keyspace: u32, found: Option<(u64, Arc<KeyspaceCore>)>) {
        self.look_count += 1;
        if let Some((score, _)) = self.scores.remove(&keyspace) {
            self.due.remove(&(Reverse(score), keyspace));
        }
        if let Some((score, core)) = found {
            self.due.insert((Reverse(score), keyspace));
            self.scores.insert(keyspace, (score, core));
        }
    }

    /// The keyspace with the most urgent job of those that are not suspended.
    pub(super) fn first_due(&self, now_ns: u64) -> Option<Arc<KeyspaceCore>> {
        let is_ready = |keyspace: &u32| {
            let suspension = self.suspended.get(keyspace);
            suspension.is_none_or(|suspension| suspension.until_ns <= now_ns)
        };
        let (_, keyspace) = self.due.iter().find(|(_, keyspace)| is_ready(keyspace))?;
        self.scores.get(keyspace).map(|(_, core)| Arc::clone(core))
    }

    /// The running jobs of a keyspace.
    pub(super) fn running(&self, keyspace: u32) -> Running {
        self.running.get(&keyspace).cloned().unwrap_or_default()
    }

    /// Whether a keyspace has running jobs.
    pub(super) fn is_running(&self, keyspace: u32) -> bool {
        self.running.contains_key(&keyspace)
    }

    /// Running jobs of all keyspaces.
    pub(crate) fn running_count(&self) -> usize {
        self.jobs.len()
    }

    /// Jobs started so far: a mark for [`Schedule::runs_since_before`].
    pub(super) fn started_count(&self) -> u64 {
        self.started_count
    }

    /// Whether a job of a keyspace still runs that had started before the mark.
    pub(super) fn runs_since_before(&self, keyspace: u32, mark: u64) -> bool {
        self.jobs
            .iter()
            .any(|(place, running)| *place < mark && *running == keyspace)
    }

    /// Looks at keyspaces so far.
    pub(crate) fn look_count(&self) -> u64 {
        self.look_count
    }

    /// Threads that no job uses.
    pub(super) fn threads_free(&self) -> usize {
        self.threads_free
    }

    /// A job starts, with threads of the schedule's. Returns its place in the order of starts.
    pub(super) fn start(&mut self, core: &Arc<KeyspaceCore>, job: &Job, threads: usize) -> u64 {
        self.running
            .get_or_insert_with(core.number, Running::default)
            .start(job);
        let place = self.started_count;
        self.started_count += 1;
        self.jobs.insert(place, core.number);
        self.threads_free -= threads;
        // There may be a second job beside it.
        self.changed(Arc::clone(core));
        place
    }

    /// A job has ended, well or not.
    pub(super) fn end(&mut self, core: &Arc<KeyspaceCore>, job: &Job, place: u64, threads: usize) {
        if let Some(running) = self.running.get_mut(&core.number) {
            running.end(job);
            if running.is_empty() {
                self.running.remove(&core.number);
            }
        }
        self.jobs.remove(&place);
        self.threads_free += threads;
        self.changed(Arc::clone(core));
    }

    /// A compaction of a keyspace succeeded.
    pub(super) fn succeeded(&mut self, keyspace: u32) {
        self.suspended.remove(&keyspace);
    }

    /// A compaction of a keyspace failed: it waits, longer each time.
    pub(super) fn failed(&mut self, keyspace: u32, cause: Arc<Error>, now_ns: u64) {
        let before = self.suspended.get(&keyspace).map(|suspension| suspension.pause);
        let pause = before.map_or(BACK_OFF_MIN, |pause| (pause * 2).min(BACK_OFF_MAX));
        let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let suspension = Suspension {
            until_ns: now_ns.saturating_add(pause_ns),
            pause,
            cause,
        };
        self.suspended.insert(keyspace, suspension);
    }

    /// Why a keyspace is suspended, if it is.
    pub(crate) fn failure_of(&self, keyspace: u32) -> Option<Arc<Error>> {
        self.suspended
            .get(&keyspace)
            .map(|suspension| Arc::clone(&suspension.cause))
    }

    /// Keyspaces whose last compaction failed.
    pub(crate) fn suspended_count(&self) -> usize {
        self.suspended.len()
    }

    /// Ends all pauses: whoever asks believes that the cause is gone.
    pub(crate) fn end_pauses(&mut self) {
        for suspension in self.suspended.values_mut() {
            suspension.until_ns = 0;
        }
    }

    /// How long until the next pause of a keyspace with work ends; `None` if none waits.
    pub(crate) fn next_try(&self, now_ns: u64) -> Option<Duration> {
        if self.threads_free == 0 {
            // The job that ends next makes a request.
            return None;
        }
        let waiting = self
            .suspended
            .iter()
            .filter(|(keyspace, _)| self.scores.contains_key(keyspace));
        let until_ns = waiting.map(|(_, suspension)| suspension.until_ns).min()?;
        Some(Duration::from_nanos(until_ns.saturating_sub(now_ns)))
    }
}
