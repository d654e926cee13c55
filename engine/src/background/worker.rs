//! The database's own threads: one flushes, one settles deletes, the others compact, so that a long compaction never keeps a flush waiting,
//! nor a flush the deletes.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use super::work::Job;
use crate::db::Engine;

/// Pause after the first failure of a row; doubled for each further one.
const BACK_OFF_MIN: Duration = Duration::from_millis(50);
/// How long deletes are collected before they are looked up.
const RESOLUTION_PAUSE: Duration = Duration::from_millis(2);
/// Longest pause between two tries.
const BACK_OFF_MAX: Duration = Duration::from_secs(5);

/// The threads of one database.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// Starts the threads.
    pub(crate) fn start(engine: &Arc<Engine>) -> std::io::Result<Workers> {
        let workers = Workers::default();
        let compact = (0..engine.compaction_threads()).map(|_| Job::Compact);
        for job in [Job::Flush, Job::Resolve].into_iter().chain(compact) {
            let engine_of_thread = Arc::clone(engine);
            let name = match job {
                Job::Flush => "tephra-flush",
                Job::Resolve => "tephra-deletes",
                Job::Compact => "tephra-compact",
            };
            let thread = std::thread::Builder::new().name(name.into());
            match thread.spawn(move || match job {
                Job::Compact => run_compactions(&engine_of_thread),
                _ => run(&engine_of_thread, job),
            }) {
                Ok(handle) => workers.threads.lock().push(handle),
                Err(error) => {
                    engine.work.stop();
                    workers.join();
                    return Err(error);
                }
            }
        }
        Ok(workers)
    }

    /// Waits for the threads to end; they were told to.
    pub(crate) fn join(&self) {
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // A panic of the thread was our bug and has been reported by its own message.
            drop(thread.join());
        }
    }
}

/// The life of a thread that flushes or settles deletes: take a request, do steps until there is nothing left to do.
fn run(engine: &Engine, job: Job) {
    let mut pause = BACK_OFF_MIN;
    while engine.work.next_request(job, None) {
        if job == Job::Flush {
            engine.prepare_spare();
        }
        if job == Job::Resolve {
            // Deletes mostly come in company.
            engine.work.rest(RESOLUTION_PAUSE);
            engine.accept_resolution_requests();
        }
        loop {
            match engine.step(job) {
                Ok(true) => pause = BACK_OFF_MIN,
                Ok(false) => break,
                // Writing has ended for good: there is nothing to try again.
                Err(_) if engine.stopped.get().is_some() => break,
                Err(_) => {
                    engine.work.back_off(job, pause);
                    pause = (pause * 2).min(BACK_OFF_MAX);
                    break;
                }
            }
            if engine.work.is_stopping() {
                return;
            }
        }
    }
}

/// The life of a compaction thread. A keyspace whose compaction failed pauses, not the thread: it goes on with others, and sleeps no
/// longer than the shortest of their pauses.
fn run_compactions(engine: &Engine) {
    let mut pause = None;
    while engine.work.next_request(Job::Compact, pause) {
        while !engine.work.is_stopping() && engine.stopped.get().is_none() {
            if let Ok(false) = engine.step(Job::Compact) {
                break;
            }
        }
        pause = engine.compaction_pause();
    }
}
