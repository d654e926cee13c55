//! The last 256 bytes: where the sections are.
//!
//! ```text
//!   0  192  eight slots of 24 bytes: section number (4), flags (4), offset (8), length (8); unused ones zero, last
//! 192    8  length of the file                228    4  zero
//! 200    8  table id, as in the header        232    8  zero
//! 208    8  features a reader must know       240    4  container version
//! 216    8  features a reader may ignore      244    4  CRC-32 of the 244 bytes before
//! 224    4  CRC-32 of the checksum section    248    8  magic
//! ```
//!
//! A slot's flag 1 marks a section that a reader must know; others that it does not know it may pass over.

use std::ops::Range;

use super::header::CONTAINER_VERSION;
use super::{HEADER_LEN_BYTES, SECTION_ALIGNMENT_BYTES, TableError, TableRule, TableSection, page_count};
use crate::elias_fano::to_index;

/// Length of the footer.
pub(crate) const FOOTER_LEN_BYTES: usize = 256;

const MAGIC: [u8; 8] = *b"\narhpet\xf2";
const SLOT_COUNT: usize = 8;
const SLOT_LEN_BYTES: usize = 24;
const FLAG_REQUIRED: u64 = 1;

const FILE_LEN_AT: usize = 192;
const TABLE_ID_AT: usize = 200;
const FEATURES_AT: usize = 208;
const CHECKSUMS_CRC_AT: usize = 224;
const RESERVED_AT: usize = 228;
const VERSION_AT: usize = 240;
const CRC_AT: usize = 244;
const MAGIC_AT: usize = 248;

/// The sections in the order of the file, with their numbers.
const SECTIONS: [TableSection; 6] = [
    TableSection::Payload,
    TableSection::Directory,
    TableSection::Separators,
    TableSection::Filter,
    TableSection::Properties,
    TableSection::Checksums,
];

fn number_of(section: TableSection) -> u64 {
    1 + SECTIONS
        .iter()
        .position(|&other| other == section)
        .expect("only sections of the table are listed") as u64
}

/// Where the sections are. Ranges are bytes of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) table_id: u64,
    pub(crate) file_len_bytes: u64,
    pub(crate) checksums_crc: u32,
    /// In the order of [`SECTIONS`]; an absent filter is empty.
    sections: [Range<u64>; 6],
}

impl Footer {
    /// A footer for a file in which the sections come in the order given, the checksums last.
    pub(crate) fn new(table_id: u64, checksums_crc: u32, present: &[(TableSection, Range<u64>)]) -> Self {
        let mut sections = [const { 0..0 }; 6];
        for (section, range) in present {
            sections[to_index(number_of(*section)) - 1] = range.clone();
        }
        let file_len_bytes = sections[5].end + FOOTER_LEN_BYTES as u64;
        Self {
            table_id,
            file_len_bytes,
            checksums_crc,
            sections,
        }
    }

    /// Where a section is; empty if it is absent.
    pub(crate) fn section(&self, section: TableSection) -> Range<usize> {
        let range = &self.sections[to_index(number_of(section)) - 1];
        to_index(range.start)..to_index(range.end)
    }

