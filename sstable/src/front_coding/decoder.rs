//! Strict sequential cursors over a stream.
//!
//! ```text
//! EncodedCursor    frames only; O(1) memory; checks everything that needs no key
//! KeyCursor        rebuilds each key in one buffer; checks the order of keys as well
//!
//! step of a KeyCursor      key      frame           boundary compare              key after
//!                          "cart"   keep 2, "t"     "rt" against "t": r < t       "ca" + "t"
//! ```
//!
//! A stream by itself can only be read forward. In a table the separators let each block be read by itself: there
//! [`TableCursor`](crate::TableCursor) goes in both directions, and from any record.
//!
//! Both run from the first record to the last, and check at the end that the last frame ends at the extent and that
//! the last key has the promised length. At every block start they compare the position with the directory. After
//! an error a cursor stays at the record before: asking again gives the same error.

use std::marker::PhantomData;

use crate::elias_fano::EliasFanoIter;
use crate::error::{FormatError, Rule};
use crate::front_coding::frame::{Frame, read_frame_at};
use crate::stream::{EncodedView, StreamMeta};
use crate::unit::Unit;

/// Walks the frames of a stream without rebuilding keys. `O(1)` a frame, allocates nothing.
#[derive(Debug, Clone)]
pub struct EncodedCursor<'a, U: Unit> {
    payload: &'a [u8],
    meta: StreamMeta,
    blocks: EliasFanoIter<'a>,
    ordinal: u64,
    /// Records before the next block start.
    records_until_block: u32,
    at: u64,
    key_units: u64,
    failed: Option<FormatError>,
    unit: PhantomData<U>,
}

impl<'a, U: Unit> EncodedCursor<'a, U> {
    /// Stands before the first record of a stream whose metadata, lengths and padding it has checked.
    ///
    /// # Errors
    ///
    /// As [`EncodedView::validate`].
    pub fn new(stream: EncodedView<'a>) -> Result<Self, FormatError> {
        stream.validate::<U>()?;
        Ok(Self {
            payload: stream.payload,
            meta: stream.meta,
            blocks: stream.directory.iter()?,
            ordinal: 0,
            records_until_block: 0,
            at: 0,
            key_units: 0,
            failed: None,
            unit: PhantomData,
        })
    }

    /// The stream's metadata.
    #[must_use]
    pub const fn meta(&self) -> &StreamMeta {
        &self.meta
    }

    /// The payload that frames point into.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The next frame, or `None` behind the last one.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the next frame, see [`read_frame_at`]; a block that is not where the directory says; behind
    /// the last frame, trailing units or a wrong length of the last key.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a strict cursor stops at its first error; an iterator goes on"
    )]
    pub fn next(&mut self) -> Result<Option<Frame>, FormatError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.step().inspect_err(|&error| self.fail(error)),
        }
    }

    #[cold]
    fn fail(&mut self, error: FormatError) {
        self.failed = Some(error);
    }

    #[inline]
    fn step(&mut self) -> Result<Option<Frame>, FormatError> {
        if self.ordinal == self.meta.record_count {
            return self.check_end().map(|()| None);
        }
        let block_start = self.records_until_block == 0;
        if block_start {
            self.check_block_start()?;
            self.records_until_block = self.meta.policy.records_per_block.get();
        }
        let (ordinal, start, key_units) = (self.ordinal, self.at, self.key_units);
        let frame = read_frame_at::<U>(self.payload, &self.meta, block_start, ordinal, start, key_units)?;
        self.records_until_block -= 1;
        self.ordinal += 1;
        self.at = frame.next;
        self.key_units = frame.key_units();
        Ok(Some(frame))
    }

    /// Compares the position with the next entry of the directory.
    fn check_block_start(&mut self) -> Result<(), FormatError> {
        let residual = self.blocks.next().transpose()?.unwrap_or(u64::MAX);
        let expected = residual.saturating_add(self.meta.common_units_before(self.ordinal));
        match expected == self.at {
            true => Ok(()),
            false => Err(FormatError::payload(
                self.at,
                Rule::BlockPosition,
                expected,
                self.at,
            )),
        }
    }

    /// What must hold behind the last record.
    fn check_end(&self) -> Result<(), FormatError> {
        let meta = &self.meta;
        if self.at != meta.extent_units {
            return Err(FormatError::payload(
                self.at,
                Rule::TrailingData,
                self.at,
                meta.extent_units,
            ));
        }
        if self.key_units != meta.last_key_units {
            let (expected, found) = (meta.last_key_units, self.key_units);
            return Err(FormatError::payload(
                self.at,
                Rule::LastKeyLength,
                expected,
                found,
            ));
        }
        Ok(())
    }
}

