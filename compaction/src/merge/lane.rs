//! What the fast paths do differently in bytes and in bits.
//!
//! ```text
//! bytes   one load of eight bytes holds all counts of a record, if each takes one byte, and the literal's
//!         first unit behind them
//! bits    one window of 57 bits holds all counts, if they are short; leading zeros give their lengths
//! ```
//!
//! Nothing here reports an error: what does not fit goes the general way, which looks again.

use tephra_sstable::writer::framing::Burst;
use tephra_sstable::{Bit, Byte};

use super::code::Code;

/// The counts of a frame of common shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance {
    /// The backspace, or at a block start the retained length.
    pub(super) lead: u64,
    /// Units of the literal, at least one.
    pub(super) suffix: u64,
    /// The literal's first unit.
    pub(super) first: u64,
    /// Position of the literal.
    pub(super) literal_start: u64,
    /// End of the value. It may lie behind the end of the stream.
    pub(super) next: u64,
}

/// Where two suffixes part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parting {
    /// Units that both have in common.
    pub(super) same: u64,
    /// The left one's unit there; none if it ends.
    pub(super) left: Option<u64>,
    /// The right one's.
    pub(super) right: Option<u64>,
}

/// A unit that the fast paths know.
pub(super) trait Lane: Code + Burst {
    /// One unit of a payload.
    fn unit_at(payload: &[u8], at: u64) -> u64;

    /// Reads a frame of common shape; `width` is the value's where the stream declares one (`COMMON`).
    fn glance<const COMMON: bool>(readable: &[u8], at: u64, width: u64) -> Option<Glance>;

    /// Compares two suffixes that lie in payloads, by words as far as both can be read by words.
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Parting;
}

/// A suffix of a key within a readable slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suffix<'a> {
    pub(super) readable: &'a [u8],
    pub(super) at: u64,
    pub(super) units: u64,
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "checked against the slice")]
fn eight_bytes(readable: &[u8], at: u64) -> Option<[u8; 8]> {
    let at = at as usize;
    readable.get(at..at.checked_add(8)?)?.first_chunk().copied()
}

impl Lane for Byte {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "checked against the slice")]
    fn unit_at(payload: &[u8], at: u64) -> u64 {
        payload[at as usize].into()
    }

    #[inline(always)]
    fn glance<const COMMON: bool>(readable: &[u8], at: u64, width: u64) -> Option<Glance> {
        let word = u64::from_le_bytes(eight_bytes(readable, at)?);
        let (lead, suffix) = (word & 0x7f, word >> 8 & 0x7f);
        let (longer_counts, literal_start, width, first) = if COMMON {
            (word & 0x8080, at + 2, width, word >> 16 & 0xff)
        } else {
            (word & 0x80_8080, at + 3, word >> 16 & 0x7f, word >> 24 & 0xff)
        };
        if longer_counts != 0 || suffix == 0 {
            return None;
        }
        Some(Glance {
            lead,
            suffix,
            first,
            literal_start,
            next: literal_start + suffix + width,
        })
    }

    #[inline(always)]
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Parting {
        let units = left.units.min(right.units);
        let mut same = 0;
        while same < units {
            let words =
                eight_bytes(left.readable, left.at + same).zip(eight_bytes(right.readable, right.at + same));
            let Some((left_word, right_word)) = words else {
                return part_slowly::<Self>(left, right);
            };
            let differing = u64::from_le_bytes(left_word) ^ u64::from_le_bytes(right_word);
            if differing != 0 {
                same += u64::from(differing.trailing_zeros() / 8);
                break;
            }
            same += 8;
        }
        same = same.min(units);
        Parting {
            same,
            left: (same < left.units).then(|| Self::unit_at(left.readable, left.at + same)),
            right: (same < right.units).then(|| Self::unit_at(right.readable, right.at + same)),
        }
    }
}

impl Lane for Bit {
    #[inline(always)]
    fn unit_at(payload: &[u8], at: u64) -> u64 {
        (payload[(at / 8) as usize] >> (7 - at % 8) & 1).into()
    }

    #[inline(always)]
    fn glance<const COMMON: bool>(readable: &[u8], at: u64, width: u64) -> Option<Glance> {
        let mut window = window(readable, at)?;
        let mut used = 0;
        let mut next_count = || {
            let zeros = window.leading_zeros();
            let count = (window >> (63_u32.wrapping_sub(2 * zeros) & 63)).wrapping_sub(1);
            let len = 2 * zeros + 1;
            window = window.wrapping_shl(len);
            used += len;
            count
        };
        let lead = next_count();
        let suffix = next_count();
        let width = if COMMON { width } else { next_count() };
        // The literal's first bit must be in the window too.
        if used >= 57 || suffix == 0 {
            return None;
        }
        let literal_start = at + u64::from(used);
        Some(Glance {
            lead,
            suffix,
            first: window >> 63,
            literal_start,
            next: literal_start + suffix + width,
        })
    }

    #[inline(always)]
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Parting {
        let units = left.units.min(right.units);
        let mut same = 0;
        while same < units {
            let windows = window(left.readable, left.at + same).zip(window(right.readable, right.at + same));
            let Some((left_window, right_window)) = windows else {
                return part_slowly::<Self>(left, right);
            };
            let agreeing = u64::from((left_window ^ right_window).leading_zeros());
            if agreeing < 57 {
                same += agreeing;
                break;
            }
            same += 57;
        }
        same = same.min(units);
        Parting {
            same,
            left: (same < left.units).then(|| Self::unit_at(left.readable, left.at + same)),
            right: (same < right.units).then(|| Self::unit_at(right.readable, right.at + same)),
        }
    }
}

/// At least 57 bits from `at` on, left-aligned.
#[inline(always)]
fn window(readable: &[u8], at: u64) -> Option<u64> {
    Some(u64::from_be_bytes(eight_bytes(readable, at / 8)?) << (at % 8))
}

/// Near the end of what can be read.
#[cold]
#[inline(never)]
fn part_slowly<U: Lane>(left: Suffix<'_>, right: Suffix<'_>) -> Parting {
    let string = "a suffix lies in its payload";
    let left = U::string_at(left.readable, left.at, left.units).expect(string);
    let right = U::string_at(right.readable, right.at, right.units).expect(string);
    let same = U::lcp(left, right);
    Parting {
        same,
        left: U::get(left, same),
        right: U::get(right, same),
    }
}