    pub(crate) fn encode(&self) -> [u8; FOOTER_LEN_BYTES] {
        let mut bytes = [0; FOOTER_LEN_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let present = SECTIONS
            .iter()
            .zip(&self.sections)
            .filter(|(_, range)| **range != (0..0));
        for (slot, (&section, range)) in present.enumerate() {
            let at = slot * SLOT_LEN_BYTES;
            put(at, &(number_of(section) | FLAG_REQUIRED << 32).to_le_bytes());
            put(at + 8, &range.start.to_le_bytes());
            put(at + 16, &(range.end - range.start).to_le_bytes());
        }
        put(FILE_LEN_AT, &self.file_len_bytes.to_le_bytes());
        put(TABLE_ID_AT, &self.table_id.to_le_bytes());
        put(CHECKSUMS_CRC_AT, &self.checksums_crc.to_le_bytes());
        put(VERSION_AT, &u32::from(CONTAINER_VERSION).to_le_bytes());
        put(MAGIC_AT, &MAGIC);
        let crc = crc32fast::hash(&bytes[..CRC_AT]);
        bytes[CRC_AT..MAGIC_AT].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the footer of a file of `file_len_bytes` and checks, in this order: magic, version, checksum, features,
    /// reserved bytes, length of the file, then every slot: its order, its place, its length.
    pub(crate) fn decode(bytes: &[u8; FOOTER_LEN_BYTES], file_len_bytes: u64) -> Result<Self, TableError> {
        use TableRule::{Checksum, Features, Field, FileLength, Magic, Version};
        let base = file_len_bytes - FOOTER_LEN_BYTES as u64;
        let word =
            |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("a field lies in the footer"));
        let half =
            |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a field lies in the footer"));
        let check = |at: usize, rule: TableRule, expected: u64, found: u64| match found == expected {
            true => Ok(()),
            false => Err(TableError::new(
                TableSection::Footer,
                base + at as u64,
                rule,
                expected,
                found,
            )),
        };
        check(MAGIC_AT, Magic, u64::from_le_bytes(MAGIC), word(MAGIC_AT))?;
        check(
            VERSION_AT,
            Version,
            u64::from(CONTAINER_VERSION),
            u64::from(half(VERSION_AT)),
        )?;
        let crc = crc32fast::hash(&bytes[..CRC_AT]);
        check(CRC_AT, Checksum, u64::from(crc), u64::from(half(CRC_AT)))?;
        check(FEATURES_AT, Features, 0, word(FEATURES_AT))?;
        check(
            RESERVED_AT,
            Field("reserved bytes"),
            0,
            u64::from(half(RESERVED_AT)) | word(RESERVED_AT + 4),
        )?;
        check(FILE_LEN_AT, FileLength, word(FILE_LEN_AT), file_len_bytes)?;
        let footer = Self {
            table_id: word(TABLE_ID_AT),
            file_len_bytes,
            checksums_crc: half(CHECKSUMS_CRC_AT),
            sections: decode_slots(base, word)?,
        };
        footer.check_checksums(base)?;
        Ok(footer)
    }

    /// The checksums end where the footer starts, and are one for every page before them.
    fn check_checksums(&self, base: u64) -> Result<(), TableError> {
        let checksums = &self.sections[5];
        let error = |rule, expected, found| {
            Err(TableError::new(
                TableSection::Checksums,
                base,
                rule,
                expected,
                found,
            ))
        };
        if checksums.end != base {
            return error(TableRule::SectionEnd, base, checksums.end);
        }
        let len = page_count(checksums.start) * 4;
        match checksums.end - checksums.start == len {
            true => Ok(()),
            false => error(TableRule::SectionLength, len, checksums.end - checksums.start),
        }
    }
}

fn decode_slots(base: u64, word: impl Fn(usize) -> u64) -> Result<[Range<u64>; 6], TableError> {
    use TableRule::{Field, MissingSection, SectionEnd, SectionOrder, SectionStart};
    let mut sections = [const { 0..0 }; 6];
    let (mut last_number, mut last_end) = (0, HEADER_LEN_BYTES as u64);
    let mut ended = false;
    for slot in 0..SLOT_COUNT {
        let at = slot * SLOT_LEN_BYTES;
        let error = |at: usize, rule, expected, found| {
            Err(TableError::new(
                TableSection::Footer,
                base + at as u64,
                rule,
                expected,
                found,
            ))
        };
        let (kind, start, len) = (word(at), word(at + 8), word(at + 16));
        let (number, flags) = (kind & u64::from(u32::MAX), kind >> 32);
        if number == 0 {
            if kind | start | len != 0 {
                return error(at, Field("unused slot"), 0, kind | start | len);
            }
            ended = true;
            continue;
        }
        if ended || number <= last_number {
            return error(at, SectionOrder, last_number, number);
        }
        if start < last_end || !start.is_multiple_of(SECTION_ALIGNMENT_BYTES) {
            return error(
                at + 8,
                SectionStart,
                last_end.next_multiple_of(SECTION_ALIGNMENT_BYTES),
                start,
            );
        }
        let end = start.saturating_add(len);
        if end > base {
            return error(at + 16, SectionEnd, base, end);
        }
        match sections.get_mut(to_index(number - 1)) {
            Some(range) => *range = start..end,
            None if flags & FLAG_REQUIRED == 0 => {}
            None => {
                return error(
                    at,
                    Field("unknown section: at most"),
                    SECTIONS.len() as u64,
                    number,
                );
            }
        }
        (last_number, last_end) = (number, end);
    }
    for (&section, range) in SECTIONS.iter().zip(&sections) {
        if *range == (0..0) && section != TableSection::Filter {
            return Err(TableError::new(
                TableSection::Footer,
                base,
                MissingSection,
                number_of(section),
                0,
            ));
        }
    }
    Ok(sections)
}
