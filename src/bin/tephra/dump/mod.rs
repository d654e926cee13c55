//! `tephra dump` and `tephra restore`: everything in a database as one file, and back.
//!
//! ```text
//! database  --read only-->  keyspaces, their settings, records  --blocks, checksums, end mark-->  file
//! file  --every checksum, order, end mark-->  a directory beside  --rename-->  new database
//! ```
//!
//! A restore is there as a whole or not at all. The format is specified in `docs/dump-format.md`.

mod format;
mod reader;
mod restore;
mod save;
mod writer;

pub(crate) use restore::{Restore, restore};
pub(crate) use save::{Dump, dump};
