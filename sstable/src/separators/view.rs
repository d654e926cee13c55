//! Searching separators, and reading one.

use std::marker::PhantomData;
use std::ops::Range;

use super::node::Node;
use super::{ENTRIES_PER_SAMPLE, HEAD_BITS, SECTION_HEADER_LEN_BYTES};
use crate::counts::varint;
use crate::elias_fano::to_index;
use crate::unit::Unit;

/// Where a key belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The block.
    pub(crate) block: u64,
    /// Units in which the key agrees with the separator of that block, or a larger number if the separator is a
    /// prefix of the key. Either way: the lesser of this and what the block's first record retains is what the key
    /// shares with the retained units.
    pub(crate) agreed_units: u64,
}

/// The separators of a table, borrowed. All methods give `None` where the bytes are damaged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separators<'a, U> {
    section: &'a [u8],
    count: u64,
    samples: &'a [u8],
    list: &'a [u8],
    unit: PhantomData<U>,
}

/// Where the parts of the section lie in it.
#[derive(Debug)]
pub(crate) struct Places {
    /// Places of every sixteenth entry of the list.
    pub(crate) samples: Range<usize>,
    /// Lengths and rests.
    pub(crate) list: Range<usize>,
}

/// One entry of the list.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    len_units: u64,
    /// What it has beyond its last head, zero-padded.
    rest: &'a [u8],
}

impl<'a, U: Unit> Separators<'a, U> {
    /// The section of a table of `count` separators.
    #[cfg(test)]
    pub(super) fn new(section: &'a [u8], count: u64) -> Option<Self> {
        let places = Self::places(section, count)?;
        Some(Self::from_checked(
            section,
            &section[places.samples],
            &section[places.list],
            count,
        ))
    }

