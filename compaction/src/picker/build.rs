//! From chosen tables to a job: what else has to come along, and whether anything stands in the way.

use super::decision::{Job, JobInput, JobKind, Reason};
use super::running::Running;
use super::targets::PickerOptions;
use super::view::{LevelView, TableShape};

/// A table of more than so many target sizes is cut on its way instead of moving: every later merge would read all of it.
const LARGE_TABLE: u64 = 8;

/// What all rules look at.
pub(super) struct Picker<'a> {
    pub(super) levels: &'a [LevelView],
    pub(super) running: &'a Running,
    pub(super) options: &'a PickerOptions,
}

/// Why a job would be done, and how urgent it is.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) score: u64,
    pub(super) reason: Reason,
}

impl<'a> Picker<'a> {
    pub(super) fn level(&self, level: u32) -> Option<&'a LevelView> {
        self.levels.iter().find(|view| view.level == level)
    }

    pub(super) fn is_busy(&self, table: &TableShape) -> bool {
        self.running.holds(table.file_number)
    }

    /// A table of level 0 with all others there that it is bound to: those whose ranges touch, and whatever touches these. Oldest
    /// first. Nothing else in level 0 holds a key between the first and the last key of the result, so it may sink alone.
    pub(super) fn cluster(&self, seed: &'a TableShape) -> Vec<&'a TableShape> {
        let Some(view) = self.level(0) else {
            return vec![seed];
        };
        let (mut first, mut last) = (seed.first_key.as_slice(), seed.last_key.as_slice());
        loop {
            let members: Vec<_> = view.overlapping(first, last).collect();
            let (wider_first, wider_last) = hull(&members).unwrap_or((first, last));
            if (wider_first, wider_last) == (first, last) {
                return members;
            }
            (first, last) = (wider_first, wider_last);
        }
    }

    /// Tables of one level into another, below it: a move if they overlap nothing there and not each other, and are neither a crowd of
    /// small ones nor very large; a merge with what they overlap otherwise. None if a running job is in the way.
    pub(super) fn job_into(
        &self,
        level: u32,
        tables: &[&TableShape],
        output_level: u32,
        cause: &Cause,
    ) -> Option<Job> {
        let (first_key, last_key) = hull(tables)?;
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
        let target_bytes = self.options.target_table_bytes;
        let worth_keeping = |table: &&TableShape| {
            table.dead == 0
                && table.len_bytes <= target_bytes.saturating_mul(LARGE_TABLE)
                && (tables.len() == 1 || table.len_bytes > target_bytes / 2)
        };
        let moves = below.is_empty() && is_run(tables) && tables.iter().all(worth_keeping);
        let kind = if moves { JobKind::Move } else { JobKind::Merge };
        let inputs = [(output_level, below.as_slice()), (level, tables)];
        self.job(kind, &inputs, output_level, cause)
    }

    /// A job over tables by level, oldest level first. None if a running job is in the way.
    pub(super) fn job(
        &self,
        kind: JobKind,
        inputs: &[(u32, &[&TableShape])],
        output_level: u32,
        cause: &Cause,
    ) -> Option<Job> {
        let tables: Vec<&TableShape> = inputs
            .iter()
            .flat_map(|(_, tables)| tables.iter().copied())
            .collect();
        let (first_key, last_key) = hull(&tables)?;
        let in_the_way = tables.iter().any(|table| self.is_busy(table))
            || self.running.reserves(output_level, first_key, last_key);
        if in_the_way {
            return None;
        }
        let inputs = inputs.iter().filter(|(_, tables)| !tables.is_empty());
        let inputs = inputs.map(|(level, tables)| JobInput {
            level: *level,
            file_numbers: tables.iter().map(|table| table.file_number).collect(),
        });
        Some(Job {
            kind,
            inputs: inputs.collect(),
            output_level,
            first_key: first_key.to_vec(),
            last_key: last_key.to_vec(),
            score: cause.score,
            reason: cause.reason.clone(),
        })
    }
}

/// The key range that tables span together.
pub(super) fn hull<'t>(tables: &[&'t TableShape]) -> Option<(&'t [u8], &'t [u8])> {
    let first_key = tables.iter().map(|table| table.first_key.as_slice()).min()?;
    let last_key = tables.iter().map(|table| table.last_key.as_slice()).max()?;
    Some((first_key, last_key))
}

/// Whether no two tables overlap.
fn is_run(tables: &[&TableShape]) -> bool {
    let mut spans: Vec<_> = tables
        .iter()
        .map(|table| (&table.first_key, &table.last_key))
        .collect();
    spans.sort_unstable();
    spans.windows(2).all(|pair| pair[0].1 < pair[1].0)
}
