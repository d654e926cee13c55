//! The write-ahead log: checksummed records in preallocated segments. `FORMAT.md` beside this crate specifies the bytes.
//!
//! ```text
//!   engine --- append, sync_through ---> LogWriter ---> LogSegment (a port: a mapping, or memory)
//!   engine <-- records, report --------- Replay <------ bytes of the segments
//! ```
//!
//! The crate opens no file. Framing ([`Framing`], [`FileHeader`]) and [`Replay`] serve every append-only file of the store, each with
//! its own magic and salt.

mod error;
mod framed_file;
mod group_commit;
mod header;
mod record;
mod replay;
mod segment;
mod writer;

pub use error::LogError;
pub use framed_file::FramedFile;
pub use header::{BootId, FORMAT_VERSION, FileHeader, HEADER_LEN_BYTES, LOG_MAGIC};
pub use record::{Framing, PAYLOAD_LEN_BYTES_MAX, RECORD_HEADER_LEN_BYTES, Record, RecordFault, RecordKind};
pub use replay::{
    DamageKind, Dropped, Evidence, Gap, Replay, ReplayError, ReplayOptions, ReplayReport, Replayed, Salvage,
    SegmentBytes, salvage,
};
pub use segment::{LogSegment, MemorySegment, SegmentSync};
pub use writer::{LogPosition, LogWriter, PreparedSegment, WriterStats, segment_capacity_for};
