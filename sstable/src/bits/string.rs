//! An owned string of bits, grown at its end: a key being rebuilt, or a bit stream being written.
//!
//! ```text
//! push_bits(0b101, 3)          1010 0000                  3 bits, padding zero
//! push_bits(0x2ff, 10)         1011 0111  1111 1000      13 bits
//! truncate(4)                  1011 0000                  the cut bits are cleared
//! ```
//!
//! Invariants: exactly `ceil(len / 8)` bytes, and the bits behind `len` are zero. So the bytes of two equal strings
//! are equal, and the padding of a finished stream is right by construction.

use std::collections::TryReserveError;
use std::fmt;

use super::str::BitStr;
use super::window::byte_of;

/// An owned string of bits, most significant bit first, padded with zeros to whole bytes.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct BitString {
    bytes: Vec<u8>,
    len: u64,
}

impl BitString {
    /// The empty string. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            len: 0,
        }
    }

    /// Its length in bits.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bits.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its bits.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> BitStr<'_> {
        BitStr::of_owned(&self.bytes, self.len)
    }

    /// Its bytes: `ceil(len / 8)` of them, padded with zeros.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its bytes, given away.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes and length, for whoever writes into the reserved room behind them and keeps the invariants.
    #[inline(always)]
    pub(crate) const fn parts_mut(&mut self) -> (&mut Vec<u8>, &mut u64) {
        (&mut self.bytes, &mut self.len)
    }

    /// The bytes of which every bit is in use.
    #[must_use]
    pub(crate) fn whole_bytes(&self) -> &[u8] {
        &self.bytes[..byte_of(self.len)]
    }

    /// Forgets those bytes and keeps the bits behind them.
    pub(crate) fn discard_whole_bytes(&mut self) {
        let whole = byte_of(self.len);
        self.bytes.copy_within(whole.., 0);
        self.bytes.truncate(self.bytes.len() - whole);
        self.len &= 7;
    }

    /// The bytes and the length in bits, for a writer that fills the memory behind them.
    pub(crate) fn raw_parts_mut(&mut self) -> (&mut Vec<u8>, &mut u64) {
        (&mut self.bytes, &mut self.len)
    }

    /// Bytes it can hold without allocating.
    #[must_use]
    #[inline]
    pub fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes room for `extra` more bits.
    ///
    /// # Errors
    ///
    /// No memory; the string is unchanged.
    pub fn try_reserve(&mut self, extra: u64) -> Result<(), TryReserveError> {
        let end_bytes = self.len.saturating_add(extra).div_ceil(8);
        let extra_bytes = end_bytes.saturating_sub(self.bytes.len() as u64);
        self.bytes
            .try_reserve(usize::try_from(extra_bytes).unwrap_or(usize::MAX))
    }

    /// As [`BitString::try_reserve`], for no more than that.
    ///
    /// # Errors
    ///
    /// No memory; the string has not changed.
    pub fn try_reserve_exact(&mut self, extra: u64) -> Result<(), TryReserveError> {
        let end_bytes = self.len.saturating_add(extra).div_ceil(8);
        let extra_bytes = end_bytes.saturating_sub(self.bytes.len() as u64);
        self.bytes
            .try_reserve_exact(usize::try_from(extra_bytes).unwrap_or(usize::MAX))
    }

    /// Appends the low `width` bits of `value`, the highest of them first.
    ///
    /// # Panics
    ///
    /// When `width > 64`.
    #[inline]
    pub fn push_bits(&mut self, value: u64, width: u32) {
        assert!(width <= 64, "at most 64 bits at a time, not {width}");
        if width == 0 {
            return;
        }
        // The bits behind those already in the last byte, left-aligned in 128 bits.
        let used = self.len & 7;
        let field = u128::from(value << (64 - width)) << 64 >> used;
        let field = field.to_be_bytes();
        let end = byte_of((self.len + u64::from(width)).next_multiple_of(8));
        let fresh = end - self.bytes.len();
        if used > 0 {
            if let Some(last) = self.bytes.last_mut() {
                *last |= field[0];
            }
            self.bytes.extend_from_slice(&field[1..=fresh]);
        } else {
            self.bytes.extend_from_slice(&field[..fresh]);
        }
        self.len += u64::from(width);
    }

    /// Appends `count` zeros.
    pub fn push_zeros(&mut self, count: u64) {
        self.len += count;
        self.bytes.resize(byte_of(self.len.next_multiple_of(8)), 0);
    }

    /// Appends another string. Whole bytes at a time: copied where the bits lie alike, shifted in byte lanes where
    /// they do not.
    #[expect(clippy::cast_possible_truncation, reason = "pieces of at most 7 bits")]
    pub fn push_str(&mut self, string: BitStr<'_>) {
        let to_byte = (8 - (self.len & 7)) & 7;
        let mut at = to_byte.min(string.len());
        if at > 0 {
            self.push_bits(string.window(0) >> (64 - at), at as u32);
        }
        let whole = (string.len() - at) / 8;
        if whole > 0 {
            let (bytes, start) = string.parts();
            extend_shifted(&mut self.bytes, bytes, start + at, byte_of(8 * whole));
            self.len += 8 * whole;
            at += 8 * whole;
        }
        let left = string.len() - at;
        if left > 0 {
            self.push_bits(string.window(at) >> (64 - left), left as u32);
        }
    }

    /// Becomes equal to `string`, of which all but the last `differing` bits (at most 57) agree already, and gives its
    /// last 57 bits or more as a number. `None` where that takes more than a store, or a longer buffer: nothing has
    /// changed then.
    #[inline(always)]
    pub(crate) fn advance_short(&mut self, differing: u64, string: BitStr<'_>) -> Option<u64> {
        let ((bytes, start), len) = (string.parts(), string.len());
        if !start.is_multiple_of(8) || differing > 57 {
            return None;
        }
        let unused = len.wrapping_neg() & 7;
        let bytes = &bytes[byte_of(start)..byte_of(start + len + 7)];
        let end = u64::from_be_bytes(*bytes.last_chunk()?) >> unused;
        if self.len == len {
            *self.bytes.last_chunk_mut()? = (end << unused).to_be_bytes();
        } else if bytes.len() <= self.bytes.capacity() {
            self.advance_any(len - differing, bytes, 0, len);
        } else {
            return None;
        }
        Some(end)
    }

    /// Becomes equal to `string`, of which the first `keep` bits agree already. Copies only what is behind them, from
    /// their last byte on; where `string` starts inside a byte, bit by bit.
    ///
    /// # Panics
    ///
    /// When either string has fewer than `keep` bits.
    pub(crate) fn advance(&mut self, keep: u64, string: BitStr<'_>) {
        let (bytes, start) = string.parts();
        self.advance_any(keep, bytes, start, string.len());
    }

    /// [`BitString::advance`] to `len` bits of `bytes` from `start` on.
    #[inline(never)]
    fn advance_any(&mut self, keep: u64, bytes: &[u8], start: u64, len: u64) {
        if !start.is_multiple_of(8) {
            self.truncate(keep);
            let string = BitStr::new(bytes, start, len).expect("parts of a string");
            return self.push_str(string.slice(keep, len));
        }
        let from = &bytes[byte_of(start)..byte_of(start + len + 7)];
        advance_bytes(&mut self.bytes, byte_of(keep), from);
        self.len = len;
        if let (used @ 1.., Some(last)) = (len & 7, self.bytes.last_mut()) {
            *last &= !(0xff >> used);
        }
    }

    /// Keeps the first `len` bits. Does nothing when there are no more than that. Keeps the memory.
    pub fn truncate(&mut self, len: u64) {
        if len >= self.len {
            return;
        }
        self.len = len;
        self.bytes.truncate(byte_of(len.next_multiple_of(8)));
        if let (used @ 1.., Some(last)) = (len & 7, self.bytes.last_mut()) {
            *last &= !(0xff >> used);
        }
    }
}

