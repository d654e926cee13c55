//! The frames of a stream as they grow, with their directory.

use super::{AppendError, Controls};
use crate::elias_fano::EliasFanoBuilder;
use crate::policy::Policy;
use crate::unit::Unit;

/// The largest extent a writer makes, in units: positions in bits then fit a word with room to spare.
pub const EXTENT_UNITS_MAX: u64 = 1 << 58;

/// No short record has more units.
const SHORT_UNITS_MAX: u64 = 512;

/// Frames and directory of a stream, written from retained lengths, literals and values.
///
/// The caller knows the order of the keys and promises that `retained` is the common prefix with the key before.
#[derive(Debug, Clone)]
pub struct FrameWriter<U: Unit> {
    pub(super) frames: U::Owned,
    /// Units given away by [`FrameWriter::drain`]; whole bytes.
    pub(super) drained_units: u64,
    /// Records before the next block start; 0 says that the next one is.
    pub(super) records_until_block: u32,
    pub(super) key_units: u64,
    pub(super) common_width: Option<u64>,
    literal_units: u64,
    pub(super) extent_units_max: u64,
    value_units: u64,
    pub(super) policy: Policy,
    pub(super) directory: EliasFanoBuilder,
}

impl<U: Unit> FrameWriter<U> {
    /// An empty stream. Allocates nothing.
    ///
    /// # Errors
    ///
    /// A policy of another unit or out of range; another common width than the policy fixes.
    pub fn new(policy: Policy, common_width: Option<u64>) -> Result<Self, AppendError> {
        if policy.unit != U::KIND {
            return Err(AppendError::Unit {
                expected: U::KIND,
                found: policy.unit,
            });
        }
        policy.validate()?;
        if let Some(expected) = policy.fixed_width()
            && common_width != Some(expected)
        {
            return Err(AppendError::CommonWidth {
                expected,
                found: common_width,
            });
        }
        Ok(Self::empty(policy, common_width, EXTENT_UNITS_MAX))
    }

    pub(super) fn empty(policy: Policy, common_width: Option<u64>, extent_units_max: u64) -> Self {
        Self {
            frames: U::Owned::default(),
            drained_units: 0,
            records_until_block: 0,
            key_units: 0,
            common_width,
            literal_units: 0,
            value_units: 0,
            extent_units_max,
            policy,
            directory: EliasFanoBuilder::new(),
        }
    }

    /// Refuses records beyond an extent in units (at most [`EXTENT_UNITS_MAX`], the default).
    pub fn limit_extent(&mut self, units: u64) {
        self.extent_units_max = units.min(EXTENT_UNITS_MAX);
    }

    /// Makes room for so many units and records at once.
    ///
    /// # Errors
    ///
    /// No memory; nothing has changed.
    pub fn try_reserve(&mut self, units: u64, records: u64) -> Result<(), AppendError> {
        let blocks = records.div_ceil(u64::from(self.policy.records_per_block.get())) + 1;
        self.directory
            .reserve(usize::try_from(blocks).unwrap_or(usize::MAX))?;
        Ok(U::reserve_frames(&mut self.frames, units)?)
    }

    /// Appends a record: `retained` units of the key before, then `literal`.
    ///
    /// # Errors
    ///
    /// A value of another width than declared, an extent above the limit, no memory. Nothing has changed then.
    ///
    /// # Panics
    ///
    /// When the key before has fewer than `retained` units.
    #[inline(always)]
    pub fn append(
        &mut self,
        retained: u64,
        literal: U::Span<'_>,
        value: U::Span<'_>,
    ) -> Result<(), AppendError> {
        let (literal_units, value_units) = (U::span_len(literal), U::span_len(value));
        let controls = self.prepare(retained, literal_units, value_units)?;
        let offset = self.position();
        U::append_frame(&mut self.frames, controls, &self.policy.backspace, literal, value)?;
        self.commit(offset, controls, retained, value_units);
        Ok(())
    }

