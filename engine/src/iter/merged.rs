//! Merges sources, newest first, into the live entries of a range, in one direction.
//!
//! ```text
//! rank 0  active memtable      c  f         heap, ordered by (key in walking direction, rank)
//! rank 1  frozen memtable   a     f
//! rank 2  table             a  d            current: taken out of the heap, the newest entry of its key
//! ```
//!
//! The newest source that stands on the smallest key answers for it; every other source that stands on the same key is
//! stepped past it. A delete answers like a put, but is not handed out. The merge steps lazily: the entry handed out
//! last stays readable until the next step, which is how the two ends of a range learn that they have met.
//!
//! A source that stands in an interval which a newer memtable deleted seeks past it, once a source and interval; the merge never
//! steps through what a range delete hides.
//! In a composing keyspace the sources that stand on the key are asked in turn, newest first, until one ends the key's history; what
//! they said is composed when the value is asked for.

use std::cmp::Ordering;
use std::sync::Arc;

use super::direction::Direction;
use super::source::{Shades, Source};
use crate::error::Result;
use crate::keyspace::KeyspaceCore;
use crate::law::History;
use crate::value::Value;

/// A merge of sources that walk the same way.
#[derive(Debug)]
pub(crate) struct Merged {
    direction: Direction,
    /// Newest first: the index is the rank.
    sources: Vec<Source>,
    /// What range deletes hide in the sources from an index on.
    shades: Shades,
    /// Indices of sources that stand on an entry, as a binary heap; without `current`.
    heap: Vec<usize>,
    /// The source of the entry handed out last.
    current: Option<usize>,
    /// The keyspace and what was collected of the current key, if the keyspace composes.
    composing: Option<(Arc<KeyspaceCore>, History)>,
}

impl Merged {
    /// A merge of `sources`, newest first, each standing on its first entry. O(sources).
    pub(crate) fn new(
        direction: Direction,
        sources: Vec<Source>,
        shades: Shades,
        keyspace: &Arc<KeyspaceCore>,
    ) -> Self {
        let mut merged = Merged {
            direction,
            sources,
            shades,
            heap: Vec::new(),
            current: None,
            composing: keyspace
                .is_composing()
                .then(|| (Arc::clone(keyspace), History::default())),
        };
        for index in 0..merged.sources.len() {
            merged.push(index);
        }
        merged
    }

    /// The key handed out last. `None` before the first and behind the last.
    pub(crate) fn current_key(&self) -> Option<&[u8]> {
        self.current.and_then(|index| self.sources[index].key())
    }

    /// Steps to the next live entry. Returns whether there is one; then [`Merged::current_key`] and
    /// [`Merged::current_value`] tell it.
    pub(crate) fn step(&mut self) -> Result<bool> {
        loop {
            #[cfg(test)]
            super::effort::step();
            if let Some(index) = self.current.take() {
                self.sources[index].advance()?;
                self.push(index);
            }
            let Some(index) = self.pop() else { return Ok(false) };
            if self.pass_shade(index)? {
                self.push(index);
                continue;
            }
            self.pass_older_entries(index)?;
            self.current = Some(index);
            let is_live = match &self.composing {
                Some((_, history)) => !history.is_empty(),
                None => self.sources[index].is_live(),
            };
            if is_live {
                return Ok(true);
            }
        }
    }

    /// The value of the entry handed out last.
    pub(crate) fn current_value(&self) -> Result<Value> {
        let index = self
            .current
            .expect("a value is asked for only after a step that found one");
        let Some((keyspace, history)) = &self.composing else {
            return self.sources[index].value();
        };
        let key = self.sources[index].key().expect("the source stands on the key");
        let value = history.compose(keyspace, key)?;
        Ok(value.expect("the step found a live entry"))
    }

    /// Steps a source, just taken out of the heap, past an interval that a newer memtable deleted. Returns whether there was one.
    fn pass_shade(&mut self, index: usize) -> Result<bool> {
        let source = &mut self.sources[index];
        for (newer_count, shade) in &mut self.shades {
            if *newer_count > index {
                break;
            }
            if let Some(key) = source.key()
                && let Some(interval) = shade.covering(key)
            {
                source.pass(interval)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the key a source stands on lies in an interval that a newer memtable deleted; then it does for all older sources.
    fn is_shaded(&mut self, index: usize) -> bool {
        let Some(key) = self.sources[index].key() else {
            return false;
        };
        let newer = self
            .shades
            .iter_mut()
            .take_while(|(newer_count, _)| *newer_count <= index);
        newer.into_iter().any(|(_, shade)| shade.covering(key).is_some())
    }

    /// Steps every other source that stands on the key of `newest` past it, collecting what they say where the keyspace composes.
    fn pass_older_entries(&mut self, newest: usize) -> Result<()> {
        let mut has_ended = true;
        if let Some((_, history)) = &mut self.composing {
            history.clear();
            has_ended = self.sources[newest].add_to(history)?;
        }
        while let Some(&top) = self.heap.first() {
            if self.sources[top].key() != self.sources[newest].key() {
                break;
            }
            has_ended = has_ended || self.is_shaded(top);
            if let Some((_, history)) = &mut self.composing
                && !has_ended
            {
                has_ended = self.sources[top].add_to(history)?;
            }
            self.sources[top].advance()?;
            if self.sources[top].key().is_some() {
                self.sift_down();
            } else {
                self.pop();
            }
        }
        Ok(())
    }

    fn comes_before(&self, a: usize, b: usize) -> bool {
        let (key_a, key_b) = (self.sources[a].key(), self.sources[b].key());
        let (Some(key_a), Some(key_b)) = (key_a, key_b) else {
            // Only a source just stepped to its end can be without a key, and it leaves the heap at once.
            return key_b.is_none();
        };
        match self.direction.compare(key_a, key_b) {
            Ordering::Equal => a < b,
            order => order == Ordering::Less,
        }
    }

    /// Puts a source into the heap, unless it is behind its last entry. O(log sources) comparisons.
    fn push(&mut self, index: usize) {
        if self.sources[index].key().is_none() {
            return;
        }
        let mut at = self.heap.len();
        self.heap.push(index);
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.comes_before(self.heap[at], self.heap[parent]) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// Takes out the source that stands on the next key. O(log sources) comparisons.
    fn pop(&mut self) -> Option<usize> {
        if self.heap.is_empty() {
            return None;
        }
        let top = self.heap.swap_remove(0);
        self.sift_down();
        Some(top)
    }

    fn sift_down(&mut self) {
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut first = at;
            for child in [left, right] {
                if child < self.heap.len() && self.comes_before(self.heap[child], self.heap[first]) {
                    first = child;
                }
            }
            if first == at {
                return;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }
}
