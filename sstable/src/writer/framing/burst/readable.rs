//! Bytes that bursts copy from, with the places from which they may.
//!
//! ```text
//! bytes       0 ........................................ len
//! load_end    |------------------------------------|       eight bytes can be loaded from any place below
//! body_end    |-------------------|                        any short body, and what is copied behind it, starts below
//! ```
//!
//! Both ends are computed once for a loop, so that a load or a copy costs one comparison; a slice pattern costs two, and
//! the end of a body is one more number to keep.
#![expect(unsafe_code, reason = "one load whose bounds are checked by hand")]

use super::BODY_REACH_BYTES;

/// A slice, and from where words can be loaded and short bodies copied.
#[derive(Debug, Clone, Copy)]
pub struct Readable<'a> {
    /// Invariant: the next two are what `new` makes of its length.
    bytes: &'a [u8],
    load_end: u64,
    body_end: u64,
}

impl<'a> Readable<'a> {
    /// Prepares a slice. `O(1)`.
    #[must_use]
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        let len = bytes.len() as u64;
        Self {
            bytes,
            load_end: len.saturating_sub(7),
            body_end: len.saturating_sub(BODY_REACH_BYTES),
        }
    }

    /// The slice.
    #[must_use]
    #[inline(always)]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The eight bytes from `at` on; none where fewer are left.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "below the length of a slice")]
    pub fn eight_bytes(&self, at: u64) -> Option<[u8; 8]> {
        if at >= self.load_end {
            return None;
        }
        // SAFETY: `at + 8 <= len`, which is what `at < load_end` says.
        let place = unsafe { self.bytes.as_ptr().add(at as usize) };
        // SAFETY: eight bytes of the slice start there; any alignment will do for bytes.
        Some(unsafe { place.cast::<[u8; 8]>().read() })
    }

    /// Whether [`BODY_REACH_BYTES`] can be read from byte `at` on.
    #[inline(always)]
    pub(super) const fn holds_body(&self, at: u64) -> bool {
        at < self.body_end
    }
}

#[cfg(test)]
mod tests {
    use super::{BODY_REACH_BYTES, Readable};

    #[test]
    fn loads_end_with_the_slice() {
        let bytes: Vec<u8> = (0..20).collect();
        for len in 0..=bytes.len() {
            let readable = Readable::new(&bytes[..len]);
            for at in 0..30_u64 {
                let start = usize::try_from(at).unwrap();
                let expected = bytes[..len]
                    .get(start..start + 8)
                    .map(|slice| slice.try_into().unwrap());
                assert_eq!(readable.eight_bytes(at), expected, "{len} bytes, from {at}");
            }
            assert_eq!(readable.eight_bytes(u64::MAX), None);
        }
    }

    #[test]
    fn bodies_end_with_the_slice() {
        for len in 0..1000 {
            let bytes = vec![0; usize::try_from(len).unwrap()];
            let readable = Readable::new(&bytes);
            for at in 0..1000 {
                assert!(
                    !readable.holds_body(at) || at + BODY_REACH_BYTES <= len,
                    "{len} {at}"
                );
            }
            assert!(!readable.holds_body(u64::MAX));
        }
    }
}
