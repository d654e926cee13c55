//! Exponential-Golomb and Golomb codes, the counts of bit streams.
//!
//! ```text
//! exponential-Golomb, order 0         n + 1 in binary behind as many zeros as it has bits after its first
//!     0 -> 1      1 -> 010      2 -> 011      3 -> 00100      2^64 - 1 -> 64 zeros, 1, 64 zeros
//! exponential-Golomb, order k         order 0 of n >> k, then the low k bits
//!     k = 2: 0 -> 100      5 -> 010 01
//! Golomb, modulus M                   n / M zeros, a one, n mod M in truncated binary
//!     M = 3: 0 -> 1 0      1 -> 1 10      2 -> 1 11      7 -> 001 10
//! ```
//!
//! Truncated binary of `r < M`: with `w` the width of `M - 1` and `cutoff = 2^w - M`, remainders below the cutoff take
//! `w - 1` bits, the others are written as `r + cutoff` in `w` bits. `M = 1` has no remainder bits.

use super::CountError;
use crate::bits::{BitReader, BitString};
use crate::error::Rule;
use crate::policy::BackspaceCode;

/// Appends the exponential-Golomb code of `n`, order 0.
#[inline]
pub fn push(out: &mut BitString, n: u64) {
    match n.checked_add(1) {
        Some(c) => {
            let width = 64 - c.leading_zeros();
            out.push_bits(0, width - 1);
            out.push_bits(c, width);
        }
        None => {
            out.push_zeros(64);
            out.push_bits(1, 1);
            out.push_zeros(64);
        }
    }
}

/// Appends the code of a backspace of `n` units. A Golomb code takes `n / modulus` bits and more.
#[inline]
pub fn push_backspace(out: &mut BitString, n: u64, code: BackspaceCode) {
    match code {
        BackspaceCode::ExpGolomb { order } => {
            push(out, n >> order);
            out.push_bits(n, u32::from(order));
        }
        BackspaceCode::Golomb { modulus } => {
            out.push_zeros(n / modulus);
            out.push_bits(1, 1);
            let (remainder, width, cutoff) = (n % modulus, remainder_width(modulus), cutoff(modulus));
            match remainder < cutoff {
                true => out.push_bits(remainder, width - 1),
                false => out.push_bits(remainder + cutoff, width),
            }
        }
    }
}

/// The Golomb code of `n` as a number and its width, where that is below 57; `None` where it is not.
#[inline]
pub(crate) const fn short_field(n: u64, modulus: u64) -> Option<(u64, u64)> {
    let (quotient, remainder) = (n / modulus, n % modulus);
    let (width, cutoff) = (remainder_width(modulus) as u64, cutoff(modulus));
    if quotient > 56 || quotient + width > 55 {
        return None;
    }
    Some(match remainder < cutoff {
        true => (1 << (width - 1) | remainder, quotient + width),
        false => (1 << width | (remainder + cutoff), quotient + 1 + width),
    })
}

/// The length in bits of the exponential-Golomb code of `n`, order 0: 1 to 129.
#[must_use]
#[inline]
pub const fn len_bits(n: u64) -> u64 {
    match n.checked_add(1) {
        Some(c) => 127 - 2 * c.leading_zeros() as u64,
        None => 129,
    }
}

/// The length in bits of the code of a backspace.
#[must_use]
#[inline]
pub const fn backspace_len_bits(n: u64, code: BackspaceCode) -> u64 {
    match code {
        BackspaceCode::ExpGolomb { order } => len_bits(n >> order) + order as u64,
        BackspaceCode::Golomb { modulus } => {
            let short = (n % modulus < cutoff(modulus)) as u64;
            // A code that no memory could hold is as long as can be said.
            (n / modulus).saturating_add(1 + remainder_width(modulus) as u64 - short)
        }
    }
}

/// `w`: the width of `modulus - 1`.
#[inline]
const fn remainder_width(modulus: u64) -> u32 {
    64 - (modulus - 1).leading_zeros()
}

/// `2^w - modulus`: how many remainders take one bit less.
#[inline]
const fn cutoff(modulus: u64) -> u64 {
    match 1u64.checked_shl(remainder_width(modulus)) {
        Some(power) => power - modulus,
        None => modulus.wrapping_neg(),
    }
}

/// Reads one exponential-Golomb code, order 0.
///
/// # Errors
///
/// The reader ends inside the code; more than 64 bits.
#[inline]
pub fn read(reader: &mut BitReader<'_>) -> Result<u64, CountError> {
    let before = *reader;
    let zeros = reader
        .read_unary()
        .ok_or_else(|| truncated(before.remaining() + 1, before.remaining()))?;
    let Ok(width @ 0..=64) = u32::try_from(zeros) else {
        return Err(too_large(zeros.saturating_mul(2).saturating_add(1)));
    };
    let rest = reader
        .read_bits(width)
        .ok_or_else(|| truncated(2 * u64::from(width) + 1, before.remaining()))?;
    match (width, rest) {
        (64, 0) => Ok(u64::MAX),
        (64, _) => Err(too_large(130)),
        _ => Ok((1 << width) - 1 + rest),
    }
}

/// Reads the code of a backspace.
///
/// # Errors
///
/// As [`read`].
#[inline]
pub fn read_backspace(reader: &mut BitReader<'_>, code: BackspaceCode) -> Result<u64, CountError> {
    let before = *reader;
    match code {
        BackspaceCode::ExpGolomb { order } => {
            let high = read(reader)?;
            if high > u64::MAX >> order {
                return Err(too_large(len_bits(high) + u64::from(order)));
            }
            let needed = len_bits(high) + u64::from(order);
            let low = reader
                .read_bits(u32::from(order))
                .ok_or_else(|| truncated(needed, before.remaining()))?;
            Ok(high << order | low)
        }
        BackspaceCode::Golomb { modulus } => {
            let quotient = reader
                .read_unary()
                .ok_or_else(|| truncated(before.remaining() + 1, before.remaining()))?;
            let needed = quotient + 1 + u64::from(remainder_width(modulus));
            let remainder =
                read_remainder(reader, modulus).ok_or_else(|| truncated(needed, before.remaining()))?;
            let n = quotient
                .checked_mul(modulus)
                .and_then(|n| n.checked_add(remainder));
            n.ok_or_else(|| too_large(needed))
        }
    }
}

/// Reads a remainder in truncated binary, or `None` where the reader ends.
#[inline]
fn read_remainder(reader: &mut BitReader<'_>, modulus: u64) -> Option<u64> {
    let Some(short_width) = remainder_width(modulus).checked_sub(1) else {
        return Some(0);
    };
    let short = reader.read_bits(short_width)?;
    if short < cutoff(modulus) {
        return Some(short);
    }
    let last = reader.read_bits(1)?;
    Some((short << 1 | last) - cutoff(modulus))
}

#[cold]
const fn truncated(expected: u64, found: u64) -> CountError {
    CountError {
        rule: Rule::CountTruncated,
        expected,
        found,
    }
}

#[cold]
const fn too_large(found: u64) -> CountError {
    CountError {
        rule: Rule::CountTooLarge,
        expected: 129,
        found,
    }
}
