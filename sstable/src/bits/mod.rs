//! Strings of bits, most significant bit first, that may start and end inside a byte.
//!
//! ```text
//! bytes      1010 0110  0111 0000          BitStr { bytes, start: 2, len: 9 }
//! string       10 0110  011                bit 0 is the first after `start`
//! order      0 < 00 < 01 < 1 < 10          unsigned, a proper prefix before its extensions
//! ```
//!
//! [`BitStr`] borrows, [`BitString`] owns and grows, [`BitReader`] walks. All three load up to eight bytes at a time;
//! bits behind the end of the bytes read as zeros.

mod lcp;
mod reader;
mod shift;
mod str;
mod string;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use lcp::{common_bytes, order_bits, order_bytes};
pub use reader::BitReader;
pub(crate) use shift::copy_shifted;
pub use str::BitStr;
pub use string::BitString;
pub(crate) use string::advance_bytes;
pub(crate) use window::window57;
