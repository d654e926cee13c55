//! Commands for whoever looks after a database on disk.

mod stats;
mod verify;

pub(crate) use stats::{Stats, stats};
pub(crate) use verify::{Verify, verify};
