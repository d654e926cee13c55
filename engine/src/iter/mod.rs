//! Iteration over one range at one instant, from both ends.

use std::ops::Bound;

use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::key::Key;
use crate::value::Value;

/// Lower and upper bound of a range.
pub(crate) type Bounds = (Bound<Key>, Bound<Key>);

/// The keys and values of a range, in key order, at one instant. Pins that instant's tables until it is dropped.
#[derive(Debug)]
pub struct Range {}

impl Range {
    pub(crate) fn new(_instant: Instant, _keyspace: u32, _bounds: Bounds) -> Range {
        todo!("iterators")
    }

    pub(crate) fn failed(_error: Error) -> Range {
        todo!("iterators")
    }
}

impl Iterator for Range {
    type Item = Result<(Key, Value)>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!("iterators")
    }
}

impl DoubleEndedIterator for Range {
    fn next_back(&mut self) -> Option<Self::Item> {
        todo!("iterators")
    }
}
