//! Maps files into memory: the one place of the engine that needs `unsafe` for it.
//!
//! Why it is sound. A mapping is unsafe because somebody may change or shorten the file behind it.
//!
//! * [`map_finished`] maps *finished* files: sealed, synced, named, and by the contract of the port never written
//!   again. The lock of the database keeps other engines away, and the length is taken from the file that is mapped.
//! * [`map_segment`] maps a log segment that this process made a moment ago, under the same lock. One value owns the mapping; nobody else
//!   maps it to write. It is touched only where room was set aside on the disk, and shortened only after the last append.
//!
//! A program that edits a database's files while it is open breaks this, as it would with any store that maps files.
//! Tests compare the bytes with those of an ordinary read.

#![expect(
    unsafe_code,
    reason = "mapping files has no safe interface; the argument is above"
)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapMut, MmapOptions};

/// Maps `len_bytes` of a finished file.
pub(super) fn map_finished(file: &File, len_bytes: usize) -> io::Result<Mmap> {
    let mut options = MmapOptions::new();
    options.len(len_bytes);
    // SAFETY: the file is finished, locked against others, and was just found to be `len_bytes` long.
    unsafe { options.map(file) }
}

/// Maps a preallocated segment for appending.
pub(super) fn map_segment(file: &File, capacity_bytes: usize) -> io::Result<MmapMut> {
    let mut options = MmapOptions::new();
    options.len(capacity_bytes);
    // SAFETY: the file is ours alone, new, locked against others, and `capacity_bytes` long.
    unsafe { options.map_mut(file) }
}
