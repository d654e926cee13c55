//! Filters: a few bits a key that say of most absent keys that they are absent.
//!
//! The filter is a split-block Bloom filter. A hash picks one block of 256 bits, half a cache line, and in each of
//! its eight words one bit; a key is absent if any of the eight is not set. One cache line a look-up, no branch.
//!
//! ```text
//! hash      hhhhhhhh llllllll
//!           '------- block = h * block count / 2^32
//!                    '------ bit of word i = the top five bits of (l * SALT[i] mod 2^32)
//! ```
//!
//! With ten bits a key 1.3% of absent keys pass, with sixteen 0.2%.

mod split_block;
#[cfg(test)]
mod tests;

pub(crate) use split_block::{BLOCK_LEN_BYTES, FILTER_HEADER_LEN_BYTES, Filter, build};

use crate::writer::FilterPolicy;

/// Tables of up to so many records may have [`SMALL_TABLE_BITS_PER_KEY`]: two pages of filter.
const SMALL_TABLE_RECORDS_MAX: u64 = 4096;

/// What small tables have instead of fewer bits a key: there the bits cost nothing, and each wrong answer is one of
/// many tables read in vain.
const SMALL_TABLE_BITS_PER_KEY: u64 = 16;

/// How many blocks the filter of a table gets; none where it would not pay. This is the one place that decides it.
///
/// * No filter for a table of a single block: its look-up is the block itself, and the key bounds keep most away.
/// * A small table gets at least [`SMALL_TABLE_BITS_PER_KEY`].
/// * A large one gets what the policy says.
pub(crate) fn planned_block_count(policy: FilterPolicy, record_count: u64, table_blocks: u64) -> Option<u64> {
    let FilterPolicy::BitsPerKey(bits) = policy else {
        return None;
    };
    if bits == 0 || table_blocks <= 1 {
        return None;
    }
    let bits = match record_count <= SMALL_TABLE_RECORDS_MAX {
        true => u64::from(bits).max(SMALL_TABLE_BITS_PER_KEY),
        false => u64::from(bits),
    };
    let blocks = record_count
        .saturating_mul(bits)
        .div_ceil(BLOCK_LEN_BYTES as u64 * 8);
    (blocks <= u64::from(u32::MAX)).then_some(blocks)
}
