//! The specimen for people, at most 100 columns wide.

use std::fmt::Write as _;

use tephradb::tables::{Unit, UnitKind};

use super::super::paint::{Paint, Role};
use super::super::show::{quoted, unit_word};
use super::directory::Entry;
use super::dissect::{Number, Piece, Record, Specimen};
use crate::escape::printable;
use crate::output::counted;

/// Units shown in one row: eight bytes, or three groups of eight bits; and what they take.
const BYTES_A_ROW: usize = 8;
const BITS_A_ROW: usize = 24;
const UNITS_COLUMNS: usize = 26;
/// Longest text of a key or value, and of the units of a row.
const TEXT_LEN_CHARS: usize = 60;
const MEANING_LEN_CHARS: usize = 44;
/// Rows shown of a long literal or value.
const ROWS_MAX: usize = 6;

pub(super) fn render<U: Unit>(specimen: &Specimen, paint: Paint) -> String {
    let mut text = String::new();
    heading(
        &mut text,
        paint,
        &format!(
            "{}: table {}, {}, block {} of {}",
            printable(&specimen.file),
            specimen.table_id,
            counted(specimen.record_count, "record"),
            specimen.block,
            specimen.block_count
        ),
    );
    line(
        &mut text,
        &format!(
            "W = {} records a block, offsets in {} from the payload, which starts at byte {} of the file",
            specimen.records_per_block,
            unit_word::<U>(2),
            specimen.payload_offset
        ),
    );
    separator::<U>(&mut text, specimen, paint);
    directory(&mut text, specimen, paint);
    for record in &specimen.records {
        text.push('\n');
        frame::<U>(&mut text, record, paint);
    }
    text
}

fn heading(text: &mut String, paint: Paint, heading: &str) {
    line(text, &paint.text(Role::Heading, heading));
}

fn line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

fn separator<U: Unit>(text: &mut String, specimen: &Specimen, paint: Paint) {
    text.push('\n');
    heading(text, paint, "How a search comes here");
    let Some((last, common)) = &specimen.before else {
        line(
            text,
            "  a key below every separator is in block 0, which needs none",
        );
        return;
    };
    let first = specimen.records.first().map_or(&[][..], |record| &record.key);
    let len = usize::try_from(*common)
        .unwrap_or(usize::MAX)
        .saturating_add(1)
        .min(first.len());
    line(
        text,
        &format!("  last key before   {}", quoted::<U>(last, TEXT_LEN_CHARS)),
    );
    line(
        text,
        &format!("  first key here    {}", quoted::<U>(first, TEXT_LEN_CHARS)),
    );
    line(
        text,
        &format!(
            "  separator         {}, the first {common} + 1 {} of it: all that both have, and one more",
            quoted::<U>(&first[..len], TEXT_LEN_CHARS / 2),
            unit_word::<U>(2)
        ),
    );
}

fn directory(text: &mut String, specimen: &Specimen, paint: Paint) {
    text.push('\n');
    heading(text, paint, "Where it is: the directory");
    let (start, end) = (&specimen.start, &specimen.end);
    let lower = match start.universe / start.entry_count.max(1) {
        0 => "U < m, l = 0".to_owned(),
        _ => format!(
            "l = floor(log2({} / {})) = {}",
            start.universe, start.entry_count, start.low_width
        ),
    };
    line(
        text,
        &format!(
            "  entries           m = {}, universe U = {}; {lower} lower bits each",
            start.entry_count, start.universe
        ),
    );
    entry(text, start, "the start");
    residual(text, specimen, start.value, specimen.values_before, "starts");
    entry(text, end, "the end");
    residual(text, specimen, end.value, specimen.values_before_end, "ends");
}

fn entry(text: &mut String, entry: &Entry, what: &str) {
    let Entry {
        index,
        low_width,
        position,
        low,
        ..
    } = *entry;
    let sample = match entry.sparse_place {
        None => "dense: the others are scanned for".to_owned(),
        Some(place) => format!(
            "sparse: position {} of the list",
            place.saturating_add(index % 256)
        ),
    };
    line(text, &format!("  entry {index}: {what}"));
    line(
        text,
        &format!(
            "    sample {:<9} its first one is upper bit {}, its group is {sample}",
            entry.sample, entry.sample_first
        ),
    );
    let mut bits = String::new();
    for (at, &bit) in (entry.window_start..).zip(&entry.window) {
        let (open, close) = if at == position { ("[", "]") } else { ("", "") };
        write!(bits, "{open}{}{close}", u8::from(bit)).expect("a String takes everything");
    }
    let last = entry.window_start + entry.window.len() as u64 - 1;
    line(text, &format!("    upper bits       {bits}"));
    line(
        text,
        &format!(
            "                     bits {} to {last} of {}: select({index}) = {position}, the one in brackets",
            entry.window_start, entry.upper_bit_count
        ),
    );
    line(
        text,
        &format!(
            "    upper half       select({index}) - {index} = {position} - {index} = {}",
            position - index
        ),
    );
    let low_bits = match usize::try_from(low_width) {
        Ok(width @ 1..) => format!("{low:0width$b} = {low}"),
        _ => "none".to_owned(),
    };
    line(text, &format!("    lower bits       {low_bits}"));
    line(
        text,
        &format!(
            "    entry            {} << {low_width} | {low} = {}",
            position - index,
            entry.value
        ),
    );
}

