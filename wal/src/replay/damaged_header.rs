//! Opens a segment whose header is damaged, if its records prove what the header said.
//!
//! ```text
//!   | magic | version, zero | number | salt | boot id, reserved, CRC |
//!     known from the file's name        ?     not needed for records
//! ```
//!
//! 1. With what is known put in place, the header's checksum is right: the header is whole again.
//! 2. The known fields are as they should be, so the damage is behind them. The salt as it stands, if any record passes with it.
//! 3. The salt is damaged. The checksum of a record's header, worked back over its fields, tells the CRC of the salt that it was written
//!    with. It is believed if the first record is a whole `Begin` and at least one more passes with it.
//!
//! A header with a right checksum that says something else is not damaged: the file is another one, and nothing of it is taken.

use super::{Segment, SegmentBytes};
use crate::header::{BootId, FORMAT_VERSION, FileHeader, HEADER_LEN_BYTES, array};
use crate::record::{Framing, RECORD_HEADER_LEN_BYTES, RecordKind};

/// Where the salt starts: in front of it is what is known.
const SALT_OFFSET: usize = 24;

/// The segment, if its records can be read. Costs a search for the first whole record.
pub(super) fn open<'a>(given: SegmentBytes<'a>, magic: [u8; 8]) -> Option<Segment<'a>> {
    let header: [u8; HEADER_LEN_BYTES] = *given.bytes.first_chunk()?;
    let stored = u32::from_le_bytes(array(&header[60..]));
    if crc32fast::hash(&header[..60]) == stored {
        return None;
    }
    let mut mended = header;
    mended[..8].copy_from_slice(&magic);
    mended[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    mended[12..16].fill(0);
    mended[16..SALT_OFFSET].copy_from_slice(&given.number.to_le_bytes());
    if let Ok(Some(whole)) = FileHeader::decode(magic, given.number, &mended) {
        return Some(Segment::behind(given, &whole));
    }
    if mended[..SALT_OFFSET] != header[..SALT_OFFSET] {
        return None;
    }
    let as_it_stands = Framing::new(u64::from_le_bytes(array(&header[SALT_OFFSET..32])));
    let is_right = as_it_stands.find_next(given.bytes, HEADER_LEN_BYTES).is_some();
    let framing = match is_right {
        true => as_it_stands,
        false => of_the_first_record(given.bytes)?,
    };
    Some(Segment::framed(given, BootId::UNKNOWN, 0, framing))
}

/// The framing that the first two records were written with.
fn of_the_first_record(bytes: &[u8]) -> Option<Framing> {
    let framing = Framing::of_record(bytes, HEADER_LEN_BYTES)?;
    let begin = framing.decode(bytes, HEADER_LEN_BYTES).ok()?;
    let is_begin = begin.kind == RecordKind::Begin && begin.payload.len() == 16;
    let behind = HEADER_LEN_BYTES + RECORD_HEADER_LEN_BYTES + 16;
    (is_begin && framing.find_next(bytes, behind).is_some()).then_some(framing)
}
