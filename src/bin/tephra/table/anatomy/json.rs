//! The specimen for programs.

use serde_json::{Value, json};
use tephradb::tables::Unit;

use super::super::show::{text_of, unit_word};
use super::directory::Entry;
use super::dissect::{Number, Piece, Record, Specimen};
use crate::output::page_of_facts;

pub(super) fn render<U: Unit>(specimen: &Specimen) -> String {
    let records: Vec<Value> = specimen.records.iter().map(record_of::<U>).collect();
    let before = specimen
        .before
        .as_ref()
        .map(|(key, common)| json!({"last_key": text_of::<U>(key), "common_units": common}));
    let facts = json!({
        "file": specimen.file,
        "table_id": specimen.table_id,
        "unit": unit_word::<U>(1),
        "payload_offset_bytes": specimen.payload_offset,
        "block": specimen.block,
        "blocks": specimen.block_count,
        "records_per_block": specimen.records_per_block,
        "common_value_width": specimen.common_width,
        "before": before,
        "start": entry_of(&specimen.start, specimen.values_before),
        "end": entry_of(&specimen.end, specimen.values_before_end),
        "records": records,
    });
    page_of_facts(&facts)
}

fn entry_of(entry: &Entry, values_before: u64) -> Value {
    json!({
        "entry": entry.index,
        "entries": entry.entry_count,
        "universe": entry.universe,
        "low_width": entry.low_width,
        "sample": {"number": entry.sample, "first_one": entry.sample_first, "sparse_place": entry.sparse_place},
        "select": entry.position,
        "upper_half": entry.position - entry.index,
        "lower_bits": entry.low,
        "value": entry.value,
        "value_units_before": values_before,
        "offset_units": entry.value + values_before,
    })
}

fn record_of<U: Unit>(record: &Record) -> Value {
    let pieces: Vec<Value> = record.pieces.iter().map(piece_of::<U>).collect();
    json!({
        "ordinal": record.frame.ordinal,
        "start": record.frame.start,
        "end": record.frame.next,
        "key": text_of::<U>(&record.key),
        "value": text_of::<U>(&record.value),
        "pieces": pieces,
    })
}

fn piece_of<U: Unit>(piece: &Piece) -> Value {
    let (what, number) = match piece.number {
        None => (None, None),
        Some(Number::Retained(count)) => (Some("retained"), Some(count)),
        Some(Number::Backspace { count, .. }) => (Some("backspace"), Some(count)),
        Some(Number::LiteralLength(count)) => (Some("literal length"), Some(count)),
        Some(Number::ValueLength(count)) => (Some("value length"), Some(count)),
    };
    json!({
        "role": piece.role.name(),
        "start": piece.start,
        "units": text_of::<U>(&piece.units),
        "what": what,
        "number": number,
    })
}