    /// Where the parts of the section of a table of `count` separators lie in it.
    pub(crate) fn places(section: &[u8], count: u64) -> Option<Places> {
        let header: &[u8; SECTION_HEADER_LEN_BYTES] = section.first_chunk()?;
        let word =
            |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("a field of the header"));
        let (samples_start, list_start) = (to_index(word(8)), to_index(word(16)));
        let samples = samples_start..list_start;
        let samples_len = count.div_ceil(ENTRIES_PER_SAMPLE) * 8;
        let right = word(0) == count
            && samples_start >= SECTION_HEADER_LEN_BYTES
            && section.get(samples.clone())?.len() as u64 == samples_len;
        right.then_some(Places {
            samples,
            list: list_start..section.len(),
        })
    }

    /// The parts of a section, as [`places`](Self::places) found them.
    #[inline]
    pub(crate) fn from_checked(section: &'a [u8], samples: &'a [u8], list: &'a [u8], count: u64) -> Self {
        Self {
            section,
            count,
            samples,
            list,
            unit: PhantomData,
        }
    }

    /// A sample of the root's heads, to be kept and handed to [`find`](Self::find); 8 bytes for 64 separators.
    pub(crate) fn root_sample(&self) -> Vec<u64> {
        match Node::<U>::read(self.section, SECTION_HEADER_LEN_BYTES) {
            Some(root) if self.count > 0 => root.sample(),
            _ => Vec::new(),
        }
    }

    /// The block to which `key` belongs. `root_sample` is this section's, or empty.
    ///
    /// Time: a search of one node's heads for every eight bytes of the key that do not decide.
    #[inline]
    pub(crate) fn find(&self, key: U::Str<'_>, root_sample: &[u64]) -> Option<Position> {
        if self.count == 0 {
            return Some(Position {
                block: 0,
                agreed_units: 0,
            });
        }
        let mut node = Node::<U>::read(self.section, SECTION_HEADER_LEN_BYTES)?;
        // Units of the key that this node's separators have too, and those that the separator before them has.
        let (mut depth, mut left) = (0, 0);
        let mut sample = root_sample;
        loop {
            let rest = U::slice(key, depth, U::len(key));
            let same = U::lcp(rest, node.prefix);
            if same < U::len(node.prefix) {
                return Some(match U::get(rest, same) > U::get(node.prefix, same) {
                    false => Position {
                        block: node.first,
                        agreed_units: left,
                    },
                    true => Position {
                        block: node.first + node.count,
                        agreed_units: depth + same,
                    },
                });
            }
            depth += same;
            let head = U::head(key, depth);
            let (index, equal) = match sample.is_empty() {
                true => node.search(head),
                false => node.search_sampled(head, sample),
            };
            if let Some(before) = index.checked_sub(1).and_then(|index| node.head(index)) {
                left = depth + u64::from((before ^ head).leading_zeros()) / U::BITS;
            }
            if !equal {
                return Some(Position {
                    block: node.start(index),
                    agreed_units: left,
                });
            }
            match self.resolve_tie(key, &node, index, depth, left)? {
                Tie::Resolved(position) => return Some(position),
                Tie::Child { child, left: under } => {
                    (node, left, sample) = (child, under, &[]);
                    depth += HEAD_BITS / U::BITS;
                }
            }
        }
    }

    /// Decides among the separators that have the key's head at `depth`: first come those that end within it,
    /// by length, then the longer ones.
    fn resolve_tie(
        &self,
        key: U::Str<'_>,
        node: &Node<'a, U>,
        index: usize,
        depth: u64,
        mut left: u64,
    ) -> Option<Tie<'a, U>> {
        let (start, end) = (node.start(index), node.start(index + 1));
        let after_head = depth + HEAD_BITS / U::BITS;
        let child = match node.child(index) {
            Some(offset) => Some(Node::<U>::read(self.section, offset)?),
            None => None,
        };
        let longer = child.map_or(end, |child| child.first.clamp(start, end));
        let resolved = |block, agreed_units| Some(Tie::Resolved(Position { block, agreed_units }));
        for separator in start..longer {
            let entry = self.entry(separator)?;
            if entry.len_units > after_head {
                // The only longer one: the rest decides.
                if U::len(key) <= after_head {
                    return resolved(separator, left);
                }
                let rest = U::string_at(entry.rest, 0, entry.len_units - after_head)?;
                let key_rest = U::slice(key, after_head, U::len(key));
                let same = U::lcp(rest, key_rest);
                return match U::get(rest, same) <= U::get(key_rest, same) {
                    true => resolved(separator + 1, after_head + same),
                    false => resolved(separator, left),
                };
            }
            if entry.len_units > U::len(key) {
                return resolved(separator, left);
            }
            left = entry.len_units;
        }
        match child {
            Some(child) if U::len(key) > after_head => Some(Tie::Child { child, left }),
            _ => resolved(longer, left),
        }
    }

    /// Appends units `from..to` of the separator of `block` (from 1 on) to `out`; `None` also if it has no such units.
    pub(crate) fn append(&self, block: u64, from: u64, to: u64, out: &mut U::Owned) -> Option<()> {
        let separator = block.checked_sub(1)?;
        let entry = self.entry(separator)?;
        if to > entry.len_units || from > to {
            return None;
        }
        let mut depth = 0;
        let mut piece = |units: U::Str<'_>, depth: &mut u64| {
            let len = U::len(units);
            let (start, end) = (
                from.saturating_sub(*depth).min(len),
                to.saturating_sub(*depth).min(len),
            );
            U::push(out, U::slice(units, start, end));
            *depth += len;
        };
        let mut node = Node::<U>::read(self.section, SECTION_HEADER_LEN_BYTES)?;
        loop {
            piece(node.prefix, &mut depth);
            let index = node.head_of(separator)?;
            let head = node.head(index)?.to_be_bytes();
            let head_units = (HEAD_BITS / U::BITS).min(entry.len_units.checked_sub(depth)?);
            piece(U::string_at(&head, 0, head_units)?, &mut depth);
            if depth >= to {
                return Some(());
            }
            let child = node
                .child(index)
                .map(|offset| Node::<U>::read(self.section, offset));
            match child {
                Some(child) => node = child?,
                None => break,
            }
        }
        piece(
            U::string_at(entry.rest, 0, entry.len_units.checked_sub(depth)?)?,
            &mut depth,
        );
        Some(())
    }

    /// Length of the separator of `block` (from 1 on).
    pub(crate) fn len_units(&self, block: u64) -> Option<u64> {
        Some(self.entry(block.checked_sub(1)?)?.len_units)
    }

    fn entry(&self, separator: u64) -> Option<Entry<'a>> {
        let sample = to_index(separator / ENTRIES_PER_SAMPLE).checked_mul(8)?;
        let mut at = to_index(u64::from_le_bytes(*self.samples.get(sample..)?.first_chunk()?));
        let mut passed = separator % ENTRIES_PER_SAMPLE;
        loop {
            let (len_units, len) = varint::read(self.list.get(at..)?).ok()?;
            at += len;
            let (rest_len, len) = varint::read(self.list.get(at..)?).ok()?;
            at += len;
            let end = at.checked_add(to_index(rest_len))?;
            let rest = self.list.get(at..end)?;
            if passed == 0 {
                return Some(Entry { len_units, rest });
            }
            passed -= 1;
            at = end;
        }
    }
}

/// What a tied head leads to.
enum Tie<'a, U: Unit> {
    Resolved(Position),
    /// On in a child; `left` as in [`Separators::find`].
    Child {
        child: Node<'a, U>,
        left: u64,
    },
}
