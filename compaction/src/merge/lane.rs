//! What the fast paths do differently in bytes and in bits.
//!
//! ```text
//! bytes   one load of eight bytes holds all counts of a record, if each takes one byte, and the literal's
//!         first unit behind them
//! bits    one window of 57 bits holds all counts, if they are short; leading zeros give their lengths
//! ```
//!
//! Nothing here reports an error: what does not fit goes the general way, which looks again.

use tephra_sstable::writer::framing::{Burst, Readable};
use tephra_sstable::{BackspaceCode, Bit, BitStr, BitString, Byte};

use super::code::Code;
use super::source::Bounds;

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

/// Where two suffixes part. Plain numbers, which stay in registers where options would not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parting {
    /// Units that both have in common.
    pub(super) same: u64,
    /// One more than the left one's unit there; 0 if it ends.
    pub(super) left: u64,
    /// The right one's. Equal only where both end.
    pub(super) right: u64,
}

/// A unit as a [`Parting`] has it.
#[inline(always)]
fn rank(unit: Option<u64>) -> u64 {
    unit.map_or(0, |unit| unit + 1)
}

/// A unit that the fast paths know.
pub(super) trait Lane: Code + Burst {
    /// One unit of a payload.
    fn unit_at(payload: &[u8], at: u64) -> u64;

    /// One unit of an owned string.
    fn unit_of(owned: &Self::Owned, at: u64) -> u64;

    /// Appends a piece of a payload, of any length and often of one unit.
    fn push_piece(owned: &mut Self::Owned, payload: &[u8], at: u64, units: u64);

    /// Reads a frame of common shape; `width` is the value's where the stream declares one (`COMMON`).
    fn glance<const COMMON: bool>(readable: Readable<'_>, at: u64, width: u64) -> Option<Glance>;

    /// Units of a parting that equal codes already speak of.
    const KNOWN_EQUAL: u64;

    /// Compares two suffixes of one code that lie in payloads, by words; none where they are long, or where they
    /// cannot be read by words.
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Option<Parting>;
}

/// A suffix of a key within a readable slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suffix<'a> {
    pub(super) readable: Readable<'a>,
    pub(super) at: u64,
    pub(super) units: u64,
}

/// Suffixes of more units are compared out of line, by wider steps.
const SHORT_UNITS: u64 = 64;

impl Lane for Byte {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "checked against the slice")]
    fn unit_at(payload: &[u8], at: u64) -> u64 {
        payload[at as usize].into()
    }

    #[inline(always)]
    fn unit_of(owned: &Vec<u8>, at: u64) -> u64 {
        Self::unit_at(owned, at)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "checked against the slice")]
    fn push_piece(owned: &mut Vec<u8>, payload: &[u8], at: u64, units: u64) {
        if units == 1 {
            owned.push(payload[at as usize]);
        } else {
            owned.extend_from_slice(&payload[at as usize..(at + units) as usize]);
        }
    }

    #[inline(always)]
    fn glance<const COMMON: bool>(readable: Readable<'_>, at: u64, width: u64) -> Option<Glance> {
        let word = u64::from_le_bytes(readable.eight_bytes(at)?);
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

    const KNOWN_EQUAL: u64 = 1;

    #[inline(always)]
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Option<Parting> {
        let units = left.units.min(right.units);
        if units > SHORT_UNITS {
            return None;
        }
        let mut same = Self::KNOWN_EQUAL;
        while same < units {
            let left_word = u64::from_le_bytes(left.readable.eight_bytes(left.at + same)?);
            let right_word = u64::from_le_bytes(right.readable.eight_bytes(right.at + same)?);
            let differing = left_word ^ right_word;
            if differing != 0 {
                same += u64::from(differing.trailing_zeros() / 8);
                break;
            }
            same += 8;
        }
        Some(parting::<Self>(left, right, same.min(units)))
    }
}

impl Lane for Bit {
    #[inline(always)]
    fn unit_at(payload: &[u8], at: u64) -> u64 {
        (payload[(at / 8) as usize] >> (7 - at % 8) & 1).into()
    }

    #[inline(always)]
    fn unit_of(owned: &BitString, at: u64) -> u64 {
        Self::unit_at(owned.as_bytes(), at)
    }

