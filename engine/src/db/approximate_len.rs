//! How many keys a keyspace holds, from counts that are kept anyway.

use std::ops::Range;

use super::engine::Engine;
use crate::dead_set::live_runs;
use crate::error::Result;
use crate::instant::Instant;
use crate::memtable::{Interval, Memtable};
use crate::overlay::Overlay;
use crate::version::TableView;

impl Engine {
    /// See [`Keyspace::approximate_len`](crate::Keyspace::approximate_len).
    pub(crate) fn approximate_len(&self, keyspace: u32) -> Result<u64> {
        self.check_open()?;
        let instant = self.instant();
        let (mut added, mut removed) = (0, 0);
        for table in instant
            .version()
            .keyspace(keyspace)
            .into_iter()
            .flat_map(|view| view.tables())
        {
            added += table.live_count();
            removed += killed_beside(&instant, table)?;
        }
        let memtables: Vec<&Memtable> = instant.memtables().collect();
        for (index, memtable) in memtables.iter().enumerate() {
            added += memtable.live_count(keyspace);
            removed += memtable.pending_delete_count(keyspace) as u64;
            let hidden = intervals_of(&memtables[..index], keyspace);
            removed += hidden
                .map(|interval| live_entries_in(memtable, interval))
                .sum::<u64>();
        }
        Ok(added.saturating_sub(removed))
    }
}

/// The range deletes of memtables.
fn intervals_of<'a>(memtables: &'a [&Memtable], keyspace: u32) -> impl Iterator<Item = &'a Interval> {
    let all = memtables.iter().flat_map(|memtable| memtable.intervals().iter());
    all.filter(move |interval| interval.keyspace() == keyspace)
}

fn live_entries_in(memtable: &Memtable, interval: &Interval) -> u64 {
    let (lower, upper) = interval.bounds();
    let entries = memtable.range(interval.keyspace(), lower, upper);
    entries.filter(|entry| entry.is_live()).count() as u64
}

/// Live records of a table that overlays or range deletes of memtables kill.
fn killed_beside(instant: &Instant, table: &TableView) -> Result<u64> {
    let number = table.file.number();
    let mut united = Overlay::default();
    for overlay in instant.overlays().iter() {
        overlay.runs_of(number).for_each(|run| united.insert(number, run));
    }
    let memtables: Vec<&Memtable> = instant.memtables().collect();
    for interval in intervals_of(&memtables, table.file.keyspace()) {
        if interval.overlaps_span(table.file.first_key(), table.file.last_key()) {
            united.insert(number, table.file.ordinals_in(interval)?);
        }
    }
    let len = |run: Range<u64>| run.end - run.start;
    Ok(united
        .runs_of(number)
        .flat_map(|run| live_runs(&table.dead, run))
        .map(len)
        .sum())
}
