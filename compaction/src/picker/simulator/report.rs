//! What a run shows.

use std::fmt;

use super::Setting;
use super::store::Store;
use super::workload::Workload;

/// Keys asked for at each sample, to see how many tables hold them.
const KEYS_PER_SAMPLE: u32 = 64;

/// Flushes for each sample of reads.
pub const FLUSHES_PER_SAMPLE: u64 = 16;

/// Means and peaks over the flushes of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    count: u64,
    tables_per_read: u64,
    reads: u64,
    space_sum: f64,
    space_count: u64,
    space_max: f64,
    level_zero_max: usize,
    tables_max: usize,
}

/// `part / whole` for people.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Samples {
    pub(super) fn take(&mut self, store: &Store, memtable_bytes: u64) {
        self.count += 1;
        let levels = store.levels();
        let tables: usize = levels.iter().map(|view| view.tables.len()).sum();
        let level_zero = levels.first().map_or(0, |view| view.tables.len());
        self.tables_max = self.tables_max.max(tables);
        self.level_zero_max = self.level_zero_max.max(level_zero);
        // A store smaller than some memtables has no ratio worth a look.
        if store.live_bytes() >= 4 * memtable_bytes {
            let space = ratio(store.table_bytes(), store.live_bytes());
            self.space_sum += space;
            self.space_count += 1;
            self.space_max = self.space_max.max(space);
        }
        if self.count.is_multiple_of(FLUSHES_PER_SAMPLE) {
            let keys = store.live_keys();
            let step = (keys.len() / KEYS_PER_SAMPLE as usize).max(1);
            for key in keys.into_iter().step_by(step) {
                self.tables_per_read += store.tables_spanning(key) as u64;
                self.reads += 1;
            }
        }
    }
}

/// The figures of a run. Its `Display` is one line of a table, under [`Report::HEADER`].
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was done.
    pub workload: Workload,
    /// Operations, in records.
    pub operations: u64,
    /// Bytes that flushes and merges wrote, to each byte that was flushed.
    pub write_amplification: f64,
    /// Bytes that merges wrote to each level, to each byte that was flushed.
    pub level_write_amplification: Vec<f64>,
    /// Tables that may hold a key that is there, by their key ranges; mean over the run. Without filters a reader asks so many. `None`: not
    /// measured, for the run had fewer than [`FLUSHES_PER_SAMPLE`] flushes, or never a live key.
    pub read_amplification: Option<f64>,
    /// Bytes of tables to bytes of live records; mean over the run. `None`: not measured, for the store never held four memtables.
    pub space_amplification: Option<f64>,
    /// The most.
    pub space_amplification_max: Option<f64>,
    /// Tables of each level at the end.
    pub level_tables: Vec<usize>,
    /// Most tables of level 0 after the compactions that were due, or that the setting allowed.
    pub level_zero_max: usize,
    /// Most tables in all.
    pub tables_max: usize,
    /// Jobs: merges, moves and drops.
    pub jobs: [u64; 3],
    /// Bytes that the largest merge read.
    pub largest_job_bytes: u64,
    /// Bytes of tables at the end.
    pub table_bytes: u64,
    /// Bytes of live records at the end.
    pub live_bytes: u64,
}

impl Report {
    /// What the columns of a line mean.
    pub const HEADER: &'static str = "workload      operations  write    read  space (max)   merges   moves   drops  largest  L0 max  tables by level";

    pub(super) fn new(setting: &Setting, store: &Store, samples: &Samples) -> Self {
        let counts = &store.counts;
        let merged_bytes: u64 = counts.level_write_bytes.iter().sum();
        let by_level = counts.level_write_bytes.iter();
        #[expect(clippy::cast_precision_loss, reason = "figures for people")]
        let space_amplification = samples.space_sum / samples.space_count.max(1) as f64;
        let was_measured = samples.space_count > 0;
        Report {
            workload: setting.workload,
            operations: setting.operations,
            write_amplification: ratio(counts.flush_bytes + merged_bytes, counts.flush_bytes),
            level_write_amplification: by_level.map(|&bytes| ratio(bytes, counts.flush_bytes)).collect(),
            read_amplification: (samples.reads > 0).then(|| ratio(samples.tables_per_read, samples.reads)),
            space_amplification: was_measured.then_some(space_amplification),
            space_amplification_max: was_measured.then_some(samples.space_max),
            level_tables: store.levels().iter().map(|view| view.tables.len()).collect(),
            level_zero_max: samples.level_zero_max,
            tables_max: samples.tables_max,
            jobs: [counts.merges, counts.moves, counts.drops],
            largest_job_bytes: counts.largest_job_bytes,
            table_bytes: store.table_bytes(),
            live_bytes: store.live_bytes(),
        }
    }
}

/// A figure, or that there is none.
fn shown(figure: Option<f64>) -> String {
    figure.map_or_else(|| "-".into(), |figure| format!("{figure:.2}"))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [merges, moves, drops] = self.jobs;
        write!(
            f,
            "{:<12} {:>11} {:>6.2} {:>7}   {:>4} ({:>4}) {:>8} {:>7} {:>7} {:>5} MB {:>7}  {:?}",
            self.workload,
            self.operations,
            self.write_amplification,
            shown(self.read_amplification),
            shown(self.space_amplification),
            shown(self.space_amplification_max),
            merges,
            moves,
            drops,
            self.largest_job_bytes >> 20,
            self.level_zero_max,
            self.level_tables,
        )
    }
}
