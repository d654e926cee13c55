//! Late kills: deletes that were flushed while a compaction ran.
//!
//! ```text
//! input 12 at the start    . . x . . .          compaction copies the live records into output 40
//! input 12 now             . X x . . X          two more were killed meanwhile: keys b and f
//! output 40                a b d e f            b and f are looked up and killed here
//! ```
//!
//! Exact, because an output holds only records older than every delete flushed after the start. An input that has left the
//! version meanwhile had nothing alive any more: all it held at the start was killed.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use crate::dead_set::{added_since, next_live};
use crate::error::Result;
use crate::table_file::TableFile;
use crate::version::{KeyspaceView, TableView};

/// The ordinals to kill in each output. `inputs` are as they were at the start, `now` is the keyspace of today.
pub(super) fn find(
    inputs: &[TableView],
    now: &KeyspaceView,
    outputs: &BTreeMap<u64, Arc<TableFile>>,
) -> Result<BTreeMap<u64, RoaringTreemap>> {
    let mut kills: BTreeMap<u64, RoaringTreemap> = BTreeMap::new();
    for input in inputs {
        let today = now
            .tables()
            .find(|table| table.file.number() == input.file.number());
        let killed = match today {
            Some(today) => added_since(&input.dead, &today.dead),
            None => live_ordinals(input),
        };
        let mut cursor = input.file.cursor();
        for ordinal in killed {
            let moved = cursor.seek_ordinal(ordinal);
            input.file.expect_record(moved, ordinal)?;
            for output in outputs.values().filter(|output| output.spans(cursor.key())) {
                if let Some(place) = output.find(cursor.key())? {
                    kills.entry(output.number()).or_default().insert(place.ordinal);
                }
            }
        }
    }
    Ok(kills)
}

fn live_ordinals(table: &TableView) -> Vec<u64> {
    let end = table.file.record_count();
    let step = |from: u64| next_live(&table.dead, from..end);
    std::iter::successors(step(0), |&ordinal| step(ordinal + 1)).collect()
}
