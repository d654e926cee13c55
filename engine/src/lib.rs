//! The engine of tephradb: memtables, versions, flush, compaction and recovery.
#![expect(
    dead_code,
    reason = "the public face stands, the machine behind it is being built"
)]

mod batch;
mod byte_reader;
pub mod clock;
mod db;
mod engine;
mod error;
mod instant;
mod iter;
mod key;
mod keyspace;
pub mod limits;
mod memtable;
mod options;
mod snapshot;
mod stats;
mod value;
mod verify;
pub mod vfs;

pub use batch::Batch;
pub use db::Db;
pub use error::{Error, Result, Usability};
pub use iter::Range;
pub use key::{Key, KeyRange};
pub use keyspace::Keyspace;
pub use options::{Background, Durability, KeyspaceOptions, Options};
pub use snapshot::Snapshot;
pub use stats::Stats;
pub use value::Value;
pub use verify::VerifyReport;
