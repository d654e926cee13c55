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
//! What competes, each with its [`Reason`] and a score that says how urgent it is (1,000: due):
//!
//! | what | score |
//! |---|---|
//! | a table without live records is dropped; nothing is read or written | above all |
//! | a table rich in dead records is rewritten where it is | twice its dead share, to the share that makes it rich |
//! | level 0 has too many tables: the oldest sinks into the base level, with all that overlap it | count to trigger |
//! | a level is too large: the table that brings the most dead records and the fewest overlapped bytes sinks | size to target |
//! | neighbours of a level are small: they become one table | 1,000 |
//!
//! The highest score goes first. So no rule starves another for long: what is left alone grows, and its score with it. In
//! particular a level far over its target comes before level 0, which then grows and slows writers down: the debt of the
//! deeper levels needs no brake of its own. A table that overlaps nothing where it should go moves without being rewritten.
//!
//! **Age.** Of two records of one key the one on the higher level is newer, and in level 0 the one in the later table; a user's
//! law composes them in that order. No decision lets a record overtake one of its own key: out of level 0 the oldest table
//! goes with every table bound to it by overlap, no level between is jumped over where it holds a part of the range, and a
//! table of level 0 is never rewritten in place (it would become the newest).
//!
//! Each rule makes the state that triggers it smaller, so a store without writes becomes idle. What running jobs hold
//! ([`Running`]) is not touched by a second decision, so jobs of one keyspace may run side by side.
//!
//! [`simulator`] runs the rules on made-up data and reports what they cost.
//!
//! Key bounds are compared as packed bytes. Bit strings padded with zeros compare at most as equal when
//! they differ, so overlap is never missed.

mod build;
mod decision;
mod leveled;
mod manual;
mod running;
pub mod simulator;
mod targets;
mod view;

pub use decision::{Decision, Job, JobInput, JobKind, Reason};
pub use leveled::pick;
pub use manual::{RangeRequest, pick_range};
pub use running::Running;
pub use targets::{LevelTargets, PickerOptions};
pub use view::{LevelView, TableShape};

#[cfg(test)]
mod tests;
