//! Commands for whoever looks after a database on disk.

mod repair;
mod stats;
mod verify;

pub(crate) use repair::{Repair, repair};
pub(crate) use stats::{Stats, stats};
pub(crate) use verify::{Verify, verify};
