//! One node of the tree, as bytes.
//!
//! ```text
//!  0  4  number of its first separator     12  4  length of the prefix in units
//!  4  4  how many separators               16     prefix, zero-padded to a multiple of 8 bytes
//!  8  4  how many heads (h)                       h heads, 8 bytes each
//!
//! and if there are fewer heads than separators:
//!        h starts, 4 bytes each: how many of the node's separators come before this head's
//!        h children, 4 bytes each: where the child is, in words of 8 bytes from the start of the section; 0: none
//! ```
//!
//! A child comes after its parent. It holds those of a head's separators that are longer than the head, when they
//! are two or more; those that end within the head come before them.

use crate::elias_fano::to_index;
use crate::prefetch::prefetch;
use crate::unit::Unit;

/// Bytes of a node before its prefix.
pub(super) const NODE_HEADER_LEN_BYTES: usize = 16;

/// One head in so many is sampled for the root, where the heads are many more than a near cache holds: a search
/// of the sample stays in it, and the rest of the search is in a few lines that are asked for together.
pub(super) const HEADS_PER_SAMPLE: usize = 64;

/// A node, borrowed. Everything in it may be damaged: what is read is checked against the bytes there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a, U: Unit> {
    /// Where it is in the section.
    pub(super) offset: usize,
    /// Number of its first separator.
    pub(super) first: u64,
    /// How many separators it has.
    pub(super) count: u64,
    /// What they all have after the units before this node.
    pub(super) prefix: U::Str<'a>,
    heads: &'a [[u8; 8]],
    starts: &'a [[u8; 4]],
    children: &'a [[u8; 4]],
}

impl<'a, U: Unit> Node<'a, U> {
    /// The node at a byte of the section; `None` if it does not lie in it.
    #[inline]
    pub(super) fn read(section: &'a [u8], offset: usize) -> Option<Self> {
        let (header, rest) = section
            .get(offset..)?
            .split_first_chunk::<NODE_HEADER_LEN_BYTES>()?;
        let field =
            |at: usize| u32::from_le_bytes(*header[at..].first_chunk().expect("a field of the header"));
        let (count, head_count, prefix_units) = (field(4), field(8), u64::from(field(12)));
        let prefix_len = to_index((prefix_units * U::BITS).div_ceil(64)) * 8;
        let (prefix, rest) = rest.split_at_checked(prefix_len)?;
        let (heads, rest) = rest.split_at_checked(head_count as usize * 8)?;
        let (starts, children) = match head_count < count {
            false => (&[][..], &[][..]),
            true => {
                let (starts, rest) = rest.split_at_checked(head_count as usize * 4)?;
                (starts, rest.get(..head_count as usize * 4)?)
            }
        };
        Some(Self {
            offset,
            first: u64::from(field(0)),
            count: u64::from(count),
            prefix: U::string_at(prefix, 0, prefix_units)?,
            heads: heads.as_chunks().0,
            starts: starts.as_chunks().0,
            children: children.as_chunks().0,
        })
    }

    /// How many heads are below `head`, and whether one equals it.
    #[inline]
    pub(super) fn search(&self, head: u64) -> (usize, bool) {
        let index = self
            .heads
            .partition_point(|other| u64::from_le_bytes(*other) < head);
        (
            index,
            self.heads
                .get(index)
                .is_some_and(|other| u64::from_le_bytes(*other) == head),
        )
    }

    /// The same as [`search`](Self::search), with a sample of this node's heads.
    #[inline]
    pub(super) fn search_sampled(&self, head: u64, sample: &[u64]) -> (usize, bool) {
        let groups = sample.partition_point(|other| *other < head);
        // The head of the last of these groups is below; the lower bound is in it, or starts the next group.
        let Some(group) = groups.checked_sub(1) else {
            return self.search(head);
        };
        let start = (group * HEADS_PER_SAMPLE).min(self.heads.len());
        let end = self.heads.len().min(start + HEADS_PER_SAMPLE);
        let heads = &self.heads[start..end];
        prefetch(heads.as_flattened());
        let index = start + heads.partition_point(|other| u64::from_le_bytes(*other) < head);
        (
            index,
            self.heads
                .get(index)
                .is_some_and(|other| u64::from_le_bytes(*other) == head),
        )
    }

    /// Every so-manieth head: see [`HEADS_PER_SAMPLE`].
    pub(super) fn sample(&self) -> Vec<u64> {
        self.heads
            .iter()
            .step_by(HEADS_PER_SAMPLE)
            .map(|head| u64::from_le_bytes(*head))
            .collect()
    }

    /// A head.
    #[inline]
    pub(super) fn head(&self, index: usize) -> Option<u64> {
        self.heads.get(index).map(|head| u64::from_le_bytes(*head))
    }

    /// Number of the first separator with this head or a larger one.
    #[inline]
    pub(super) fn start(&self, index: usize) -> u64 {
        let before = match self.starts.get(index) {
            Some(start) => u64::from(u32::from_le_bytes(*start)),
            None if self.starts.is_empty() => index as u64,
            None => self.count,
        };
        self.first + before.min(self.count)
    }

    /// Where the child under a head is.
    #[inline]
    pub(super) fn child(&self, index: usize) -> Option<usize> {
        let words = u32::from_le_bytes(*self.children.get(index)?);
        let offset = words as usize * 8;
        // Children come later: that ends every descent, whatever the bytes say.
        (offset > self.offset).then_some(offset)
    }

    /// Which head the separator of this number has.
    pub(super) fn head_of(&self, separator: u64) -> Option<usize> {
        let place = separator
            .checked_sub(self.first)
            .filter(|&place| place < self.count)?;
        if self.starts.is_empty() {
            return Some(to_index(place));
        }
        self.starts
            .partition_point(|start| u64::from(u32::from_le_bytes(*start)) <= place)
            .checked_sub(1)
    }
}
