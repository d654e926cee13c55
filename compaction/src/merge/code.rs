//! Codes of heads: where a source's next key stands relative to the key written last, in one integer.
//!
//! ```text
//! bytes    lcp << 9 | 256 - first unit behind it      greater code = smaller key
//! bits     (lcp + 1) << 1                             the first bit behind it says too little to be kept
//! 0                                                   the source has ended; loses against everything
//! largest of its lcp                                  the key equals the one written last: a duplicate
//! ```
//!
//! With `p` the last key written and every head at or above it: the head that shares more with `p` is the
//! smaller one, and among heads that share the same, the one with the smaller unit behind. So one comparison
//! of codes decides, and the loser's code stays true: whatever wins shares more with `p` than it does. Only
//! equal codes need a look at the keys, and then from the shared boundary on.

use tephra_sstable::{Bit, Byte, Unit};

/// The code of a source that has ended.
pub(super) const ENDED: u64 = 0;

/// Codes of a unit's heads.
pub(super) trait Code: Unit {
    /// The code of a head that shares `lcp` units with the last key and goes on with `first`.
    fn code(lcp: u64, first: u64) -> u64;

    /// The code of a head that equals the last key, of `key_units` units.
    fn duplicate_code(key_units: u64) -> u64;

    /// The code of the empty key before anything is written: greater than that of any other first key.
    fn empty_key_code() -> u64;

    /// Units shared with the last key.
    fn lcp_of(code: u64) -> u64;

    /// Whether the code says that the head equals the last key.
    fn is_duplicate(code: u64) -> bool;
}

const BYTE_DUPLICATE: u64 = 511;
const BYTE_EMPTY: u64 = 510;

impl Code for Byte {
    #[inline(always)]
    fn code(lcp: u64, first: u64) -> u64 {
        (lcp << 9) | (256 - first)
    }

    #[inline(always)]
    fn duplicate_code(key_units: u64) -> u64 {
        (key_units << 9) | BYTE_DUPLICATE
    }

    #[inline(always)]
    fn empty_key_code() -> u64 {
        BYTE_EMPTY
    }

    #[inline(always)]
    fn lcp_of(code: u64) -> u64 {
        code >> 9
    }

    #[inline(always)]
    fn is_duplicate(code: u64) -> bool {
        code & 511 == BYTE_DUPLICATE
    }
}

impl Code for Bit {
    #[inline(always)]
    fn code(lcp: u64, _first: u64) -> u64 {
        (lcp + 1) << 1
    }

    #[inline(always)]
    fn duplicate_code(key_units: u64) -> u64 {
        ((key_units + 1) << 1) | 1
    }

    #[inline(always)]
    fn empty_key_code() -> u64 {
        2
    }

    #[inline(always)]
    fn lcp_of(code: u64) -> u64 {
        (code >> 1) - 1
    }

    #[inline(always)]
    fn is_duplicate(code: u64) -> bool {
        code & 1 == 1
    }
}
