//! The engine of tephradb: memtables, versions, flush, compaction and recovery.

mod background;
mod batch;
mod byte_reader;
pub mod clock;
mod compact;
mod db;
mod dead_set;
mod directory;
mod error;
mod file_name;
mod flush;
mod instant;
mod iter;
mod key;
mod keyspace;
pub mod limits;
mod memtable;
mod options;
mod snapshot;
mod stats;
mod table_file;
#[cfg(test)]
mod tests;
mod value;
mod verify;
mod version;
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
