//! The picker: which tables to compact next, and why. Pure data in, a decision out; somebody else acts.
//!
//! ```text
//! level 0     tables of flushes, oldest first; they overlap           chosen by count
//! base level  the highest level that holds data below level 0        \
//! ...                                                                 } chosen by size against a target
//! bottom      about nine tenths of everything                         /
//! ```
//!
//! Levels grow from the bottom up: the target of the bottom level is what it holds, each level above it
//! may hold `1 / size_ratio` of the one below, and levels whose target would be smaller than
//! `base_level_bytes` stay empty. So space amplification stays near `1 + 1 / size_ratio` whatever
//! the store's size.
//!
//! The order of worth, each with its [`Reason`]:
//!
//! 1. A table without live records is dropped; nothing is read or written.
//! 2. Level 0 has too many tables: all of it is merged into the base level.
//! 3. The level furthest above its target gives one table to the next level; of its tables the one
//!    that brings the most dead records and the fewest overlapped bytes. One that overlaps nothing moves.
//! 4. A table rich in dead records is rewritten where it is.
//!
//! Each rule makes the state that triggers it smaller, so a store without writes becomes idle.
//! Tables of running jobs are busy: no decision touches them, and none is made whose key range
//! overlaps a busy table of its two levels. That suffices: a job's outputs hold keys of its inputs' ranges
//! alone, and a free table of either level overlaps none of those.
//!
//! Key bounds are compared as packed bytes. Bit strings padded with zeros compare at most as equal when
//! they differ, so overlap is never missed.

mod decision;
mod leveled;
mod targets;
mod view;

pub use decision::{Decision, Job, JobInput, JobKind, Reason};
pub use leveled::{pick, pick_range};
pub use targets::{LevelTargets, PickerOptions};
pub use view::{LevelView, TableShape};

#[cfg(test)]
mod tests;