/// Walks the records of a stream, rebuilding each key in one buffer.
#[derive(Debug, Clone)]
pub struct KeyCursor<'a, U: Unit> {
    frames: EncodedCursor<'a, U>,
    frame: Option<Frame>,
    key: U::Owned,
    lcp: u64,
}

impl<'a, U: Unit> KeyCursor<'a, U> {
    /// Stands before the first record.
    ///
    /// # Errors
    ///
    /// As [`EncodedView::validate`].
    pub fn new(stream: EncodedView<'a>) -> Result<Self, FormatError> {
        Ok(Self {
            frames: EncodedCursor::new(stream)?,
            frame: None,
            key: U::Owned::default(),
            lcp: 0,
        })
    }

    /// Goes to the next record; `false` behind the last one.
    ///
    /// The key's buffer grows to the longest key; nothing else is allocated.
    ///
    /// # Errors
    ///
    /// As [`EncodedCursor::next`], and keys out of order. The cursor then stays at the record before.
    #[expect(
        clippy::should_implement_trait,
        reason = "it says whether there is a record, and lends key and value"
    )]
    pub fn next(&mut self) -> Result<bool, FormatError> {
        let Some(frame) = self.frames.next()? else {
            self.frame = None;
            return Ok(false);
        };
        let literal = frame.literal::<U>(self.frames.payload());
        self.lcp = match frame.ordinal {
            0 => 0,
            _ => check_order::<U>(U::as_str(&self.key), literal, &frame)
                .inspect_err(|&error| self.frames.fail(error))?,
        };
        U::truncate(&mut self.key, frame.retained);
        U::push(&mut self.key, literal);
        self.frame = Some(frame);
        Ok(true)
    }

    /// The frame of the current record; `None` before the first and behind the last.
    #[must_use]
    pub const fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// The current key. It lives until the cursor moves.
    #[must_use]
    pub fn key(&self) -> U::Str<'_> {
        U::as_str(&self.key)
    }

    /// The current value, empty where there is no record. It lives as long as the payload.
    #[must_use]
    pub fn value(&self) -> U::Str<'a> {
        self.frame
            .map(|frame| frame.value::<U>(self.frames.payload()))
            .unwrap_or_default()
    }

    /// The units that the current key shares with the one before it. Ordinary front coding retains exactly these.
    #[must_use]
    pub const fn lcp_with_previous(&self) -> u64 {
        self.lcp
    }
}

/// Checks that a key follows the one before it, and says how many units both share.
///
/// Normally one unit decides: the first of the literal against the one it replaces. A redundant record may repeat
/// units that it could have retained, then the comparison goes on.
fn check_order<U: Unit>(
    previous: U::Str<'_>,
    literal: U::Str<'_>,
    frame: &Frame,
) -> Result<u64, FormatError> {
    let replaced = U::slice(previous, frame.retained, U::len(previous));
    let same = U::lcp(replaced, literal);
    match (U::get(replaced, same), U::get(literal, same)) {
        (before, Some(after)) if before.is_none_or(|before| before < after) => Ok(frame.retained + same),
        (Some(before), Some(after)) => Err(FormatError::payload(
            frame.literal_start + same,
            Rule::KeyOrder,
            before,
            after,
        )),
        _ => {
            let (offset, length) = (frame.start, U::len(previous));
            Err(FormatError::payload(
                offset,
                Rule::KeyIsPrefix,
                length,
                frame.key_units(),
            ))
        }
    }
}
