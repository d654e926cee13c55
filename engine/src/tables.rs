//! Table files by themselves, for tools that look into them: nothing of a database is needed.
//!
//! These are the names of `tephra-sstable`, whose documentation says what they do. A table is opened over the bytes of its file,
//! [`Byte`] or [`Bit`] as byte 12 of the file says.

pub use tephra_sstable::elias_fano::{DENSE, ENTRIES_PER_SAMPLE, EliasFanoParts, EliasFanoView};
pub use tephra_sstable::{
    BackspaceCode, Bit, Byte, EncodedView, FormatError, Frame, KeyCursor, Policy, Properties, StreamMeta,
    Table, TableError, TableSection, Unit, UnitKind, ValueLayout,
};
