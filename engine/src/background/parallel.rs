//! Threads for the parts of one piece of work, which end before it does.
//!
//! ```text
//! tasks  0 1 2 3 4 5      the caller and its helpers each take the next one until none is left
//! ```
//!
//! Which thread does which task is left to chance; the outcomes come back in the order of the tasks.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Threads that compactions use unless the options say otherwise: two, or one where the machine has no more.
pub(crate) fn default_compaction_threads() -> usize {
    std::thread::available_parallelism()
        .map_or(1, |cores| cores.min(NonZeroUsize::MIN.saturating_add(1)).get())
}

/// Runs all tasks on the calling thread and up to `threads - 1` others. Returns when all have ended; a helper that cannot be started
/// leaves its share to the others.
///
/// # Panics
/// If a task panics, after the others have ended.
pub(crate) fn run_all<T: Send>(threads: usize, tasks: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let count = tasks.len();
    let tasks: Vec<_> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    let outcomes: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < count) {
            let task = tasks[index].lock().take();
            *outcomes[index].lock() = task.map(|task| task());
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let helper = std::thread::Builder::new().name("tephra-merge".into());
            if helper.spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let outcomes = outcomes.into_iter().map(Mutex::into_inner);
    outcomes
        .map(|outcome| outcome.expect("every task has ended"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_outcomes_keep_their_order() {
        for threads in [1, 2, 5, 100] {
            let runs = AtomicUsize::new(0);
            let tasks: Vec<_> = (0..20)
                .map(|number| {
                    let runs = &runs;
                    move || {
                        runs.fetch_add(1, Ordering::Relaxed);
                        number * number
                    }
                })
                .collect();
            let outcomes = run_all(threads, tasks);
            assert!(outcomes.into_iter().eq((0..20).map(|number| number * number)));
            assert_eq!(runs.into_inner(), 20);
        }
    }

    #[test]
    fn no_tasks_are_no_matter() {
        assert_eq!(run_all(4, Vec::<fn() -> u8>::new()), []);
    }
}
