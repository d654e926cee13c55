//! Compaction that a user asked for.

use super::build::{Cause, Picker, hull};
use super::decision::{Decision, Job, JobKind, Reason};
use super::leveled::DUE;
use super::running::Running;
use super::targets::PickerOptions;
use super::view::{LevelView, TableShape};

/// What a user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeRequest<'a> {
    /// Smallest key; `None` for no bound.
    pub first_key: Option<&'a [u8]>,
    /// Largest key; `None` for no bound.
    pub last_key: Option<&'a [u8]>,
    /// Newest table that the request is about. Tables made later are younger than the request, and left alone where
    /// nothing older depends on them: so a request ends while others write.
    pub newest_file_number: Option<u64>,
}

/// Decides the next step of compacting a key range down to the lowest level that holds data of it. Idle when one level alone
/// holds the range, without small neighbours and records that were dead when it was asked for, or when a running job is in the way.
pub fn pick_range(
    levels: &[LevelView],
    running: &Running,
    options: &PickerOptions,
    request: RangeRequest<'_>,
) -> Decision {
    let picker = Picker {
        levels,
        running,
        options,
    };
    picker.manual(request).map_or(Decision::Idle, Decision::Run)
}

impl RangeRequest<'_> {
    fn touches(&self, table: &TableShape) -> bool {
        self.first_key
            .is_none_or(|first| first <= table.last_key.as_slice())
            && self
                .last_key
                .is_none_or(|last| table.first_key.as_slice() <= last)
    }

    fn is_meant(&self, table: &TableShape) -> bool {
        self.newest_file_number
            .is_none_or(|newest| table.file_number <= newest)
    }
}

impl<'a> Picker<'a> {
    /// The highest level that holds something of the range goes to the next that does; a single one is rewritten, table by table,
    /// where records of it are dead, and where tables are small.
    fn manual(&self, request: RangeRequest<'_>) -> Option<Job> {
        let cause = Cause {
            score: DUE,
            reason: Reason::Manual,
        };
        let mut touched: Vec<(u32, Vec<&'a TableShape>)> = self
            .levels
            .iter()
            .map(|view| {
                let meant = view.tables.iter().filter(|table| {
                    // Below level 0 a younger table holds older records too.
                    request.touches(table) && (view.level > 0 || request.is_meant(table))
                });
                (view.level, meant.collect())
            })
            .filter(|(_, tables): &(u32, Vec<_>)| !tables.is_empty())
            .collect();
        touched.sort_by_key(|(level, _)| *level);
        let (top, tables) = touched.first()?;
        let next = touched.get(1).map(|(level, _)| *level);
        match (*top, next) {
            (0, _) => self.sink(0, &self.clusters(tables), &cause),
            (top, Some(_)) => self.push_some(top, tables, &cause),
            (level, None) => {
                let is_stale = |table: &&&TableShape| table.dead > 0 && request.is_meant(table);
                let jobs = tables
                    .iter()
                    .filter(is_stale)
                    .map(|table| self.job(JobKind::Merge, &[(level, &[*table])], level, &cause));
                let small = || {
                    let run = self.small_run(tables, 2, |_, _| true)?;
                    self.job(JobKind::Merge, &[(level, &run)], level, &cause)
                };
                jobs.flatten().next().or_else(small)
            }
        }
    }

    /// Tables of level 0 with all that they are bound to, oldest first.
    fn clusters(&self, seeds: &[&'a TableShape]) -> Vec<&'a TableShape> {
        let mut bound: Vec<&TableShape> = Vec::new();
        for &seed in seeds {
            if !bound.contains(&seed) {
                bound.extend(self.cluster(seed));
            }
        }
        let all = self.level(0).into_iter().flat_map(|view| &view.tables);
        all.filter(|table| bound.contains(table)).collect()
    }

    /// Some of a level's tables, neighbours, into a level below.
    fn push_some(&self, level: u32, tables: &[&TableShape], cause: &Cause) -> Option<Job> {
        let mut len_bytes = 0u64;
        let fits = |table: &&&TableShape| {
            len_bytes = len_bytes.saturating_add(table.len_bytes);
            len_bytes <= self.options.manual_job_bytes
        };
        let count = tables.iter().take_while(fits).count().max(1);
        let one_by_one = || tables.iter().find_map(|table| self.sink(level, &[*table], cause));
        self.sink(level, &tables[..count], cause).or_else(one_by_one)
    }

    /// Tables of a level into the next level that holds a part of their range; to the bottom if none does.
    fn sink(&self, level: u32, tables: &[&TableShape], cause: &Cause) -> Option<Job> {
        let (first_key, last_key) = hull(tables)?;
        let below = self.levels.iter().filter(|view| view.level > level);
        let holding = below.filter(|view| view.overlapping(first_key, last_key).next().is_some());
        let next = holding
            .map(|view| view.level)
            .min()
            .unwrap_or(self.options.bottom_level.max(1));
        self.job_into(level, tables, next, cause)
    }
}
