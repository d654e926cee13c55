//! The overlay of a memtable: records in tables that its deletes have killed already, before its flush.
//!
//! ```text
//! table 12    . . x x x x . . . x . . .            runs of ordinals: (12, 2) -> 6, (12, 9) -> 10
//! table 15    x x x x x x x x x x x x x            (15, 0) -> 13: a scan steps over the table at once
//! ```
//!
//! A delete that waits in the map for the flush is something a scan steps over. So it does not wait long: it is looked up in the
//! tables beside all locks (`flush/early.rs`), and becomes ordinals here. Neighbours unite, so a queue emptied from its
//! head is one run, whatever was popped.
//!
//! An overlay belongs to one generation, like the log segment that holds its deletes by key. It is a promise, not yet a mark: the
//! manifest learns of it by the edit that flushes the generation, and a compaction copies what it kills, since a power cut may still take the
//! deletes back. When a compaction replaces a table, the runs move to its outputs with the keys.
//!
//! Runs are disjoint and not adjacent. Look-ups are O(log runs); `clone` is O(1) and frozen for ever.

use std::ops::Range;

/// Memory a run is taken to cost, in bytes.
const RUN_COST_BYTES: usize = 64;

/// Dead ordinals by table. See the head of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    /// (table, first ordinal) to the first ordinal behind the run.
    runs: imbl::OrdMap<(u64, u64), u64>,
}

impl Overlay {
    /// Adds a run of ordinals of a table. O(log n) for each run that it touches; those become one.
    pub(crate) fn insert(&mut self, table: u64, ordinals: Range<u64>) {
        if ordinals.is_empty() {
            return;
        }
        let mut united = ordinals;
        if let Some(before) = self.at_or_before(table, united.start)
            && before.end >= united.start
        {
            united = before.start..before.end.max(united.end);
        }
        while let Some(touched) = self.first_from(table, united.start)
            && touched.start <= united.end
        {
            united.end = united.end.max(touched.end);
            self.runs.remove(&(table, touched.start));
        }
        self.runs.insert((table, united.start), united.end);
    }

    /// The run in which an ordinal lies.
    pub(crate) fn covering(&self, table: u64, ordinal: u64) -> Option<Range<u64>> {
        if self.runs.is_empty() {
            return None;
        }
        self.at_or_before(table, ordinal).filter(|run| ordinal < run.end)
    }

    /// The last run that starts at an ordinal or before it.
    pub(crate) fn at_or_before(&self, table: u64, ordinal: u64) -> Option<Range<u64>> {
        let (&(of, start), &end) = self.runs.get_prev(&(table, ordinal))?;
        (of == table).then_some(start..end)
    }

    /// The first run that starts at an ordinal or behind it.
    pub(crate) fn first_from(&self, table: u64, ordinal: u64) -> Option<Range<u64>> {
        let (&(of, start), &end) = self.runs.get_next(&(table, ordinal))?;
        (of == table).then_some(start..end)
    }

    /// The runs of a table, in order.
    pub(crate) fn runs_of(&self, table: u64) -> impl Iterator<Item = Range<u64>> {
        let runs = self.runs.range((table, 0)..=(table, u64::MAX));
        runs.map(|(&(_, start), &end)| start..end)
    }

    /// Whether a table has runs here.
    pub(crate) fn concerns(&self, table: u64) -> bool {
        !self.runs.is_empty() && self.first_from(table, 0).is_some()
    }

    /// The numbers of the tables that have runs here, in order.
    pub(crate) fn tables(&self) -> impl Iterator<Item = u64> {
        let next = |from: u64| Some(self.runs.get_next(&(from, 0))?.0.0);
        std::iter::successors(next(0), move |&table| next(table.checked_add(1)?))
    }

    /// Forgets a table.
    pub(crate) fn remove_table(&mut self, table: u64) {
        while let Some(run) = self.first_from(table, 0) {
            self.runs.remove(&(table, run.start));
        }
    }

    /// Whether nothing is killed here.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of runs.
    pub(crate) fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Ordinals in all runs.
    pub(crate) fn ordinal_count(&self) -> u64 {
        self.runs.iter().map(|(&(_, start), &end)| end - start).sum()
    }

    /// Memory the runs are taken to cost, in bytes.
    pub(crate) fn cost_bytes(&self) -> usize {
        self.runs.len() * RUN_COST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;

    #[test]
    fn agrees_with_flags_whatever_touches() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (mut overlay, mut flags) = (Overlay::default(), [[false; 100]; 3]);
            for _ in 0..rng.below(40) {
                let table = rng.below(3);
                if rng.below(20) == 0 {
                    overlay.remove_table(table as u64);
                    flags[table] = [false; 100];
                    continue;
                }
                let start = rng.below(90);
                let end = start + rng.below(10);
                overlay.insert(table as u64, start as u64..end as u64);
                flags[table][start..end].fill(true);
            }
            let count = flags.iter().flatten().filter(|&&dead| dead).count();
            assert_eq!(overlay.ordinal_count(), count as u64, "seed {seed}");
            let tables = (0..).zip(&flags).filter(|(_, flags)| flags.contains(&true));
            let tables: Vec<u64> = tables.map(|(table, _)| table).collect();
            assert!(overlay.tables().eq(tables), "seed {seed}");
            for table in 0..3u64 {
                let flags = &flags[usize::try_from(table).expect("small")];
                let mut from_runs = [false; 100];
                let mut previous_end = None;
                for run in overlay.runs_of(table) {
                    assert!(
                        previous_end.is_none_or(|end| end < run.start),
                        "seed {seed}: a gap between runs"
                    );
                    previous_end = Some(run.end);
                    let index = |ordinal| usize::try_from(ordinal).expect("small");
                    from_runs[index(run.start)..index(run.end)].fill(true);
                }
                assert_eq!(&from_runs, flags, "seed {seed}");
                assert_eq!(overlay.concerns(table), flags.contains(&true), "seed {seed}");
                for (ordinal, &dead) in (0..).zip(flags) {
                    assert_eq!(
                        overlay.covering(table, ordinal).is_some(),
                        dead,
                        "seed {seed}, {ordinal}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_queue_popped_in_any_batches_is_one_run() {
        let mut overlay = Overlay::default();
        for start in (0..100_000).step_by(7) {
            overlay.insert(5, start..start + 7);
        }
        assert_eq!(
            (overlay.run_count(), overlay.covering(5, 99_999)),
            (1, Some(0..100_002))
        );
    }
}
