//! Splitting one job by key.
//!
//! ```text
//! table A   |----|----|----|----|----|----|      keys at even distances of the largest table are the boundaries;
//! table B        |------|------|------|          every table is cut at the ordinals where they fall
//!           part 0       | part 1     | part 2
//! ```

use std::fmt;
use std::ops::Range;

use tephra_sstable::{Table, TableError, Unit};

use super::table_input::table_input;
use crate::merge::MergeInput;
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;

/// Splits tables into at most `parts` ranges of keys of about one size, by the block starts of the largest table.
/// For each part the range of ordinals of each table; together they cover every record once, and each key falls
/// into one part. Few records give fewer parts.
///
/// # Errors
/// A damaged table.
pub fn plan_subranges<B, U>(tables: &[&Table<B, U>], parts: u64) -> Result<Vec<Vec<Range<u64>>>, TableError>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    let ends: Vec<u64> = tables.iter().map(|table| table.record_count()).collect();
    let mut starts = vec![0; tables.len()];
    let mut plan = Vec::new();
    if let Some(largest) = tables.iter().max_by_key(|table| table.record_count()) {
        let records_per_block: u64 = largest.meta().policy.records_per_block.get().into();
        let blocks = largest.record_count().div_ceil(records_per_block);
        let parts = parts.min(blocks);
        let mut boundary = largest.cursor();
        for part in 1..parts {
            // 128 bits: block counts times parts may pass 64.
            let block = u64::try_from(u128::from(blocks) * u128::from(part) / u128::from(parts)).unwrap_or(0);
            if !boundary.seek_ordinal(block * records_per_block)? {
                break;
            }
            let cuts: Result<Vec<u64>, _> = tables
                .iter()
                .map(|table| table.lower_bound(boundary.key()))
                .collect();
            let cuts = cuts?;
            plan.push(
                starts
                    .iter()
                    .zip(&cuts)
                    .map(|(start, end)| *start..*end)
                    .collect(),
            );
            starts = cuts;
        }
    }
    plan.push(
        starts
            .into_iter()
            .zip(ends)
            .map(|(start, end)| start..end)
            .collect(),
    );
    Ok(plan)
}

/// The inputs of one part: the tables, given oldest first with their dead sets, that have records in it. Reading
/// starts at the blocks where the ranges start.
///
/// # Errors
/// A damaged page.
pub fn select_subrange<'a, B, U>(
    tables: &[(&'a Table<B, U>, Option<&'a OrdinalBitmap>)],
    ranges: &[Range<u64>],
) -> Result<Vec<MergeInput<'a, U>>, TableError>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    let mut inputs = Vec::new();
    for ((table, dead), range) in tables.iter().zip(ranges) {
        if !range.is_empty() {
            inputs.push(MergeInput {
                ordinals: Some(range.clone()),
                ..table_input(table, *dead)?
            });
        }
    }
    Ok(inputs)
}
