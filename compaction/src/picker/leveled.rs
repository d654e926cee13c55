//! The levelled rules, and how they compete.

use std::cmp::Reverse;

use super::build::{Cause, Picker};
use super::decision::{Decision, Job, JobKind, Reason};
use super::running::Running;
use super::targets::{LevelTargets, PickerOptions};
use super::view::{LevelView, TableShape};

/// The score at which work is due.
pub(super) const DUE: u64 = 1000;

/// How much the share of dead records weighs against sizes and counts: freeing space pays twice, for it also makes the
/// merges after it smaller.
const DEAD_WEIGHT: u64 = 2;

/// Score of a level that should be empty: before one that is a little too large, after one that is twice its size.
const DRAIN_SCORE: u64 = 1500;

/// Small tables side by side that are worth merging.
const SMALL_RUN_MIN: usize = 4;
/// Most tables that are merged for being small, at once.
const SMALL_RUN_MAX: usize = 64;

/// One rule's wish: tables of a level, and where they should go.
struct Candidate<'a> {
    cause: Cause,
    what: What<'a>,
}

enum What<'a> {
    LevelZero,
    Rewrite(u32, Vec<&'a TableShape>),
    PushDown(&'a LevelView),
}

/// Decides what to do next. `levels` may be in any order; missing levels are empty.
///
/// Cost: one pass over the tables, and for the level that is pushed down a binary search in the next for each of its
/// tables.
pub fn pick(levels: &[LevelView], running: &Running, options: &PickerOptions) -> Decision {
    let picker = Picker {
        levels,
        running,
        options,
    };
    let targets = LevelTargets::derive(levels, options);
    if let Some(job) = picker.all_dead() {
        return Decision::Run(job);
    }
    let mut candidates = picker.candidates(&targets);
    // A stable sort: at the same score the earlier rule comes first.
    candidates.sort_by_key(|candidate| Reverse(candidate.cause.score));
    let job = candidates
        .iter()
        .find_map(|candidate| picker.try_candidate(candidate, &targets));
    job.map_or(Decision::Idle, Decision::Run)
}

/// `part / whole`, scaled so that equal sizes give [`DUE`].
fn score_of(part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(part) * u128::from(DUE) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

impl<'a> Picker<'a> {
    /// Tables without live records go first: it costs nothing.
    fn all_dead(&self) -> Option<Job> {
        let (level, table) = self
            .levels
            .iter()
            .flat_map(|view| view.tables.iter().map(move |table| (view.level, table)))
            .find(|(_, table)| table.live == 0 && !self.is_busy(table))?;
        let file_number = table.file_number;
        let cause = Cause {
            score: u64::MAX,
            reason: Reason::AllDead { file_number },
        };
        self.job(JobKind::Drop, &[(level, &[table])], level, &cause)
    }

    fn candidates(&self, targets: &LevelTargets) -> Vec<Candidate<'a>> {
        let mut candidates = self.dead_rich();
        candidates.extend(self.level_zero_count());
        candidates.extend(self.oversized(targets));
        candidates.extend(self.small_neighbours());
        candidates
    }

    fn try_candidate(&self, candidate: &Candidate<'a>, targets: &LevelTargets) -> Option<Job> {
        let cause = &candidate.cause;
        match &candidate.what {
            What::LevelZero => {
                let oldest = self.level(0)?.tables.first()?;
                self.job_into(0, &self.cluster(oldest), targets.base_level, cause)
            }
            What::Rewrite(0, tables) => {
                // A rewritten table would count as the newest of level 0: it sinks instead, with what it is bound to.
                let seed = *tables.first()?;
                self.job_into(0, &self.cluster(seed), targets.base_level, cause)
            }
            What::Rewrite(level, tables) => self.job(JobKind::Merge, &[(*level, tables)], *level, cause),
            What::PushDown(view) => self
                .tables_by_worth(view)
                .into_iter()
                .find_map(|table| self.job_into(view.level, &[table], view.level + 1, cause)),
        }
    }

    /// Tables rich in dead records, the richest first.
    fn dead_rich(&self) -> Vec<Candidate<'a>> {
        let mut rich: Vec<_> = self
            .levels
            .iter()
            .flat_map(|view| view.tables.iter().map(move |table| (view.level, table)))
            .filter(|(_, table)| table.dead > 0 && table.dead_percent() >= self.options.dead_rich_percent)
            .collect();
        rich.sort_by_key(|(_, table)| (Reverse(table.dead_percent()), table.file_number));
        let candidate = |(level, table): (u32, &'a TableShape)| {
            let dead_percent = table.dead_percent();
            let reason = Reason::DeadRich {
                file_number: table.file_number,
                dead_percent,
            };
            let score = score_of(DEAD_WEIGHT * dead_percent, self.options.dead_rich_percent);
            let what = What::Rewrite(level, vec![table]);
            Candidate {
                cause: Cause { score, reason },
                what,
            }
        };
        rich.into_iter().map(candidate).collect()
    }

    /// Level 0 by count: its oldest table sinks, with what it is bound to.
    fn level_zero_count(&self) -> Option<Candidate<'a>> {
        let count = self.level(0)?.tables.len();
        let trigger = self.options.level_zero_trigger.max(1);
        (count >= trigger).then(|| Candidate {
            cause: Cause {
                score: score_of(count as u64, trigger as u64),
                reason: Reason::LevelZeroCount { count, trigger },
            },
            what: What::LevelZero,
        })
    }

    /// Levels above their targets.
    fn oversized(&self, targets: &LevelTargets) -> Vec<Candidate<'a>> {
        let pushable = self
            .levels
            .iter()
            .filter(|view| view.level > 0 && view.level < self.options.bottom_level);
        let candidate = |view: &'a LevelView| {
            let target_bytes = targets.of(view.level)?;
            let len_bytes = view.len_bytes();
            let score = match target_bytes {
                0 => DRAIN_SCORE,
                _ => score_of(len_bytes, target_bytes),
            };
            let reason = Reason::LevelSize {
                level: view.level,
                len_bytes,
                target_bytes,
            };
            (len_bytes > target_bytes).then_some(Candidate {
                cause: Cause { score, reason },
                what: What::PushDown(view),
            })
        };
        pushable.filter_map(candidate).collect()
    }

    /// A level's tables, the best to push down first: most dead records, then fewest overlapped bytes
    /// below for its own, then smallest file number.
    fn tables_by_worth(&self, view: &'a LevelView) -> Vec<&'a TableShape> {
        let mut tables: Vec<_> = view.tables.iter().collect();
        tables.sort_by_cached_key(|table| {
            let overlapped: u64 = self
                .level(view.level + 1)
                .map(|next| {
                    next.overlapping(&table.first_key, &table.last_key)
                        .map(|below| below.len_bytes)
                        .sum()
                })
                .unwrap_or(0);
            let percent = table.dead_percent();
            let rich = if percent >= self.options.dead_rich_percent {
                percent
            } else {
                0
            };
            let overlap_per_mille = u128::from(overlapped) * 1000 / u128::from(table.len_bytes.max(1));
            (Reverse(rich), overlap_per_mille, table.file_number)
        });
        tables
    }

    /// Small tables side by side become one. Where the largest holds at most half of all, no record is rewritten for this more often
    /// than its table can double.
    fn small_neighbours(&self) -> Vec<Candidate<'a>> {
        let levels = self.levels.iter().filter(|view| view.level > 0);
        let runs = levels.filter_map(|view| {
            let tables: Vec<_> = view.tables.iter().collect();
            let is_balanced = |sum_bytes: u64, largest_bytes: u64| largest_bytes <= sum_bytes / 2;
            let run = self.small_run(&tables, SMALL_RUN_MIN, is_balanced)?;
            let reason = Reason::SmallNeighbours {
                level: view.level,
                count: run.len(),
                len_bytes: run.iter().map(|table| table.len_bytes).sum(),
            };
            Some(Candidate {
                cause: Cause { score: DUE, reason },
                what: What::Rewrite(view.level, run),
            })
        });
        runs.collect()
    }

    /// The first run of so many tables or more, each at most half of a table's target, that together fit one, and whose sum and
    /// largest length please. `tables` are neighbours, in key order.
    pub(super) fn small_run(
        &self,
        tables: &[&'a TableShape],
        count_min: usize,
        pleases: impl Fn(u64, u64) -> bool,
    ) -> Option<Vec<&'a TableShape>> {
        let target_bytes = self.options.target_table_bytes;
        let is_small = |table: &&&TableShape| table.len_bytes <= target_bytes / 2 && !self.is_busy(table);
        let run_from = |from: usize| {
            let (mut sum_bytes, mut largest_bytes) = (0u64, 0u64);
            let fits = |table: &&&TableShape| {
                let next_bytes = sum_bytes.saturating_add(table.len_bytes);
                let fits = next_bytes <= target_bytes;
                if fits {
                    sum_bytes = next_bytes;
                    largest_bytes = largest_bytes.max(table.len_bytes);
                }
                fits
            };
            let near = tables[from..].iter().take(SMALL_RUN_MAX);
            let run: Vec<_> = near.take_while(is_small).take_while(fits).copied().collect();
            (run.len() >= count_min && pleases(sum_bytes, largest_bytes)).then_some(run)
        };
        (0..tables.len()).find_map(run_from)
    }
}
