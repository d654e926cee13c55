//! The stored hash of keys: filters hold it, so it never changes.
//!
//! ```text
//! byte keys   XXH3-64 of the bytes, seed 0
//! bit keys    the bits in pieces of 2,048; each piece zero-padded to whole 64-bit words, most significant bit
//!             first; h = XXH3-64 of the piece, seeded with the h before; the first seed is the length in bits
//! ```
//!
//! `tests.rs` of the filter keeps values of both.

use crate::bits::BitStr;

/// Words of a piece of a bit key.
const PIECE_WORDS: usize = 32;

/// The hash of a byte key.
#[inline]
pub(crate) fn hash_bytes(key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key)
}

/// The hash of a bit key.
pub(crate) fn hash_bits(key: BitStr<'_>) -> u64 {
    let mut hash = key.len();
    let mut at = 0;
    loop {
        let mut piece = [[0; 8]; PIECE_WORDS];
        let mut words = 0;
        while words < PIECE_WORDS && at < key.len() {
            piece[words] = key.window(at).to_be_bytes();
            words += 1;
            at += 64;
        }
        hash = xxhash_rust::xxh3::xxh3_64_with_seed(piece[..words].as_flattened(), hash);
        if at >= key.len() {
            return hash;
        }
    }
}
