//! What can be wrong with encoded bytes: which section, where, which rule, what it asked for, what was there.
//!
//! ```text
//! payload, unit 4711: backspace beyond the previous key: expected at most 12, found 13
//! ^section      ^offset  ^rule                                     ^expected       ^found
//! ```
//!
//! Errors are for the world: bytes that came from a disk or a network never panic. The layer above adds the file.

use std::fmt;

use crate::elias_fano::{EliasFanoError, EliasFanoPart};

/// The part of an encoding in which something is wrong, and what its offsets count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// Version, units, policy, counts: offsets are zero.
    Metadata,
    /// Frames: offsets count policy units.
    Payload,
    /// The Elias-Fano directory: offsets count entries.
    Directory,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "metadata, field",
            Self::Payload => "payload, unit",
            Self::Directory => "directory, entry",
        })
    }
}

/// The rule that was broken. Each says how `expected` and `found` are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// The stream's unit is not the one the reader was made for: bits a unit.
    #[error("mismatched unit: bits a unit")]
    PolicyUnit,
    /// A stream under a fixed-width policy declares another common width, or none (found `u64::MAX`).
    #[error("mismatched policy: common value width")]
    PolicyWidth,
    /// An order or modulus outside its range: `expected` is the nearest legal parameter.
    #[error("impossible backspace code: nearest legal parameter")]
    PolicyBackspace,
    /// A count that the extent cuts short: bits needed at least, bits left.
    #[error("count cut short by the extent: bits")]
    CountTruncated,
    /// A varint with a redundant last byte: bytes needed, bytes used.
    #[error("count not in its shortest form: bytes")]
    CountNotCanonical,
    /// A count over 64 bits: widest legal code in bits, width found at least.
    #[error("count above 64 bits: bits at most")]
    CountTooLarge,
    /// Backspace beyond the previous key: its length, the backspace.
    #[error("backspace beyond the previous key: at most")]
    BackspaceBeyondKey,
    /// The first record retains something.
    #[error("the first key retains something: units")]
    FirstKeyRetains,
    /// A block start retains more units than precede it: the frame's start, the count.
    #[error("retained count above the frame's own start: at most")]
    RetainedAboveStart,
    /// A block start retains more than the previous key has: its length, the count.
    #[error("retained count above the previous key: at most")]
    RetainedAboveKey,
    /// A literal or a value runs past the extent: the extent, the end asked for (saturated).
    #[error("frame past the extent: ends at most at")]
    FramePastExtent,
    /// Units remain after the last record: where the stream ends by its records, where by its extent.
    #[error("trailing data: extent")]
    TrailingData,
    /// The payload is not as long as its extent says: bytes.
    #[error("payload length: bytes")]
    PayloadLength,
    /// The length of the last key is not the one the metadata give: units.
    #[error("wrong last-key length: units")]
    LastKeyLength,
    /// A block does not start where the directory says: the directory's position, the frame's.
    #[error("block position disagrees with the directory: unit")]
    BlockPosition,
    /// The number of directory entries does not fit the record count: entries.
    #[error("directory entries")]
    DirectoryEntries,
    /// A part of the directory is damaged, at the place `offset` of that part.
    #[error("damaged {0}:")]
    Directory(EliasFanoPart),
    /// Padding bits after the extent are not zero: the bits as a number.
    #[error("non-zero padding")]
    Padding,
    /// The first unit in which a key differs from the one before it is lower: that unit of the key before, of the key.
    #[error("keys out of order: unit above")]
    KeyOrder,
    /// A key equals or begins the key before it: units it must exceed, units it has.
    #[error("key not above the one it is a prefix of: length above")]
    KeyIsPrefix,
}

/// One broken rule, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{section} {offset}: {rule}: expected {expected}, found {found}")]
pub struct FormatError {
    /// The part that is wrong.
    pub section: Section,
    /// Where in it, counted as the section says.
    pub offset: u64,
    /// What was broken.
    pub rule: Rule,
    /// What the rule asked for.
    pub expected: u64,
    /// What was there.
    pub found: u64,
}

impl FormatError {
    /// A broken rule of the payload, at a unit.
    #[must_use]
    pub const fn payload(offset: u64, rule: Rule, expected: u64, found: u64) -> Self {
        Self {
            section: Section::Payload,
            offset,
            rule,
            expected,
            found,
        }
    }

    /// A broken rule of the metadata.
    #[must_use]
    pub const fn metadata(rule: Rule, expected: u64, found: u64) -> Self {
        Self {
            section: Section::Metadata,
            offset: 0,
            rule,
            expected,
            found,
        }
    }

    /// A broken rule of the directory, at an entry.
    #[must_use]
    pub const fn directory(entry: u64, rule: Rule, expected: u64, found: u64) -> Self {
        Self {
            section: Section::Directory,
            offset: entry,
            rule,
            expected,
            found,
        }
    }
}

impl From<EliasFanoError> for FormatError {
    /// What a directory that cannot be read means for the stream: the damage, at its place.
    fn from(error: EliasFanoError) -> Self {
        let (part, offset, expected, found) = match error {
            EliasFanoError::Damaged {
                part,
                index,
                expected,
                found,
            } => (part, index, expected, found),
            EliasFanoError::OutOfRange { index, entries } => (EliasFanoPart::Entries, index, entries, index),
            EliasFanoError::Decreasing {
                index,
                previous,
                found,
            } => (EliasFanoPart::Entries, index, previous, found),
            _ => (EliasFanoPart::Header, 0, 1, 0),
        };
        Self::directory(offset, Rule::Directory(part), expected, found)
    }
}
