//! Iteration over one range at one instant, from both ends.
//!
//! ```text
//!               front -->                             <-- back
//!   lower bound |  a    b    c    d    e    f    g    h   | upper bound
//!                            ^ handed out        ^ handed out
//! ```
//!
//! The two ends are two independent merges over the same immutable roots, opened when first asked; each stays on the
//! entry it handed out last, and the range is over when one of them would reach the other. A range sees the instant
//! it was made at, for as long as it lives.

mod direction;
mod early_kills;
#[cfg(test)]
pub(crate) mod effort;
mod memory;
mod merged;
mod shade;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod tournament;

use std::ops::Bound;
use std::sync::Arc;

pub(crate) use table::key_span_overlaps;

use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::key::{Key, bounds_are_empty};
use crate::keyspace::KeyspaceCore;
use crate::law::Laws;
use crate::settings::KeyspaceSettings;
use crate::value::Value;
use direction::Direction;
use merged::Merged;

/// Lower and upper bound of a range.
pub(crate) type Bounds = (Bound<Key>, Bound<Key>);

/// The keys and values of a range, in key order, at one instant. Pins that instant's tables until it is dropped.
///
/// At its end it can be sent back, by [`Range::seek`].
/// After an error the iterator is at its end for good: the error was its last item. Not so when a composition law gave no value
/// ([`Error::LawFailed`], [`Error::LawUnknown`]): that error stands in place of its key, and the next key follows.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// for (key, value) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")] {
///     db.put(key, value)?;
/// }
/// // Items are results: a damaged table is seen here.
/// let mut range = db.range("a".."d");
/// assert_eq!(range.next().transpose()?.expect("a").0, "a");
/// assert_eq!(range.next_back().transpose()?.expect("c").1, "3");
/// range.seek("b");
/// assert_eq!(range.next().transpose()?.expect("b").0, "b");
/// assert!(range.next().is_none(), "the ends have met");
///
/// // Without a copy.
/// let mut all = db.iter();
/// let mut keys = Vec::new();
/// while let Some((key, _value)) = all.lend_next()? {
///     keys.extend_from_slice(key);
/// }
/// assert_eq!(keys, b"abcd");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Range {
    instant: Instant,
    keyspace: Arc<KeyspaceCore>,
    bounds: Bounds,
    front: Option<Merged>,
    back: Option<Merged>,
    /// Where the ends were sent to, if they were.
    front_sought: Option<Key>,
    back_sought: Option<Key>,
    /// An error still to be handed out.
    failure: Option<Error>,
    has_failed: bool,
    is_over: bool,
}

impl Range {
    pub(crate) fn new(instant: Instant, keyspace: Arc<KeyspaceCore>, bounds: Bounds) -> Range {
        let is_over = bounds_are_empty(&bounds.0, &bounds.1);
        Range {
            instant,
            keyspace,
            bounds,
            front: None,
            back: None,
            front_sought: None,
            back_sought: None,
            failure: None,
            has_failed: false,
            is_over,
        }
    }

    /// Sends the front to the first key of the range that is not below `key`, ahead or back: `next` gives that one. The other end stays
    /// where it is; in a range that was over it goes back to its bound. Costs what opening a range does. After an error there is
    /// nothing to go to.
    pub fn seek(&mut self, key: impl AsRef<[u8]>) {
        if self.is_over {
            (self.back, self.back_sought) = (None, None);
        }
        self.front = None;
        self.front_sought = Some(Key::from(key.as_ref()));
        self.is_over = self.has_failed || bounds_are_empty(&self.bounds.0, &self.bounds.1);
    }

    /// Sends the back to the last key of the range that is not above `key`: `next_back` gives that one. Otherwise as [`Range::seek`].
    pub fn seek_back(&mut self, key: impl AsRef<[u8]>) {
        if self.is_over {
            (self.front, self.front_sought) = (None, None);
        }
        self.back = None;
        self.back_sought = Some(Key::from(key.as_ref()));
        self.is_over = self.has_failed || bounds_are_empty(&self.bounds.0, &self.bounds.1);
    }

    /// A range whose only item is an error.
    pub(crate) fn failed(error: Error) -> Range {
        let bounds = (Bound::Unbounded, Bound::Unbounded);
        let nowhere = KeyspaceCore::new(0, "", KeyspaceSettings::default(), &Laws::none());
        let mut range = Range::new(Instant::default(), nowhere, bounds);
        range.failure = Some(error);
        range
    }

