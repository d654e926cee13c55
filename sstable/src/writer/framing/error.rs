//! Why a record was not appended.

use std::collections::TryReserveError;
use std::io;

use crate::elias_fano::EliasFanoError;
use crate::policy::PolicyError;
use crate::unit::UnitKind;

/// Why a record was not taken. Nothing of it was written; the records before it stand.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The policy is of the other unit.
    #[error("unit of the policy: expected {expected:?}, found {found:?}")]
    Unit {
        /// The unit of the strings.
        expected: UnitKind,
        /// The unit of the policy.
        found: UnitKind,
    },
    /// The policy has a parameter out of range.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy fixes another width than is declared.
    #[error("common value width in units: the policy fixes {expected}, declared is {found:?}")]
    CommonWidth {
        /// What the policy fixes.
        expected: u64,
        /// What was declared.
        found: Option<u64>,
    },
    /// The key does not follow the one before it.
    #[error("record {ordinal}: expected a key above the one before it")]
    KeyOrder {
        /// Which record.
        ordinal: u64,
    },
    /// The value has not the declared width.
    #[error("record {ordinal}: width of the value in units: expected {expected}, found {found}")]
    ValueWidth {
        /// Which record.
        ordinal: u64,
        /// The declared width.
        expected: u64,
        /// The width of the value.
        found: u64,
    },
    /// The stream would grow beyond its limit.
    #[error("record {ordinal}: extent in units: expected at most {expected}, found {found} and controls")]
    Length {
        /// Which record.
        ordinal: u64,
        /// The largest extent.
        expected: u64,
        /// Where the record's literal and value would end if it had no controls.
        found: u64,
    },
    /// No memory. Try again later.
    #[error("no memory for the record or its block")]
    Memory,
    /// The output refused bytes, now or earlier; the writer takes nothing any more.
    #[error("writing the stream: {message}")]
    Output {
        /// The kind of the first failure.
        kind: io::ErrorKind,
        /// What it said.
        message: String,
    },
}

impl From<TryReserveError> for AppendError {
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

impl From<EliasFanoError> for AppendError {
    /// Residual offsets grow by at least a frame's controls, so the directory refuses an entry for one reason.
    fn from(_: EliasFanoError) -> Self {
        Self::Memory
    }
}
