//! What the range deletes of a memtable hide in older layers, along one walk.
//!
//! ```text
//! walk ------------------------------------------------------------>
//! older sources    a    c d e f g h     k   m n o     r
//! intervals           [-----------)   [-------)
//! asked about         c: seek to the first key from h on            one seek a source and interval, not a step a key
//! ```
//!
//! A walk asks about keys in its own order. The interval found last answers for all keys up to it, so most questions cost one
//! comparison, and each new interval a search.

use super::direction::Direction;
use crate::memtable::{Interval, Memtable};

/// The intervals of one memtable, asked in walking order.
pub(crate) struct Shade {
    root: Memtable,
    keyspace: u32,
    direction: Direction,
    /// The first interval, in walking direction, that does not lie behind the keys asked about; `None` if there is none left.
    ahead: Option<Interval>,
    was_asked: bool,
}

impl Shade {
    /// The intervals of a memtable; `None` if it has none.
    pub(crate) fn new(root: &Memtable, keyspace: u32, direction: Direction) -> Option<Shade> {
        (!root.intervals().is_empty()).then(|| Shade {
            root: root.clone(),
            keyspace,
            direction,
            ahead: None,
            was_asked: false,
        })
    }

    /// The interval in which a key lies. Keys must be asked about in walking order.
    pub(crate) fn covering(&mut self, key: &[u8]) -> Option<&Interval> {
        let is_passed = |interval: &Interval| match self.direction {
            Direction::Forward => !interval.ends_behind(key),
            Direction::Backward => key < interval.start(),
        };
        if !self.was_asked || self.ahead.as_ref().is_some_and(is_passed) {
            self.was_asked = true;
            self.ahead = self.find_ahead(key).cloned();
        }
        self.ahead.as_ref().filter(|interval| interval.contains(key))
    }

    fn find_ahead(&self, key: &[u8]) -> Option<&Interval> {
        let intervals = self.root.intervals();
        match self.direction {
            Direction::Forward => intervals
                .covering(self.keyspace, key)
                .or_else(|| intervals.first_from(self.keyspace, key)),
            Direction::Backward => intervals.at_or_before(self.keyspace, key),
        }
    }
}

impl std::fmt::Debug for Shade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shade")
            .field("ahead", &self.ahead)
            .finish_non_exhaustive()
    }
}
