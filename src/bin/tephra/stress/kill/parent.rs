//! The process that kills and checks.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tephradb::Db;

use super::script::{Places, Records, THREADS, apply, options};
use crate::failure::{Failure, Result};
use crate::figures::{duration, grouped};
use crate::files::temporary_directory;
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;
use crate::stress::Stress;
use crate::stress::simulation::rng::Rng;

/// Acknowledgements before a kill, at most.
const ACKNOWLEDGEMENTS_MAX: u64 = 1500;
/// Rounds of which one is killed before the first acknowledgement, perhaps during the open.
const EARLY_ROUND: u64 = 5;
/// Longest wait before such an early kill.
const EARLY_US_MAX: u64 = 4000;
/// Commits of a thread that may be there without having been told: one that was taken over and not written to the pipe yet, and the
/// next.
const ON_THEIR_WAY_MAX: u64 = 2;
/// Rounds after which everything is verified, to the last byte.
const VERIFY_ROUND: u64 = 10;

/// What is known of one thread of the children.
#[derive(Clone, Debug, Default)]
struct Thread {
    acknowledged: u64,
    /// The records at `count`.
    records: Records,
    count: u64,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    acknowledged: u64,
    unacknowledged: u64,
    early: u64,
}

pub(crate) fn run(stress: &Stress, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    // A directory of our own goes when the run ends; one that was named stays.
    let (dir, _own) = match &stress.dir {
        Some(dir) => (dir.clone(), None),
        None => {
            let own = temporary_directory("tephra-stress-")?;
            (own.path().join("db"), Some(own))
        }
    };
    let mut rng = Rng::new(stress.from);
    let mut threads = vec![Thread::default(); usize::try_from(THREADS).unwrap_or_default()];
    let mut figures = Figures::default();
    Db::open(&dir, options().error_if_exists(true))?.close()?;
    let progress = Progress::new("rounds", stress.rounds);
    for round in 1..=stress.rounds {
        let before: u64 = threads.iter().map(|thread| thread.count).sum();
        kill(&dir, &mut rng, &mut threads, &mut figures)?;
        let verify = round.is_multiple_of(VERIFY_ROUND);
        check(&dir, &mut threads, verify).map_err(|broken| broken_in(round, broken))?;
        let counted: u64 = threads.iter().map(|thread| thread.count).sum();
        let told: u64 = threads.iter().map(|thread| thread.acknowledged).sum();
        figures.acknowledged += told.saturating_sub(before);
        figures.unacknowledged += counted - told;
        for thread in &mut threads {
            thread.acknowledged = thread.count;
        }
        progress.advance(1);
    }
    drop(progress);
    writeln!(
        out,
        "{} rounds, {} killed before the first commit, {} commits acknowledged and all there, {} more there that were on their way, {}",
        grouped(stress.rounds),
        grouped(figures.early),
        grouped(figures.acknowledged),
        grouped(figures.unacknowledged),
        duration(watch.elapsed())
    )
    .map_err(Failure::Output)
}

fn broken_in(round: u64, broken: String) -> Failure {
    Failure::Broken {
        broken: format!("round {round}: {broken}"),
    }
}

fn file_failure(operation: &'static str, path: &Path, source: std::io::Error) -> Failure {
    Failure::File {
        operation,
        path: path.to_path_buf(),
        source,
    }
}

/// Runs a child and kills it; notes what it acknowledged.
fn kill(dir: &Path, rng: &mut Rng, threads: &mut [Thread], figures: &mut Figures) -> Result<()> {
    let command = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("tephra"));
    let mut child = Command::new(&command)
        .args(["stress", "--child"])
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| file_failure("run", &command, source))?;
    let pipe = child.stdout.take().map(BufReader::new);
    let mut lines = pipe
        .into_iter()
        .flat_map(BufRead::lines)
        .map_while(std::result::Result::ok);
    let is_early = rng.one_in(EARLY_ROUND);
    if is_early {
        figures.early += 1;
        thread::sleep(Duration::from_micros(rng.below(EARLY_US_MAX)));
    } else {
        let count = 1 + rng.below(ACKNOWLEDGEMENTS_MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        lines.by_ref().take(count).for_each(|line| note(&line, threads));
    }
    child
        .kill()
        .map_err(|source| file_failure("kill", &command, source))?;
    // What it said before it died counts too. A line that was cut short was not said.
    lines.for_each(|line| note(&line, threads));
    let status = child
        .wait()
        .map_err(|source| file_failure("wait for", &command, source))?;
    if status.code().is_some() {
        // It was not the kill that ended it.
        return Err(Failure::Broken {
            broken: format!("the writing process ended by itself: {status}"),
        });
    }
    Ok(())
}

/// Notes an acknowledgement.
fn note(line: &str, threads: &mut [Thread]) {
    let mut numbers = line.split(' ').map(str::parse::<u64>);
    if let (Some(Ok(number)), Some(Ok(count))) = (numbers.next(), numbers.next())
        && let Some(thread) = usize::try_from(number)
            .ok()
            .and_then(|number| threads.get_mut(number))
    {
        thread.acknowledged = thread.acknowledged.max(count);
    }
}

/// Opens what a child left and compares it.
fn check(dir: &Path, threads: &mut [Thread], verify: bool) -> std::result::Result<(), String> {
    let told = |error: tephradb::Error| error.to_string();
    let db = Db::open(dir, options()).map_err(|error| format!("a plain open failed: {error}"))?;
    let places = Places::of(&db).map_err(told)?;
    for (number, thread) in (0..THREADS).zip(threads) {
        let count = places.counter(number).map_err(told)?;
        if count < thread.acknowledged || count > thread.acknowledged + ON_THEIR_WAY_MAX {
            return Err(format!(
                "thread {number}: {} commits were acknowledged, {count} are there",
                thread.acknowledged
            ));
        }
        for count in thread.count + 1..=count {
            apply(&mut thread.records, number, count);
        }
        thread.count = count;
        let found = places.records_of(number).map_err(told)?;
        if found != thread.records {
            return Err(format!(
                "thread {number}: after {count} commits there are {} records, of {} that differ in part",
                found.len(),
                thread.records.len()
            ));
        }
    }
    if verify {
        let report = db.verify().map_err(told)?;
        if !report.is_sound() {
            return Err(format!("verify finds {:?}", report.problems));
        }
    }
    db.close().map_err(told)
}
