//! A borrowed string of bits.
//!
//! Comparison is the hot operation (see `lcp.rs`). Copying a `BitStr` copies four words and never the bits.

use std::cmp::Ordering;
use std::fmt;

use super::lcp::common_bits;
use super::window::{byte_of, window64};

/// A borrowed string of bits: `len` bits of `bytes` from bit `start`, most significant bit first.
///
/// Ordered as unsigned bit strings, a proper prefix before its extensions.
#[derive(Clone, Copy, Default)]
pub struct BitStr<'a> {
    bytes: &'a [u8],
    start: u64,
    len: u64,
}

impl<'a> BitStr<'a> {
    /// `len` bits of `bytes` from bit `start` on, or `None` where the bytes end before.
    #[must_use]
    #[inline]
    pub fn new(bytes: &'a [u8], start: u64, len: u64) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end.div_ceil(8) <= bytes.len() as u64).then_some(Self { bytes, start, len })
    }

    /// All bits of some bytes.
    #[must_use]
    #[inline]
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            start: 0,
            len: bytes.len() as u64 * 8,
        }
    }

    /// The first `len` bits of the bytes of an owned string, which has them.
    #[inline(always)]
    pub(super) const fn of_owned(bytes: &'a [u8], len: u64) -> Self {
        Self { bytes, start: 0, len }
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

    /// The bytes it lies in, and the bit of them it starts at. More bytes than it needs may follow.
    #[must_use]
    #[inline]
    pub const fn parts(&self) -> (&'a [u8], u64) {
        (self.bytes, self.start)
    }

    /// Its bit `at`, if it has one.
    #[must_use]
    #[inline]
    pub fn get(&self, at: u64) -> Option<bool> {
        (at < self.len).then(|| {
            let bit = self.start + at;
            self.bytes[byte_of(bit)] & (0x80 >> (bit & 7)) != 0
        })
    }

    /// Up to 64 bits from `at` on, left-aligned, zeros behind the string's end.
    #[must_use]
    #[inline]
    pub fn window(&self, at: u64) -> u64 {
        match self.len.saturating_sub(at) {
            0 => 0,
            left @ 1..64 => window64(self.bytes, self.start + at) & !(u64::MAX >> left),
            _ => window64(self.bytes, self.start + at),
        }
    }

    /// The bits `from..to` of it.
    ///
    /// # Panics
    ///
    /// When `from > to` or `to > self.len()`.
    #[must_use]
    #[inline]
    pub fn slice(&self, from: u64, to: u64) -> Self {
        assert!(
            from <= to,
            "slice {from}..{to} of a bit string ends before it starts"
        );
        assert!(
            to <= self.len,
            "slice {from}..{to} of a bit string of {} bits",
            self.len
        );
        Self {
            bytes: self.bytes,
            start: self.start + from,
            len: to - from,
        }
    }

    /// The number of leading bits in which both agree. `O(n)` in wide steps, allocates nothing.
    #[must_use]
    #[inline(always)]
    pub fn lcp(&self, other: &BitStr<'_>) -> u64 {
        common_bits(*self, *other)
    }
}

impl<'a> From<&'a [u8]> for BitStr<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::from_bytes(bytes)
    }
}

impl PartialEq for BitStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.lcp(other) == self.len
    }
}

impl Eq for BitStr<'_> {}

impl PartialOrd for BitStr<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BitStr<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let same = self.lcp(other);
        // The bit after the common prefix decides; `None` (no bit: a prefix) sorts below both bits.
        self.get(same).cmp(&other.get(same))
    }
}

impl fmt::Debug for BitStr<'_> {
    /// Binary digits up to 256 of them, then the number of those left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: u64 = 256;
        f.write_str("0b")?;
        for at in 0..self.len.min(SHOWN_MAX) {
            f.write_str(if self.get(at) == Some(true) { "1" } else { "0" })?;
        }
        match self.len.checked_sub(SHOWN_MAX) {
            None | Some(0) => Ok(()),
            Some(left) => write!(f, "..+{left}"),
        }
    }
}
