//! The bits of a split-block Bloom filter.
//!
//! ```text
//!  0  4  kind: 1               8  8  number of blocks
//!  4  4  zero                 16 16  zero
//! 32     the blocks, 32 bytes each: eight little-endian words of 32 bits
//! ```

use std::collections::TryReserveError;
use std::ops::Range;

use crate::elias_fano::to_index;

/// Bytes of a block.
pub(crate) const BLOCK_LEN_BYTES: usize = 32;

/// Bytes before the first block, so that blocks do not cross cache lines.
pub(crate) const FILTER_HEADER_LEN_BYTES: usize = 32;

const KIND: u64 = 1;

/// Odd multipliers, one for each word of a block.
const SALT: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The number of a hash's block.
#[inline]
fn block_of(hash: u64, block_count: u64) -> u64 {
    ((hash >> 32) * block_count) >> 32
}

/// The bit of a hash in each of the eight words.
#[inline]
fn bits_of(hash: u64) -> [u32; 8] {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    let low = hash as u32;
    let mut bits = [0; 8];
    for (bit, salt) in bits.iter_mut().zip(SALT) {
        *bit = 1 << (low.wrapping_mul(salt) >> 27);
    }
    bits
}

/// The section of a filter over `hashes`.
pub(crate) fn build(hashes: &[u64], block_count: u64) -> Result<Vec<u8>, TryReserveError> {
    let len = FILTER_HEADER_LEN_BYTES + to_index(block_count) * BLOCK_LEN_BYTES;
    let mut section = Vec::new();
    section.try_reserve_exact(len)?;
    section.resize(len, 0);
    section[..8].copy_from_slice(&KIND.to_le_bytes());
    section[8..16].copy_from_slice(&block_count.to_le_bytes());
    let (blocks, _) = section[FILTER_HEADER_LEN_BYTES..].as_chunks_mut::<4>();
    for &hash in hashes {
        let start = to_index(block_of(hash, block_count)) * 8;
        for (word, bit) in blocks[start..start + 8].iter_mut().zip(bits_of(hash)) {
            *word = (u32::from_le_bytes(*word) | bit).to_le_bytes();
        }
    }
    Ok(section)
}

/// The shape of a filter: what is read of it at opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter {
    block_count: u64,
}

impl Filter {
    /// Reads the header of a section of `len_bytes`; the field that is wrong, what it should be and what it is.
    pub(crate) fn read(
        header: &[u8; FILTER_HEADER_LEN_BYTES],
        len_bytes: usize,
    ) -> Result<Self, (&'static str, u64, u64)> {
        let word =
            |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("a field of the header"));
        if word(0) != KIND {
            return Err(("kind of filter", KIND, word(0)));
        }
        let block_count = ((len_bytes - FILTER_HEADER_LEN_BYTES) / BLOCK_LEN_BYTES) as u64;
        let whole = FILTER_HEADER_LEN_BYTES + to_index(block_count) * BLOCK_LEN_BYTES == len_bytes;
        if word(8) != block_count || block_count == 0 || block_count > u64::from(u32::MAX) || !whole {
            return Err(("blocks of the filter", block_count, word(8)));
        }
        if word(16) | word(24) != 0 {
            return Err(("reserved bytes", 0, word(16) | word(24)));
        }
        Ok(Self { block_count })
    }

    /// Bytes of the section that decide about a hash.
    #[inline]
    pub(crate) fn block(&self, hash: u64) -> Range<usize> {
        let start = FILTER_HEADER_LEN_BYTES + to_index(block_of(hash, self.block_count)) * BLOCK_LEN_BYTES;
        start..start + BLOCK_LEN_BYTES
    }

    /// Whether a hash may have been put in, given its block.
    #[inline]
    pub(crate) fn block_may_contain(block: &[u8; BLOCK_LEN_BYTES], hash: u64) -> bool {
        let (words, _) = block.as_chunks::<4>();
        let bits = bits_of(hash);
        let mut missing = 0;
        for (word, bit) in words.iter().zip(bits) {
            missing |= bit & !u32::from_le_bytes(*word);
        }
        missing == 0
    }
}
