//! Late kills: deletes that were flushed while a compaction ran.
//!
//! ```text
//! input 12 at the start    . . x . . . . . .       compaction copies the live records into output 40
//! input 12 now             . X x . . X . X X       killed meanwhile: keys b and f one by one, h and all above by a range
//! output 40                a b d e f g h i         b and f are looked up and killed here; h.. is two searches
//! ```
//!
//! Exact, because an output holds only records older than every delete flushed after the start. An input that has left the
//! version meanwhile had nothing alive any more: all it held at the start was killed.
//!
//! Range deletes are not told from the dead sets: between two neighbours that died in one input, another input may hold a key that
//! lives. Their key ranges are remembered (`range_kills.rs`), and what lies in them needs no look-up by key.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::dead_set::{added_since, live_runs};
use crate::error::Result;
use crate::memtable::Intervals;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::version::{KeyspaceView, TableView};

/// The ordinals to kill in each output. `inputs` are as they were at the start, `now` is the keyspace of today, `ranges` are the
/// range deletes flushed in it since.
pub(super) fn find(
    inputs: &[TableView],
    now: &KeyspaceView,
    ranges: &Intervals,
    outputs: &SortedMap<u64, Arc<TableFile>>,
) -> Result<SortedMap<u64, RoaringTreemap>> {
    let today = |input: &TableView| {
        let mut tables = now.tables();
        tables.find(|table| table.file.number() == input.file.number())
    };
    carry_over(inputs, ranges, outputs, |input, rest| {
        killed_one_by_one(input, today(input), rest)
    })
}

/// The ordinals of outputs whose keys lie in `ranges`, or are among those that `killed` gives of a part of an input.
pub(super) fn carry_over<'a>(
    inputs: &'a [TableView],
    ranges: &Intervals,
    outputs: &SortedMap<u64, Arc<TableFile>>,
    killed: impl Fn(&'a TableView, Range<u64>) -> Box<dyn Iterator<Item = u64> + 'a>,
) -> Result<SortedMap<u64, RoaringTreemap>> {
    let mut kills: SortedMap<u64, RoaringTreemap> = SortedMap::new();
    for output in outputs.values() {
        for ordinals in ordinals_in(output, ranges)? {
            let in_ranges = kills.get_or_insert_with(output.number(), Default::default);
            in_ranges.insert_range(ordinals);
        }
    }
    for input in inputs {
        let mut cursor = input.file.cursor();
        for rest in gaps(&ordinals_in(&input.file, ranges)?, input.file.record_count()) {
            for ordinal in killed(input, rest) {
                let moved = cursor.seek_ordinal(ordinal);
                input.file.expect_record(moved, ordinal)?;
                for output in outputs.values().filter(|output| output.spans(cursor.key())) {
                    if let Some(place) = output.find(cursor.key())? {
                        kills
                            .get_or_insert_with(output.number(), Default::default)
                            .insert(place.ordinal);
                    }
                }
            }
        }
    }
    Ok(kills)
}

/// The ordinals of a table whose keys lie in the intervals: disjoint, in order, none empty.
fn ordinals_in(table: &TableFile, intervals: &Intervals) -> Result<Vec<Range<u64>>> {
    let overlapping = intervals
        .iter()
        .filter(|interval| interval.keyspace() == table.keyspace())
        .filter(|interval| interval.overlaps_span(table.first_key(), table.last_key()));
    let mut all = Vec::new();
    for interval in overlapping {
        let ordinals = table.ordinals_in(interval)?;
        if !ordinals.is_empty() {
            all.push(ordinals);
        }
    }
    Ok(all)
}

/// What lies between disjoint ranges of `0..count`.
fn gaps(ranges: &[Range<u64>], count: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges
        .iter()
        .map(|range| range.start)
        .chain(std::iter::once(count));
    starts.zip(ends).map(|(start, end)| start..end)
}

/// The ordinals of a range that were alive in the input and are dead today; all, if it is in the version no more.
fn killed_one_by_one<'a>(
    input: &'a TableView,
    today: Option<&'a TableView>,
    ordinals: Range<u64>,
) -> Box<dyn Iterator<Item = u64> + 'a> {
    match today {
        Some(today) => Box::new(added_since(&input.dead, &today.dead, ordinals)),
        None => Box::new(live_runs(&input.dead, ordinals).flatten()),
    }
}
