//! Elias-Fano: a non-decreasing sequence of integers in about two bits an entry more than its low halves.
//!
//! Tables use it as their directory: one entry for the start of every block and one for the end of the stream.
//!
//! ```text
//! entries  m values, the last one is the universe U        l = floor(log2(U / m)) if U >= m, else 0
//!
//! entry j = 0b hhhhh llll
//!                    '--- low l bits, packed LSB first into 64-bit words           `low`
//!              '--------- high half h: bit h + j is set, LSB first in the words     `high`
//!
//! samples  for every 256 entries: where the group's first one is in `high`, and how to find the others:
//!          dense   the group's ones span less than 4,096 positions: scan on from the first, at most 65 words
//!          sparse  otherwise: `sparse` lists the position of each one of the group
//! ```
//!
//! Worked example: entries 0, 5, 9, 20; `m = 4`, `U = 20`, `U / m = 5`, so `l = 2`.
//!
//! ```text
//! j   entry   high half  low   one at h + j
//! 0    0      0          00    0
//! 1    5      1          01    2
//! 2    9      2          01    4
//! 3   20      5          00    8
//! low  = 0b00_01_01_00 = 0x14          high = 0b1_0001_0101 = 0x115, (20 >> 2) + 4 = 9 bits
//! samples = [(0, dense)]
//! ```
//!
//! [`EliasFano`] owns its words and is what [`EliasFanoBuilder`] makes; [`EliasFanoView`] borrows little-endian
//! bytes at any alignment and does all the reading. Selecting an entry costs constant time (a scan of at most
//! 65 words), iterating a few instructions an entry, and neither allocates.
//!
//! A view may lie over damaged bytes: reading then gives an [`EliasFanoError`] or a wrong number of at most `U`,
//! never a panic and never a long scan. [`EliasFanoView::validate`] accepts exactly what the builder writes.

mod builder;
mod error;
mod iter;
mod layout;
mod owned;
mod scan;
mod select_in_word;
mod validate;
mod view;

#[cfg(test)]
mod tests;

pub use builder::EliasFanoBuilder;
pub use error::{EliasFanoError, EliasFanoPart};
pub use iter::EliasFanoIter;
pub(crate) use layout::to_index;
pub use layout::{DENSE, DENSE_SPAN, ENTRIES_PER_SAMPLE, Sample};
pub use owned::EliasFano;
pub use view::{EliasFanoParts, EliasFanoView};
