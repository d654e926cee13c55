//! The policy of a stream: every choice that its bytes depend on and that they do not say themselves.
//!
//! ```text
//! unit       byte | bit                  all lengths, offsets and extents count units
//! values     variable | fixed width      a fixed width is never written with the records
//! W          records a block             the directory has one entry a block
//! K          sampling interval           recorded beside W; no byte of the payload depends on it
//! backspace  exp-Golomb k | Golomb M     bit streams only: how "go back n units" is written
//! ```
//!
//! Two streams can be merged, and a reader accepts a stream, only when all of these agree.

use std::num::NonZeroU32;

use crate::unit::UnitKind;

/// `W` and `K` where nobody chooses: 15 records a block.
pub const RECORDS_PER_BLOCK_DEFAULT: NonZeroU32 = NonZeroU32::new(15).expect("15 is not zero");

/// The largest order of an exponential-Golomb code.
pub const EXP_GOLOMB_ORDER_MAX: u8 = 63;

/// How the width of values is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueLayout {
    /// Any width: each record says it, unless the stream declares one common width.
    Variable,
    /// Every value of every stream under this policy has this width in units. Zero is legal.
    Fixed {
        /// The width in units.
        width_units: u64,
    },
}

/// How a bit stream writes backspaces: the number of units of the previous key that are not kept.
///
/// Byte streams write every number as a varint; their policies hold the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackspaceCode {
    /// Exponential-Golomb code: `n >> order` in order-0 code, then the low `order` bits.
    ExpGolomb {
        /// 0 to 63.
        order: u8,
    },
    /// Golomb code: `n / modulus` zeros, a one, then the remainder in truncated binary.
    Golomb {
        /// At least 1.
        modulus: u64,
    },
}

impl Default for BackspaceCode {
    fn default() -> Self {
        Self::ExpGolomb { order: 0 }
    }
}

/// Everything a stream's bytes depend on besides its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Bytes or bits.
    pub unit: UnitKind,
    /// How the width of values is known.
    pub values: ValueLayout,
    /// `W`: records a physical block.
    pub records_per_block: NonZeroU32,
    /// `K`: the sampling interval recorded beside `W`.
    pub sampling_interval: NonZeroU32,
    /// How a bit stream writes backspaces.
    pub backspace: BackspaceCode,
}

/// A policy that no stream can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// An exponential-Golomb order above 63.
    #[error("exponential-Golomb order: expected at most {EXP_GOLOMB_ORDER_MAX}, found {found}")]
    Order {
        /// The order asked for.
        found: u8,
    },
    /// A Golomb code with modulus zero.
    #[error("Golomb modulus: expected at least 1, found 0")]
    Modulus,
    /// A byte policy with a backspace code of its own.
    #[error("byte streams write backspaces as varints: expected the default code, found {found:?}")]
    ByteBackspace {
        /// The code asked for.
        found: BackspaceCode,
    },
}

impl Policy {
    const fn new(unit: UnitKind, values: ValueLayout) -> Self {
        Self {
            unit,
            values,
            records_per_block: RECORDS_PER_BLOCK_DEFAULT,
            sampling_interval: RECORDS_PER_BLOCK_DEFAULT,
            backspace: BackspaceCode::ExpGolomb { order: 0 },
        }
    }

    /// Byte strings, values of any width.
    #[must_use]
    pub const fn byte_variable() -> Self {
        Self::new(UnitKind::Byte, ValueLayout::Variable)
    }

    /// Byte strings, every value `width_units` bytes wide.
    #[must_use]
    pub const fn byte_fixed(width_units: u64) -> Self {
        Self::new(UnitKind::Byte, ValueLayout::Fixed { width_units })
    }

    /// Bit strings, values of any width.
    #[must_use]
    pub const fn bit_variable() -> Self {
        Self::new(UnitKind::Bit, ValueLayout::Variable)
    }

    /// Bit strings, every value `width_units` bits wide.
    #[must_use]
    pub const fn bit_fixed(width_units: u64) -> Self {
        Self::new(UnitKind::Bit, ValueLayout::Fixed { width_units })
    }

    /// The width that the policy itself fixes, if it does.
    #[must_use]
    pub const fn fixed_width(&self) -> Option<u64> {
        match self.values {
            ValueLayout::Variable => None,
            ValueLayout::Fixed { width_units } => Some(width_units),
        }
    }

    /// Says whether any stream can have this policy.
    ///
    /// # Errors
    ///
    /// The first parameter out of its range.
    pub const fn validate(&self) -> Result<(), PolicyError> {
        match (self.unit, self.backspace) {
            (_, BackspaceCode::ExpGolomb { order }) if order > EXP_GOLOMB_ORDER_MAX => {
                Err(PolicyError::Order { found: order })
            }
            (_, BackspaceCode::Golomb { modulus: 0 }) => Err(PolicyError::Modulus),
            (UnitKind::Bit, _) | (UnitKind::Byte, BackspaceCode::ExpGolomb { order: 0 }) => Ok(()),
            (UnitKind::Byte, found) => Err(PolicyError::ByteBackspace { found }),
        }
    }
}
