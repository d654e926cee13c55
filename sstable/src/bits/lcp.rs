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
use super::shift::{BLOCK_LEN_BYTES, common_blocks};
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
    match differing_words(a, b) {
        Some((at, a, b)) => at + ((a ^ b).leading_zeros() / 8) as usize,
        None => a.len().min(b.len()),
    }
}

/// The first place where two strings differ within the length of the shorter: where some eight bytes start that hold
/// it and agree before it, and these bytes as numbers, with zeros where the strings are too short for so many.
#[inline(always)]
fn differing_words(a: &[u8], b: &[u8]) -> Option<(usize, u64, u64)> {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let strides = a.as_chunks::<STRIDE_BYTES>().0.iter();
    let strides = strides.zip(b.as_chunks::<STRIDE_BYTES>().0);
    let mut at = STRIDE_BYTES * strides.take_while(|(a, b)| a == b).count();
    while at + 8 <= len {
        let words = (word(a, at), word(b, at));
        if words.0 != words.1 {
            return Some((at, words.0, words.1));
        }
        at += 8;
    }
    if at == len {
        return None;
    }
    // Up to seven bytes are left; the word that ends with them begins with bytes that agree.
    let (at, a, b) = match len.checked_sub(8) {
        Some(last) => (last, word(a, last), word(b, last)),
        None => (0, window57(a, 0), window57(b, 0)),
    };
    (a != b).then_some((at, a, b))
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(*bytes[at..].first_chunk().expect("eight bytes are left"))
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
    let bytes = byte_of(len + 7);
    match differing_words(&a[..bytes], &b[..bytes]) {
        // What differs may be behind the strings.
        Some((at, a, b)) => (8 * at as u64 + u64::from((a ^ b).leading_zeros())).min(len),
        None => len,
    }
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
    if len > BLOCK_BITS {
        // The second string's bytes as they are, the first one's shifted to them.
        let head = b_start.wrapping_neg() & 7;
        let first = u64::from((window57(a, a_start) ^ window57(b, b_start)).leading_zeros());
        if first < 57 {
            return first;
        }
        let aligned = &b[byte_of(b_start + head)..byte_of(b_start + len)];
        at = head + BLOCK_BITS * common_blocks(a, a_start + head, aligned) as u64;
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
    order_bytes_behind(a, b)
}

/// [`order_bytes`] of strings that agree in their first word, if they have one.
#[inline(never)]
fn order_bytes_behind(a: &[u8], b: &[u8]) -> (usize, bool) {
    match differing_words(a, b) {
        Some((at, a, b)) => (at + ((a ^ b).leading_zeros() / 8) as usize, a < b),
        None => (a.len().min(b.len()), a.len() < b.len()),
    }
}

/// The number of leading bits in which two strings agree, and whether `b` follows `a` in order.
#[inline(always)]
pub(crate) fn order_bits(a: BitStr<'_>, b: BitStr<'_>) -> (u64, bool) {
    let ((a_bytes, a_start), (b_bytes, b_start)) = (a.parts(), b.parts());
    if (a_start | b_start) & 7 != 0 {
        return order_bits_inside(a_bytes, a_start, a.len(), b_bytes, b_start, b.len());
    }
    let (a_bytes, b_bytes) = (&a_bytes[byte_of(a_start)..], &b_bytes[byte_of(b_start)..]);
    if let Some(a_word) = a_bytes.first_chunk()
        && let Some(b_word) = b_bytes.first_chunk()
    {
        let (a_word, b_word) = (u64::from_be_bytes(*a_word), u64::from_be_bytes(*b_word));
        let same = u64::from((a_word ^ b_word).leading_zeros());
        if a_word < b_word && same < a.len() && same < b.len() {
            return (same, true);
        }
    }
    order_bits_in_bytes(a_bytes, a.len(), b_bytes, b.len())
}

/// [`order_bits`] of the first bits of some bytes.
#[inline(never)]
fn order_bits_in_bytes(a: &[u8], a_len: u64, b: &[u8], b_len: u64) -> (u64, bool) {
    let len = a_len.min(b_len);
    let bytes = byte_of(len + 7);
    if let Some((at, a, b)) = differing_words(&a[..bytes], &b[..bytes]) {
        let same = 8 * at as u64 + u64::from((a ^ b).leading_zeros());
        if same < len {
            return (same, a < b);
        }
    }
    (len, a_len < b_len)
}

/// [`order_bits`] of strings that do not both start at a byte.
#[inline(never)]
fn order_bits_inside(
    a_bytes: &[u8],
    a_start: u64,
    a_len: u64,
    b_bytes: &[u8],
    b_start: u64,
    b_len: u64,
) -> (u64, bool) {
    let len = a_len.min(b_len);
    let same = common_bits_inside(a_bytes, a_start, b_bytes, b_start, len);
    let follows = match same < len {
        // The greater string has the one of the bits they differ in.
        true => window57(b_bytes, b_start + same) >> 63 == 1,
        false => a_len < b_len,
    };
    (same, follows)
}

/// Bits that are shifted and compared at once in strings that lie differently.
const BLOCK_BITS: u64 = 8 * BLOCK_LEN_BYTES as u64;
