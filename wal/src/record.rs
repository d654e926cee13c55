//! One framed record: the unit of the log, and of every other append-only file of the store.
//!
//! ```text
//!   0      1          5             9            13                13 + length
//!   | kind | length   | payload CRC | header CRC | payload           |
//!      1       4           4             4
//! ```
//!
//! The header CRC covers the salt of the file, the record's own offset in it, and the nine bytes before it. So a record
//! is valid at one offset of one file and nowhere else: stale bytes of another file, or a copy of a log that somebody
//! stored as a value, never pass. A header of its own makes a damaged length harmless (it is not believed) and a search
//! for the next valid record linear: only headers are tried, a payload is read once its header is right.
//!
//! Example: salt 0, offset 64, kind 1 (data), payload `abc`:
//!
//! ```text
//!   01  03 00 00 00  c2 41 24 35  (header CRC)  61 62 63          16 bytes in all
//! ```

use std::fmt;

use crate::header::array;

/// Bytes before the payload of a record.
pub const RECORD_HEADER_LEN_BYTES: usize = 13;

/// The longest payload.
pub const PAYLOAD_LEN_BYTES_MAX: u64 = u32::MAX as u64;

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// The user's bytes.
    Data = 1,
    /// First record of a segment that is in use: which segment it follows, and where that one ended.
    Begin = 2,
    /// Everything before the offset in the payload, and all earlier segments, had reached the disk when this was written.
    SyncMark = 3,
    /// Last record: the number of the segment in which the log goes on, or nothing if the log was closed.
    Seal = 4,
}

impl RecordKind {
    /// The kind of a number on disk. Zero is never a kind: it is what unwritten bytes look like.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Data),
            2 => Some(Self::Begin),
            3 => Some(Self::SyncMark),
            4 => Some(Self::Seal),
            _ => None,
        }
    }
}

/// A valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it is for.
    pub kind: RecordKind,
    /// Where its header starts.
    pub offset: u64,
    /// Its bytes.
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// Where the next record starts.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + (RECORD_HEADER_LEN_BYTES + self.payload.len()) as u64
    }
}

/// Why there is no valid record at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFault {
    /// The file ends here.
    EndOfFile,
    /// A zero, as in bytes that were never written.
    NothingWritten,
    /// The file ends within the record.
    CutShort {
        /// Bytes the record needs.
        needed_bytes: u64,
        /// Bytes there are.
        available_bytes: u64,
    },
    /// The header is not one of this file at this offset.
    HeaderChecksum {
        /// Computed from the bytes.
        expected: u32,
        /// Stored.
        found: u32,
    },
    /// The header is right, the payload is not.
    PayloadChecksum {
        /// Computed from the bytes.
        expected: u32,
        /// Stored.
        found: u32,
    },
    /// The header is right and its kind unknown: written by a newer version.
    UnknownKind(u8),
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfFile => f.write_str("the file ends"),
            Self::NothingWritten => f.write_str("zeros where a record should be"),
            Self::CutShort {
                needed_bytes,
                available_bytes,
            } => {
                write!(
                    f,
                    "a record of {needed_bytes} bytes is cut short after {available_bytes}"
                )
            }
            Self::HeaderChecksum { expected, found } => {
                write!(
                    f,
                    "record header checksum: expected {expected:08x}, found {found:08x}"
                )
            }
            Self::PayloadChecksum { expected, found } => {
                write!(
                    f,
                    "record payload checksum: expected {expected:08x}, found {found:08x}"
                )
            }
            Self::UnknownKind(kind) => write!(f, "unknown kind of record {kind}"),
        }
    }
}

/// Writes and reads the records of one file.
#[derive(Clone, Debug)]
pub struct Framing {
    /// The CRC of the salt, which every header CRC goes on from.
    salted: u32,
}

impl Framing {
    /// The framing of a file with this salt.
    #[must_use]
    pub fn new(salt: u64) -> Self {
        Self {
            salted: crc32fast::hash(&salt.to_le_bytes()),
        }
    }

    /// The only framing with which the header of a record at `offset` is right, whatever the bytes are: it proves nothing of them.
    pub(crate) fn of_record(file: &[u8], offset: usize) -> Option<Self> {
        const REFLECTED_POLYNOMIAL: u32 = 0xedb8_8320;
        let header = file.get(offset..)?.first_chunk::<RECORD_HEADER_LEN_BYTES>()?;
        let mut state = !u32::from_le_bytes(array(&header[9..]));
        // The steps of the CRC, back from its end to its start.
        let covered = (offset as u64).to_le_bytes();
        for &byte in covered.iter().chain(&header[..9]).rev() {
            for _ in 0..8 {
                state = match state >> 31 {
                    0 => state << 1,
                    _ => (state ^ REFLECTED_POLYNOMIAL) << 1 | 1,
                };
            }
            state ^= u32::from(byte);
        }
        Some(Self { salted: !state })
    }

