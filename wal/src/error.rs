//! Errors of writing.

use std::io;
use std::sync::Arc;

/// Why a record was not logged, or not made durable.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// The record does not fit into what is left of the segment: rotate, then append again. Nothing was written.
    #[error("log segment {segment} has {room_bytes} bytes left, the record needs {needed_bytes}")]
    SegmentFull {
        /// The segment.
        segment: u64,
        /// Bytes the record needs with its header.
        needed_bytes: u64,
        /// Bytes that are left for it.
        room_bytes: u64,
    },
    /// No record can be this long. Nothing was written.
    #[error("a log record of {len_bytes} bytes is longer than the longest possible, {max_bytes}")]
    RecordTooLong {
        /// The payload's length.
        len_bytes: u64,
        /// The longest payload.
        max_bytes: u64,
    },
    /// The end of the segment was reached by sealing it.
    #[error("log segment {segment} is sealed")]
    Sealed {
        /// The segment.
        segment: u64,
    },
    /// An append failed and left the end of the segment undefined. What was logged before is untouched; after a
    /// rotation, logging goes on. The failed record does not count from then on; if the machine stops before, it may
    /// or may not be there.
    #[error("log segment {segment} cannot be appended to since offset {offset}: {cause}")]
    SegmentFailed {
        /// The segment.
        segment: u64,
        /// Where the failed record would have started.
        offset: u64,
        /// What the storage said.
        cause: Arc<io::Error>,
    },
    /// A sync failed. What is on disk since the last good one is unknown and a second sync would not tell, so this
    /// log refuses everything until it is recovered by opening it again.
    #[error("the log is closed for writing since a sync of segment {segment} failed: {cause}")]
    SyncFailed {
        /// The segment.
        segment: u64,
        /// What the storage said.
        cause: Arc<io::Error>,
    },
}

impl LogError {
    /// What the storage said, if it was the storage.
    #[must_use]
    pub fn cause(&self) -> Option<&Arc<io::Error>> {
        match self {
            Self::SegmentFailed { cause, .. } | Self::SyncFailed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