    /// Appends a record as nearly all are: short, and there is room for it. `previous` becomes its key, with which it
    /// has the first `retained` units in common. False means that nothing has changed and [`FrameWriter::append`] has to
    /// take the record, or to say what is wrong with it.
    #[inline(always)]
    pub(in crate::writer) fn append_short(
        &mut self,
        previous: &mut U::Owned,
        retained: u64,
        key: U::Str<'_>,
        value: U::Str<'_>,
    ) -> bool {
        let (key_units, value_units) = (U::len(key), U::len(value));
        let width = match self.common_width {
            None => Some(value_units),
            Some(expected) if expected == value_units => None,
            Some(_) => return false,
        };
        let offset = self.position();
        let block_start = self.records_until_block == 0;
        if offset + SHORT_UNITS_MAX > self.extent_units_max || (block_start && !self.directory.has_room()) {
            return false;
        }
        let backspace = self.key_units.wrapping_sub(retained);
        let controls = Controls {
            lead: if block_start { retained } else { backspace },
            block_start,
            suffix: key_units.wrapping_sub(retained),
            width,
        };
        if !U::append_short(
            &mut self.frames,
            previous,
            controls,
            &self.policy.backspace,
            key,
            value,
        ) {
            return false;
        }
        if block_start {
            self.note_block(offset);
        }
        self.records_until_block -= 1;
        self.literal_units += controls.suffix;
        self.value_units += value_units;
        self.key_units = key_units;
        true
    }

    /// As [`FrameWriter::append`], for a literal of `literal_units` units with its value right behind it.
    ///
    /// # Errors
    ///
    /// As [`FrameWriter::append`].
    ///
    /// # Panics
    ///
    /// When the key before has fewer than `retained` units, or `body` fewer than `literal_units`.
    #[inline]
    pub fn append_joined(
        &mut self,
        retained: u64,
        literal_units: u64,
        body: U::Span<'_>,
    ) -> Result<(), AppendError> {
        let value_units = U::span_len(body)
            .checked_sub(literal_units)
            .expect("a body begins with its literal");
        let controls = self.prepare(retained, literal_units, value_units)?;
        let offset = self.position();
        U::append_joined(&mut self.frames, controls, &self.policy.backspace, body)?;
        self.commit(offset, controls, retained, value_units);
        Ok(())
    }

