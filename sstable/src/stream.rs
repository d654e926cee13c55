//! An encoded stream: metadata, payload, directory.
//!
//! ```text
//! meta         policy, common width, record count, extent, length of the last key
//! payload      ceil(extent in bits / 8) bytes; the bits behind the extent are zero
//! directory    ceil(N / W) + 1 entries: block starts without their fixed-width values, and the end
//!
//! entry j      offset(block j) - j * W * v           v: the common width, 0 where there is none
//! last entry   extent - N * v
//! ```
//!
//! An [`EncodedStream`] owns its parts, an [`EncodedView`] borrows them, from a stream or from a table's bytes.
//! Neither promises that the bytes are right: the readers check.

use crate::elias_fano::{EliasFano, EliasFanoView};
use crate::error::{FormatError, Rule, Section};
use crate::policy::{BackspaceCode, Policy, PolicyError};
use crate::unit::Unit;

/// The version of the stream format.
pub const FORMAT_VERSION: u16 = 2;

/// What a stream says of itself besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamMeta {
    /// How it was encoded.
    pub policy: Policy,
    /// The width in units that every value has and no record says.
    pub common_width: Option<u64>,
    /// `N`.
    pub record_count: u64,
    /// The end of the last frame, in units.
    pub extent_units: u64,
    /// The length of the last key, in units; 0 in an empty stream.
    pub last_key_units: u64,
}

impl StreamMeta {
    /// The number of blocks, `ceil(N / W)`.
    #[must_use]
    pub const fn block_count(&self) -> u64 {
        self.record_count
            .div_ceil(self.policy.records_per_block.get() as u64)
    }

    /// The length of the payload in bytes, or `None` for an extent that no memory holds.
    #[must_use]
    pub const fn payload_len_bytes(&self) -> Option<u64> {
        match self.extent_units.checked_mul(self.policy.unit.bits()) {
            Some(bits) => Some(bits.div_ceil(8)),
            None => None,
        }
    }

    /// The value units of all records before record `ordinal` that are not written as lengths: `ordinal * v`.
    /// Saturates, so that absurd metadata still disagree with their directory instead of wrapping into agreement.
    #[must_use]
    pub const fn common_units_before(&self, ordinal: u64) -> u64 {
        match self.common_width {
            Some(width) => ordinal.saturating_mul(width),
            None => 0,
        }
    }

    /// Checks the metadata by themselves, for a reader of unit `U`.
    ///
    /// # Errors
    ///
    /// Another unit; an impossible code; a common width other than the one the policy fixes.
    pub fn validate<U: Unit>(&self) -> Result<(), FormatError> {
        if self.policy.unit != U::KIND {
            return Err(FormatError::metadata(
                Rule::PolicyUnit,
                U::BITS,
                self.policy.unit.bits(),
            ));
        }
        self.policy.validate().map_err(|error| match error {
            PolicyError::Order { found } => FormatError::metadata(Rule::PolicyBackspace, 63, found.into()),
            PolicyError::Modulus => FormatError::metadata(Rule::PolicyBackspace, 1, 0),
            PolicyError::ByteBackspace { found } => {
                let (BackspaceCode::ExpGolomb { order: 0..=63 } | BackspaceCode::Golomb { .. }) = found
                else {
                    return FormatError::metadata(Rule::PolicyBackspace, 0, u64::MAX);
                };
                let parameter = match found {
                    BackspaceCode::ExpGolomb { order } => order.into(),
                    BackspaceCode::Golomb { modulus } => modulus,
                };
                FormatError::metadata(Rule::PolicyBackspace, 0, parameter)
            }
        })?;
        match self.policy.fixed_width() {
            Some(width) if self.common_width != Some(width) => Err(FormatError::metadata(
                Rule::PolicyWidth,
                width,
                self.common_width.unwrap_or(u64::MAX),
            )),
            _ => Ok(()),
        }
    }
}

/// A stream in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedStream {
    /// What it says of itself.
    pub meta: StreamMeta,
    /// Its frames.
    pub payload: Vec<u8>,
    /// Where its blocks are.
    pub directory: EliasFano,
}

impl EncodedStream {
    /// The same, borrowed.
    #[must_use]
    pub fn view(&self) -> EncodedView<'_> {
        EncodedView {
            meta: self.meta,
            payload: &self.payload,
            readable: &self.payload,
            directory: self.directory.view(),
        }
    }
}

/// A stream borrowed from memory or from a table's bytes.
#[derive(Debug, Clone, Copy)]
pub struct EncodedView<'a> {
    /// What it says of itself.
    pub meta: StreamMeta,
    /// Its frames.
    pub payload: &'a [u8],
    /// The payload and the readable bytes that happen to follow it: wide loads may touch them, nothing depends on
    /// them.
    pub readable: &'a [u8],
    /// Where its blocks are.
    pub directory: EliasFanoView<'a>,
}

impl EncodedView<'_> {
    /// Checks what can be checked without reading a frame, for a reader of unit `U`. `O(1)`.
    ///
    /// # Errors
    ///
    /// Wrong metadata (see [`StreamMeta::validate`]), a payload of another length than the extent says, padding that
    /// is not zero, a directory with a wrong number of entries or a wrong end.
    pub fn validate<U: Unit>(&self) -> Result<(), FormatError> {
        self.meta.validate::<U>()?;
        let len_bytes = self.meta.payload_len_bytes().unwrap_or(u64::MAX);
        if len_bytes != self.payload.len() as u64 {
            let found = self.payload.len() as u64;
            let offset = self.meta.extent_units.min(found.saturating_mul(8) / U::BITS);
            return Err(FormatError::payload(
                offset,
                Rule::PayloadLength,
                len_bytes,
                found,
            ));
        }
        if let (used @ 1.., Some(&last)) = (self.meta.extent_units * U::BITS % 8, self.payload.last()) {
            let padding = last & (0xff >> used);
            if padding != 0 {
                let offset = self.meta.extent_units;
                return Err(FormatError::payload(offset, Rule::Padding, 0, padding.into()));
            }
        }
        let entries = self.meta.block_count() + 1;
        if self.directory.entries() != entries {
            return Err(FormatError::directory(
                0,
                Rule::DirectoryEntries,
                entries,
                self.directory.entries(),
            ));
        }
        let end = self
            .meta
            .extent_units
            .checked_sub(self.meta.common_units_before(self.meta.record_count));
        if end != Some(self.directory.universe()) {
            let found = self.directory.universe();
            return Err(FormatError {
                section: Section::Directory,
                offset: entries - 1,
                rule: Rule::BlockPosition,
                expected: end.unwrap_or(0),
                found,
            });
        }
        Ok(())
    }
}
