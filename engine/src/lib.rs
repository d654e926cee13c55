//! The engine: memtables, versions, flush, compaction and recovery.

pub mod clock;
pub mod vfs;
