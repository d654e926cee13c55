//! The merged stream as it grows.
//!
//! It is told, for each record, how many units are retained of the key before, the literal, and the value;
//! of the key before it keeps the length alone. What comes out is the batch encoding of the records:
//! frames, metadata and every word of the directory.

use tephra_sstable::elias_fano::EliasFanoBuilder;
use tephra_sstable::{EncodedStream, Policy, StreamMeta, Unit};

use super::reframe::{reframe, uniform_width};
use crate::error::MergeError;

/// Appends frames and notes block offsets.
#[derive(Debug)]
pub(super) struct FrameSink<U: Unit> {
    policy: Policy,
    common_width: Option<u64>,
    payload: U::Owned,
    directory: EliasFanoBuilder,
    record_count: u64,
    key_units: u64,
}

impl<U: Unit> FrameSink<U> {
    pub(super) fn new(policy: Policy, common_width: Option<u64>) -> Self {
        Self {
            policy,
            common_width,
            payload: U::Owned::default(),
            directory: EliasFanoBuilder::new(),
            record_count: 0,
            key_units: 0,
        }
    }

    fn position(&self) -> u64 {
        U::len(U::as_str(&self.payload))
    }

    pub(super) fn append(&mut self, retained: u64, literal: U::Str<'_>, value: U::Str<'_>) {
        if self
            .record_count
            .is_multiple_of(u64::from(self.policy.records_per_block.get()))
        {
            let offset = self.position() - self.record_count * self.common_width.unwrap_or(0);
            self.directory
                .push(offset)
                .expect("residual offsets grow by at least the controls of a frame");
            U::push_count(&mut self.payload, retained);
        } else {
            U::push_backspace(
                &mut self.payload,
                self.key_units - retained,
                self.policy.backspace,
            );
        }
        U::push_count(&mut self.payload, U::len(literal));
        if self.common_width.is_none() {
            U::push_count(&mut self.payload, U::len(value));
        }
        U::push(&mut self.payload, literal);
        U::push(&mut self.payload, value);
        self.record_count += 1;
        self.key_units = retained + U::len(literal);
    }

    fn meta(&self) -> StreamMeta {
        StreamMeta {
            policy: self.policy,
            common_width: self.common_width,
            record_count: self.record_count,
            extent_units: self.position(),
            last_key_units: self.key_units,
        }
    }

    fn into_stream(mut self) -> Result<EncodedStream, MergeError> {
        let meta = self.meta();
        self.directory
            .push(meta.extent_units - meta.common_units_before(meta.record_count))?;
        let directory = self.directory.finish()?;
        Ok(EncodedStream {
            meta,
            payload: U::into_bytes(self.payload),
            directory,
        })
    }
}

/// The output of a merge: frames, and the rule for what the stream declares of its values.
#[derive(Debug)]
pub(super) struct Output<U: Unit> {
    frames: FrameSink<U>,
    declared_width: Option<u64>,
}

impl<U: Unit> Output<U> {
    pub(super) fn new(policy: Policy, declared_width: Option<u64>) -> Self {
        Self {
            frames: FrameSink::new(policy, declared_width),
            declared_width,
        }
    }

    /// What streams declare at their start.
    pub(super) fn declared_width(&self) -> Option<u64> {
        self.declared_width
    }

    /// Records written.
    pub(super) fn record_count(&self) -> u64 {
        self.frames.record_count
    }

    /// Bytes of payload so far.
    pub(super) fn len_bytes(&self) -> u64 {
        (self.frames.position() * U::BITS).div_ceil(8)
    }

    /// Refuses a law's value of another width than the policy fixes.
    pub(super) fn check_width(&self, law: &str, found: u64) -> Result<(), MergeError> {
        match self.frames.policy.fixed_width() {
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
    pub(super) fn append(&mut self, retained: u64, literal: U::Str<'_>, value: U::Str<'_>) {
        if self
            .frames
            .common_width
            .is_some_and(|width| width != U::len(value))
        {
            assert!(
                self.frames.policy.fixed_width().is_none(),
                "values of a fixed-width policy have its width"
            );
            self.redeclare(None);
        }
        self.frames.append(retained, literal, value);
    }

    #[cold]
    fn redeclare(&mut self, width: Option<u64>) {
        let meta = self.frames.meta();
        let payload = U::into_bytes(std::mem::take(&mut self.frames.payload));
        self.frames = reframe::<U>(&payload, &meta, width).expect("our own frames are well-formed");
    }

    /// Ends the stream and starts another one, which is told nothing of this one's last key.
    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        let meta = self.frames.meta();
        if meta.common_width.is_none() {
            let bytes = U::into_bytes(self.frames.payload.clone());
            let width = uniform_width::<U>(&bytes, &meta).expect("our own frames are well-formed");
            if width.is_some() {
                self.redeclare(width);
            }
        }
        if meta.record_count == 0 && meta.policy.fixed_width().is_none() {
            self.frames.common_width = Some(0);
        }
        let fresh = FrameSink::new(self.frames.policy, self.declared_width);
        std::mem::replace(&mut self.frames, fresh).into_stream()
    }
}
