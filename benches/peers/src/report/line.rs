//! One result.

use serde::{Deserialize, Serialize};

/// What one process measured of one part of a workload. Times in the unit of their names, sizes in bytes.
///
/// Memory, disk, bytes written and processor time are those of the whole process from the first part's begin until the engine was
/// settled: lines of one process repeat them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Line {
    /// Always `peers`.
    pub(crate) bench: String,
    pub(crate) workload: String,
    pub(crate) engine: String,
    /// `lsm` or `btree`.
    pub(crate) family: String,
    pub(crate) shape: String,
    pub(crate) records: u64,
    pub(crate) round: u64,
    /// What an operation is: puts, gets, records, ...
    pub(crate) unit: String,
    pub(crate) ops: u64,
    pub(crate) seconds: f64,
    /// Processor time of the threads that asked for the operations: on a busy machine steadier than `seconds`.
    pub(crate) thread_seconds: f64,
    pub(crate) ops_per_s: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) max_us: f64,
    /// Most resident memory: heap and mapped files.
    pub(crate) peak_memory_bytes: u64,
    /// Resident memory of no file, after settling.
    pub(crate) heap_bytes: u64,
    /// Files on the disk, after settling.
    pub(crate) disk_bytes: u64,
    /// Keys and values of all records.
    pub(crate) raw_bytes: u64,
    /// Pages of files made dirty, by calls or through mappings.
    pub(crate) write_bytes: u64,
    /// Bytes given to calls that write.
    pub(crate) call_bytes: u64,
    pub(crate) cpu_seconds: f64,
    /// Time until the engine was settled.
    pub(crate) settle_seconds: f64,
}
