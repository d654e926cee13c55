//! One merge, from inputs to finished tables.

use tephra_sstable::{Rule, TableOptions, TableSummary, TableWriteError, write_encoded_table};

use super::error::CompactionError;
use super::observer::Observer;
use super::sink::OutputSink;
use crate::compose::Law;
use crate::merge::{MergeInput, MergeUnit, Merger, Progress};

/// Keys between two looks at the observer: about a tenth of a millisecond.
const STEP_KEYS: u64 = 4096;

/// Keys of a table's first step, when nothing is known of their length, and of its last ones.
const STEP_KEYS_MIN: u64 = 8;

/// What a finished job did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Distinct keys written.
    pub keys: u64,
    /// Live input records consumed.
    pub records: u64,
    /// Tables written.
    pub tables: u64,
    /// Bytes of all tables written.
    pub written_bytes: u64,
}

/// Merges inputs, given oldest first, into tables of about `target_table_bytes` of payload each. Table ids come
/// from the sink; the rest of `options` holds for every table, the law's name among it.
///
/// If nothing is alive in the inputs no table is written. Memory: one output table, and what the sources
/// keep.
///
/// # Errors
/// A broken input, a failing law, a failed write, or cancellation. The table being written is abandoned; those
/// finished before stay with the sink.
pub fn merge_tables<U: MergeUnit, L: Law<U>, S: OutputSink>(
    inputs: &[MergeInput<'_, U>],
    law: L,
    target_table_bytes: u64,
    options: &TableOptions,
    sink: &mut S,
    observer: &dyn Observer,
) -> Result<MergeReport, CompactionError> {
    let law_name = law.name().to_owned();
    let mut merger = Merger::bounded(inputs, law, target_table_bytes)?;
    let mut writer = TableOutput {
        options: TableOptions {
            composition_law: law_name,
            ..options.clone()
        },
        sink,
        last_key: (Vec::new(), 0),
        is_first: true,
    };
    let mut report = MergeReport::default();
    let mut total = Progress::default();
    while !total.done {
        if observer.is_cancelled() {
            return Err(CompactionError::Cancelled { keys: total.keys });
        }
        let step = merger.step(keys_to_fill(&merger, target_table_bytes))?;
        total.keys += step.keys;
        total.records += step.records;
        total.done = step.done;
        observer.progress(&total);
        let is_full = merger.output_len_bytes() >= target_table_bytes.max(1);
        if merger.output_record_count() > 0 && (is_full || total.done) {
            let stream = merger.cut()?;
            report.written_bytes += writer.write(&stream)?;
            report.tables += 1;
        }
    }
    Ok(MergeReport {
        keys: total.keys,
        records: total.records,
        ..report
    })
}

/// A budget that ends near the target: half of what is missing by the length of the records so far, which may
/// mislead, so a table is a few records longer than its target at most.
fn keys_to_fill<U: MergeUnit, L: Law<U>>(merger: &Merger<'_, U, L>, target_table_bytes: u64) -> u64 {
    let (len_bytes, records) = (merger.output_len_bytes(), merger.output_record_count());
    let Some(record_bytes) = len_bytes.checked_div(records) else {
        return STEP_KEYS_MIN;
    };
    let missing_bytes = target_table_bytes.saturating_sub(len_bytes);
    (missing_bytes / record_bytes.max(1) / 2).clamp(STEP_KEYS_MIN, STEP_KEYS)
}

struct TableOutput<'s, S: OutputSink> {
    options: TableOptions,
    sink: &'s mut S,
    /// Last key of the table before, as bytes and its length: the order of both is the order of keys.
    last_key: (Vec<u8>, u64),
    is_first: bool,
}

impl<S: OutputSink> TableOutput<'_, S> {
    /// Writes one table; gives the length of its file. The pass over its keys judges the certificates of the inputs,
    /// see [`Trust::Certified`](crate::Trust::Certified).
    fn write(&mut self, stream: &tephra_sstable::EncodedStream) -> Result<u64, CompactionError> {
        let (table_id, out) = self.sink.create()?;
        self.options.table_id = table_id;
        match write_encoded_table(stream.view(), &self.options, out) {
            Ok((_, summary)) if !self.follows(&summary) => {
                self.sink.abandon(table_id);
                Err(CompactionError::WrongCertificate { table_id })
            }
            Err(TableWriteError::Stream(error))
                if matches!(error.rule, Rule::KeyOrder | Rule::KeyIsPrefix) =>
            {
                self.sink.abandon(table_id);
                Err(CompactionError::WrongCertificate { table_id })
            }
            Ok((out, summary)) => {
                self.last_key = (summary.last_key.clone(), summary.last_key_units);
                self.is_first = false;
                let file_len_bytes = summary.file_len_bytes;
                self.sink.finish(out, summary)?;
                Ok(file_len_bytes)
            }
            Err(error) => {
                self.sink.abandon(table_id);
                Err(CompactionError::Write { table_id, error })
            }
        }
    }

    /// Whether a table is ordinarily coded and begins behind the one before.
    fn follows(&self, summary: &TableSummary) -> bool {
        let (last_key, last_units) = &self.last_key;
        let is_behind = (last_key, *last_units) < (&summary.first_key, summary.first_key_units);
        summary.ordinary_front_coding && (self.is_first || is_behind)
    }
}
