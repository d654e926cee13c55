//! Runs many seeds, on all processors, until one fails.

use std::io::Write;
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::simulation::{
    Counts, Failure as Broken, Planted, Strides, run_creation, run_script, run_seed, scripts,
};
use crate::failure::{Failure, Result};
use crate::figures::{duration, grouped};
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;
use crate::stress::Stress;

/// Every call of the history, of the recovery, and of the recovery from that.
const COMPLETE: Strides = Strides(&[1, 1, 1]);
/// Every call of the history; between them they try all calls of the recoveries.
const BOUNDED: Strides = Strides(&[1, 16, 80]);

/// What the threads share.
struct Board {
    /// The seed to run next.
    next: AtomicU64,
    end: u64,
    done: Mutex<(u64, Counts)>,
    /// The failure of the smallest seed so far.
    broken: Mutex<Option<Box<Broken>>>,
    progress: Progress,
}

pub(super) fn run(stress: &Stress, out: &mut dyn Write) -> Result<()> {
    let planted = stress.plant.as_deref().and_then(Planted::named);
    let planted = planted.unwrap_or_default();
    let watch = Stopwatch::start();
    let board = Board {
        next: AtomicU64::new(stress.from),
        end: stress.from.saturating_add(stress.seeds),
        done: Mutex::default(),
        broken: Mutex::default(),
        progress: Progress::new("histories", stress.seeds),
    };
    // A panic is a failure like others, told once the history is small.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| work(&board, planted));
        }
    });
    panic::set_hook(hook);
    drop(board.progress);
    let (histories, counts) = board.done.into_inner().unwrap_or_default();
    writeln!(
        out,
        "{} histories, {} operations, {} crashes, {} recoveries, {} faults injected, {}",
        grouped(histories),
        grouped(counts.operations),
        grouped(counts.crashes),
        grouped(counts.recoveries),
        grouped(counts.faults),
        duration(watch.elapsed())
    )
    .map_err(Failure::Output)?;
    match board.broken.into_inner().unwrap_or_default() {
        None => Ok(()),
        Some(broken) => Err(Failure::Broken {
            broken: broken.to_string(),
        }),
    }
}

/// Every call of small histories crashed and failed in turn.
pub(super) fn run_every_call(stress: &Stress, out: &mut dyn Write) -> Result<()> {
    let strides = if stress.complete { COMPLETE } else { BOUNDED };
    let watch = Stopwatch::start();
    let scripts = scripts();
    let progress = Progress::new("small histories", scripts.len() as u64 + 1);
    let outcomes: Vec<(Counts, Option<Failure>)> = thread::scope(|scope| {
        let progress = &progress;
        let judged = |name: &str, counts: Counts, outcome: std::result::Result<(), Box<Broken>>| {
            progress.advance(1);
            let failure = outcome.err().map(|broken| Failure::Broken {
                broken: format!("{name}: {broken}"),
            });
            (counts, failure)
        };
        let creation = scope.spawn(move || {
            let mut counts = Counts::default();
            let outcome = run_creation(strides, &mut counts);
            judged("first creation", counts, outcome)
        });
        let threads = scripts.iter().map(|script| {
            scope.spawn(move || {
                let mut counts = Counts::default();
                let outcome = run_script(script, strides, &mut counts);
                judged(script.name, counts, outcome)
            })
        });
        let threads: Vec<_> = threads.chain([creation]).collect();
        threads
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    let broken = "a small history was not ended".into();
                    (Counts::default(), Some(Failure::Broken { broken }))
                })
            })
            .collect()
    });
    drop(progress);
    let mut counts = Counts::default();
    let mut failure = None;
    for (more, broken) in outcomes {
        counts += more;
        failure = failure.or(broken);
    }
    writeln!(
        out,
        "every call of {} small histories: {} crashes, {} recoveries, {} faults injected, {}",
        scripts.len() + 1,
        grouped(counts.crashes),
        grouped(counts.recoveries),
        grouped(counts.faults),
        duration(watch.elapsed())
    )
    .map_err(Failure::Output)?;
    failure.map_or(Ok(()), Err)
}

fn work(board: &Board, planted: Planted) {
    loop {
        let seed = board.next.fetch_add(1, Ordering::Relaxed);
        if seed >= board.end {
            return;
        }
        let mut counts = Counts::default();
        let outcome = run_seed(seed, planted, &mut counts);
        if let Ok(mut done) = board.done.lock() {
            done.0 += 1;
            done.1 += counts;
        }
        board.progress.advance(1);
        if let Err(broken) = outcome {
            // The others finish what they are at; no further seed is begun.
            board.next.store(board.end, Ordering::Relaxed);
            if let Ok(mut first) = board.broken.lock()
                && first.as_ref().is_none_or(|first| broken.seed < first.seed)
            {
                *first = Some(broken);
            }
        }
    }
}
