//! Searching separators.

use std::cmp::Ordering;
use std::marker::PhantomData;

use crate::elias_fano::to_index;
use crate::key_order::compare;
use crate::unit::Unit;

/// Where a key belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    /// The block.
    pub(crate) block: u64,
    /// Units in which the key agrees with the separator of that block; at least as many as the block's first record
    /// retains, if the key begins with those.
    pub(crate) agreed_units: u64,
}

/// The separators of a table, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separators<'a, U> {
    count: u64,
    bytes: &'a [u8],
    unit: PhantomData<U>,
}

impl<'a, U: Unit> Separators<'a, U> {
    pub(crate) fn new(bytes: &'a [u8], count: u64) -> Option<Self> {
        let words = count.checked_mul(16)?.checked_add(8)?;
        let this = Self {
            count,
            bytes,
            unit: PhantomData,
        };
        (words <= bytes.len() as u64 && this.word(0)? == count).then_some(this)
    }

    fn word(&self, index: u64) -> Option<u64> {
        let at = to_index(index.checked_mul(8)?);
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// The separator of block `block`, at least 1.
    pub(crate) fn get(&self, block: u64) -> Option<U::Str<'a>> {
        let index = block - 1;
        let start = if index == 0 { 0 } else { self.word(index)? };
        let len_units = self.word(1 + self.count + index)?;
        let heap = self.bytes.get(to_index(8 + self.count * 16)..)?;
        U::string_at(heap.get(to_index(start)..)?, 0, len_units)
    }

    pub(crate) fn find(&self, key: U::Str<'_>) -> Option<Position> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if compare::<U>(self.get(middle + 1)?, key) != Ordering::Greater {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let agreed_units = if low == 0 { 0 } else { U::lcp(self.get(low)?, key) };
        Some(Position {
            block: low,
            agreed_units,
        })
    }
}
