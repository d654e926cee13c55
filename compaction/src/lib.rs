//! The encoded merger: merges front-coded tables without rebuilding keys.
//!
//! | module | what it holds |
//! |---|---|
//! | [`compose`] | laws: what becomes of a key that several inputs hold |
//! | [`merge`] | the merger and its step contract |
//! | [`job`] | tables in, tables out: output cut at a target size, sub-ranges, progress, cancellation |
//! | [`picker`] | which tables to compact next, and why: pure data in, a decision out |

pub mod compose;
mod error;
pub mod job;
pub mod merge;
pub mod picker;
#[cfg(test)]
mod test_rng;

pub use compose::{ComposeValues, ComposeWithKey, Composed, Law, LawFailure, Replace, Values, WithKey};
pub use error::MergeError;
pub use job::{CompactionError, MergeReport, Observer, OutputSink, Unobserved, merge_tables};
pub use merge::{BlockPrefixes, MergeInput, MergeUnit, Merger, Progress, Strategy, Trust};
