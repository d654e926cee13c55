//! A store in miniature that the real picker drives: write, read and space amplification without a file.
//!
//! ```text
//! workload --puts, deletes--> memtable --full--> table of level 0, deletes kill older records
//!                                                     |
//!                       picker: pick  <--levels-------+
//!                          '--job--> drop, move or merge, counted in bytes
//! ```
//!
//! **Grains.** The store holds grains: one stands for so many neighbouring records that a run of 10⁹ operations moves about a
//! million of them. Tables are sorted lists of (key, version), so nothing is estimated: a merge drops exactly what is overwritten
//! or dead, and [`Simulation::check`] compares what a reader would find with what was written. A merge also asserts that of two records of
//! one key the one from the newer table is the newer one: an order that a composing keyspace depends on.
//!
//! Sizes are the records' alone. Everything is derived from [`Setting`], its seed included: same setting, same report.

mod report;
mod store;
mod workload;

pub use report::{FLUSHES_PER_SAMPLE, Report};
pub use workload::Workload;

use super::{Decision, LevelView, PickerOptions, Running, pick};
use report::Samples;
use store::Store;
use workload::{Generator, Operation};

/// Grains that a run moves at most, about: memory and seconds are in proportion to them.
const GRAINS_MAX: u64 = 1 << 20;

/// Grains a memtable holds at least, or its tables would have no shape.
const MEMTABLE_GRAINS_MIN: u64 = 16;

/// What to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What is done.
    pub workload: Workload,
    /// Puts and deletes, in records.
    pub operations: u64,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// Bytes after which the memtable is flushed.
    pub memtable_bytes: u64,
    /// What the picker is told.
    pub picker: PickerOptions,
    /// Bytes that compactions may write for each byte that flushes wrote; `None` for as many as are due. A machine that is too slow has
    /// few, and its level 0 grows.
    pub compaction_bytes_per_flushed: Option<u64>,
    /// Same seed, same history.
    pub seed: u64,
}

impl Setting {
    /// A workload of so many operations on records of 100 bytes, with the engine's default sizes.
    pub fn new(workload: Workload, operations: u64) -> Self {
        Setting {
            workload,
            operations,
            record_bytes: 100,
            memtable_bytes: 64 << 20,
            picker: PickerOptions::default(),
            compaction_bytes_per_flushed: None,
            seed: 1,
        }
    }

    /// Records that one grain stands for.
    fn records_per_grain(&self) -> u64 {
        let memtable_records = self.memtable_bytes / self.record_bytes.max(1);
        self.operations
            .div_ceil(GRAINS_MAX)
            .min(memtable_records / MEMTABLE_GRAINS_MIN)
            .max(1)
    }
}

/// A run, at its end or between two flushes.
#[derive(Debug)]
pub struct Simulation {
    setting: Setting,
    store: Store,
    samples: Samples,
    /// Bytes that compactions may still write.
    allowance_bytes: i64,
}

/// Runs a setting to its end.
pub fn simulate(setting: &Setting) -> Report {
    let mut simulation = Simulation::new(setting.clone());
    simulation.run();
    simulation.report()
}

impl Simulation {
    /// An empty store.
    pub fn new(setting: Setting) -> Self {
        let grain_bytes = setting.records_per_grain() * setting.record_bytes;
        let store = Store::new(grain_bytes, setting.picker.clone());
        Simulation {
            setting,
            store,
            samples: Samples::default(),
            allowance_bytes: 0,
        }
    }

    /// Does all operations of the setting, and the compactions that are due.
    pub fn run(&mut self) {
        self.run_watched(|_| ());
    }

    /// The same, and shows the levels after each flush and the compactions that were due then.
    pub fn run_watched(&mut self, mut watch: impl FnMut(&[LevelView])) {
        let grains = self.setting.operations / self.setting.records_per_grain();
        let mut generator = Generator::new(self.setting.workload, grains, self.setting.seed);
        for _ in 0..grains {
            if self.step(generator.next()) {
                watch(self.store.levels());
            }
        }
        self.flush();
        watch(self.store.levels());
    }

    /// Deletes every record, and does what is due then.
    pub fn delete_everything(&mut self) {
        for key in self.store.live_keys() {
            self.step(Operation::Delete(key));
        }
        self.flush();
    }

    /// Returns whether the memtable was flushed.
    fn step(&mut self, operation: Operation) -> bool {
        self.store.apply(operation);
        let is_full = self.store.memtable_bytes() >= self.setting.memtable_bytes;
        if is_full {
            self.flush();
        }
        is_full
    }

    fn flush(&mut self) {
        let flushed_bytes = self.store.flush();
        let allowed = self.setting.compaction_bytes_per_flushed;
        // A job that wrote more than was allowed is paid for before the next one.
        self.allowance_bytes = allowed.map_or(i64::MAX, |bytes| {
            self.allowance_bytes
                .saturating_add_unsigned(flushed_bytes.saturating_mul(bytes))
        });
        while self.allowance_bytes > 0 {
            let Decision::Run(job) = pick(self.store.levels(), &Running::default(), &self.setting.picker)
            else {
                break;
            };
            let written_bytes = self.store.run(&job);
            self.allowance_bytes = self.allowance_bytes.saturating_sub_unsigned(written_bytes);
        }
        self.samples.take(&self.store, self.setting.memtable_bytes);
    }

    /// Compares everything a reader would find with what was written.
    ///
    /// # Errors
    /// The first key that is missing, too old, or should be gone; tables of a level that overlap.
    pub fn check(&self) -> Result<(), String> {
        self.store.check()
    }

    /// The figures so far.
    pub fn report(&self) -> Report {
        Report::new(&self.setting, &self.store, &self.samples)
    }
}

#[cfg(test)]
mod tests;
