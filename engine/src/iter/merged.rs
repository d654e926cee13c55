//! Merges sources, newest first, into the live entries of a range, in one direction.
//!
//! ```text
//! rank 0  active memtable      c  f         a tournament tells who stands on the next key (tournament.rs)
//! rank 1  frozen memtable   a     f
//! rank 2  table             a  d
//!                           ^ key: the last one, kept here; of the next only what differs is copied
//! ```
//!
//! The newest source that stands on the next key answers for it; every older source that stands on the same key is stepped past it.
//! A delete answers like a put, but is not handed out. The merge steps lazily: the source that answered last is stepped when the next
//! entry is asked for. The last key stays readable until then, which is how the two ends of a range learn that they have met.
//!
//! A source that stands in an interval which a newer memtable deleted seeks past it, once a source and interval; the merge never
//! steps through what a range delete hides.
//! In a composing keyspace the sources that stand on the key are asked in turn, newest first, until one ends the key's history; what
//! they said is composed when the value is asked for.

use std::sync::Arc;

use super::direction::Direction;
use super::source::{Shades, Source};
use super::tournament::{Tournament, common_len_bytes};
use crate::error::Result;
use crate::keyspace::KeyspaceCore;
use crate::law::History;
use crate::value::Value;

/// A merge of sources that walk the same way.
#[derive(Debug)]
pub(crate) struct Merged {
    /// Whether one plain source is all there is: then it is walked as it is, and its key is not copied.
    is_alone: bool,
    /// Newest first: the index is the rank.
    sources: Vec<Source>,
    /// What range deletes hide in the sources from an index on.
    shades: Shades,
    tournament: Tournament,
    /// The key that last won.
    key: Vec<u8>,
    /// Whether that key was answered for: older sources that stand on it are to be stepped past it.
    is_answered: bool,
    /// Whether it was handed out.
    is_current: bool,
    /// The source that answered last, where it still stands on the entry.
    answering: Option<usize>,
    /// The keyspace and what was collected of the current key, if the keyspace composes.
    composing: Option<(Arc<KeyspaceCore>, History)>,
    /// The value of the current entry, if it was composed to be lent.
    composed: Option<Value>,
}

impl Merged {
    /// A merge of `sources`, newest first, each standing on its first entry. O(sources).
    pub(crate) fn new(
        direction: Direction,
        sources: Vec<Source>,
        shades: Shades,
        keyspace: &Arc<KeyspaceCore>,
    ) -> Self {
        let tournament = Tournament::new(direction, sources.len(), &|index| sources[index].key());
        Merged {
            is_alone: sources.len() == 1 && shades.is_empty() && !keyspace.is_composing(),
            sources,
            shades,
            tournament,
            key: Vec::new(),
            is_answered: false,
            is_current: false,
            answering: None,
            composing: keyspace
                .is_composing()
                .then(|| (Arc::clone(keyspace), History::default())),
            composed: None,
        }
    }

    /// The key handed out last. `None` before the first and behind the last.
    pub(crate) fn current_key(&self) -> Option<&[u8]> {
        if !self.is_current {
            return None;
        }
        if self.is_alone {
            self.sources[0].key()
        } else {
            Some(&self.key)
        }
    }

    /// Steps to the next live entry. Returns whether there is one; then [`Merged::current_key`] and
    /// [`Merged::current_value`] tell it.
    pub(crate) fn step(&mut self) -> Result<bool> {
        self.is_current = false;
        if self.is_alone {
            return self.step_alone();
        }
        loop {
            #[cfg(test)]
            super::effort::step();
            if let Some(index) = self.answering.take() {
                self.sources[index].advance()?;
                self.replay(index);
            }
            let Some((index, common_len_bytes)) = self.next_winner()? else {
                return Ok(false);
            };
            self.key.truncate(common_len_bytes);
            let key = self.sources[index].key().expect("the winner stands on a key");
            self.key.extend_from_slice(&key[common_len_bytes..]);
            if self.pass_shade(index)? {
                self.is_answered = false;
                self.replay(index);
                continue;
            }
            self.is_answered = true;
            let is_live = if self.composing.is_some() {
                self.collect(index)?
            } else {
                self.answering = Some(index);
                self.sources[index].is_live()
            };
            if is_live {
                self.is_current = true;
                return Ok(true);
            }
        }
    }