    #[inline(always)]
    fn push_piece(owned: &mut BitString, payload: &[u8], at: u64, units: u64) {
        match (units, window(Readable::new(payload), at)) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 57")]
            (1..=57, Some(bits)) => owned.push_bits(bits >> (64 - units), units as u32),
            _ => owned.push_str(BitStr::new(payload, at, units).expect("a piece lies in its payload")),
        }
    }

    #[inline(always)]
    fn glance<const COMMON: bool>(readable: Readable<'_>, at: u64, width: u64) -> Option<Glance> {
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

    const KNOWN_EQUAL: u64 = 0;

    #[inline(always)]
    fn part(left: Suffix<'_>, right: Suffix<'_>) -> Option<Parting> {
        let units = left.units.min(right.units);
        if units > SHORT_UNITS {
            return None;
        }
        let mut same = 0;
        while same < units {
            let agreeing = window(left.readable, left.at + same)? ^ window(right.readable, right.at + same)?;
            let agreeing = u64::from(agreeing.leading_zeros());
            if agreeing < 57 {
                same += agreeing;
                break;
            }
            same += 57;
        }
        Some(parting::<Self>(left, right, same.min(units)))
    }
}

/// What comes behind `same` common units.
#[inline(always)]
fn parting<U: Lane>(left: Suffix<'_>, right: Suffix<'_>, same: u64) -> Parting {
    let unit = |suffix: Suffix<'_>| {
        rank((same < suffix.units).then(|| U::unit_at(suffix.readable.bytes(), suffix.at + same)))
    };
    Parting {
        same,
        left: unit(left),
        right: unit(right),
    }
}

/// At least 57 bits from `at` on, left-aligned.
#[inline(always)]
fn window(readable: Readable<'_>, at: u64) -> Option<u64> {
    Some(u64::from_be_bytes(readable.eight_bytes(at / 8)?) << (at % 8))
}

/// Compares two suffixes of any length, anywhere in their payloads.
///
/// Takes numbers: suffixes handed over as they are would lie in memory for every comparison.
#[cold]
#[inline(never)]
pub(super) fn part_long<U: Lane>(
    left_readable: &[u8],
    left_at: u64,
    left_units: u64,
    right_readable: &[u8],
    right_at: u64,
    right_units: u64,
) -> Parting {
    let string = "a suffix lies in its payload";
    let left = U::string_at(left_readable, left_at, left_units).expect(string);
    let right = U::string_at(right_readable, right_at, right_units).expect(string);
    part_strings::<U>(left, right)
}

/// Compares two strings.
pub(super) fn part_strings<U: Lane>(left: U::Str<'_>, right: U::Str<'_>) -> Parting {
    let same = U::lcp(left, right);
    Parting {
        same,
        left: rank(U::get(left, same)),
        right: rank(U::get(right, same)),
    }
}

/// Compares two suffixes of one code that lie in payloads.
#[inline(always)]
pub(super) fn part<U: Lane>(left: Suffix<'_>, right: Suffix<'_>) -> Parting {
    match U::part(left, right) {
        Some(parting) => parting,
        None => part_long::<U>(
            left.readable.bytes(),
            left.at,
            left.units,
            right.readable.bytes(),
            right.at,
            right.units,
        ),
    }
}

/// Reads a frame whose counts are longer than [`Lane::glance`] takes. `block_start` says that its lead is a count,
/// not a backspace.
#[cold]
#[inline(never)]
pub(super) fn glance_long<U: Lane>(bounds: &Bounds<'_>, at: u64, block_start: bool) -> Option<Glance> {
    let payload = bounds.readable.bytes();
    let (lead, at) = if block_start {
        U::read_count(payload, bounds.extent, at).ok()?
    } else {
        U::read_backspace(payload, bounds.extent, at, BackspaceCode::default()).ok()?
    };
    let (suffix, at) = U::read_count(payload, bounds.extent, at).ok()?;
    let (width, literal_start) = if bounds.is_common {
        (bounds.width, at)
    } else {
        U::read_count(payload, bounds.extent, at).ok()?
    };
    let next = literal_start.checked_add(suffix)?.checked_add(width)?;
    if suffix == 0 || next > bounds.extent {
        return None;
    }
    Some(Glance {
        lead,
        suffix,
        first: U::unit_at(payload, literal_start),
        literal_start,
        next,
    })
}
