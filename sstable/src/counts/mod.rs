//! The codes of numbers in a stream. Every number has exactly one code; a reader accepts no other.
//!
//! | stream | number | code |
//! |---|---|---|
//! | bytes | all | [`varint`]: seven bits a byte, low bits first |
//! | bits | retained, suffix and value length | [`golomb`]: exponential-Golomb, order 0 |
//! | bits | backspace | [`golomb`]: exponential-Golomb of any order, or Golomb of any modulus |

pub mod golomb;
#[cfg(test)]
mod tests;
pub mod varint;

use crate::error::{FormatError, Rule};

/// Why a code cannot be read. Positions are the caller's to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountError {
    /// [`Rule::CountTruncated`], [`Rule::CountNotCanonical`] or [`Rule::CountTooLarge`].
    pub rule: Rule,
    /// What the rule asked for, as the rule says.
    pub expected: u64,
    /// What was there.
    pub found: u64,
}

impl CountError {
    /// The error of a payload whose count at unit `offset` is wrong.
    #[must_use]
    pub const fn at(self, offset: u64) -> FormatError {
        FormatError::payload(offset, self.rule, self.expected, self.found)
    }
}
