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
//! The picker decides and never acts; this module acts and never decides. The schedule (`schedule.rs`) knows which keyspaces have
//! something to decide. Jobs that share no table and no key range of a level run side by side, and a large merge is split by key
//! over the threads that are free (`merge.rs`). A compaction reads the dead sets of the version it
//! started with. It fails as a whole and leaves its inputs as they were; its files are removed.

mod asked;
mod early_kills;
mod figures;
mod held_up;
mod install;
mod late_kills;
mod level_view;
mod merge;
mod range_kills;
mod run;
mod schedule;
mod sink;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{install_for_tests, merge_for_tests};

pub(crate) use figures::CompactionCounters;
pub use figures::CompactionStats;
pub(crate) use held_up::HeldUpKeyspaces;
pub(crate) use range_kills::{CompactionStart, RangeKills};
pub(crate) use schedule::Schedule;
