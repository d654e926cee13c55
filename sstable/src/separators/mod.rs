//! Separators: which block a key belongs to, and what each block's first key inherits.
//!
//! The separator of block `b` (from 1 on) is the shortest string above the last key `A` of the block before and not
//! above the first key `C` of this one: `C`'s first `lcp(A, C) + 1` units. A key belongs to the last block whose
//! separator is not above it. What `C` retains of `A` is a prefix of the separator, so that a block can be decoded
//! without the blocks before it.
//!
//! They are kept in a tree of *heads*: 64 bits, the most significant first, zeros past the end. A node holds the
//! separators of some run of blocks that agree in all units before it; it strips what they have in common and
//! searches the heads after that. Separators with the same head (they are neighbours) go on in a child.
//!
//! ```text
//! W = 15, keys "user/0000/item/000" to "user/9999/item/999":
//!
//! root      prefix "user/"       heads  "0000/ite" "0001/ite" "0002/ite" ...     each has a child
//! child     prefix "m/"          heads  "015"  "03"  "045"  "06" ...             one separator each
//!
//! "user/0002/item/031": compare "user/", search "0002/ite": found, descend;
//!                       compare "m/", search "031": between "03" and "045": the block of "03", 2 units of the head agree
//! ```
//!
//! Where a head differs, it alone says how far the key agrees with the separator: most look-ups read the root's
//! heads and nothing else. Short keys that differ in their first eight bytes need one node; long shared prefixes
//! are stored once a node and compared once a level. What a separator has beyond its last head (its *rest*) and its
//! length are in a list, read when a head ties and when a block is decoded on its own.
//!
//! `FORMAT.md` has the layout byte by byte.

mod builder;
mod node;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use builder::SeparatorsBuilder;
pub(crate) use view::Separators;

/// Bits of a head.
pub(crate) const HEAD_BITS: u64 = 64;

/// The place of every so-manieth list entry is noted.
const ENTRIES_PER_SAMPLE: u64 = 16;

/// Bytes of the section's header: separators (4), zero (4), where the samples start (8), where the list starts (8).
const SECTION_HEADER_LEN_BYTES: usize = 24;
