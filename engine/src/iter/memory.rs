//! Walks one memtable's part of a range.

use std::ops::Bound;

use super::direction::Direction;
use crate::key::{Key, bound_as_slice, slices_are_empty};
use crate::memtable::{EntryRange, EntryRef, Interval, Memtable};

/// The iterator with the entry it stands on.
struct Walk<'a> {
    rest: EntryRange<'a>,
    current: Option<EntryRef<'a>>,
}

self_cell::self_cell!(
    /// A frozen root together with an iterator that borrows it.
    struct RootAndWalk {
        owner: Memtable,
        #[not_covariant]
        dependent: Walk,
    }
);

/// Stands on one entry of a frozen memtable, or behind the last.
pub(crate) struct MemorySource {
    cell: RootAndWalk,
    keyspace: u32,
    /// The bound that the walk goes towards.
    far: Bound<Key>,
    direction: Direction,
}

impl MemorySource {
    /// Stands on the first entry between the bounds, in walking direction.
    pub(crate) fn new(
        root: Memtable,
        keyspace: u32,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> Self {
        let cell = RootAndWalk::new(root, |root| Walk {
            rest: root.range(keyspace, bounds.0, bounds.1),
            current: None,
        });
        let far = match direction {
            Direction::Forward => bounds.1,
            Direction::Backward => bounds.0,
        };
        let mut source = MemorySource {
            cell,
            keyspace,
            far: far.map(Key::from),
            direction,
        };
        source.advance();
        source
    }

    /// The entry the source stands on; `None` behind the last.
    pub(crate) fn entry(&self) -> Option<EntryRef<'_>> {
        self.cell.with_dependent(|_, walk| -> Option<EntryRef<'_>> {
            // The root that the entry lies in lives as long as the borrow of the cell.
            walk.current
        })
    }

    /// Steps to the next entry.
    pub(crate) fn advance(&mut self) {
        let direction = self.direction;
        self.cell.with_dependent_mut(|_, walk| {
            walk.current = match direction {
                Direction::Forward => walk.rest.next(),
                Direction::Backward => walk.rest.next_back(),
            };
        });
    }

    /// Steps to the next entry outside an interval. One search.
    pub(crate) fn pass(&mut self, interval: &Interval) {
        let (keyspace, direction) = (self.keyspace, self.direction);
        let far = bound_as_slice(&self.far);
        let bounds = match direction {
            Direction::Forward => interval.end().map(|end| (Bound::Included(end), far)),
            Direction::Backward => Some((far, Bound::Excluded(interval.start()))),
        };
        let bounds = bounds.filter(|&(lower, upper)| !slices_are_empty(lower, upper));
        self.cell.with_dependent_mut(|root, walk| {
            walk.current = None;
            if let Some((lower, upper)) = bounds {
                walk.rest = root.range(keyspace, lower, upper);
                walk.current = match direction {
                    Direction::Forward => walk.rest.next(),
                    Direction::Backward => walk.rest.next_back(),
                };
            }
        });
    }
}

impl std::fmt::Debug for MemorySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemorySource").field("at", &self.entry()).finish()
    }
}