    /// The header of a record at `offset`. `payload_checksum` is the CRC-32 of the payload.
    #[must_use]
    pub fn header(
        &self,
        offset: u64,
        kind: RecordKind,
        payload_len_bytes: u32,
        payload_checksum: u32,
    ) -> [u8; RECORD_HEADER_LEN_BYTES] {
        let mut header = [0; RECORD_HEADER_LEN_BYTES];
        header[0] = kind as u8;
        header[1..5].copy_from_slice(&payload_len_bytes.to_le_bytes());
        header[5..9].copy_from_slice(&payload_checksum.to_le_bytes());
        let checksum = self.header_checksum(offset, array(&header[..9]));
        header[9..].copy_from_slice(&checksum.to_le_bytes());
        header
    }

    fn header_checksum(&self, offset: u64, fields: [u8; 9]) -> u32 {
        let mut covered = [0; 17];
        covered[..8].copy_from_slice(&offset.to_le_bytes());
        covered[8..].copy_from_slice(&fields);
        let mut hasher = crc32fast::Hasher::new_with_initial(self.salted);
        hasher.update(&covered);
        hasher.finalize()
    }

    /// The record at `offset` of the file.
    ///
    /// # Errors
    /// Why there is none.
    pub fn decode<'a>(&self, file: &'a [u8], offset: usize) -> Result<Record<'a>, RecordFault> {
        self.decode_header(file, offset)?.payload(file)
    }

    fn decode_header(&self, file: &[u8], offset: usize) -> Result<RecordHeader, RecordFault> {
        let bytes = file.get(offset..).unwrap_or_default();
        match bytes.first() {
            None => return Err(RecordFault::EndOfFile),
            Some(0) => return Err(RecordFault::NothingWritten),
            Some(_) => {}
        }
        let Some(header) = bytes.first_chunk::<RECORD_HEADER_LEN_BYTES>() else {
            return Err(RecordFault::CutShort {
                needed_bytes: RECORD_HEADER_LEN_BYTES as u64,
                available_bytes: bytes.len() as u64,
            });
        };
        let expected = self.header_checksum(offset as u64, array(&header[..9]));
        let found = u32::from_le_bytes(array(&header[9..]));
        if expected != found {
            return Err(RecordFault::HeaderChecksum { expected, found });
        }
        Ok(RecordHeader {
            kind: RecordKind::from_byte(header[0]).ok_or(RecordFault::UnknownKind(header[0]))?,
            offset,
            payload_len_bytes: u32::from_le_bytes(array(&header[1..5])),
            payload_checksum: u32::from_le_bytes(array(&header[5..9])),
        })
    }

    /// The first valid record that starts at or after `from`. Linear in the bytes, whatever they are: a header that is
    /// right is believed, and its payload, if that is wrong, stepped over.
    pub(crate) fn find_next<'a>(&self, file: &'a [u8], from: usize) -> Option<Record<'a>> {
        let mut at = from;
        while at < file.len() {
            match self.decode_header(file, at) {
                Ok(header) => match header.payload(file) {
                    Ok(record) => return Some(record),
                    Err(_) => at = at.saturating_add(header.len_bytes()),
                },
                Err(_) => at += 1,
            }
        }
        None
    }
}

/// A header whose checksum is right.
#[derive(Clone, Copy, Debug)]
struct RecordHeader {
    kind: RecordKind,
    offset: usize,
    payload_len_bytes: u32,
    payload_checksum: u32,
}

impl RecordHeader {
    /// Bytes of the record; saturating where memory cannot hold it.
    fn len_bytes(&self) -> usize {
        usize::try_from(self.payload_len_bytes)
            .unwrap_or(usize::MAX)
            .saturating_add(RECORD_HEADER_LEN_BYTES)
    }

    /// The whole record, if its payload is there and right.
    fn payload<'a>(&self, file: &'a [u8]) -> Result<Record<'a>, RecordFault> {
        let start = self.offset + RECORD_HEADER_LEN_BYTES;
        let Some(payload) = file.get(start..self.offset.saturating_add(self.len_bytes())) else {
            return Err(RecordFault::CutShort {
                needed_bytes: RECORD_HEADER_LEN_BYTES as u64 + u64::from(self.payload_len_bytes),
                available_bytes: (file.len() - self.offset) as u64,
            });
        };
        let (expected, found) = (crc32fast::hash(payload), self.payload_checksum);
        if expected != found {
            return Err(RecordFault::PayloadChecksum { expected, found });
        }
        Ok(Record {
            kind: self.kind,
            offset: self.offset as u64,
            payload,
        })
    }
}