    /// As [`Merged::step`], of a single source.
    fn step_alone(&mut self) -> Result<bool> {
        let source = &mut self.sources[0];
        if self.answering.take().is_some() {
            source.advance()?;
        }
        while source.key().is_some() {
            #[cfg(test)]
            super::effort::step();
            if source.is_live() {
                (self.answering, self.is_current) = (Some(0), true);
                return Ok(true);
            }
            source.advance()?;
        }
        Ok(false)
    }

    /// The source that stands on the next key, and what it has in common with the last. Older sources that stand on a key that was
    /// answered for are stepped past it.
    fn next_winner(&mut self) -> Result<Option<(usize, usize)>> {
        loop {
            let winner = self.tournament.winner();
            match winner {
                Some((index, _)) if self.is_answered && self.stands_on_key(winner) => {
                    self.sources[index].advance()?;
                    self.replay(index);
                }
                _ => return Ok(winner),
            }
        }
    }

    /// Whether a winner stands on the last key.
    fn stands_on_key(&self, winner: Option<(usize, usize)>) -> bool {
        winner.is_some_and(|(index, common_len_bytes)| {
            common_len_bytes == self.key.len()
                && self.sources[index]
                    .key()
                    .is_some_and(|key| key.len() == common_len_bytes)
        })
    }

    /// The winner has moved on from the last key.
    fn replay(&mut self, index: usize) {
        let moved_to = self.sources[index].key();
        let common = moved_to.map(|key| common_len_bytes(key, &self.key));
        self.tournament.replay(common, &|index| self.sources[index].key());
    }

    /// The value of the entry handed out last.
    pub(crate) fn current_value(&self) -> Result<Value> {
        let Some((keyspace, history)) = &self.composing else {
            let index = self
                .answering
                .expect("a value is asked for only after a step that found one");
            return self.sources[index].value();
        };
        let value = history.compose(keyspace, &self.key)?;
        Ok(value.expect("the step found a live entry"))
    }

    /// Composes the value of the current entry, if that is what it takes to lend it.
    pub(crate) fn hold_value(&mut self) -> Result<()> {
        self.composed = match &self.composing {
            Some(_) => Some(self.current_value()?),
            None => None,
        };
        Ok(())
    }

    /// The entry handed out last, after [`Merged::hold_value`].
    pub(crate) fn current_entry(&self) -> Option<(&[u8], &[u8])> {
        let key = self.current_key()?;
        let value = match (&self.composed, self.answering) {
            (Some(value), _) => &value[..],
            (None, Some(index)) => self.sources[index].value_bytes(),
            (None, None) => return None,
        };
        Some((key, value))
    }

    /// Steps the winner past an interval that a newer memtable deleted. Returns whether there was one.
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

    /// Collects what the sources say of the last key, `newest` first, and steps them past it. Returns whether the key is alive.
    fn collect(&mut self, newest: usize) -> Result<bool> {
        let mut has_ended = false;
        let mut standing = Some(newest);
        if let Some((_, history)) = &mut self.composing {
            history.clear();
        }
        while let Some(index) = standing {
            has_ended = has_ended || (index != newest && self.is_shaded(index));
            if let Some((_, history)) = &mut self.composing
                && !has_ended
            {
                has_ended = self.sources[index].add_to(history)?;
            }
            self.sources[index].advance()?;
            self.replay(index);
            let winner = self.tournament.winner();
            standing = winner
                .filter(|_| self.stands_on_key(winner))
                .map(|(index, _)| index);
        }
        Ok(self
            .composing
            .as_ref()
            .is_some_and(|(_, history)| !history.is_empty()))
    }
}
