//! The native writer: records with strictly increasing keys, one at a time, straight into frames.
//!
//! ```text
//! append("cat")        previous key  c a r t           capacity kept from the longest key so far
//!     1  compare                     c a | r < t       common prefix 2; refuse what does not follow
//!     2  reserve the key's buffer                      (may fail: nothing has changed)
//!     3  append the frame            02 01 00 't'      (may fail: nothing has changed)
//!     4  keep 2 units, copy "t"      c a t             cannot fail: room is reserved
//! ```
//!
//! No record is stored. A block costs one residual offset; the previous key is one buffer that is never copied
//! whole: what it shares with the new key stays where it is. A refused record, whatever refused it, leaves exactly
//! the records before it: `finish` then gives these, and appending it again gives the complete stream.
//!
//! [`NativeWriter`] collects the stream in memory. A [`TableWriter`](super::TableWriter) puts a table file around it. [`DrainingWriter`] hands complete bytes to an output as they
//! come, and keeps no more of them than its buffer.

use std::io;

use super::framing::{AppendError, FrameWriter};
use crate::elias_fano::EliasFano;
use crate::policy::Policy;
use crate::stream::{EncodedStream, StreamMeta};
use crate::unit::Unit;

/// Bytes that a [`DrainingWriter`] lets pile up before it writes, where nobody chooses.
pub const DRAIN_LEN_BYTES_DEFAULT: usize = 64 << 10;

/// What became of an appended record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Which record of the stream it is.
    pub ordinal: u64,
    /// Units it shares with the key before it: what its frame retains.
    pub retained: u64,
    /// Whether it starts a block. Its first `retained + 1` units are then the shortest string that separates the
    /// block from the one before.
    pub starts_block: bool,
}

/// Writes a stream record by record, in memory.
#[derive(Debug, Clone)]
pub struct NativeWriter<U: Unit> {
    frames: FrameWriter<U>,
    previous: U::Owned,
}

impl<U: Unit> NativeWriter<U> {
    /// An empty stream. Allocates nothing.
    ///
    /// A variable policy may declare that all values have `common_width` units; no record then says its width.
    ///
    /// # Errors
    ///
    /// A policy of another unit or out of range; another common width than the policy fixes.
    pub fn new(policy: Policy, common_width: Option<u64>) -> Result<Self, AppendError> {
        Ok(Self {
            frames: FrameWriter::new(policy, common_width)?,
            previous: U::Owned::default(),
        })
    }

    /// Refuses records beyond an extent in units.
    pub fn limit_extent(&mut self, units: u64) {
        self.frames.limit_extent(units);
    }

    /// Makes room for so many units of output and so many records at once. Never needed, saves growing.
    ///
    /// # Errors
    ///
    /// No memory; nothing has changed.
    pub fn try_reserve(&mut self, units: u64, records: u64) -> Result<(), AppendError> {
        self.frames.try_reserve(units, records)
    }

    /// Appends a record. Key and value are copied; they may die after the call.
    ///
    /// Costs the comparison of two neighbouring keys and two short copies; allocates only to grow.
    ///
    /// # Errors
    ///
    /// A key that does not follow the one before, a value of another width than declared, an extent above the
    /// limit, no memory. Nothing has changed then.
    #[inline]
    pub fn append(&mut self, key: U::Str<'_>, value: U::Str<'_>) -> Result<Appended, AppendError> {
        let previous = U::as_str(&self.previous);
        let (retained, follows) = U::order(previous, key);
        if follows && self.frames.append_short(&mut self.previous, retained, key, value) {
            return Ok(Appended {
                ordinal: self.frames.record_count() - 1,
                retained,
                starts_block: self.frames.records_until_block() == self.frames.records_per_block() - 1,
            });
        }
        self.append_any(retained, follows, key, value)
    }

    /// [`NativeWriter::append`] of a record of any shape, compared already: long strings, growth, refusals.
    #[inline(never)]
    fn append_any(
        &mut self,
        retained: u64,
        follows: bool,
        key: U::Str<'_>,
        value: U::Str<'_>,
    ) -> Result<Appended, AppendError> {
        let ordinal = self.frames.record_count();
        if !follows && ordinal > 0 {
            return Err(AppendError::KeyOrder { ordinal });
        }
        let growth = U::len(key).saturating_sub(U::owned_len(&self.previous));
        if growth > 0 {
            U::try_reserve(&mut self.previous, growth)?;
        }
        let starts_block = self.frames.records_until_block() == 0;
        self.frames
            .append(retained, U::suffix(key, retained), U::suffix(value, 0))?;
        U::advance(&mut self.previous, retained, key);
        Ok(Appended {
            ordinal,
            retained,
            starts_block,
        })
    }

