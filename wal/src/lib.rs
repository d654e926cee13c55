//! The write-ahead log: checksummed records in preallocated segments. `FORMAT.md` beside this crate specifies the bytes.

mod segment;

pub use segment::{LogSegment, MemorySegment, SegmentSync};
