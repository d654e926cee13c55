//! Writing a table file, record by record or around a finished stream.

use std::io::Write;

use super::table_parts::{RecordTotals, Written};
use super::{AppendError, NativeWriter, TableOptions, TableSummary, TableWriteError};
use crate::container::{Header, PageWriter};
use crate::elias_fano::{EliasFanoBuilder, to_index};
use crate::front_coding::KeyCursor;
use crate::stream::EncodedView;
use crate::unit::{Bit, Byte, Unit, UnitKind};

/// Bytes of frames that are gathered before they are written.
const DRAIN_LEN_BYTES: usize = 64 << 10;

/// More than the controls of a frame take, but for a backspace in unary.
const FRAME_OVERHEAD_MAX: usize = 128;

/// Writes one table file to `W`, record by record.
///
/// Keys must increase strictly. A record that is refused, for whatever reason but a failed write, changes nothing:
/// the table goes on with the next one, and the same record may be tried again. A write that fails poisons the
/// writer: it takes nothing more. Nobody else may write to the output meanwhile; the caller syncs and renames it
/// after [`finish`](Self::finish).
///
/// Memory: some 64 KiB of frames, and for the index 8 bytes a record and 16 and a separator a block.
#[derive(Debug)]
pub struct TableWriter<W: Write, U: Unit = Byte> {
    out: PageWriter<W>,
    payload_start: u64,
    options: TableOptions,
    records: NativeWriter<U>,
    totals: RecordTotals<U>,
    /// What the first failed write said.
    poisoned: Option<String>,
}

impl<W: Write, U: Unit> TableWriter<W, U> {
    /// Writes the header. The output must be empty.
    ///
    /// # Errors
    ///
    /// An impossible policy, one of another unit, a common width other than the policy's; a failed write.
    pub fn new(out: W, options: TableOptions) -> Result<Self, TableWriteError> {
        let records = NativeWriter::new(options.policy, options.common_width)?;
        let out = start(out, &options)?;
        Ok(Self {
            payload_start: out.len_bytes(),
            out,
            records,
            totals: RecordTotals::new(&options),
            options,
            poisoned: None,
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    ///
    /// A key that is not above the one before it, a value that has not the common width, no memory: the record was
    /// not taken. A failed write, now or earlier.
    pub fn append(&mut self, key: U::Str<'_>, value: U::Str<'_>) -> Result<(), TableWriteError> {
        if let Some(cause) = &self.poisoned {
            return Err(TableWriteError::Poisoned { cause: cause.clone() });
        }
        // Everything that may fail comes first. What the key shares with the one before is at most all of it.
        self.totals
            .try_reserve(key, U::len(key))
            .map_err(AppendError::from)?;
        // A backspace in unary takes at most as many bits as the key before has units.
        let units = U::len(key) + U::len(value) + U::len(self.records.last_key());
        let drained_len_max =
            self.records.frames().drainable_len_bytes() + to_index(units * U::BITS / 8) + FRAME_OVERHEAD_MAX;
        if drained_len_max >= DRAIN_LEN_BYTES {
            self.out.try_reserve(drained_len_max).map_err(AppendError::from)?;
        }
        let retained = self.records.append(key, value)?.retained;
        self.totals
            .push(key, U::len(value), retained, U::len(key) - retained);
        match self.records.frames().drainable_len_bytes() >= DRAIN_LEN_BYTES {
            true => self.drain(),
            false => Ok(()),
        }
    }

    fn drain(&mut self) -> Result<(), TableWriteError> {
        self.records.frames_mut().drain(&mut self.out).map_err(|error| {
            self.poisoned = Some(error.to_string());
            error.into()
        })
    }

    /// How many records have been taken.
    pub fn record_count(&self) -> u64 {
        self.totals.record_count()
    }

    /// How long the payload is so far.
    pub fn payload_len_bytes(&self) -> u64 {
        (self.records.frames().position() * U::BITS).div_ceil(8)
    }

    /// Writes everything after the payload and gives the output back.
    ///
    /// # Errors
    ///
    /// A failed write, now or earlier; no memory for the index.
    pub fn finish(mut self) -> Result<(W, TableSummary), TableWriteError> {
        if let Some(cause) = self.poisoned {
            return Err(TableWriteError::Poisoned { cause });
        }
        let mut last_key = U::Owned::default();
        U::push(&mut last_key, self.records.last_key());
        let rest = self.records.finish()?;
        self.out.write_all(&rest.payload)?;
        let stream = Written {
            payload_start: self.payload_start,
            meta: rest.meta,
            directory: rest.directory,
            last_key,
        };
        self.totals.finish(self.out, stream, &self.options)
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
        totals
            .try_reserve(key, cursor.lcp_with_previous())
            .map_err(AppendError::from)?;
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
    let directory = directory.finish()?;
    totals.finish(
        out,
        Written {
            payload_start,
            meta: stream.meta,
            directory,
            last_key,
        },
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
