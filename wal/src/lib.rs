//! The write-ahead log: checksummed records in preallocated segments.
