//! A walk over bits from a position to an end, for codes whose length is only known while reading.
//!
//! Every read either takes all the bits it asks for, or takes nothing and says how many were left.

use super::window::window64;

/// Reads bits from a position up to an end.
#[derive(Debug, Clone, Copy)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: u64,
    end: u64,
}

impl<'a> BitReader<'a> {
    /// Reads `bytes` from bit `at` up to bit `end`; bits behind the bytes read as zeros.
    #[must_use]
    #[inline]
    pub const fn new(bytes: &'a [u8], at: u64, end: u64) -> Self {
        Self { bytes, at, end }
    }

    /// The position of the next bit.
    #[must_use]
    #[inline]
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// Bits left before the end.
    #[must_use]
    #[inline]
    pub const fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// The next `width` bits as a number, or `None` when fewer are left.
    ///
    /// # Panics
    ///
    /// When `width > 64`.
    #[inline]
    pub fn read_bits(&mut self, width: u32) -> Option<u64> {
        assert!(width <= 64, "at most 64 bits at a time, not {width}");
        if u64::from(width) > self.remaining() {
            return None;
        }
        let bits = match width {
            0 => 0,
            _ => window64(self.bytes, self.at) >> (64 - width),
        };
        self.at += u64::from(width);
        Some(bits)
    }

    /// Counts the zeros before the next one and takes both, or takes nothing and gives `None` when no one is left.
    #[inline]
    pub fn read_unary(&mut self) -> Option<u64> {
        let mut at = self.at;
        while at < self.end {
            let zeros = u64::from(window64(self.bytes, at).leading_zeros());
            at += zeros;
            if zeros < 64 {
                if at >= self.end {
                    return None;
                }
                let count = at - self.at;
                self.at = at + 1;
                return Some(count);
            }
        }
        None
    }
}
