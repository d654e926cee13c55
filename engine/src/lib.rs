//! The engine: memtables, versions, flush, compaction and recovery.
