//! Splitting one job by key.
//!
//! ```text
//! table A   |--.--.--.--.--|                        samples: keys at even distances of every table, each standing for as
//! table B                    |--.--.--.--|          many bytes of it
//! table C    |----.----.----.----.----.--|
//!           part 0  |  part 1  |  part 2            boundaries: the samples that cut the sum of bytes into equal parts;
//!                                                   every table is cut at the ordinals where they fall
//! ```
//!
//! The parts depend on the tables alone, so whoever does them, in whatever order, writes the same records.

use std::fmt;
use std::ops::Range;

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Table, TableError, Unit};

use super::table_input::table_input;
use crate::merge::MergeInput;

/// Samples a part, of all tables together: parts differ by a few hundredths.
const SAMPLES_PER_PART: u64 = 32;

/// A key, and how many bytes of its table it stands for.
struct Sample<U: Unit> {
    key: U::Owned,
    bytes: u64,
}

/// Splits tables into at most `parts` ranges of keys of about one size in bytes. For each part the range of ordinals of each table;
/// together they cover every record once, and each key falls into one part. Few records give fewer parts.
///
/// Costs 32 block reads a part, and a search in each table for each boundary.
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
    for boundary in boundaries(tables, parts)? {
        let cuts: Result<Vec<u64>, _> = tables
            .iter()
            .map(|table| table.lower_bound(U::as_str(&boundary)))
            .collect();
        let cuts = cuts?;
        let part: Vec<_> = starts
            .iter()
            .zip(&cuts)
            .map(|(start, end)| *start..*end)
            .collect();
        if part.iter().any(|range| !range.is_empty()) {
            plan.push(part);
        }
        starts = cuts;
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

/// Keys at which to cut, ascending.
fn boundaries<B, U>(tables: &[&Table<B, U>], parts: u64) -> Result<Vec<U::Owned>, TableError>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    if parts < 2 {
        return Ok(Vec::new());
    }
    let total_bytes: u64 = tables.iter().map(|table| len_bytes(table)).sum();
    let bytes_per_sample = (total_bytes / parts.saturating_mul(SAMPLES_PER_PART)).max(1);
    let mut samples = Vec::new();
    for table in tables {
        take_samples(table, bytes_per_sample, &mut samples)?;
    }
    samples.sort_by(|left, right| U::as_str(&left.key).cmp(&U::as_str(&right.key)));
    let sampled_bytes: u64 = samples.iter().map(|sample| sample.bytes).sum();
    let bytes_per_part = (sampled_bytes / parts).max(1);
    let mut boundaries = Vec::new();
    let mut part_bytes = 0u64;
    for sample in samples {
        // A sample stands for what follows it, so it begins a part.
        if part_bytes >= bytes_per_part && (boundaries.len() as u64) < parts - 1 {
            boundaries.push(sample.key);
            part_bytes = 0;
        }
        part_bytes = part_bytes.saturating_add(sample.bytes);
    }
    Ok(boundaries)
}

fn len_bytes<B, U>(table: &Table<B, U>) -> u64
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    table.bytes().as_ref().len() as u64
}

/// Takes the keys at the starts of blocks at even distances.
fn take_samples<B, U>(
    table: &Table<B, U>,
    bytes_per_sample: u64,
    samples: &mut Vec<Sample<U>>,
) -> Result<(), TableError>
where
    B: AsRef<[u8]> + Send + Sync + fmt::Debug,
    U: Unit,
{
    let records_per_block: u64 = table.meta().policy.records_per_block.get().into();
    let blocks = table.record_count().div_ceil(records_per_block);
    let count = (len_bytes(table) / bytes_per_sample).clamp(1, blocks.max(1));
    let bytes = len_bytes(table) / count;
    let mut cursor = table.cursor();
    for index in 0..count {
        // 128 bits: block counts times samples may pass 64.
        let block =
            u64::try_from(u128::from(blocks) * u128::from(index) / u128::from(count)).unwrap_or(u64::MAX);
        if !cursor.seek_ordinal(block.saturating_mul(records_per_block))? {
            break;
        }
        let mut key = U::Owned::default();
        U::push(&mut key, cursor.key());
        samples.push(Sample { key, bytes });
    }
    Ok(())
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
