//! Takes a block apart.

use std::path::Path;

use tephradb::tables::{Frame, KeyCursor, TableSection, Unit};

use super::super::paint::Role;
use super::super::show::units;
use super::super::{OpenTable, refused, stream_error};
use super::directory::{Entry, take_apart};
use crate::failure::{Failure, Result};

/// One run of units, or what a key retains of the one before, which is stored nowhere.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) role: Role,
    /// Where it starts in the payload, in units.
    pub(super) start: u64,
    pub(super) units: Vec<u8>,
    /// The number of a control.
    pub(super) number: Option<Number>,
}

/// What the number of a control is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// Units kept of the key before: at the start of a block.
    Retained(u64),
    /// Units given up of the key before, which has so many.
    Backspace {
        count: u64,
        of: u64,
    },
    LiteralLength(u64),
    ValueLength(u64),
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) frame: Frame,
    pub(super) pieces: Vec<Piece>,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// One block, taken apart.
#[derive(Debug)]
pub(super) struct Specimen {
    pub(super) file: String,
    pub(super) table_id: u64,
    pub(super) record_count: u64,
    pub(super) block: u64,
    pub(super) block_count: u64,
    pub(super) records_per_block: u64,
    pub(super) payload_offset: usize,
    pub(super) common_width: Option<u64>,
    /// The directory's entries for the block's start and its end.
    pub(super) start: Entry,
    pub(super) end: Entry,
    /// Units of values of common width before the block, and before its end.
    pub(super) values_before: u64,
    pub(super) values_before_end: u64,
    pub(super) records: Vec<Record>,
    /// The last key of the block before, and how many units the first key has in common with it. `None` of the first block.
    pub(super) before: Option<(Vec<u8>, u64)>,
}

/// Takes a block apart. Reads the stream from its start: keys are rebuilt one from the other.
pub(super) fn dissect<U: Unit>(table: &OpenTable<U>, path: &Path, block: u64) -> Result<Specimen> {
    let meta = *table.meta();
    let no_block = || Failure::NoBlock {
        path: path.to_path_buf(),
        block,
        block_count: meta.block_count(),
    };
    if block >= meta.block_count() {
        return Err(no_block());
    }
    let view = table.encoded().map_err(|source| refused(path, source))?;
    let records_per_block = u64::from(meta.policy.records_per_block.get());
    let (first, end) = (
        block * records_per_block,
        meta.record_count.min((block + 1) * records_per_block),
    );
    let mut cursor = KeyCursor::<U>::new(view).map_err(|error| stream_error(path, error))?;
    let (mut records, mut before, mut previous_key) = (Vec::new(), None, Vec::new());
    while cursor.next().map_err(|error| stream_error(path, error))? {
        let Some(&frame) = cursor.frame() else { break };
        if frame.ordinal >= end {
            break;
        }
        if frame.ordinal >= first {
            let key = units::<U>(cursor.key());
            if frame.ordinal == first && first > 0 {
                before = Some((previous_key.clone(), cursor.lcp_with_previous()));
            }
            let pieces = pieces::<U>(
                view.payload,
                meta.common_width.is_some(),
                &frame,
                &previous_key,
                frame.ordinal == first,
                meta.policy.backspace,
            );
            records.push(Record {
                frame,
                pieces: pieces.ok_or_else(no_block)?,
                value: units::<U>(cursor.value()),
                key: key.clone(),
            });
            previous_key = key;
        } else if frame.ordinal + 1 == first {
            previous_key = units::<U>(cursor.key());
        }
    }
    let entry = |index| take_apart(&view.directory, index).ok_or_else(no_block);
    Ok(Specimen {
        file: path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        table_id: table.properties().table_id,
        record_count: meta.record_count,
        block,
        block_count: meta.block_count(),
        records_per_block,
        payload_offset: table.section_range(TableSection::Payload).start,
        common_width: meta.common_width,
        start: entry(block)?,
        end: entry(block + 1)?,
        values_before: meta.common_units_before(first),
        values_before_end: meta.common_units_before(end),
        records,
        before,
    })
}

/// The pieces of a frame, in the order of its units.
fn pieces<U: Unit>(
    payload: &[u8],
    has_common_width: bool,
    frame: &Frame,
    previous_key: &[u8],
    is_block_start: bool,
    code: tephradb::tables::BackspaceCode,
) -> Option<Vec<Piece>> {
    let extent = frame.next;
    let of = previous_key.len() as u64;
    let (count, after_first) = if is_block_start {
        U::read_count(payload, extent, frame.start).ok()?
    } else {
        U::read_backspace(payload, extent, frame.start, code).ok()?
    };
    let first = if is_block_start {
        Number::Retained(count)
    } else {
        Number::Backspace { count, of }
    };
    let mut numbers = vec![(frame.start, after_first, first)];
    let (literal, after_second) = U::read_count(payload, extent, after_first).ok()?;
    numbers.push((after_first, after_second, Number::LiteralLength(literal)));
    if !has_common_width {
        let (value, after_third) = U::read_count(payload, extent, after_second).ok()?;
        numbers.push((after_second, after_third, Number::ValueLength(value)));
    }
    let run = |from: u64, to: u64| Some(units::<U>(U::string_at(payload, from, to.checked_sub(from)?)?));
    let mut pieces = Vec::new();
    for (from, to, number) in numbers {
        pieces.push(Piece {
            role: Role::Control,
            start: from,
            units: run(from, to)?,
            number: Some(number),
        });
    }
    let retained = previous_key
        .get(..usize::try_from(frame.retained).ok()?)?
        .to_vec();
    pieces.push(Piece {
        role: Role::Retained,
        start: frame.literal_start,
        units: retained,
        number: None,
    });
    let (literal, value) = (
        run(frame.literal_start, frame.value_start)?,
        run(frame.value_start, frame.next)?,
    );
    pieces.push(Piece {
        role: Role::Literal,
        start: frame.literal_start,
        units: literal,
        number: None,
    });
    pieces.push(Piece {
        role: Role::Value,
        start: frame.value_start,
        units: value,
        number: None,
    });
    Some(pieces)
}