    /// Appends frames as they are: `records` of them, none at a block start here or where they come from, written
    /// under the same policy and common width behind a key of the same length.
    ///
    /// # Errors
    ///
    /// An extent above the limit, no memory. Nothing has changed then.
    ///
    /// # Panics
    ///
    /// When a block start lies among them.
    pub fn append_run(&mut self, run: Run, frames: U::Span<'_>) -> Result<(), AppendError> {
        assert!(
            run.records <= u64::from(self.records_until_block),
            "a run of frames crosses no block start"
        );
        let found = self.position() + U::span_len(frames);
        if found > self.extent_units_max {
            return Err(self.too_long(found));
        }
        U::append_raw(&mut self.frames, frames)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most records_until_block, asserted above"
        )]
        let records = run.records as u32;
        self.records_until_block -= records;
        self.literal_units += run.literal_units;
        self.value_units += run.value_units;
        self.key_units = run.last_key_units;
        Ok(())
    }

    /// Steps 1 and the first half of 2: what may refuse the record before its frame is assembled.
    #[inline(always)]
    fn prepare(
        &mut self,
        retained: u64,
        literal_units: u64,
        value_units: u64,
    ) -> Result<Controls, AppendError> {
        if let Some(expected) = self.common_width
            && expected != value_units
        {
            return Err(self.wrong_width(expected, value_units));
        }
        let found = self.position() + literal_units + value_units;
        if found > self.extent_units_max {
            return Err(self.too_long(found));
        }
        let backspace = self
            .key_units
            .checked_sub(retained)
            .expect("a key keeps no more than there is");
        let block_start = self.records_until_block == 0;
        if block_start {
            self.directory.reserve(1)?;
        }
        Ok(Controls {
            lead: if block_start { retained } else { backspace },
            block_start,
            suffix: literal_units,
            width: if self.common_width.is_none() {
                Some(value_units)
            } else {
                None
            },
        })
    }

    /// Step 4: the frame that started at `offset` counts.
    #[inline(always)]
    fn commit(&mut self, offset: u64, controls: Controls, retained: u64, value_units: u64) {
        if controls.block_start {
            self.note_block(offset);
        }
        self.records_until_block -= 1;
        self.literal_units += controls.suffix;
        self.value_units += value_units;
        self.key_units = retained + controls.suffix;
    }

    /// Notes the block that starts at `offset`, for which the directory has room.
    #[inline(never)]
    fn note_block(&mut self, offset: u64) {
        let residual = offset - self.places() * self.common_width.unwrap_or(0);
        self.directory
            .push(residual)
            .expect("room was reserved, and residuals grow with every frame");
        self.records_until_block = self.policy.records_per_block.get();
    }

    #[cold]
    fn wrong_width(&self, expected: u64, found: u64) -> AppendError {
        AppendError::ValueWidth {
            ordinal: self.record_count(),
            expected,
            found,
        }
    }

    #[cold]
    fn too_long(&self, found: u64) -> AppendError {
        AppendError::Length {
            ordinal: self.record_count(),
            expected: self.extent_units_max,
            found,
        }
    }

    /// Notes a block that starts at unit `at` of the frames kept; false for want of memory, and nothing has changed.
    /// All blocks before are full, so their number says which record it is.
    #[inline(never)]
    pub(super) fn start_block(&mut self, at: u64) -> bool {
        let residual = self.drained_units + at - self.places() * self.common_width.unwrap_or(0);
        self.directory.push(residual).is_ok()
    }

    /// Takes over what a burst has counted.
    #[inline(always)]
    pub(super) fn end_burst(&mut self, records_until_block: u32, key_units: u64) {
        self.records_until_block = records_until_block;
        self.key_units = key_units;
    }

    /// The end of the last frame, in units from the start of the stream.
    #[must_use]
    #[inline]
    pub fn position(&self) -> u64 {
        self.drained_units + U::owned_len(&self.frames)
    }

    /// Records that the blocks so far have places for.
    #[inline]
    fn places(&self) -> u64 {
        self.directory.len() as u64 * u64::from(self.policy.records_per_block.get())
    }

    /// Records written. Not counted: it follows from the blocks.
    #[must_use]
    #[inline]
    pub fn record_count(&self) -> u64 {
        self.places() - u64::from(self.records_until_block)
    }

    /// Records before the next block start; 0 when the next record is one.
    #[must_use]
    #[inline]
    pub const fn records_until_block(&self) -> u32 {
        self.records_until_block
    }

    /// Records a block.
    #[must_use]
    #[inline]
    pub(in crate::writer) const fn records_per_block(&self) -> u32 {
        self.policy.records_per_block.get()
    }

    /// The length of the last key in units.
    #[must_use]
    #[inline]
    pub const fn key_units(&self) -> u64 {
        self.key_units
    }

    /// Units of all literals, without those of bursts.
    #[must_use]
    pub const fn literal_units(&self) -> u64 {
        self.literal_units
    }

    /// Units of all values, without those of bursts.
    #[must_use]
    pub const fn value_units(&self) -> u64 {
        self.value_units
    }
}

/// What a run of frames adds to a stream besides its units.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// How many records.
    pub records: u64,
    /// Units of their literals.
    pub literal_units: u64,
    /// Units of their values.
    pub value_units: u64,
    /// The length of the last of their keys.
    pub last_key_units: u64,
}
