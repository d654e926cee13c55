//! Compaction: tables become fewer, sorted tables without dead records, in one manifest edit.
//!
//! ```text
//! version --level_view--> picker --job--> merger --sink--> new tables       synced, directory synced, opened
//!                                                             |
//!              late kills: what flushes killed in the inputs since the start, killed in the outputs too;
//!                          key ranges they deleted since, deleted in the outputs
//!                                                             |
//! one edit:   remove the inputs that are still there | add the outputs | kill in the outputs
//! ```
//!
//! The picker decides and never acts; this module acts and never decides. A compaction reads the dead sets of the version it
//! started with. It fails as a whole and leaves its inputs as they were; its files are removed.

mod early_kills;
mod held_up;
mod late_kills;
mod level_view;
mod merge;
mod range_kills;
mod run;
mod sink;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{install_for_tests, merge_for_tests};

pub(crate) use held_up::HeldUpKeyspaces;
pub(crate) use range_kills::{CompactionStart, RangeKills};