    /// Records written.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.frames.record_count()
    }

    /// The last key; empty before the first record.
    #[must_use]
    pub fn last_key(&self) -> U::Str<'_> {
        U::as_str(&self.previous)
    }

    /// The frames and their totals.
    #[must_use]
    pub const fn frames(&self) -> &FrameWriter<U> {
        &self.frames
    }

    /// The frames, for who drains them himself.
    pub(super) const fn frames_mut(&mut self) -> &mut FrameWriter<U> {
        &mut self.frames
    }

    /// Ends the stream with its directory. The writer then starts an empty one under the same policy, and keeps the
    /// memory of the previous key.
    ///
    /// # Errors
    ///
    /// No memory for the directory; the writer stands as before.
    pub fn finish(&mut self) -> Result<EncodedStream, AppendError> {
        let stream = self.frames.finish()?;
        U::truncate(&mut self.previous, 0);
        Ok(stream)
    }
}

/// Writes a stream record by record to an output, with bounded memory.
///
/// An output that fails once poisons the writer: how much of the payload it took is not known, so every later call
/// gives the same error.
#[derive(Debug)]
pub struct DrainingWriter<U: Unit, W: io::Write> {
    writer: NativeWriter<U>,
    out: W,
    drain_len_bytes: usize,
    failed: Option<(io::ErrorKind, String)>,
}

impl<U: Unit, W: io::Write> DrainingWriter<U, W> {
    /// An empty stream whose payload goes to `out` whenever `drain_len_bytes` of it are complete.
    ///
    /// # Errors
    ///
    /// As [`NativeWriter::new`].
    pub fn new(
        policy: Policy,
        common_width: Option<u64>,
        out: W,
        drain_len_bytes: usize,
    ) -> Result<Self, AppendError> {
        Ok(Self {
            writer: NativeWriter::new(policy, common_width)?,
            out,
            drain_len_bytes,
            failed: None,
        })
    }

    /// Appends a record, and writes to the output when enough has piled up.
    ///
    /// # Errors
    ///
    /// As [`NativeWriter::append`], with nothing changed; or a failed write, which ends the writer.
    pub fn append(&mut self, key: U::Str<'_>, value: U::Str<'_>) -> Result<Appended, AppendError> {
        self.check()?;
        let appended = self.writer.append(key, value)?;
        if self.writer.frames.drainable_len_bytes() >= self.drain_len_bytes {
            self.drain()?;
        }
        Ok(appended)
    }

    /// The writer with its totals.
    #[must_use]
    pub const fn writer(&self) -> &NativeWriter<U> {
        &self.writer
    }

    /// Writes the rest, and gives back the output, the metadata and the directory. The caller flushes.
    ///
    /// # Errors
    ///
    /// A failed write, now or before; no memory for the directory.
    pub fn finish(mut self) -> Result<(W, StreamMeta, EliasFano), AppendError> {
        self.drain()?;
        let EncodedStream {
            meta,
            payload,
            directory,
        } = self.writer.finish()?;
        self.out
            .write_all(&payload)
            .map_err(|error| poison(&mut self.failed, &error))?;
        Ok((self.out, meta, directory))
    }

    fn check(&self) -> Result<(), AppendError> {
        match &self.failed {
            None => Ok(()),
            Some((kind, message)) => Err(AppendError::Output {
                kind: *kind,
                message: message.clone(),
            }),
        }
    }

    fn drain(&mut self) -> Result<(), AppendError> {
        self.check()?;
        let drained = self.writer.frames.drain(&mut self.out);
        drained.map_err(|error| poison(&mut self.failed, &error))
    }
}

/// Remembers the first failure of an output and makes it an error.
#[cold]
fn poison(failed: &mut Option<(io::ErrorKind, String)>, error: &io::Error) -> AppendError {
    let (kind, message) = failed.insert((error.kind(), error.to_string()));
    AppendError::Output {
        kind: *kind,
        message: message.clone(),
    }
}
