//! Asking for memory before it is needed.
//!
//! The frames of a block are found one after the other, each from the one before, so their cache misses would come
//! one after the other too. A look-up knows where its block starts and ends before it reads any of it: asking for
//! all its lines at once makes the misses overlap.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "the instruction takes an address, and has no safe interface"
    )
)]

/// Bytes of a cache line.
const LINE_LEN_BYTES: usize = 64;

/// No more lines than the processor keeps under way at once, with some to spare.
const LINES_MAX: usize = 32;

/// Asks for the lines of `bytes`, the first [`LINES_MAX`] of them. Changes nothing but speed.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let mut line = bytes.as_ptr();
        for _ in 0..bytes.len().div_ceil(LINE_LEN_BYTES).min(LINES_MAX) {
            // SAFETY: a prefetch reads nothing, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
            line = line.wrapping_add(LINE_LEN_BYTES);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, LINE_LEN_BYTES, LINES_MAX);
}
