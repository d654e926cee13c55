//! What a merge is made from.

use std::fmt;
use std::ops::Range;

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{EncodedView, Unit};

use crate::error::MergeError;

/// How far an input is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The input's properties say "ordinary front coding, strictly ordered, written by our writer", and its pages
    /// pass their checksums. No key history is kept. What can be checked without one still is.
    ///
    /// Where a certificate is wrong and that is not seen, every record still has its own key and value; what may
    /// be wrong is their order, or how much a frame retains. So an output that is strictly ordered and ordinarily
    /// coded is the batch encoding of the union whatever the inputs were, and the pass over its keys that writing a
    /// table makes anyway finds out. [`merge_tables`](crate::merge_tables) refuses such an output.
    Certified,
    /// Nothing is believed: order is checked exactly, and redundant front coding is accepted.
    Validating,
}

/// Why a prefix could not be read: the error of whoever keeps the prefixes.
pub type PrefixError = Box<dyn std::error::Error + Send + Sync>;

/// Gives the prefix that a block inherits, so that a block can be read without those before it.
///
/// A table's separators are such a source: the separator of a block is the block's first key up to one
/// unit behind what it shares with the key before.
pub trait BlockPrefixes<U: Unit>: fmt::Debug + Sync {
    /// Appends the first `units` units of the first key of `block` to `prefix`; fewer if the source does not know
    /// them.
    ///
    /// # Errors
    /// The place where they are kept could not be read; the merge ends with it.
    fn append_prefix(&self, block: u64, units: u64, prefix: &mut U::Owned) -> Result<(), PrefixError>;
}

/// One input of a merge.
pub struct MergeInput<'a, U: Unit> {
    /// The records. The bytes are pinned as long as the merger lives; a mapped file may be unlinked meanwhile.
    pub stream: EncodedView<'a>,
    /// How far it is believed.
    pub trust: Trust,
    /// Records to skip.
    pub dead: Option<&'a OrdinalBitmap>,
    /// Records to merge; all if none. Reading starts at the first one's block if `prefixes` are given, at the
    /// first block otherwise.
    pub ordinals: Option<Range<u64>>,
    /// Prefixes of the blocks, for starting at one and for skipping dead ones.
    pub prefixes: Option<&'a dyn BlockPrefixes<U>>,
}

impl<'a, U: Unit> MergeInput<'a, U> {
    /// All records of a stream that is not believed.
    pub fn validating(stream: EncodedView<'a>) -> Self {
        Self {
            stream,
            trust: Trust::Validating,
            dead: None,
            ordinals: None,
            prefixes: None,
        }
    }

    /// All records of a certified stream.
    pub fn certified(stream: EncodedView<'a>) -> Self {
        Self {
            trust: Trust::Certified,
            ..Self::validating(stream)
        }
    }

    /// The records to merge, before dead ones are taken out.
    pub(crate) fn ordinal_range(&self) -> Range<u64> {
        self.ordinals.clone().unwrap_or(0..self.stream.meta.record_count)
    }

    /// Whether records of the input are left out.
    pub(crate) fn is_partial(&self) -> bool {
        self.dead.is_some_and(|dead| dead.dead_count() > 0)
            || self.ordinal_range() != (0..self.stream.meta.record_count)
    }

    /// Checks what the input says of itself; `input` is its number for errors.
    pub(crate) fn validate(&self, input: usize) -> Result<(), MergeError> {
        self.stream
            .validate::<U>()
            .map_err(|error| MergeError::input(input, error))?;
        let record_count = self.stream.meta.record_count;
        if let Some(dead) = self.dead
            && dead.record_count() != record_count
        {
            return Err(MergeError::DeadSet {
                input,
                expected: record_count,
                found: dead.record_count(),
            });
        }
        let range = self.ordinal_range();
        if range.end > record_count || range.start > range.end {
            return Err(MergeError::Range {
                input,
                end: range.end.max(range.start),
                record_count,
            });
        }
        Ok(())
    }
}

impl<U: Unit> Clone for MergeInput<'_, U> {
    fn clone(&self) -> Self {
        Self {
            ordinals: self.ordinals.clone(),
            ..*self
        }
    }
}

impl<U: Unit> fmt::Debug for MergeInput<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MergeInput")
            .field("meta", &self.stream.meta)
            .field("trust", &self.trust)
            .field("dead", &self.dead.map(OrdinalBitmap::dead_count))
            .field("ordinals", &self.ordinals)
            .field("prefixes", &self.prefixes.is_some())
            .finish_non_exhaustive()
    }
}
