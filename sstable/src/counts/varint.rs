//! Canonical little-endian base-128 numbers, the counts of byte streams.
//!
//! ```text
//! 0 -> 00        127 -> 7f        128 -> 80 01        300 -> ac 02        2^64 - 1 -> ff x 9, 01
//! ```
//!
//! A last byte of zero behind another (`80 00`) is a longer code of the same number, and is refused; so is anything
//! over 64 bits.

use super::CountError;
use crate::error::Rule;

/// The longest code, in bytes.
pub const LEN_MAX_BYTES: usize = 10;

/// The length of the code of `n` in bytes, 1 to 10.
#[must_use]
#[inline]
pub const fn len_bytes(n: u64) -> usize {
    let bits = 64 - (n | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends the code of `n`.
#[inline]
pub fn push(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "n is below 128")]
    out.push(n as u8);
}

/// Writes the code of `n` to the start of `out`, which is long enough, and gives its length in bytes.
#[inline]
pub(crate) fn put(out: &mut [u8], mut n: u64) -> usize {
    let mut len = 0;
    while n >= 0x80 {
        out[len] = (n & 0x7f) as u8 | 0x80;
        n >>= 7;
        len += 1;
    }
    out[len] = (n & 0x7f) as u8;
    len + 1
}

/// Reads one code from the start of `bytes`: the number and its length in bytes.
///
/// # Errors
///
/// The bytes end inside the code; a redundant last byte; more than 64 bits.
#[inline]
pub fn read(bytes: &[u8]) -> Result<(u64, usize), CountError> {
    let mut n = 0u64;
    for (index, &byte) in bytes.iter().take(LEN_MAX_BYTES).enumerate() {
        let digit = u64::from(byte & 0x7f);
        if index == LEN_MAX_BYTES - 1 && byte > 1 {
            let found = 63 + 8 - u64::from(byte.leading_zeros());
            return Err(CountError {
                rule: Rule::CountTooLarge,
                expected: 64,
                found,
            });
        }
        n |= digit << (7 * index);
        if byte < 0x80 {
            if byte == 0 && index > 0 {
                let (expected, found) = (len_bytes(n) as u64, index as u64 + 1);
                return Err(CountError {
                    rule: Rule::CountNotCanonical,
                    expected,
                    found,
                });
            }
            return Ok((n, index + 1));
        }
    }
    let left = bytes.len() as u64;
    Err(CountError {
        rule: Rule::CountTruncated,
        expected: 8 * (left + 1),
        found: 8 * left,
    })
}