fn residual(text: &mut String, specimen: &Specimen, value: u64, values_before: u64, verb: &str) {
    match specimen.common_width {
        None => line(text, &format!("    the block {verb} at {value}")),
        Some(width) => line(
            text,
            &format!(
                "    values           {} of common width {width} before: {value} + {values_before}; the block {verb} at {}",
                values_before.checked_div(width).unwrap_or(0),
                value + values_before
            ),
        ),
    }
}

fn frame<U: Unit>(text: &mut String, record: &Record, paint: Paint) {
    let frame = &record.frame;
    heading(
        text,
        paint,
        &format!(
            "Record {}: {} {} from {}",
            frame.ordinal,
            frame.next - frame.start,
            unit_word::<U>(frame.next - frame.start),
            frame.start
        ),
    );
    for piece in &record.pieces {
        rows::<U>(text, piece, paint);
    }
    line(
        text,
        &format!("{:>10}  key    {}", "=", quoted::<U>(&record.key, TEXT_LEN_CHARS)),
    );
    line(
        text,
        &format!(
            "{:>10}  value  {}",
            "",
            quoted::<U>(&record.value, TEXT_LEN_CHARS)
        ),
    );
}

fn rows<U: Unit>(text: &mut String, piece: &Piece, paint: Paint) {
    let role = paint.text(piece.role, &format!("{:<8}", piece.role.name()));
    if piece.role == Role::Retained {
        let meaning = match piece.units.len() {
            0 => "nothing of the key before".to_owned(),
            _ => format!(
                "{}, not stored again",
                quoted::<U>(&piece.units, MEANING_LEN_CHARS - 18)
            ),
        };
        line(
            text,
            &format!("{:>10}  {:<UNITS_COLUMNS$}  {role}  {meaning}", "-", ""),
        );
        return;
    }
    let width = if U::KIND == UnitKind::Byte {
        BYTES_A_ROW
    } else {
        BITS_A_ROW
    };
    let row_count = piece.units.len().div_ceil(width);
    for (index, units) in piece.units.chunks(width).enumerate() {
        if index == ROWS_MAX && row_count > ROWS_MAX + 1 {
            let left = (piece.units.len() - index * width) as u64;
            line(
                text,
                &format!("{:>10}  and {left} {} more", "", unit_word::<U>(left)),
            );
            return;
        }
        let at = piece.start + (index * width) as u64;
        let shown = paint.text(piece.role, &format!("{:<UNITS_COLUMNS$}", digits::<U>(units)));
        let meaning = match piece.number {
            Some(number) if index + 1 == row_count => meaning_of::<U>(number),
            Some(_) => String::new(),
            None => quoted::<U>(units, MEANING_LEN_CHARS),
        };
        line(text, &format!("{at:>10}  {shown}  {role}  {meaning}"));
    }
}

/// Bytes as two digits each, bits in groups of eight.
fn digits<U: Unit>(units: &[u8]) -> String {
    let groups: Vec<String> = match U::KIND {
        UnitKind::Byte => units.iter().map(|byte| format!("{byte:02x}")).collect(),
        UnitKind::Bit => units
            .chunks(8)
            .map(|bits| bits.iter().map(ToString::to_string).collect())
            .collect(),
    };
    groups.join(" ")
}

fn meaning_of<U: Unit>(number: Number) -> String {
    match number {
        Number::Retained(count) => format!("keeps {count} {} of the key before", unit_word::<U>(count)),
        Number::Backspace { count, of } => format!(
            "goes back {count} of {of} {}, keeps {}",
            unit_word::<U>(of),
            of.saturating_sub(count)
        ),
        Number::LiteralLength(count) => format!("a literal of {count} {}", unit_word::<U>(count)),
        Number::ValueLength(count) => format!("a value of {count} {}", unit_word::<U>(count)),
    }
}
