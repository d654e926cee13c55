//! The merged stream as it grows.
//!
//! It is told, for each record, how many units are retained of the key before, the literal, and the value;
//! of the key before it keeps the length alone. What comes out is the batch encoding of the records:
//! frames, metadata and every word of the directory.

use tephra_sstable::writer::framing::{Burst, Readable, Run};
use tephra_sstable::{EncodedStream, FrameWriter, Policy, StreamMeta, Unit};

use super::reframe::{reframe, uniform_width};
use crate::error::MergeError;

/// How far behind a cut an output may end, besides a 64th of it: a few records.
const CUT_SPARE_BYTES: u64 = 4096;

/// The output of a merge: frames, and the rule for what the stream declares of its values.
#[derive(Debug)]
pub(super) struct Output<U: Unit> {
    frames: FrameWriter<U>,
    policy: Policy,
    /// What streams declare at their start.
    declared_width: Option<u64>,
    /// What the stream declares now.
    common_width: Option<u64>,
    /// What is still to come, at most.
    expected: Expected,
    /// Units of payload at which outputs are cut.
    cut_units: u64,
}

/// An upper bound of what a merge still writes, as nearly all merges keep it: no output is longer than its inputs
/// together but where laws or cuts make it so.
#[derive(Clone, Copy, Debug)]
struct Expected {
    units: u64,
    records: u64,
}

impl<U: Unit> Output<U> {
    /// An output of these inputs, cut at about `cut_bytes`.
    pub(super) fn new<'a>(
        policy: Policy,
        declared_width: Option<u64>,
        inputs: impl Iterator<Item = &'a StreamMeta>,
        cut_bytes: u64,
    ) -> Result<Self, MergeError> {
        let frames = FrameWriter::new(policy, declared_width)?;
        let mut expected = Expected { units: 0, records: 0 };
        for meta in inputs {
            expected.units = expected.units.saturating_add(meta.extent_units);
            expected.records = expected.records.saturating_add(meta.record_count);
        }
        let cut_bytes = cut_bytes
            .saturating_add(cut_bytes / 64)
            .saturating_add(CUT_SPARE_BYTES);
        Ok(Self {
            frames,
            policy,
            declared_width,
            common_width: declared_width,
            expected,
            cut_units: cut_bytes.saturating_mul(8 / U::BITS),
        })
    }

    /// Makes room for what is expected, up to the next cut. Called where the stream is empty.
    #[cold]
    fn reserve(&mut self) -> Result<(), MergeError> {
        let Expected {
            mut units,
            mut records,
        } = self.expected;
        if units > self.cut_units {
            // The share of the records that lies in one cut.
            let share = u128::from(records) * u128::from(self.cut_units) / u128::from(units);
            (units, records) = (self.cut_units, u64::try_from(share).unwrap_or(records));
        }
        Ok(self.frames.try_reserve(units, records)?)
    }

    /// What streams declare at their start.
    pub(super) fn declared_width(&self) -> Option<u64> {
        self.declared_width
    }

    /// Whether the stream still declares what it did at its start; then the frames of native inputs are its own.
    pub(super) fn is_as_declared(&self) -> bool {
        self.common_width == self.declared_width
    }

    /// Records written.
    pub(super) fn record_count(&self) -> u64 {
        self.frames.record_count()
    }

    /// Bytes of payload so far.
    pub(super) fn len_bytes(&self) -> u64 {
        (self.frames.position() * U::BITS).div_ceil(8)
    }

    /// Refuses a law's value of another width than the policy fixes.
    pub(super) fn check_width(&self, law: &str, found: u64) -> Result<(), MergeError> {
        match self.policy.fixed_width() {
            Some(expected) if expected != found => {
                let record = self.record_count();
                Err(MergeError::ValueWidth {
                    law: law.to_owned(),
                    record,
                    expected,
                    found,
                })
            }
            _ => Ok(()),
        }
    }

    /// Appends a record. A value of another width than is declared ends the declaration; under a policy
    /// that fixes the width the caller has refused it.
    pub(super) fn append(
        &mut self,
        retained: u64,
        literal: U::Str<'_>,
        value: U::Str<'_>,
    ) -> Result<(), MergeError> {
        if self.record_count() == 0 {
            self.reserve()?;
        }
        if self.common_width.is_some_and(|width| width != U::len(value)) {
            assert!(
                self.policy.fixed_width().is_none(),
                "values of a fixed-width policy have its width"
            );
            self.redeclare(None)?;
        }
        Ok(self
            .frames
            .append(retained, U::suffix(literal, 0), U::suffix(value, 0))?)
    }

    #[cold]
    fn redeclare(&mut self, width: Option<u64>) -> Result<(), MergeError> {
        let stream = self.frames.finish()?;
        self.frames = reframe::<U>(&stream, width)?;
        self.common_width = width;
        Ok(())
    }

    /// Ends the stream and starts another one, which is told nothing of this one's last key.
    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        let mut stream = self.frames.finish()?;
        self.expected = Expected {
            units: self.expected.units.saturating_sub(stream.meta.extent_units),
            records: self.expected.records.saturating_sub(stream.meta.record_count),
        };
        let is_fixed = self.policy.fixed_width().is_some();
        if stream.meta.record_count == 0 && !is_fixed {
            // The batch encoding of nothing declares a width of nothing.
            stream.meta.common_width = Some(0);
        }
        if stream.meta.common_width.is_none()
            && let Some(width) = uniform_width::<U>(&stream)
        {
            stream = reframe::<U>(&stream, Some(width))?.finish()?;
        }
        if !self.is_as_declared() {
            self.frames = FrameWriter::new(self.policy, self.declared_width)?;
            self.common_width = self.declared_width;
        }
        Ok(stream)
    }
}

impl<U: Burst> Output<U> {
    /// Lends the frames for a burst of short records.
    #[inline(always)]
    pub(super) fn burst(&mut self) -> U::Lent<'_> {
        U::burst(&mut self.frames)
    }

    /// Appends a record that a burst has refused: its literal and value are the units `start..end` of `readable`, of
    /// any length.
    #[cold]
    #[inline(never)]
    pub(super) fn append_joined(
        &mut self,
        retained: u64,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> Result<(), MergeError> {
        let body = U::span_at(readable.bytes(), start, end - start).expect("a record lies in its payload");
        Ok(self.frames.append_joined(retained, key_units - retained, body)?)
    }

    /// Appends a run of frames that a burst has refused.
    #[cold]
    #[inline(never)]
    pub(super) fn append_run(&mut self, frames: &FrameRun, readable: Readable<'_>) -> Result<(), MergeError> {
        let span = U::span_at(readable.bytes(), frames.start, frames.end - frames.start)
            .expect("frames lie in their payload");
        // The literal and value totals of the writer count nothing that comes in bursts.
        let run = Run {
            records: frames.records.into(),
            literal_units: 0,
            value_units: 0,
            last_key_units: frames.last_key_units,
        };
        Ok(self.frames.append_run(run, span)?)
    }
}

/// Frames of one input that follow each other in the output as they do there.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameRun {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) records: u32,
    pub(super) last_key_units: u64,
}
