//! The workloads, and what each begins with.

mod counters;
mod delete;
mod fill;
mod mixed;
mod queue;
mod read;
mod reopen;
mod snapshots;
mod spaces;
mod ycsb;

use std::path::PathBuf;

use quanta::Clock;

use crate::args::ChildArgs;
use crate::engine::Engine;
use crate::measure::{Recorder, Timing, Usage, reset_peak_memory};
use crate::shape::Data;

/// What lies in the directory when a workload begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Nothing.
    Empty,
    /// All records, loaded in random order and settled. The workload changes nothing.
    Loaded,
    /// A copy of that, to be changed.
    Copied,
}

/// A workload as it is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) name: &'static str,
    pub(crate) base: Base,
    pub(crate) about: &'static str,
}

const fn listed(name: &'static str, base: Base, about: &'static str) -> Listed {
    Listed { name, base, about }
}

/// The workload whose store the others begin with.
pub(crate) const LOAD: &str = "fillrandom";

/// Holds many snapshots in one thread.
pub(crate) const SNAPSHOTS: &str = "snapshots";

/// What the process that is to be killed runs; no one asks for it by name.
pub(crate) const LEAVE_LOG: &str = "leave a log";

/// All workloads, in the order of a round.
pub(crate) const LISTED: &[Listed] = &[
    listed("fillseq", Base::Empty, "puts in key order, one commit each"),
    listed(LOAD, Base::Empty, "puts in random order, one commit each"),
    listed(
        "fillbatch",
        Base::Empty,
        "in random order, 1,000 records a commit",
    ),
    listed(
        "fillsync",
        Base::Empty,
        "10,000 puts, each durable before the next",
    ),
    listed("fillsync threads", Base::Empty, "the same by 8 threads at once"),
    listed(
        "overwrite",
        Base::Copied,
        "puts over all records, in another random order",
    ),
    listed("readrandom", Base::Loaded, "gets of all records, in random order"),
    listed(
        "readmissing",
        Base::Loaded,
        "gets of keys between those that are there",
    ),
    listed(
        "readrandom threads",
        Base::Loaded,
        "readrandom by 4 threads at once",
    ),
    listed(
        "seekrandom+10",
        Base::Loaded,
        "seeks to a record, 10 records read from there",
    ),
    listed(
        "seekrandom+100",
        Base::Loaded,
        "seeks to a record, 100 records read from there",
    ),
    listed("scan forward", Base::Loaded, "the whole store, three times"),
    listed("scan reverse", Base::Loaded, "the same downwards"),
    listed(
        "readwhilewriting",
        Base::Copied,
        "readrandom while a thread overwrites 20,000 records a second",
    ),
    listed(
        "ycsb a",
        Base::Copied,
        "half gets, half overwriting puts; Zipfian, as all six",
    ),
    listed("ycsb b", Base::Copied, "95 gets in 100, 5 overwriting puts"),
    listed("ycsb c", Base::Copied, "gets"),
    listed(
        "ycsb d",
        Base::Copied,
        "95 gets in 100, mostly of the latest records, 5 inserts",
    ),
    listed(
        "ycsb e",
        Base::Copied,
        "95 seeks in 100 with 1 to 100 records, 5 inserts",
    ),
    listed(
        "ycsb f",
        Base::Copied,
        "half gets, half gets followed by a put of the same key",
    ),
    listed(
        "queue",
        Base::Empty,
        "first in, first out, depth 1,000: a put behind the last, a seek to the front, a delete",
    ),
    listed(
        "delete half",
        Base::Copied,
        "half of the records deleted at random; then gets of all, then a scan",
    ),
    listed(
        "delete range",
        Base::Copied,
        "the middle half in one range; then a scan, then gets of all",
    ),
    listed(
        "delete run",
        Base::Copied,
        "100,000 adjacent records deleted one by one; then seeks into the gap",
    ),
    listed(
        "counters",
        Base::Empty,
        "adding to a tenth as many counters, by reading and writing; then by merging, where there is such a thing",
    ),
    listed(
        SNAPSHOTS,
        Base::Copied,
        "a tenth as many overwriting puts, a snapshot at each hundredth of them, all held; then gets from all of them",
    ),
    listed("reopen", Base::Copied, "opening a store that was closed"),
    listed(
        "reopen log",
        Base::Empty,
        "opening a store whose process was killed after 64 MiB of puts",
    ),
    listed(
        "keyspaces",
        Base::Empty,
        "1,000 of them made; then 100 puts to each in turn; then gets; then opening the store",
    ),
];

