//! Commands for whoever looks after a database on disk.

mod checkpoint;
mod compact;
mod keyspaces;
mod repair;
mod stats;
mod verify;

pub(crate) use checkpoint::{Checkpoint, checkpoint};
pub(crate) use compact::{Compact, compact};
pub(crate) use keyspaces::{Keyspaces, keyspaces};
pub(crate) use repair::{Repair, repair};
pub(crate) use stats::{Stats, stats};
pub(crate) use verify::{Verify, verify};
