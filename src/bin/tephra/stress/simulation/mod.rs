//! A machine in memory that fails, and a database on it that must keep its promises: one seed, one history.
//!
//! ```text
//! seed --> generate: settings and a list of steps                       (plan.rs, settings.rs)
//!              |
//!              v
//!          machine:  does each step on the database and on the model     (machine.rs, session.rs, model.rs)
//!              |     the machine goes down, and comes up                 (recovery.rs)
//!              v
//!          failure:  the history is thinned out while it still fails     (shrink.rs)
//! ```
//!
//! Nothing here knows a clock, a thread or a file of the real world, so a seed gives the same history on every machine. The module is
//! part of the command (`tephra stress --simulate`) and of the tests (`tests/simulation`).

mod exhaustive;
mod generate;
mod handle;
mod machine;
mod model;
mod plan;
mod planted;
mod recovery;
pub(crate) mod rng;
mod session;
mod settings;
mod shrink;
mod tree;

pub(crate) use exhaustive::{Strides, run_creation, run_script, scripts};
pub(crate) use planted::Planted;
pub(crate) use shrink::{Failure, run_seed};

/// Nothing wrong, or what is.
pub(crate) type Check = Result<(), String>;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Steps of histories.
    pub(crate) operations: u64,
    /// Times a machine went down.
    pub(crate) crashes: u64,
    /// Times a database was opened after a machine went down or a database was closed.
    pub(crate) recoveries: u64,
    /// Calls of the file system that failed on purpose.
    pub(crate) faults: u64,
    /// Operations played in the middle of a flush or a compaction.
    pub(crate) interludes: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.operations += other.operations;
        self.crashes += other.crashes;
        self.recoveries += other.recoveries;
        self.faults += other.faults;
        self.interludes += other.interludes;
    }
}
