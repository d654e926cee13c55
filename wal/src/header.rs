//! The first 64 bytes of a framed file: what it is, which one, when the machine it was made on was started, and the
//! salt of its checksums.
//!
//! ```text
//!   0        8        12       16        24       32        48          60       64
//!   | magic  | version| zero   | number  | salt   | boot id | reserved, zero | CRC-32 |
//!      8         4        4        8         8        16         8, 4         4
//! ```
//!
//! All numbers are little-endian; the CRC covers the 60 bytes before it. The header lies in one sector, and is made
//! durable before the file is used.

use crate::replay::{DamageKind, ReplayError};

/// Bytes of a header.
pub const HEADER_LEN_BYTES: usize = 64;

/// The version this crate writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The first bytes of a log segment.
pub const LOG_MAGIC: [u8; 8] = *b"tephlog\n";

/// Names the time between two losses of memory of one machine. All zeros where the system tells none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BootId(pub [u8; 16]);

impl BootId {
    /// What systems without such a number have.
    pub const UNKNOWN: Self = Self([0; 16]);

    /// Are these surely the same boot?
    #[must_use]
    pub fn surely_same(self, other: Self) -> bool {
        self == other && self != Self::UNKNOWN
    }

    /// Are these surely two boots?
    #[must_use]
    pub fn surely_different(self, other: Self) -> bool {
        self != other && self != Self::UNKNOWN && other != Self::UNKNOWN
    }
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// What kind of file this is.
    pub magic: [u8; 8],
    /// Which one of its kind: never used twice in one database, never zero.
    pub number: u64,
    /// Mixed into every checksum of the file, so that no bytes of another file pass for its own. Any number that is
    /// unlikely to come twice.
    pub salt: u64,
    /// The boot in which the file was made.
    pub boot_id: BootId,
    /// Length that the file was given when it was made, and has until it is closed in order: one that is shorter was cut. 0 for a file
    /// that grows as it is written.
    pub reserved_bytes: u64,
}

impl FileHeader {
    /// The header of a log segment.
    #[must_use]
    pub fn log(number: u64, salt: u64, boot_id: BootId) -> Self {
        Self {
            magic: LOG_MAGIC,
            number,
            salt,
            boot_id,
            reserved_bytes: 0,
        }
    }

    /// The bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_LEN_BYTES] {
        let mut bytes = [0; HEADER_LEN_BYTES];
        bytes[..8].copy_from_slice(&self.magic);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.salt.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.boot_id.0);
        bytes[48..56].copy_from_slice(&self.reserved_bytes.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header of file `number`. `None`: the file was made but never begun, there is nothing in it.
    ///
    /// # Errors
    /// The header is damaged, of a newer version, or belongs to another file.
    pub(crate) fn decode(magic: [u8; 8], number: u64, bytes: &[u8]) -> Result<Option<Self>, ReplayError> {
        let damaged = |offset: u64, kind| ReplayError::Damaged {
            segment: number,
            offset,
            kind,
        };
        let Some(header) = bytes.first_chunk::<HEADER_LEN_BYTES>() else {
            // A file this short was being made when the process died.
            return Ok(None);
        };
        let expected = crc32fast::hash(&header[..60]);
        let found = u32::from_le_bytes(array(&header[60..]));
        if expected != found {
            if bytes[HEADER_LEN_BYTES..].iter().all(|&byte| byte == 0) {
                // The process died while it wrote the header.
                return Ok(None);
            }
            return Err(damaged(60, DamageKind::HeaderChecksum { expected, found }));
        }
        if header[..8] != magic {
            return Err(damaged(
                0,
                DamageKind::Magic {
                    expected: magic,
                    found: array(&header[..8]),
                },
            ));
        }
        let version = u32::from_le_bytes(array(&header[8..12]));
        if version != FORMAT_VERSION {
            return Err(ReplayError::UnsupportedVersion {
                segment: number,
                version,
            });
        }
        let found_number = u64::from_le_bytes(array(&header[16..24]));
        if found_number != number {
            return Err(damaged(
                16,
                DamageKind::Number {
                    expected: number,
                    found: found_number,
                },
            ));
        }
        Ok(Some(Self {
            magic,
            number,
            salt: u64::from_le_bytes(array(&header[24..32])),
            boot_id: BootId(array(&header[32..48])),
            reserved_bytes: u64::from_le_bytes(array(&header[48..56])),
        }))
    }
}

/// The bytes of a field whose place fixes its length.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the caller cut the field to its length")
}
