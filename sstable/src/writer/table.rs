//! Writing a table file, record by record or around a finished stream.

use std::io::Write;

use super::table_parts::RecordTotals;
use super::{TableOptions, TableSummary, TableWriteError};
use crate::container::{Header, PageWriter};
use crate::elias_fano::EliasFanoBuilder;
use crate::front_coding::KeyCursor;
use crate::stream::{EncodedView, StreamMeta};
use crate::unit::{Bit, Byte, Unit, UnitKind};

/// Writes one table file to `W`, record by record.
///
/// Keys must increase strictly. A record that is refused changes nothing: the table goes on with the next one. A
/// write that fails poisons the writer. Nobody else may write to the output meanwhile; the caller syncs and
/// renames it after [`finish`](Self::finish).
#[derive(Debug)]
pub struct TableWriter<W: Write, U: Unit = Byte> {
    out: PageWriter<W>,
    options: TableOptions,
    meta: StreamMeta,
    frames: U::Owned,
    blocks: EliasFanoBuilder,
    previous_key: U::Owned,
    totals: RecordTotals<U>,
}

impl<W: Write, U: Unit> TableWriter<W, U> {
    /// Writes the header. The output must be empty.
    ///
    /// # Errors
    ///
    /// An impossible policy, one of another unit, a common width other than the policy's; a failed write.
    pub fn new(out: W, options: TableOptions) -> Result<Self, TableWriteError> {
        let policy = options.policy;
        if policy.unit != U::KIND {
            return Err(TableWriteError::Unit {
                expected: U::KIND,
                found: policy.unit,
            });
        }
        policy.validate()?;
        if let Some(expected) = policy.fixed_width()
            && options.common_width != Some(expected)
        {
            return Err(TableWriteError::CommonWidth {
                expected,
                found: options.common_width,
            });
        }
        let out = start(out, &options)?;
        let meta = StreamMeta {
            policy,
            common_width: options.common_width,
            record_count: 0,
            extent_units: 0,
            last_key_units: 0,
        };
        Ok(Self {
            out,
            meta,
            frames: U::Owned::default(),
            blocks: EliasFanoBuilder::new(),
            previous_key: U::Owned::default(),
            totals: RecordTotals::new(&options),
            options,
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    ///
    /// A key that is not above the one before it, a value that has not the common width: the record was not taken.
    pub fn append(&mut self, key: U::Str<'_>, value: U::Str<'_>) -> Result<(), TableWriteError> {
        let ordinal = self.meta.record_count;
        let previous = U::as_str(&self.previous_key);
        let (previous_units, retained) = (U::len(previous), U::lcp(previous, key));
        if ordinal > 0 && U::get(previous, retained) >= U::get(key, retained) {
            return Err(TableWriteError::KeyOrder { ordinal });
        }
        if let Some(expected) = self.meta.common_width
            && U::len(value) != expected
        {
            return Err(TableWriteError::ValueWidth {
                ordinal,
                expected,
                found: U::len(value),
            });
        }
        if ordinal.is_multiple_of(u64::from(self.meta.policy.records_per_block.get())) {
            self.blocks
                .push(U::len(U::as_str(&self.frames)) - self.meta.common_units_before(ordinal))?;
            U::push_count(&mut self.frames, retained);
        } else {
            U::push_backspace(
                &mut self.frames,
                previous_units - retained,
                self.meta.policy.backspace,
            );
        }
        U::push_count(&mut self.frames, U::len(key) - retained);
        if self.meta.common_width.is_none() {
            U::push_count(&mut self.frames, U::len(value));
        }
        let literal = U::slice(key, retained, U::len(key));
        U::push(&mut self.frames, literal);
        U::push(&mut self.frames, value);
        U::truncate(&mut self.previous_key, retained);
        U::push(&mut self.previous_key, literal);
        self.meta.record_count += 1;
        self.totals.push(key, U::len(value), retained, U::len(literal));
        Ok(())
    }

    /// How many records have been taken.
    pub fn record_count(&self) -> u64 {
        self.meta.record_count
    }

    /// How long the payload is so far.
    pub fn payload_len_bytes(&self) -> u64 {
        (U::len(U::as_str(&self.frames)) * U::BITS).div_ceil(8)
    }

    /// Writes everything after the payload and gives the output back.
    ///
    /// # Errors
    ///
    /// A failed write; no memory for the directory.
    pub fn finish(mut self) -> Result<(W, TableSummary), TableWriteError> {
        let payload_start = self.out.len_bytes();
        self.meta.extent_units = U::len(U::as_str(&self.frames));
        self.meta.last_key_units = U::len(U::as_str(&self.previous_key));
        let end = self.meta.extent_units - self.meta.common_units_before(self.meta.record_count);
        self.blocks.push(end)?;
        self.out.write_all(&U::into_bytes(self.frames))?;
        let directory = self.blocks.finish()?;
        self.totals.finish(
            self.out,
            payload_start,
            &self.meta,
            &directory,
            self.previous_key,
            &self.options,
        )
    }
}

/// Writes a whole table file around a finished stream, as a merge makes it. One pass over its keys.
///
/// The policy and the common width are the stream's; those of the options do not count.
///
/// # Errors
///
/// A damaged stream, a failed write, no memory.
pub fn write_encoded_table<W: Write>(
    stream: EncodedView<'_>,
    options: &TableOptions,
    out: W,
) -> Result<(W, TableSummary), TableWriteError> {
    match stream.meta.policy.unit {
        UnitKind::Byte => write_encoded::<Byte, W>(stream, options, out),
        UnitKind::Bit => write_encoded::<Bit, W>(stream, options, out),
    }
}

fn write_encoded<U: Unit, W: Write>(
    stream: EncodedView<'_>,
    options: &TableOptions,
    out: W,
) -> Result<(W, TableSummary), TableWriteError> {
    let options = TableOptions {
        policy: stream.meta.policy,
        common_width: stream.meta.common_width,
        ..options.clone()
    };
    let mut totals = RecordTotals::<U>::new(&options);
    let mut cursor = KeyCursor::<U>::new(stream)?;
    let mut last_key = U::Owned::default();
    while cursor.next()? {
        let key = cursor.key();
        let frame = cursor.frame().expect("the cursor stands on a record");
        totals.push(
            key,
            frame.value_units(),
            cursor.lcp_with_previous(),
            frame.literal_units(),
        );
        if frame.ordinal + 1 == stream.meta.record_count {
            U::push(&mut last_key, key);
        }
    }
    let mut directory = EliasFanoBuilder::new();
    for entry in stream.directory.iter().map_err(crate::error::FormatError::from)? {
        directory.push(entry?)?;
    }
    let mut out = start(out, &options)?;
    let payload_start = out.len_bytes();
    out.write_all(stream.payload)?;
    totals.finish(
        out,
        payload_start,
        &stream.meta,
        &directory.finish()?,
        last_key,
        &options,
    )
}

/// Writes the header.
fn start<W: Write>(out: W, options: &TableOptions) -> Result<PageWriter<W>, TableWriteError> {
    let header = Header {
        policy: options.policy,
        table_id: options.table_id,
        creation: options.creation,
    };
    let mut out = PageWriter::new(out);
    out.write_all(&header.encode())?;
    Ok(out)
}
