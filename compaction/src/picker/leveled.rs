//! The levelled rules.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::decision::{Decision, Job, JobInput, JobKind, Reason};
use super::targets::{LevelTargets, PickerOptions};
use super::view::{LevelView, TableShape};

/// Decides what to do next. `levels` may be in any order; missing levels are empty. `busy` holds the
/// file numbers of running jobs' inputs.
///
/// Cost: one pass over the tables, and one over the next level for each candidate of the chosen level.
pub fn pick(levels: &[LevelView], busy: &HashSet<u64>, options: &PickerOptions) -> Decision {
    let picker = Picker {
        levels,
        busy,
        options,
    };
    let targets = LevelTargets::derive(levels, options);
    let job = picker
        .all_dead()
        .or_else(|| picker.level_zero(&targets))
        .or_else(|| picker.oversized(&targets))
        .or_else(|| picker.dead_rich(&targets));
    job.map_or(Decision::Idle, Decision::Run)
}

/// Decides the next step of compacting a key range down to the lowest level that holds data of it, for a user who asked.
/// `None` for a bound means no bound. Idle when one level alone holds the range, without dead records,
/// or when a running job is in the way.
pub fn pick_range(
    levels: &[LevelView],
    busy: &HashSet<u64>,
    options: &PickerOptions,
    first_key: Option<&[u8]>,
    last_key: Option<&[u8]>,
) -> Decision {
    let picker = Picker {
        levels,
        busy,
        options,
    };
    picker
        .manual(first_key, last_key)
        .map_or(Decision::Idle, Decision::Run)
}

struct Picker<'a> {
    levels: &'a [LevelView],
    busy: &'a HashSet<u64>,
    options: &'a PickerOptions,
}

