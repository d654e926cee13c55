//! Windows: the bits from any position on, left-aligned in a word. The one place that loads words for bit strings.
//!
//! ```text
//! position 11        byte 1, shift 3        load bytes 1..9 big-endian, shift left by 3
//! window57           bits 11..68            at least 57 of the bits are right, the rest zeros
//! window64           bits 11..75            one more byte fills the rest
//! ```
//!
//! Positions are in bits and may lie behind the bytes: what is not there reads as zeros.

/// Eight bytes from `at`, big-endian, zeros behind the end.
#[inline(always)]
fn load_be(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at.saturating_add(8)) {
        Some(chunk) => u64::from_be_bytes(*chunk.first_chunk().expect("eight bytes")),
        None => load_be_tail(bytes, at),
    }
}

/// [`load_be`] where fewer than eight bytes are left: the last eight bytes shifted, or two loads that may overlap.
#[inline(always)]
fn load_be_tail(bytes: &[u8], at: usize) -> u64 {
    let left = bytes.len().saturating_sub(at);
    if left == 0 {
        return 0;
    }
    let shift = 64 - 8 * left;
    match bytes.last_chunk() {
        Some(last) => u64::from_be_bytes(*last) << shift,
        None => load_be_short(&bytes[at..]),
    }
}

/// One to seven bytes that nothing surrounds, left-aligned.
#[inline]
fn load_be_short(left: &[u8]) -> u64 {
    let shift = (64 - 8 * left.len()) & 63;
    if let (Some(first), Some(last)) = (left.first_chunk(), left.last_chunk()) {
        u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last)) << shift
    } else if let (Some(first), Some(last)) = (left.first_chunk(), left.last_chunk()) {
        u64::from(u16::from_be_bytes(*first)) << 48 | u64::from(u16::from_be_bytes(*last)) << shift
    } else {
        u64::from(left.first().copied().unwrap_or(0)) << 56
    }
}

/// The byte that holds bit `bit`. Positions lie within or next to a slice, so they fit.
#[inline(always)]
pub(crate) const fn byte_of(bit: u64) -> usize {
    (bit >> 3) as usize
}

/// The 57 bits from `bit` on, at the top of the word. The seven below them are right or zero.
#[inline(always)]
pub(crate) fn window57(bytes: &[u8], bit: u64) -> u64 {
    load_be(bytes, byte_of(bit)) << (bit & 7)
}

/// The 64 bits from `bit` on.
#[inline(always)]
pub(crate) fn window64(bytes: &[u8], bit: u64) -> u64 {
    let ninth = u64::from(bytes.get(byte_of(bit) + 8).copied().unwrap_or(0));
    window57(bytes, bit) | (ninth << (bit & 7)) >> 8
}
