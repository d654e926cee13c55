//! The merge that everybody would write first: every source rebuilds its keys, the smallest is found by
//! comparing whole keys, and the output compares with a copy of the key before.
//!
//! It is the oracle of the fast paths and the first variant of the benchmark ("three key buffers, full
//! comparisons" when two inputs meet). `O(k)` comparisons a key.

use std::ops::Range;

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{EncodedStream, KeyCursor, Unit};

use super::input::MergeInput;
use super::output::Output;
use super::progress::Progress;
use crate::compose::{Composed, Law, call_law};
use crate::error::MergeError;

/// One input: a key cursor that stops at records to merge.
#[derive(Debug)]
struct Source<'a, U: Unit> {
    cursor: KeyCursor<'a, U>,
    dead: Option<&'a OrdinalBitmap>,
    ordinals: Range<u64>,
    ended: bool,
}

impl<'a, U: Unit> Source<'a, U> {
    /// Goes to the next live record of the range. Behind the range the rest is read and checked.
    fn advance(&mut self, input: usize) -> Result<(), MergeError> {
        while self
            .cursor
            .next()
            .map_err(|error| MergeError::input(input, error))?
        {
            let ordinal = self
                .cursor
                .frame()
                .expect("a cursor at a record has its frame")
                .ordinal;
            let alive = self.dead.is_none_or(|dead| !dead.contains(ordinal));
            if alive && self.ordinals.contains(&ordinal) {
                return Ok(());
            }
        }
        self.ended = true;
        Ok(())
    }
}

/// Merges by comparing whole keys.
#[derive(Debug)]
pub(super) struct NaiveMerge<'a, U: Unit> {
    sources: Vec<Source<'a, U>>,
    output: Output<U>,
    /// Copy of the last key written.
    previous: U::Owned,
    /// Indices of the sources that hold the next key, oldest first.
    group: Vec<usize>,
}

impl<'a, U: Unit> NaiveMerge<'a, U> {
    pub(super) fn new(inputs: &[MergeInput<'a, U>], output: Output<U>) -> Result<Self, MergeError> {
        let mut sources = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            let cursor = KeyCursor::new(input.stream).map_err(|error| MergeError::input(index, error))?;
            let mut source = Source {
                cursor,
                dead: input.dead,
                ordinals: input.ordinal_range(),
                ended: false,
            };
            source.advance(index)?;
            sources.push(source);
        }
        let group = Vec::with_capacity(sources.len());
        Ok(Self {
            sources,
            output,
            previous: U::Owned::default(),
            group,
        })
    }

    pub(super) fn output(&self) -> &Output<U> {
        &self.output
    }

    pub(super) fn is_done(&self) -> bool {
        self.sources.iter().all(|source| source.ended)
    }

    pub(super) fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError> {
        let mut progress = Progress::default();
        while progress.keys < budget && self.find_group() {
            progress.keys += 1;
            progress.records += self.group.len() as u64;
            self.emit(law)?;
            for &index in &self.group {
                self.sources[index].advance(index)?;
            }
        }
        progress.done = self.is_done();
        Ok(progress)
    }

    /// Collects the sources that hold the smallest key; false if all have ended.
    fn find_group(&mut self) -> bool {
        self.group.clear();
        for (index, source) in self
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| !source.ended)
        {
            let key = source.cursor.key();
            match self
                .group
                .first()
                .map(|&first| key.cmp(&self.sources[first].cursor.key()))
            {
                None | Some(std::cmp::Ordering::Equal) => self.group.push(index),
                Some(std::cmp::Ordering::Less) => {
                    self.group.clear();
                    self.group.push(index);
                }
                Some(std::cmp::Ordering::Greater) => {}
            }
        }
        !self.group.is_empty()
    }

    fn emit<L: Law<U>>(&mut self, law: &L) -> Result<(), MergeError> {
        let newest = *self.group.last().expect("a group is not empty");
        let key = self.sources[newest].cursor.key();
        let composed = self.compose(law, key)?;
        let value = match &composed {
            Value::Input(index) => self.sources[*index].cursor.value(),
            Value::Owned(owned) => U::as_str(owned),
        };
        let retained = match self.output.record_count() {
            0 => 0,
            _ => U::lcp(U::as_str(&self.previous), key),
        };
        self.output
            .append(retained, U::slice(key, retained, U::len(key)), value)?;
        U::truncate(&mut self.previous, retained);
        U::push(&mut self.previous, U::slice(key, retained, U::len(key)));
        Ok(())
    }

    /// Folds the group's values from the oldest.
    fn compose<L: Law<U>>(&self, law: &L, key: U::Str<'_>) -> Result<Value<U>, MergeError> {
        let record = self.output.record_count();
        let key = L::NEEDS_KEY.then_some(key);
        let mut value = Value::Input(self.group[0]);
        for &newer in &self.group[1..] {
            if L::REPLACES {
                value = Value::Input(newer);
                continue;
            }
            let older = match &value {
                Value::Input(index) => self.sources[*index].cursor.value(),
                Value::Owned(owned) => U::as_str(owned),
            };
            let composed = call_law::<U, L>(law, key, older, self.sources[newer].cursor.value());
            match composed.map_err(|failure| MergeError::law(law.name(), record, failure))? {
                Composed::Older => {}
                Composed::Newer => value = Value::Input(newer),
                Composed::Owned(owned) => {
                    self.output.check_width(law.name(), U::len(U::as_str(&owned)))?;
                    value = Value::Owned(owned);
                }
            }
        }
        Ok(value)
    }

    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        U::truncate(&mut self.previous, 0);
        self.output.take_stream()
    }
}

/// A folded value.
enum Value<U: Unit> {
    /// The value of this input's record.
    Input(usize),
    /// A law's own.
    Owned(U::Owned),
}