impl<'a> Picker<'a> {
    fn level(&self, level: u32) -> Option<&'a LevelView> {
        self.levels.iter().find(|view| view.level == level)
    }

    fn is_busy(&self, table: &TableShape) -> bool {
        self.busy.contains(&table.file_number)
    }

    /// Rule 1: tables without live records.
    fn all_dead(&self) -> Option<Job> {
        let (level, table) = self
            .levels
            .iter()
            .flat_map(|view| view.tables.iter().map(move |table| (view.level, table)))
            .find(|(_, table)| table.live == 0 && !self.is_busy(table))?;
        let file_number = table.file_number;
        Some(Job {
            kind: JobKind::Drop,
            inputs: vec![JobInput {
                level,
                file_numbers: vec![file_number],
            }],
            output_level: level,
            reason: Reason::AllDead { file_number },
        })
    }

    /// Rule 2: level 0 by count. All of it goes, since its tables overlap in time and key.
    fn level_zero(&self, targets: &LevelTargets) -> Option<Job> {
        let view = self.level(0)?;
        let (count, trigger) = (view.tables.len(), self.options.level_zero_trigger.max(1));
        if count < trigger {
            return None;
        }
        let reason = Reason::LevelZeroCount { count, trigger };
        self.job_into(0, view.tables.iter().collect(), targets.base_level, reason)
    }

    /// Rule 3: the level furthest above its target, by ratio.
    fn oversized(&self, targets: &LevelTargets) -> Option<Job> {
        let mut candidates: Vec<_> = self
            .levels
            .iter()
            .filter(|view| view.level > 0 && view.level < self.options.bottom_level)
            .filter_map(|view| {
                let target_bytes = targets.of(view.level)?;
                let len_bytes = view.len_bytes();
                (len_bytes > target_bytes).then_some((view, len_bytes, target_bytes))
            })
            .collect();
        candidates.sort_by(|left, right| {
            // Compare len / target without division; a target of nothing is the largest ratio.
            let left_ratio = u128::from(left.1) * u128::from(right.2);
            let right_ratio = u128::from(right.1) * u128::from(left.2);
            right_ratio
                .cmp(&left_ratio)
                .then(left.0.level.cmp(&right.0.level))
        });
        candidates
            .into_iter()
            .find_map(|(view, len_bytes, target_bytes)| {
                let reason = Reason::LevelSize {
                    level: view.level,
                    len_bytes,
                    target_bytes,
                };
                self.tables_by_worth(view)
                    .into_iter()
                    .find_map(|table| self.job_into(view.level, vec![table], view.level + 1, reason.clone()))
            })
    }

    /// A level's tables, the best to push down first: most dead bytes, then fewest overlapped bytes
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

    /// Rule 4: the table with the largest share of dead records, rewritten where it is.
    fn dead_rich(&self, targets: &LevelTargets) -> Option<Job> {
        let mut rich: Vec<_> = self
            .levels
            .iter()
            .filter(|view| view.level > 0)
            .flat_map(|view| view.tables.iter().map(move |table| (view.level, table)))
            .filter(|(_, table)| table.dead > 0 && table.dead_percent() >= self.options.dead_rich_percent)
            .collect();
        rich.sort_by_key(|(_, table)| (Reverse(table.dead_percent()), table.file_number));
        let below = rich.into_iter().find_map(|(level, table)| {
            if self.is_busy(table) {
                return None;
            }
            let reason = Reason::DeadRich {
                file_number: table.file_number,
                dead_percent: table.dead_percent(),
            };
            Some(Job {
                kind: JobKind::Merge,
                inputs: vec![JobInput {
                    level,
                    file_numbers: vec![table.file_number],
                }],
                output_level: level,
                reason,
            })
        });
        below.or_else(|| self.dead_rich_level_zero(targets))
    }

    /// Level 0 as a whole is rewritten into the base level when its tables together are rich in dead
    /// records, even if they are few.
    fn dead_rich_level_zero(&self, targets: &LevelTargets) -> Option<Job> {
        let view = self.level(0)?;
        let richest = view
            .tables
            .iter()
            .max_by_key(|table| (table.dead_percent(), table.file_number))?;
        if richest.dead == 0 || richest.dead_percent() < self.options.dead_rich_percent {
            return None;
        }
        let reason = Reason::DeadRich {
            file_number: richest.file_number,
            dead_percent: richest.dead_percent(),
        };
        self.job_into(0, view.tables.iter().collect(), targets.base_level, reason)
    }

    /// A key range, one level further down.
    fn manual(&self, first_key: Option<&[u8]>, last_key: Option<&[u8]>) -> Option<Job> {
        let touches = |table: &TableShape| {
            first_key.is_none_or(|first| first <= table.last_key.as_slice())
                && last_key.is_none_or(|last| table.first_key.as_slice() <= last)
        };
        let mut touched: Vec<(u32, Vec<&TableShape>)> = self
            .levels
            .iter()
            .map(|view| {
                (
                    view.level,
                    view.tables.iter().filter(|table| touches(table)).collect(),
                )
            })
            .filter(|(_, tables): &(u32, Vec<_>)| !tables.is_empty())
            .collect();
        touched.sort_by_key(|(level, _)| *level);
        let (top, tables) = touched.first()?.clone();
        if touched.len() > 1 || top == 0 {
            // Level 0 goes as a whole: its tables overlap in time.
            let tables = if top == 0 {
                self.level(0)?.tables.iter().collect()
            } else {
                tables
            };
            let next = touched
                .get(1)
                .map_or(self.options.bottom_level.max(1), |(level, _)| *level);
            return self.job_into(top, tables, next, Reason::Manual);
        }
        let with_dead = tables
            .into_iter()
            .find(|table| table.dead > 0 && !self.is_busy(table))?;
        Some(Job {
            kind: JobKind::Merge,
            inputs: vec![JobInput {
                level: top,
                file_numbers: vec![with_dead.file_number],
            }],
            output_level: top,
            reason: Reason::Manual,
        })
    }

    /// Tables of one level into another: a move if a single table overlaps nothing there, a merge with
    /// what they overlap otherwise. None if a busy table is in the way.
    fn job_into(
        &self,
        level: u32,
        tables: Vec<&TableShape>,
        output_level: u32,
        reason: Reason,
    ) -> Option<Job> {
        if tables.iter().any(|table| self.is_busy(table)) {
            return None;
        }
        let first_key = tables.iter().map(|table| table.first_key.as_slice()).min()?;
        let last_key = tables.iter().map(|table| table.last_key.as_slice()).max()?;
        // Levels between would be jumped over: what is there must not overlap, or age would be lost.
        let jumped = self
            .levels
            .iter()
            .filter(|view| view.level > level && view.level < output_level);
        if jumped
            .flat_map(|view| view.overlapping(first_key, last_key))
            .next()
            .is_some()
        {
            return None;
        }
        let below: Vec<&TableShape> = self
            .level(output_level)
            .map(|view| view.overlapping(first_key, last_key).collect())
            .unwrap_or_default();
        if below.iter().any(|table| self.is_busy(table)) {
            return None;
        }
        let numbers = |tables: &[&TableShape]| tables.iter().map(|table| table.file_number).collect();
        let from = JobInput {
            level,
            file_numbers: numbers(&tables),
        };
        let moves = below.is_empty() && tables.len() == 1 && tables[0].dead == 0;
        let kind = if moves { JobKind::Move } else { JobKind::Merge };
        let inputs = if below.is_empty() {
            vec![from]
        } else {
            vec![
                JobInput {
                    level: output_level,
                    file_numbers: numbers(&below),
                },
                from,
            ]
        };
        Some(Job {
            kind,
            inputs,
            output_level,
            reason,
        })
    }
}
