//! One frame: the numbers of one record, without its key.
//!
//! ```text
//! "cart" -> "22" after "car"       at unit 7 of a byte stream
//!
//! unit     7    8    9    10   11   12   13
//! byte     00   01   02   't'  '2'  '2'
//!          |    |    |    |    |         '-- next = 13
//!          |    |    |    |    '-- value_start = 11
//!          |    |    |    '-- literal_start = 10
//!          |    |    '-- value length 2
//!          |    '-- suffix length 1
//!          '-- backspace 0 from a key of 3 units: retained = 3
//! ```
//!
//! Six words, all in policy units. [`read_frame`] checks everything that can be checked without the key itself.

use crate::error::{FormatError, Rule};
use crate::stream::StreamMeta;
use crate::unit::Unit;

/// The numbers of one record. Positions are in units from the start of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Which record of the stream.
    pub ordinal: u64,
    /// Where its controls start.
    pub start: u64,
    /// Units kept of the key before it.
    pub retained: u64,
    /// Where its literal (the new units of the key) starts; the controls end here.
    pub literal_start: u64,
    /// Where its value starts; the literal ends here.
    pub value_start: u64,
    /// Where the next frame starts; the value ends here.
    pub next: u64,
}

impl Frame {
    /// The length of its literal.
    #[must_use]
    #[inline]
    pub const fn literal_units(&self) -> u64 {
        self.value_start - self.literal_start
    }

    /// The length of its value.
    #[must_use]
    #[inline]
    pub const fn value_units(&self) -> u64 {
        self.next - self.value_start
    }

    /// The length of its key.
    #[must_use]
    #[inline]
    pub const fn key_units(&self) -> u64 {
        self.retained + self.literal_units()
    }

    /// Its literal in the payload it was read from.
    #[must_use]
    #[inline]
    pub fn literal<'a, U: Unit>(&self, payload: &'a [u8]) -> U::Str<'a> {
        U::string_at(payload, self.literal_start, self.literal_units()).expect("a frame lies in its payload")
    }

    /// Its value in the payload it was read from.
    #[must_use]
    #[inline]
    pub fn value<'a, U: Unit>(&self, payload: &'a [u8]) -> U::Str<'a> {
        U::string_at(payload, self.value_start, self.value_units()).expect("a frame lies in its payload")
    }
}

/// Reads the frame of record `ordinal` at unit `start`. `previous_units` is the length of the key before it.
///
/// # Errors
///
/// A count that cannot be read; a retained count above the previous key or, at a block start, above the frame's own
/// start; a frame past the extent.
#[inline]
pub fn read_frame<U: Unit>(
    payload: &[u8],
    meta: &StreamMeta,
    ordinal: u64,
    start: u64,
    previous_units: u64,
) -> Result<Frame, FormatError> {
    let block_start = ordinal.is_multiple_of(u64::from(meta.policy.records_per_block.get()));
    read_frame_at::<U>(payload, meta, block_start, ordinal, start, previous_units)
}

/// As [`read_frame`], for a caller that counts records and knows whether one starts a block: saves a division.
///
/// Short controls are decoded from one load. A frame that is long, near the payload's end or wrong is read once more
/// with care, which also finds the error to give.
///
/// # Errors
///
/// As [`read_frame`].
#[inline]
pub fn read_frame_at<U: Unit>(
    payload: &[u8],
    meta: &StreamMeta,
    block_start: bool,
    ordinal: u64,
    start: u64,
    previous_units: u64,
) -> Result<Frame, FormatError> {
    match read_short::<U>(payload, meta, block_start, ordinal, start, previous_units) {
        Some(frame) => Ok(frame),
        None => read_with_care::<U>(payload, meta, block_start, ordinal, start, previous_units),
    }
}

/// A frame of short controls that breaks no rule.
#[inline(always)]
pub(super) fn read_short<U: Unit>(
    payload: &[u8],
    meta: &StreamMeta,
    block_start: bool,
    ordinal: u64,
    start: u64,
    previous_units: u64,
) -> Option<Frame> {
    let backspace = if block_start {
        None
    } else {
        Some(meta.policy.backspace)
    };
    let controls = U::short_controls(payload, start, backspace, meta.common_width.is_none())?;
    let retained = match block_start {
        true => controls.lead,
        false => previous_units.checked_sub(controls.lead)?,
    };
    if block_start && (ordinal == 0 && retained > 0 || retained > start || retained > previous_units) {
        return None;
    }
    let value_start = controls.end.checked_add(controls.suffix)?;
    let next = value_start.checked_add(meta.common_width.unwrap_or(controls.width))?;
    (next <= meta.extent_units).then_some(Frame {
        ordinal,
        start,
        retained,
        literal_start: controls.end,
        value_start,
        next,
    })
}

/// [`read_frame_at`] count by count, every rule by itself.
#[inline(never)]
pub(super) fn read_with_care<U: Unit>(
    payload: &[u8],
    meta: &StreamMeta,
    block_start: bool,
    ordinal: u64,
    start: u64,
    previous_units: u64,
) -> Result<Frame, FormatError> {
    let extent = meta.extent_units;
    let at = start;
    let (retained, at) = if block_start {
        let (retained, next) = U::read_count(payload, extent, at).map_err(|error| error.at(at))?;
        check_block_start(ordinal, start, retained, previous_units)?;
        (retained, next)
    } else {
        let (backspace, next) =
            U::read_backspace(payload, extent, at, meta.policy.backspace).map_err(|error| error.at(at))?;
        let retained = previous_units.checked_sub(backspace).ok_or_else(|| {
            FormatError::payload(start, Rule::BackspaceBeyondKey, previous_units, backspace)
        })?;
        (retained, next)
    };
    let (suffix, at) = U::read_count(payload, extent, at).map_err(|error| error.at(at))?;
    let (width, literal_start) = match meta.common_width {
        Some(width) => (width, at),
        None => U::read_count(payload, extent, at).map_err(|error| error.at(at))?,
    };
    let value_start = literal_start.saturating_add(suffix);
    let next = value_start.saturating_add(width);
    if next > extent {
        return Err(FormatError::payload(start, Rule::FramePastExtent, extent, next));
    }
    Ok(Frame {
        ordinal,
        start,
        retained,
        literal_start,
        value_start,
        next,
    })
}

/// What a block start may retain.
#[inline]
fn check_block_start(
    ordinal: u64,
    start: u64,
    retained: u64,
    previous_units: u64,
) -> Result<(), FormatError> {
    let (rule, limit) = if ordinal == 0 {
        (Rule::FirstKeyRetains, 0)
    } else if retained > start {
        (Rule::RetainedAboveStart, start)
    } else {
        (Rule::RetainedAboveKey, previous_units)
    };
    match retained > limit {
        true => Err(FormatError::payload(start, rule, limit, retained)),
        false => Ok(()),
    }
}