    /// The next entry, lent until the range is asked again: what [`Iterator::next`] gives, without handles that keep it, and so in
    /// less time. `None` at the end.
    ///
    /// # Errors
    /// Those that `next` gives as items.
    pub fn lend_next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        self.lend(Direction::Forward)
    }

    /// The next entry from the back, lent as by [`Range::lend_next`].
    ///
    /// # Errors
    /// Those that `next_back` gives as items.
    pub fn lend_next_back(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        self.lend(Direction::Backward)
    }

    fn lend(&mut self, direction: Direction) -> Result<Option<(&[u8], &[u8])>> {
        if let Some(error) = self.failure.take() {
            (self.has_failed, self.is_over) = (true, true);
            return Err(error);
        }
        if self.is_over {
            return Ok(None);
        }
        let held = self
            .step(direction)
            .and_then(|near| near.map(Merged::hold_value).transpose());
        self.note(&held);
        if held?.is_none() {
            return Ok(None);
        }
        let near = match direction {
            Direction::Forward => &self.front,
            Direction::Backward => &self.back,
        };
        Ok(near.as_ref().and_then(Merged::current_entry))
    }

    /// Takes note of how a step ended: without an entry the range is over, and after most errors.
    fn note<T>(&mut self, outcome: &Result<Option<T>>) {
        self.is_over = match outcome {
            Ok(entry) => entry.is_none(),
            Err(error) => {
                self.has_failed = !error.concerns_one_key();
                self.has_failed
            }
        };
    }

    fn advance(&mut self, direction: Direction) -> Option<Result<(Key, Value)>> {
        if let Some(error) = self.failure.take() {
            (self.has_failed, self.is_over) = (true, true);
            return Some(Err(error));
        }
        if self.is_over {
            return None;
        }
        let item = self.try_advance(direction);
        self.note(&item);
        item.transpose()
    }

    fn try_advance(&mut self, direction: Direction) -> Result<Option<(Key, Value)>> {
        let Some(near) = self.step(direction)? else {
            return Ok(None);
        };
        let value = near.current_value()?;
        let key = near.current_key().expect("the step found an entry");
        Ok(Some((Key::from(key), value)))
    }

    /// Steps one end. Gives it where it stands on an entry of the range.
    fn step(&mut self, direction: Direction) -> Result<Option<&mut Merged>> {
        let (near, far, far_sought) = match direction {
            Direction::Forward => (&mut self.front, &self.back, &self.back_sought),
            Direction::Backward => (&mut self.back, &self.front, &self.front_sought),
        };
        if near.is_none() {
            let bounds = match direction {
                Direction::Forward => (
                    narrowed(&self.bounds.0, &self.front_sought, direction),
                    self.bounds.1.clone(),
                ),
                Direction::Backward => (
                    self.bounds.0.clone(),
                    narrowed(&self.bounds.1, &self.back_sought, direction),
                ),
            };
            if bounds_are_empty(&bounds.0, &bounds.1) {
                return Ok(None);
            }
            let (sources, shades) =
                source::open_all(&self.instant, self.keyspace.number, &bounds, direction)?;
            *near = Some(Merged::new(direction, sources, shades, &self.keyspace));
        }
        let near = near.as_mut().expect("opened above");
        if !near.step()? {
            return Ok(None);
        }
        if far.is_some() || far_sought.is_some() {
            let key = near.current_key().expect("the step found an entry");
            // `far` stands on what it handed out: at or behind that key, in our direction, there is nothing left.
            let met = far
                .as_ref()
                .and_then(Merged::current_key)
                .is_some_and(|end| direction.compare(key, end).is_ge());
            let passed = far_sought
                .as_ref()
                .is_some_and(|sought| direction.compare(key, sought).is_gt());
            if met || passed {
                return Ok(None);
            }
        }
        Ok(Some(near))
    }
}

/// The bound of an end that was sent to a key, in the direction it walks.
fn narrowed(bound: &Bound<Key>, sought: &Option<Key>, direction: Direction) -> Bound<Key> {
    let Some(sought) = sought else {
        return bound.clone();
    };
    match bound {
        // An excluded key that is sought stays excluded.
        Bound::Included(key) | Bound::Excluded(key) if direction.compare(key, sought).is_ge() => {
            bound.clone()
        }
        _ => Bound::Included(sought.clone()),
    }
}

impl Iterator for Range {
    type Item = Result<(Key, Value)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance(Direction::Forward)
    }
}

impl DoubleEndedIterator for Range {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.advance(Direction::Backward)
    }
}

impl std::iter::FusedIterator for Range {}
