//! Streams written by hand, frame by frame, so that each breaks exactly one rule.

use std::num::NonZeroU32;

use tephra_sstable::elias_fano::{EliasFano, EliasFanoBuilder};
use tephra_sstable::{BackspaceCode, EncodedStream, Policy, StreamMeta, Unit, UnitKind};

/// Two records a block, so that block starts come early.
pub(crate) fn policy<U: Unit>() -> Policy {
    Policy {
        records_per_block: NonZeroU32::new(2).expect("not zero"),
        ..match U::KIND {
            UnitKind::Byte => Policy::byte_variable(),
            UnitKind::Bit => Policy::bit_variable(),
        }
    }
}

/// A stream under construction: counts and units as they are told, right or wrong.
pub(crate) struct Stream<U: Unit> {
    pub(crate) frames: U::Owned,
    pub(crate) starts: Vec<u64>,
    pub(crate) record_count: u64,
    pub(crate) key_units: u64,
}

impl<U: Unit> Stream<U> {
    pub(crate) fn new() -> Self {
        Self {
            frames: U::Owned::default(),
            starts: Vec::new(),
            record_count: 0,
            key_units: 0,
        }
    }

    /// Where the next frame starts.
    pub(crate) fn end(&self) -> u64 {
        U::owned_len(&self.frames)
    }

    /// A frame: retained length, literal, value.
    pub(crate) fn frame(mut self, retained: u64, literal: &[u8], value: &[u8]) -> Self {
        self.controls(retained, literal.len() as u64, value.len() as u64);
        push::<U>(&mut self.frames, literal);
        push::<U>(&mut self.frames, value);
        self.key_units = retained + literal.len() as u64;
        self
    }

    pub(crate) fn controls(&mut self, retained: u64, literal_units: u64, value_units: u64) {
        if self.record_count.is_multiple_of(2) {
            self.starts.push(self.end());
            U::push_count(&mut self.frames, retained);
        } else {
            U::push_backspace(
                &mut self.frames,
                self.key_units.wrapping_sub(retained),
                BackspaceCode::default(),
            );
        }
        U::push_count(&mut self.frames, literal_units);
        U::push_count(&mut self.frames, value_units);
        self.record_count += 1;
    }

    /// The stream, with the metadata and the directory that its frames ask for.
    pub(crate) fn finish(mut self) -> EncodedStream {
        let extent_units = self.end();
        self.starts.push(extent_units);
        EncodedStream {
            meta: StreamMeta {
                policy: policy::<U>(),
                common_width: None,
                record_count: self.record_count,
                extent_units,
                last_key_units: self.key_units,
            },
            payload: U::into_bytes(self.frames),
            directory: directory(&self.starts),
        }
    }
}

/// Appends units given as numbers; a bit is one when its number is odd.
pub(crate) fn push<U: Unit>(out: &mut U::Owned, units: &[u8]) {
    for &unit in units {
        let byte = match U::KIND {
            UnitKind::Byte => unit,
            UnitKind::Bit => unit << 7,
        };
        U::push(out, U::string_at(&[byte], 0, 1).expect("one unit"));
    }
}

pub(crate) fn directory(entries: &[u64]) -> EliasFano {
    let mut builder = EliasFanoBuilder::new();
    for &entry in entries {
        builder.push(entry).expect("entries do not decrease");
    }
    builder.finish().expect("at least one entry")
}

/// Three well-formed records with the keys 0, 0 1, 1.
pub(crate) fn good<U: Unit>() -> Stream<U> {
    Stream::new()
        .frame(0, &[0], &[1, 0])
        .frame(1, &[1], &[])
        .frame(0, &[1], &[1])
}
