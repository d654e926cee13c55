//! How much two strings have in common: the comparison under everything ordered here.
//!
//! ```text
//! bytes   32 at a time while they agree, then 8 at a time; the first differing byte of a word is found by counting
//!         zeros of the exclusive or. The last, incomplete word overlaps the one before it.
//! both    the first word decides most pairs of short strings, straight away
//! bits    strings that start at the same bit of a byte go over whole bytes, and end with a window of 57 bits; others
//!         go over windows
//! ```
//!
//! Neighbouring keys share long prefixes, so the loop over 32 bytes is what a writer does most of its time when keys
//! are long; the compiler makes two vector compares of it.

use super::BitStr;
use super::window::{byte_of, window57};

/// Bytes compared at a time while strings agree.
const STRIDE_BYTES: usize = 32;

/// The number of leading bytes in which two strings agree. `O(n / 32)`, allocates nothing.
#[inline(always)]
pub(crate) fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    if let (Some(a), Some(b)) = (a.first_chunk(), b.first_chunk()) {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differing != 0 {
            return first_byte(differing);
        }
    }
    common_bytes_behind(a, b)
}

/// [`common_bytes`] of strings that agree in their first word, if they have one.
fn common_bytes_behind(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut at = 0;
    while at + STRIDE_BYTES <= len && a[at..at + STRIDE_BYTES] == b[at..at + STRIDE_BYTES] {
        at += STRIDE_BYTES;
    }
    while at + 8 <= len {
        let differing = word(a, at) ^ word(b, at);
        if differing != 0 {
            return at + first_byte(differing);
        }
        at += 8;
    }
    if at == len {
        len
    } else if let Some(last) = len.checked_sub(8) {
        // Up to seven bytes are left; the word that ends with them begins with bytes that agree.
        match word(a, last) ^ word(b, last) {
            0 => len,
            differing => last + first_byte(differing),
        }
    } else {
        at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
    }
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes are left"))
}

/// The place of the first byte that is not zero in a word in memory order.
#[inline(always)]
const fn first_byte(word: u64) -> usize {
    (word.trailing_zeros() / 8) as usize
}

/// The number of leading bits in which two strings agree. `O(n / 256)` where both start at the same bit of a byte,
/// by blocks shifted in byte lanes elsewhere; allocates nothing.
#[inline(always)]
pub(super) fn common_bits(a: BitStr<'_>, b: BitStr<'_>) -> u64 {
    let len = a.len().min(b.len());
    let ((a_bytes, a_start), (b_bytes, b_start)) = (a.parts(), b.parts());
    if (a_start | b_start) & 7 != 0 {
        return common_bits_inside(a_bytes, a_start, b_bytes, b_start, len);
    }
    let (a, b) = (&a_bytes[byte_of(a_start)..], &b_bytes[byte_of(b_start)..]);
    if let (Some(a), Some(b)) = (a.first_chunk(), b.first_chunk()) {
        let differing = u64::from_be_bytes(*a) ^ u64::from_be_bytes(*b);
        if differing != 0 || len <= 64 {
            return u64::from(differing.leading_zeros()).min(len);
        }
    }
    common_bits_in_bytes(a, b, len)
}

/// [`common_bits`] of the first `len` bits of some bytes.
fn common_bits_in_bytes(a: &[u8], b: &[u8], len: u64) -> u64 {
    let whole = byte_of(len);
    let same = common_bytes_behind(&a[..whole], &b[..whole]);
    // Either the next byte differs, or fewer than eight bits are left.
    let rest = match (a.get(same), b.get(same)) {
        (Some(a), Some(b)) => (a ^ b).leading_zeros(),
        _ => 0,
    };
    (8 * same as u64 + u64::from(rest)).min(len)
}

/// [`common_bits`] of strings that do not both start at a byte. It takes the parts of the strings because whole ones
/// would be put into memory for it before anybody knows that it is called.
#[inline(never)]
fn common_bits_inside(a: &[u8], a_start: u64, b: &[u8], b_start: u64, len: u64) -> u64 {
    let mut at = 0;
    if (a_start ^ b_start) & 7 == 0 && len > 57 {
        let head = a_start.wrapping_neg() & 7;
        let first = u64::from((window57(a, a_start) ^ window57(b, b_start)).leading_zeros());
        if first < head {
            return first;
        }
        let (a, b) = (&a[byte_of(a_start + head)..], &b[byte_of(b_start + head)..]);
        return head + common_bits_in_bytes(a, b, len - head);
    }
    while at + BLOCK_BITS <= len
        && block_at(a, a_start + at).is_some_and(|block| block_at(b, b_start + at) == Some(block))
    {
        at += BLOCK_BITS;
    }
    while at < len {
        let step = (len - at).min(57);
        let differing = window57(a, a_start + at) ^ window57(b, b_start + at);
        let same = u64::from(differing.leading_zeros());
        if same < step {
            return at + same;
        }
        at += step;
    }
    len
}

/// The number of leading bytes in which two strings agree, and whether `b` follows `a` in order.
#[inline(always)]
pub(crate) fn order_bytes(a: &[u8], b: &[u8]) -> (usize, bool) {
    if let (Some(a), Some(b)) = (a.first_chunk(), b.first_chunk()) {
        let (a, b) = (u64::from_be_bytes(*a), u64::from_be_bytes(*b));
        if a != b {
            return (((a ^ b).leading_zeros() / 8) as usize, a < b);
        }
    }
    let same = common_bytes_behind(a, b);
    (same, a.get(same) < b.get(same))
}

/// The number of leading bits in which two strings agree, and whether `b` follows `a` in order.
#[inline(always)]
pub(crate) fn order_bits(a: BitStr<'_>, b: BitStr<'_>) -> (u64, bool) {
    let len = a.len().min(b.len());
    let ((a_bytes, a_start), (b_bytes, b_start)) = (a.parts(), b.parts());
    if (a_start | b_start) & 7 == 0
        && let (Some(a), Some(b)) = (
            a_bytes[byte_of(a_start)..].first_chunk(),
            b_bytes[byte_of(b_start)..].first_chunk(),
        )
    {
        let (a, b) = (u64::from_be_bytes(*a), u64::from_be_bytes(*b));
        let same = u64::from((a ^ b).leading_zeros());
        if same < len.min(64) {
            return (same, a < b);
        }
    }
    let same = common_bits(a, b);
    // Where both have the bit they differ in, the greater string has the one.
    (
        same,
        same < b.len() && (same == a.len() || b.get(same) == Some(true)),
    )
}

/// Bits that are shifted and compared at once in strings that lie differently.
const BLOCK_BITS: u64 = 256;

/// 256 bits from `at` on; `None` where the bytes end right behind them.
#[inline(always)]
fn block_at(bytes: &[u8], at: u64) -> Option<[u8; 32]> {
    let shift = at & 7;
    let bytes: &[u8; 33] = bytes.get(byte_of(at)..)?.first_chunk()?;
    // Two shifts, so that a shift by nothing is none by eight.
    Some(std::array::from_fn(|lane| {
        bytes[lane] << shift | bytes[lane + 1] >> 1 >> (7 - shift)
    }))
}