/// One run of one workload in a process of its own.
pub(crate) struct Job {
    pub(crate) args: ChildArgs,
    pub(crate) dir: PathBuf,
    pub(crate) data: Data,
    /// How long a part may take; what is not done by then is left out. Filling the store always ends.
    pub(crate) seconds: f64,
    clock: Clock,
    /// When the first part began.
    pub(crate) usage_before: Option<Usage>,
    pub(crate) parts: Vec<Part>,
}

/// A timed part of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Empty where a workload has one part alone.
    pub(crate) name: &'static str,
    /// What an operation is.
    pub(crate) unit: &'static str,
    pub(crate) timing: Timing,
}

impl Job {
    pub(crate) fn new(args: &ChildArgs) -> Job {
        Job {
            dir: args.dir.clone(),
            data: Data::new(args.shape, args.records),
            seconds: args.seconds,
            clock: Clock::new(),
            usage_before: None,
            parts: Vec::new(),
            args: args.clone(),
        }
    }

    /// A seed for this round and a use within it.
    fn seed(&self, of: u64) -> u64 {
        self.args.round * 1_000 + of
    }

    /// Times one part; what went before is preparation.
    fn time<R>(
        &mut self,
        name: &'static str,
        unit: &'static str,
        run: impl FnOnce(&Data, &mut Recorder) -> R,
    ) -> R {
        self.time_for(self.seconds, name, unit, run)
    }

    /// As [`Job::time`], for so long.
    fn time_for<R>(
        &mut self,
        seconds: f64,
        name: &'static str,
        unit: &'static str,
        run: impl FnOnce(&Data, &mut Recorder) -> R,
    ) -> R {
        if self.usage_before.is_none() {
            reset_peak_memory();
            self.usage_before = Some(Usage::now());
        }
        let mut recorder = Recorder::start(&self.clock, seconds);
        let result = run(&self.data, &mut recorder);
        self.note(name, unit, &recorder);
        result
    }

    fn note(&mut self, name: &'static str, unit: &'static str, recorder: &Recorder) {
        self.parts.push(Part {
            name,
            unit,
            timing: recorder.timing(),
        });
    }
}

/// Runs a workload and gives back the engine, still open; nothing if the engine cannot do what it asks for.
pub(crate) fn run<E: Engine>(name: &str, job: &mut Job) -> Option<E> {
    // These open and close the store themselves.
    match name {
        "counters" => return Some(counters::run(job)),
        "reopen" => return Some(reopen::clean(job)),
        "reopen log" => return Some(reopen::with_log(job)),
        "keyspaces" => return Some(spaces::run(job)),
        LEAVE_LOG => reopen::leave_log::<E>(job),
        _ => (),
    }
    let engine = E::open(&job.dir);
    match name {
        "fillseq" => fill::sequential(&engine, job),
        LOAD => fill::random(&engine, job),
        "fillbatch" => fill::batches(&engine, job),
        "fillsync" => fill::durable(&engine, job),
        "fillsync threads" => fill::durable_by_threads(&engine, job),
        "overwrite" => fill::overwrite(&engine, job),
        "readrandom" => read::random(&engine, job),
        "readmissing" => read::missing(&engine, job),
        "readrandom threads" => read::random_by_threads(&engine, job),
        "seekrandom+10" => read::seek(&engine, job, 10),
        "seekrandom+100" => read::seek(&engine, job, 100),
        "scan forward" => read::scan(&engine, job, false),
        "scan reverse" => read::scan(&engine, job, true),
        "readwhilewriting" => mixed::read_while_writing(&engine, job),
        "queue" => queue::run(&engine, job),
        "delete half" => delete::half_at_random(&engine, job),
        "delete range" => delete::range(&engine, job),
        "delete run" => delete::run(&engine, job),
        SNAPSHOTS => {
            if !E::SNAPSHOTS {
                return None;
            }
            snapshots::run(&engine, job);
        }
        _ => match name.strip_prefix("ycsb ") {
            Some(letter) => ycsb::run(&engine, job, letter),
            None => panic!("no workload {name}"),
        },
    }
    Some(engine)
}
