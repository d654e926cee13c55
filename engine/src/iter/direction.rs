//! The two ways to walk a range.

use std::cmp::Ordering;

/// Which way a source or a merge walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Towards larger keys.
    Forward,
    /// Towards smaller keys.
    Backward,
}

impl Direction {
    /// `Less` if a walk meets `a` before `b`.
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            Direction::Forward => a.cmp(b),
            Direction::Backward => b.cmp(a),
        }
    }
}