/// Makes `bytes` equal to `from`, of which the first `keep` agree already. Up to eight bytes are one word: it may begin
/// with bytes that agree.
///
/// # Panics
///
/// When either has fewer than `keep` bytes.
#[inline(always)]
pub(crate) fn advance_bytes(bytes: &mut Vec<u8>, keep: usize, from: &[u8]) {
    if bytes.len() != from.len() {
        return advance_to_other_length(bytes, keep, from);
    }
    match (
        from.len() - keep,
        bytes.last_chunk_mut::<8>(),
        from.last_chunk::<8>(),
    ) {
        (0..=8, Some(to), Some(from)) => *to = *from,
        _ => bytes[keep..].copy_from_slice(&from[keep..]),
    }
}

/// [`advance_bytes`] where the length changes.
#[inline(never)]
fn advance_to_other_length(bytes: &mut Vec<u8>, keep: usize, from: &[u8]) {
    assert!(keep <= bytes.len(), "kept bytes are there");
    bytes.truncate(keep);
    bytes.extend_from_slice(&from[keep..]);
}

/// Appends `count` bytes that start at bit `start` of `bytes`. The loop over byte lanes becomes wide shifts.
fn extend_shifted(out: &mut Vec<u8>, bytes: &[u8], start: u64, count: usize) {
    let from = byte_of(start);
    let shift = start & 7;
    if shift == 0 {
        out.extend_from_slice(&bytes[from..from + count]);
        return;
    }
    let (left, right) = (&bytes[from..from + count], &bytes[from + 1..=from + count]);
    out.extend(
        left.iter()
            .zip(right)
            .map(|(left, right)| left << shift | right >> (8 - shift)),
    );
}

impl fmt::Debug for BitString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl From<BitStr<'_>> for BitString {
    fn from(bits: BitStr<'_>) -> Self {
        let mut string = Self::new();
        string.push_str(bits);
        string
    }
}
