//! Tests of the merger. The oracle of all: the output is the batch encoding of the union.

mod contract;
mod laws;
mod mapped;
pub(crate) mod support;
mod union;
