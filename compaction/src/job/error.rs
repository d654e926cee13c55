//! Why a job ended without its result.

use std::io;

use tephra_sstable::{TableError, TableWriteError};

use crate::error::MergeError;

/// Why a compaction stopped. Its inputs are as they were.
#[derive(Debug, thiserror::Error)]
pub enum CompactionError {
    /// The merge failed.
    #[error("merging: {0}")]
    Merge(#[from] MergeError),
    /// An input table could not be read.
    #[error("reading an input table: {0}")]
    Table(#[from] TableError),
    /// An output table could not be written.
    #[error("writing output table {table_id}: {error}")]
    Write {
        /// The table.
        table_id: u64,
        /// Why.
        error: TableWriteError,
    },
    /// An input is not what its certificate says: output table `table_id` came out of order, or retains less than it
    /// could.
    #[error("output table {table_id} is not the union of its inputs: an input's certificate is wrong")]
    WrongCertificate {
        /// The table, which was abandoned.
        table_id: u64,
    },
    /// The sink did not create or finish an output.
    #[error("output: {0}")]
    Sink(#[from] io::Error),
    /// The observer asked for an end.
    #[error("cancelled after {keys} keys")]
    Cancelled {
        /// Keys merged by then.
        keys: u64,
    },
}
