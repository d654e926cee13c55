//! Loading eight bytes from anywhere in a slice, with one comparison.
//!
//! A slice pattern needs two (does the slice reach so far, does it have eight more); here the last place from which
//! eight bytes can be read is computed, once for a loop, and compared with.
#![expect(unsafe_code, reason = "one load whose bounds are checked by hand")]

/// The eight bytes from `at` on; none where fewer are left.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most the length of a slice")]
pub(super) fn eight_bytes(readable: &[u8], at: u64) -> Option<[u8; 8]> {
    let last = readable.len().checked_sub(8)? as u64;
    if at > last {
        return None;
    }
    // SAFETY: `at + 8 <= readable.len()`.
    let place = unsafe { readable.as_ptr().add(at as usize) };
    // SAFETY: eight bytes of the slice start there; any alignment will do for bytes.
    Some(unsafe { place.cast::<[u8; 8]>().read() })
}

#[cfg(test)]
mod tests {
    use super::eight_bytes;

    #[test]
    fn loads_end_with_the_slice() {
        let bytes: Vec<u8> = (0..20).collect();
        for len in 0..=bytes.len() {
            for at in 0..30_u64 {
                let start = usize::try_from(at).unwrap();
                let expected = bytes[..len]
                    .get(start..start + 8)
                    .map(|slice| slice.try_into().unwrap());
                assert_eq!(eight_bytes(&bytes[..len], at), expected, "{len} bytes, from {at}");
            }
        }
        assert_eq!(eight_bytes(&bytes, u64::MAX), None);
    }
}
