//! Merging encoded streams.

mod code;
mod emit;
mod history;
mod input;
mod kernel;
mod lane;
mod loser_tree;
mod merger;
mod naive;
mod output;
mod progress;
mod reframe;
mod runs;
mod source;
mod two_way;

pub use input::{BlockPrefixes, MergeInput, PrefixError, Trust};
pub use kernel::Strategy;
pub use merger::{MergeUnit, Merger};
pub use progress::Progress;

#[cfg(test)]
pub(crate) mod tests;
