//! `tephra table info`: what a table says of itself, and where its bytes go.

use std::io::Write;

use serde_json::json;
use tephradb::tables::{TableSection, Unit, UnitKind, ValueLayout};

use super::OpenTable;
use super::show::{quoted, text_of, unit_word, units};
use crate::escape::escape;
use crate::failure::{Failure, Result};
use crate::figures::{grouped, ratio};
use crate::output::{counted, page_of_facts};

/// Longest key shown.
const KEY_LEN_CHARS: usize = 70;
/// Bits of a filter block, and words of it in which a key sets one bit each.
const FILTER_BLOCK_BITS: f64 = 256.0;
const FILTER_WORD_BITS: f64 = 32.0;
const FILTER_WORDS: i32 = 8;
const FILTER_HEADER_LEN_BYTES: u64 = 32;

const SECTIONS: [TableSection; 6] = [
    TableSection::Payload,
    TableSection::Directory,
    TableSection::Separators,
    TableSection::Filter,
    TableSection::Properties,
    TableSection::Checksums,
];

/// Of a hundred look-ups of absent keys, as a share of one, how many a split-block filter of so many bytes (its header included) lets pass
/// with so many keys: the keys of a block are Poisson distributed, and each sets one bit in each of its eight words. `None` without a
/// filter.
#[expect(clippy::cast_precision_loss, reason = "an expectation")]
pub(crate) fn false_positive_rate(filter_len_bytes: u64, key_count: u64) -> Option<f64> {
    let bits = filter_len_bytes.checked_sub(FILTER_HEADER_LEN_BYTES)? as f64 * 8.0;
    if bits == 0.0 {
        return None;
    }
    let mean = key_count as f64 / (bits / FILTER_BLOCK_BITS);
    if mean > 500.0 {
        return Some(1.0);
    }
    let (mut probability, mut rate, mut keys) = ((-mean).exp(), 0.0, 0.0);
    while keys <= mean + 40.0 + 10.0 * mean.sqrt() {
        let bit_is_set = 1.0 - (1.0 - 1.0 / FILTER_WORD_BITS).powf(keys);
        rate += probability * bit_is_set.powi(FILTER_WORDS);
        keys += 1.0;
        probability *= mean / keys;
    }
    Some(rate.min(1.0))
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

pub(super) fn run<U: Unit>(table: &OpenTable<U>, as_json: bool, out: &mut dyn Write) -> Result<()> {
    let text = if as_json {
        json_of(table)
    } else {
        text_of_table(table)
    };
    out.write_all(text.as_bytes()).map_err(Failure::Output)
}

fn json_of<U: Unit>(table: &OpenTable<U>) -> String {
    let (properties, meta) = (table.properties(), table.meta());
    let filter_bytes = table.section_len_bytes(TableSection::Filter);
    let sections: Vec<_> = SECTIONS
        .iter()
        .map(|&section| {
            let range = table.section_range(section);
            json!({"name": section.to_string(), "offset": range.start, "bytes": range.len()})
        })
        .collect();
    let facts = json!({
        "table_id": properties.table_id,
        "file_bytes": table.bytes().len(),
        "unit": match U::KIND { UnitKind::Byte => "byte", UnitKind::Bit => "bit" },
        "records": properties.record_count,
        "blocks": meta.block_count(),
        "records_per_block": meta.policy.records_per_block,
        "first_key": text_of::<U>(&units::<U>(U::as_str(&properties.first_key))),
        "last_key": text_of::<U>(&units::<U>(U::as_str(&properties.last_key))),
        "common_value_width": properties.common_width,
        "composition_law": properties.composition_law,
        "ordinary_front_coding": properties.ordinary_front_coding,
        "extent_units": properties.extent_units,
        "key_units": properties.key_units_total,
        "literal_units": properties.literal_units_total,
        "value_units": properties.value_units_total,
        "longest_key_units": properties.key_units_max,
        "longest_value_units": properties.value_units_max,
        "false_positive_rate": false_positive_rate(filter_bytes, properties.record_count),
        "sections": sections,
    });
    page_of_facts(&facts)
}

fn text_of_table<U: Unit>(table: &OpenTable<U>) -> String {
    let (properties, meta) = (table.properties(), table.meta());
    let (records, file_len) = (properties.record_count, table.bytes().len() as u64);
    let key = |key: &U::Owned| quoted::<U>(&units::<U>(U::as_str(key)), KEY_LEN_CHARS);
    let mut lines = vec![
        row(
            "table",
            format!(
                "{}, {} bytes, strings of {}",
                properties.table_id,
                grouped(file_len),
                unit_word::<U>(2)
            ),
        ),
        row(
            "records",
            format!(
                "{} in {} of {}",
                grouped(records),
                counted(meta.block_count(), "block"),
                meta.policy.records_per_block
            ),
        ),
        row("first key", key(&properties.first_key)),
        row("last key", key(&properties.last_key)),
        row("law", escape(properties.composition_law.as_bytes())),
        row(
            "values",
            match (meta.policy.values, properties.common_width) {
                (ValueLayout::Fixed { width_units }, _) => format!(
                    "all of {width_units} {}, as the keyspace says",
                    unit_word::<U>(width_units)
                ),
                (ValueLayout::Variable, Some(width)) => {
                    format!("all of {width} {}, said once", unit_word::<U>(width))
                }
                (ValueLayout::Variable, None) => format!(
                    "of any length, at most {} {}",
                    grouped(properties.value_units_max),
                    unit_word::<U>(2)
                ),
            },
        ),
        row(
            "keys",
            format!(
                "at most {} {}",
                grouped(properties.key_units_max),
                unit_word::<U>(2)
            ),
        ),
        String::new(),
        format!(
            "{:<12} {:>12} {:>12} {:>8} {:>15}",
            "section", "offset", "bytes", "share", "bytes a record"
        ),
    ];
    for section in SECTIONS {
        let range = table.section_range(section);
        if range.is_empty() {
            lines.push(format!("{:<12} {:>12} {:>12}", section.to_string(), "-", "none"));
            continue;
        }
        let len = range.len() as u64;
        lines.push(format!(
            "{:<12} {:>12} {:>12} {:>6.1} % {:>15}",
            section.to_string(),
            grouped(range.start as u64),
            grouped(len),
            100.0 * share(len, file_len),
            ratio(len, records)
        ));
    }
    lines.push(format!(
        "{:<12} {:>12} {:>12} {:>8} {:>15}",
        "the file",
        0,
        grouped(file_len),
        "",
        ratio(file_len, records)
    ));
    lines.push(String::new());
    let (all, stored) = (properties.key_units_total, properties.literal_units_total);
    let saved = all.saturating_sub(stored);
    lines.push(row(
        "key prefixes",
        format!(
            "{} {} of keys, {} of them stored: front coding saves {:.1} %",
            grouped(all),
            unit_word::<U>(all),
            grouped(stored),
            100.0 * share(saved, all)
        ),
    ));
    let filter_bytes = table.section_len_bytes(TableSection::Filter);
    lines.push(row(
        "filter",
        match false_positive_rate(filter_bytes, records) {
            None => "none".to_owned(),
            Some(rate) => format!(
                "{:.1} bits a key, {:.2} % of look-ups of absent keys pass in vain",
                8.0 * share(filter_bytes, records),
                100.0 * rate
            ),
        },
    ));
    lines.push(row(
        "certificate",
        match properties.ordinary_front_coding {
            true => {
                "ordinary front coding: every key retains all it has in common with the one before".to_owned()
            }
            false => "none: keys may retain less than they have in common with the one before".to_owned(),
        },
    ));
    lines.join("\n") + "\n"
}

fn row(name: &str, text: String) -> String {
    format!("{name:<13} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_rate_falls_with_the_bits_and_is_known_at_the_ends() {
        assert_eq!(false_positive_rate(0, 10), None);
        assert_eq!(false_positive_rate(32, 10), None);
        assert_eq!(false_positive_rate(64, 0), Some(0.0));
        let rates: Vec<f64> = [4, 8, 12, 16, 24]
            .iter()
            .map(|bits| false_positive_rate(32 + bits * 100_000 / 8, 100_000).expect("a filter"))
            .collect();
        assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
        // Split-block filters of 12 bits a key are known to pass about a half in a hundred.
        assert!((0.003..0.008).contains(&rates[2]), "{rates:?}");
        assert_eq!(false_positive_rate(64, 1_000_000), Some(1.0));
    }
}
