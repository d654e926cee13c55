//! Forgeries: counts, lengths and offsets set to extremes, with all checksums right again.

use tephra_wal::{FileHeader, Framing, HEADER_LEN_BYTES, RECORD_HEADER_LEN_BYTES, Record};

const PAGE_LEN_BYTES: usize = 4096;
const FOOTER_LEN_BYTES: usize = 256;

/// The forgeries of a file, each with what was done.
pub(crate) fn forgeries(name: &str, bytes: &[u8], is_full: bool) -> Vec<(String, Vec<u8>)> {
    if name.ends_with(".table") {
        of_a_table(bytes, is_full)
    } else if name.ends_with(".log") || name.contains("MANIFEST") {
        of_a_framed_file(bytes)
    } else {
        Vec::new()
    }
}

/// Every word of everything.
fn of_a_table(bytes: &[u8], is_full: bool) -> Vec<(String, Vec<u8>)> {
    let mut forgeries = Vec::new();
    for at in (0..bytes.len() - 8).step_by(if is_full { 1 } else { 4 }) {
        for (len, value) in [
            (1, 0),
            (1, 0xff),
            (4, 0u64),
            (4, 1),
            (4, 0xffff_ffff),
            (8, 1),
            (8, u64::MAX),
            (8, 1 << 40),
        ] {
            let mut forged = bytes.to_vec();
            forged[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
            if forged != bytes {
                reseal(&mut forged);
                forgeries.push((format!("{value:x} in {len} bytes at {at}, sealed again"), forged));
            }
        }
    }
    forgeries
}

/// Computes all checksums of a table again.
fn reseal(file: &mut [u8]) {
    let footer = file.len() - FOOTER_LEN_BYTES;
    let field = |file: &[u8], at: usize| {
        let bytes = file[footer + at..footer + at + 8].try_into().unwrap();
        usize::try_from(u64::from_le_bytes(bytes)).unwrap()
    };
    let slot = (0..8)
        .map(|slot| slot * 24)
        .find(|&at| field(file, at) & 0xffff_ffff == 6);
    if let Some(slot) = slot {
        let (start, len) = (field(file, slot + 8), field(file, slot + 16));
        if start.checked_add(len).is_some_and(|end| end <= footer) {
            for (page, at) in (0..start)
                .step_by(PAGE_LEN_BYTES)
                .zip((start..start + len).step_by(4))
            {
                let crc = crc32fast::hash(&file[page..start.min(page + PAGE_LEN_BYTES)]);
                if let Some(place) = file.get_mut(at..at + 4) {
                    place.copy_from_slice(&crc.to_le_bytes());
                }
            }
            let crc = crc32fast::hash(&file[start..start + len]);
            file[footer + 224..footer + 228].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&file[footer..footer + 244]);
    file[footer + 244..footer + 248].copy_from_slice(&crc.to_le_bytes());
}

/// Every byte of every payload: a length, a count, a number, or a key's or value's, which it does not hurt to forge too. And the numbers of the
/// header.
fn of_a_framed_file(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut forgeries = Vec::new();
    for at in (8..HEADER_LEN_BYTES - 4).step_by(4) {
        for value in [0u32, 1, u32::MAX] {
            let mut forged = bytes.to_vec();
            forged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let crc = crc32fast::hash(&forged[..HEADER_LEN_BYTES - 4]);
            forged[HEADER_LEN_BYTES - 4..HEADER_LEN_BYTES].copy_from_slice(&crc.to_le_bytes());
            forgeries.push((format!("{value:x} at {at} of the header, sealed again"), forged));
        }
    }
    let salt = u64::from_le_bytes(bytes[24..32].try_into().unwrap());
    let framing = Framing::new(salt);
    debug_assert_eq!(FileHeader::log(1, salt, tephra_wal::BootId::UNKNOWN).salt, salt);
    let mut at = HEADER_LEN_BYTES;
    while let Ok(record) = framing.decode(bytes, at) {
        let record_at = at;
        at = usize::try_from(record.end()).unwrap();
        for index in 0..record.payload.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut payload = record.payload.to_vec();
                if std::mem::replace(&mut payload[index], value) != value {
                    let what =
                        format!("{value:x} in byte {index} of the record at {record_at}, sealed again");
                    forgeries.push((what, with_payload(bytes, &framing, &record, &payload)));
                }
            }
            // A count of nine digits and more, where one of one digit was.
            let mut payload = record.payload.to_vec();
            payload.splice(
                index..=index,
                [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            );
            let what = format!("2^63 - 1 in byte {index} of the record at {record_at}, sealed again");
            forgeries.push((what, with_payload(bytes, &framing, &record, &payload)));
        }
    }
    forgeries
}

/// The file with another payload in a record. What follows it moves, and is framed for its new place.
fn with_payload(bytes: &[u8], framing: &Framing, record: &Record<'_>, payload: &[u8]) -> Vec<u8> {
    let start = usize::try_from(record.offset).unwrap();
    let mut out = bytes[..start].to_vec();
    let mut push = |kind, payload: &[u8]| {
        let len = u32::try_from(payload.len()).unwrap();
        let header = framing.header(out.len() as u64, kind, len, crc32fast::hash(payload));
        assert_eq!(header.len(), RECORD_HEADER_LEN_BYTES);
        out.extend_from_slice(&header);
        out.extend_from_slice(payload);
    };
    push(record.kind, payload);
    let mut at = usize::try_from(record.end()).unwrap();
    while let Ok(next) = framing.decode(bytes, at) {
        push(next.kind, next.payload);
        at = usize::try_from(next.end()).unwrap();
    }
    let room = bytes.len();
    out.resize(out.len().max(room), 0);
    out
}
