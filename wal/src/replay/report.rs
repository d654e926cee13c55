//! What replay found: how the log ended, what was dropped, or what is damaged.

use std::fmt;

use crate::record::{RecordFault, RecordKind};
use crate::writer::LogPosition;

/// How a replay went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// Records handed out.
    pub record_count: u64,
    /// Where the last one ended: what a new log has to name as the place it follows. Segment 0: there was no log.
    pub end: LogPosition,
    /// The log was closed in order, with everything durable.
    pub is_sealed: bool,
    /// What a crash left behind the end, by segment. The first entry is where the log broke off. None of it was promised
    /// to survive that crash.
    pub dropped: Vec<Dropped>,
}

/// A range of a segment that was not handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The segment.
    pub segment: u64,
    /// First byte.
    pub from: u64,
    /// Behind the last byte that is not zero.
    pub to: u64,
    /// What is wrong at the first byte; `None` if only the segment before broke off.
    pub fault: Option<RecordFault>,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "log segment {}: bytes {} to {} dropped",
            self.segment, self.from, self.to
        )?;
        match self.fault {
            Some(fault) => write!(f, " ({fault})"),
            None => f.write_str(" (the segment before it broke off)"),
        }
    }
}

/// Why a log cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Bytes changed, or were lost, that no crash can change or lose.
    #[error("segment {segment} is damaged at offset {offset}: {kind}")]
    Damaged {
        /// The segment.
        segment: u64,
        /// Bytes from its start.
        offset: u64,
        /// What is wrong there.
        kind: DamageKind,
    },
    /// A later segment needs this one.
    #[error("segment {segment} is missing, segment {named_by} follows it")]
    MissingSegment {
        /// The segment that is not there.
        segment: u64,
        /// The one that names it.
        named_by: u64,
    },
    /// Written by a newer version.
    #[error(
        "segment {segment} has format version {version}, the newest known is {}",
        crate::FORMAT_VERSION
    )]
    UnsupportedVersion {
        /// The segment.
        segment: u64,
        /// Its version.
        version: u32,
    },
}

/// Damage, with what was expected and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// The header's checksum.
    HeaderChecksum {
        /// Computed from the bytes.
        expected: u32,
        /// Stored.
        found: u32,
    },
    /// The first bytes of the file.
    Magic {
        /// Of this kind of file.
        expected: [u8; 8],
        /// Stored.
        found: [u8; 8],
    },
    /// The number in the header.
    Number {
        /// As the file's name says.
        expected: u64,
        /// Stored.
        found: u64,
    },
    /// A record where none of its kind may be.
    OutOfPlace {
        /// The kind.
        kind: RecordKind,
    },
    /// A record crosses the end that the next segment names.
    BeyondLimit {
        /// That end.
        limit: u64,
        /// The record's end.
        found: u64,
    },
    /// No header, or nothing behind it, though a whole fresh file was on the disk before something was written that needs it.
    Unprepared {
        /// The segment whose seal names this one.
        named_by: u64,
    },
    /// A bad record that no crash explains.
    Record {
        /// What is wrong with it.
        fault: RecordFault,
        /// How we know.
        evidence: Evidence,
    },
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeaderChecksum { expected, found } => {
                write!(f, "header checksum: expected {expected:08x}, found {found:08x}")
            }
            Self::Magic { expected, found } => {
                write!(
                    f,
                    "expected \"{}\", found \"{}\"",
                    expected.escape_ascii(),
                    found.escape_ascii()
                )
            }
            Self::Number { expected, found } => write!(f, "expected file number {expected}, found {found}"),
            Self::OutOfPlace { kind } => write!(f, "a record of kind {kind:?} is out of place"),
            Self::BeyondLimit { limit, found } => {
                write!(f, "a record ends at {found}, the segment was ended at {limit}")
            }
            Self::Unprepared { named_by } => write!(
                f,
                "cut short before its first record, though segment {named_by} goes on here"
            ),
            Self::Record { fault, evidence } => write!(f, "{fault}; {evidence}"),
        }
    }
}

/// How we know that a bad record is not the trace of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A mark further on says the place had reached the disk.
    WasSynced {
        /// Where the mark is.
        mark: LogPosition,
    },
    /// A valid record further on was written since the machine was started: nothing before it can be missing.
    SameBoot {
        /// Where that record is.
        next: LogPosition,
    },
    /// The segment after it was begun after a restart of the machine, when the place had been read and found good.
    WasReplayed {
        /// That segment.
        next: LogPosition,
    },
    /// The file is shorter than it was made, and was not closed in order.
    CutShort {
        /// Length the header says.
        reserved_bytes: u64,
        /// Length of the file.
        found_bytes: u64,
    },
    /// A valid record follows, and the bytes between are not those of a sector that was not written.
    NotALostSector {
        /// Where that record is.
        next: LogPosition,
    },
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, p: &LogPosition| {
            write!(f, " (segment {}, offset {})", p.segment, p.offset)
        };
        match self {
            Self::WasSynced { mark } => {
                f.write_str("it had reached the disk, says a mark")?;
                at(f, mark)
            }
            Self::SameBoot { next } => {
                f.write_str("the machine lost no power since a later record was written")?;
                at(f, next)
            }
            Self::WasReplayed { next } => {
                f.write_str("it was good when the next segment was begun")?;
                at(f, next)
            }
            Self::CutShort {
                reserved_bytes,
                found_bytes,
            } => write!(
                f,
                "the file was made {reserved_bytes} bytes long and has {found_bytes}"
            ),
            Self::NotALostSector { next } => {
                f.write_str("a valid record follows and no sector in between was lost")?;
                at(f, next)
            }
        }
    }
}
