//! The workloads, and what each begins with.

mod fill;
mod read;

use std::path::PathBuf;

use quanta::Clock;

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
    /// What an operation is.
    pub(crate) unit: &'static str,
}

const fn listed(name: &'static str, base: Base, unit: &'static str) -> Listed {
    Listed { name, base, unit }
}

/// The workload whose store the others begin with.
pub(crate) const LOAD: &str = "fillrandom";

/// All workloads, in the order of a round.
pub(crate) const LISTED: &[Listed] = &[
    listed("fillseq", Base::Empty, "puts"),
    listed(LOAD, Base::Empty, "puts"),
    listed("fillbatch", Base::Empty, "records"),
    listed("fillsync", Base::Empty, "puts"),
    listed("overwrite", Base::Copied, "puts"),
    listed("readrandom", Base::Loaded, "gets"),
    listed("readmissing", Base::Loaded, "gets"),
    listed("seekrandom+10", Base::Loaded, "seeks"),
    listed("seekrandom+100", Base::Loaded, "seeks"),
    listed("scan forward", Base::Loaded, "records"),
    listed("scan reverse", Base::Loaded, "records"),
];

/// One run of one workload in a process of its own.
pub(crate) struct Job {
    pub(crate) dir: PathBuf,
    pub(crate) data: Data,
    pub(crate) round: u64,
    /// How long a part may take; what is not done by then is left out. Filling the store always ends.
    pub(crate) seconds: f64,
    clock: Clock,
    /// When the first part began.
    pub(crate) usage_before: Option<Usage>,
    pub(crate) parts: Vec<(&'static str, Timing)>,
}

impl Job {
    pub(crate) fn new(dir: PathBuf, data: Data, round: u64, seconds: f64) -> Job {
        Job {
            dir,
            data,
            round,
            seconds,
            clock: Clock::new(),
            usage_before: None,
            parts: Vec::new(),
        }
    }

    /// A seed for this round and a use within it.
    fn seed(&self, of: u64) -> u64 {
        self.round * 1_000 + of
    }

    /// Times one part; what went before is preparation. A workload of one part gives it no name.
    fn time(&mut self, name: &'static str, seconds: f64, run: impl FnOnce(&Data, &mut Recorder)) {
        if self.usage_before.is_none() {
            reset_peak_memory();
            self.usage_before = Some(Usage::now());
        }
        let mut recorder = Recorder::start(&self.clock, seconds);
        run(&self.data, &mut recorder);
        self.parts.push((name, recorder.timing()));
    }
}

/// Runs a workload and gives back the engine, still open.
pub(crate) fn run<E: Engine>(name: &str, job: &mut Job) -> E {
    let engine = E::open(&job.dir);
    match name {
        "fillseq" => fill::sequential(&engine, job),
        LOAD => fill::random(&engine, job),
        "fillbatch" => fill::batches(&engine, job),
        "fillsync" => fill::durable(&engine, job),
        "overwrite" => fill::overwrite(&engine, job),
        "readrandom" => read::random(&engine, job),
        "readmissing" => read::missing(&engine, job),
        "seekrandom+10" => read::seek(&engine, job, 10),
        "seekrandom+100" => read::seek(&engine, job, 100),
        "scan forward" => read::scan(&engine, job, false),
        "scan reverse" => read::scan(&engine, job, true),
        _ => panic!("no workload {name}"),
    }
    engine
}
