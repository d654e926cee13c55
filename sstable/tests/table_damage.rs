//! What a reader makes of damaged table files: a typed error that says where, or the right answer. Never a panic,
//! never an allocation out of proportion, never a wrong answer.
//!
//! The tables are small, so that every bit, every length and every field can be tried: one page, and several.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use std::collections::BTreeMap;

use tephra_sstable::{
    Bit, BitStr, Byte, FilterPolicy, Policy, Table, TableError, TableOptions, TableSection, TableWriter,
};

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

const FOOTER_LEN_BYTES: usize = 256;
const PAGE_LEN_BYTES: usize = 4096;

fn records(count: u32, value_len: usize) -> Records {
    let key = |number: u32| {
        format!(
            "shared/prefix/{:04}/{:x}",
            number / 7,
            number.wrapping_mul(2_654_435_761)
        )
        .into_bytes()
    };
    (0..count)
        .map(|number| (key(number), vec![number.to_le_bytes()[0]; value_len]))
        .collect()
}

fn write(records: &Records, table_id: u64, policy: Policy) -> Vec<u8> {
    let options = TableOptions {
        filter: FilterPolicy::BitsPerKey(10),
        ..TableOptions::new(policy, table_id)
    };
    let mut writer = TableWriter::<_>::new(Vec::new(), options).unwrap();
    for (key, value) in records {
        writer.append(key, value).unwrap();
    }
    writer.finish().unwrap().0
}

fn small() -> (Records, Vec<u8>) {
    let records = records(40, 3);
    let file = write(&records, 7, Policy::byte_variable());
    (records, file)
}

/// Opens a file, reads everything in every way, and gives the first error; panics on a wrong answer.
fn read_all(file: &[u8], records: &Records) -> Result<(), TableError> {
    let table = Table::<_>::open(file)?;
    let mut first_error = None;
    let mut note = |result: Result<(), TableError>| {
        if let Err(error) = result {
            first_error.get_or_insert(error);
        }
    };
    note(look_up(&table, records));
    note(walk(&table, records, true));
    note(walk(&table, records, false));
    note(table.encoded().map(drop));
    note(table.verify().map(drop));
    match first_error {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn look_up(table: &Table<&[u8]>, records: &Records) -> Result<(), TableError> {
    let mut cursor = table.cursor();
    for (ordinal, (key, value)) in (0u64..).zip(records) {
        let found = table
            .get(key)?
            .expect("a present key is found, or an error says why not");
        assert_eq!((found.ordinal, table.value(&found)), (ordinal, &value[..]));
        assert_eq!(table.lower_bound(key)?, ordinal);
        assert!(cursor.seek(key)?);
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
        let absent = [key, &b"?"[..]].concat();
        assert!(table.get(&absent)?.is_none(), "an absent key was found");
    }
    Ok(())
}

fn walk(table: &Table<&[u8]>, records: &Records, forward: bool) -> Result<(), TableError> {
    let mut cursor = table.cursor();
    let mut expected: Vec<_> = records.iter().collect();
    if !forward {
        expected.reverse();
    }
    let mut valid = if forward {
        cursor.seek_to_first()?
    } else {
        cursor.seek_to_last()?
    };
    for (key, value) in expected {
        assert!(valid, "the walk ends early, without an error");
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
        valid = if forward { cursor.next()? } else { cursor.prev()? };
    }
    assert!(!valid, "the walk goes on too long");
    Ok(())
}

/// Computes all checksums again after a change: of the pages, of the checksum section, of the footer.
fn reseal(file: &mut [u8]) {
    let footer = file.len() - FOOTER_LEN_BYTES;
    let field = |file: &[u8], at: usize| {
        usize::try_from(u64::from_le_bytes(
            file[footer + at..footer + at + 8].try_into().unwrap(),
        ))
        .unwrap()
    };
    let checksums_slot = (0..8)
        .map(|slot| slot * 24)
        .find(|&at| field(file, at) & 0xffff_ffff == 6);
    if let Some(slot) = checksums_slot {
        let (start, len) = (field(file, slot + 8), field(file, slot + 16));
        if start.checked_add(len).is_some_and(|end| end <= footer) {
            for (page, at) in (0..start)
                .step_by(PAGE_LEN_BYTES)
                .zip((start..start + len).step_by(4))
            {
                let crc = crc32fast::hash(&file[page..start.min(page + PAGE_LEN_BYTES)]);
                file[at..at + 4].copy_from_slice(&crc.to_le_bytes());
            }
            let crc = crc32fast::hash(&file[start..start + len]);
            file[footer + 224..footer + 228].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&file[footer..footer + 244]);
    file[footer + 244..footer + 248].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn resealing_an_undamaged_file_changes_nothing() {
    let (records, file) = small();
    let mut again = file.clone();
    reseal(&mut again);
    assert!(again == file);
    assert_eq!(read_all(&file, &records), Ok(()));
}

/// Whichever bit is flipped, an error says so: every byte of the file is under a checksum.
#[test]
fn every_flipped_bit_is_found() {
    let (records, file) = small();
    assert!(
        file.len() < 2 * PAGE_LEN_BYTES,
        "{} bytes are too many to try each bit",
        file.len()
    );
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = Table::<_>::open(&damaged[..]).and_then(|table| table.verify().map(drop));
        let error = error.expect_err(&format!("bit {bit} of {} was flipped unseen", file.len() * 8));
        assert!(!error.to_string().is_empty());
        if bit % 8 == bit / 8 % 8 {
            read_all(&damaged, &records).expect_err("and no way of reading gives a wrong answer");
        }
    }
}

/// The same in a table of many pages: the error names the page, and other pages can still be read.
#[test]
fn a_damaged_page_is_named_and_the_others_are_read() {
    let records = records(1500, 30);
    let file = write(&records, 7, Policy::byte_variable());
    let mut damaged = file.clone();
    let page = 5;
    damaged[page * PAGE_LEN_BYTES + 77] ^= 4;
    let table = Table::<_>::open(&damaged[..]).unwrap();
    let (mut found, mut failed) = (0, 0);
    for (key, value) in &records {
        match table.get(key) {
            Ok(located) => {
                assert_eq!(table.value(&located.unwrap()), &value[..]);
                found += 1;
            }
            Err(error) => {
                assert_eq!(error.section(), TableSection::Payload);
                let page = format!("byte {}: checksum of the page", page * PAGE_LEN_BYTES);
                assert!(error.to_string().contains(&page), "{error}");
                failed += 1;
            }
        }
    }
    assert!(found > 1000 && failed > 50, "{found} found, {failed} failed");
    assert!(table.verify().is_err() && table.encoded().is_err());
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let (_, file) = small();
    for len in 0..file.len() {
        assert!(
            Table::<_>::open(&file[..len]).is_err(),
            "{len} of {} bytes",
            file.len()
        );
    }
    for more in [1, 4, 255, 256, 4096] {
        assert!(
            Table::<_>::open([&file[..], &vec![0; more]].concat()).is_err(),
            "{more} bytes more"
        );
        assert!(
            Table::<_>::open([&vec![0; more], &file[..]].concat()).is_err(),
            "{more} bytes before"
        );
    }
    for garbage in [vec![0; 5000], vec![0xff; 5000]] {
        assert!(Table::<_>::open(garbage).is_err());
    }
}

#[test]
fn parts_of_other_tables_are_refused() {
    let (records, file) = small();
    let other = write(&records, 8, Policy::byte_variable());
    assert_eq!(file.len(), other.len());
    let footer = file.len() - FOOTER_LEN_BYTES;
    let foreign_footer = [&file[..footer], &other[footer..]].concat();
    assert!(Table::<_>::open(foreign_footer).is_err());
    // Even with every checksum right, header and footer must name the same table.
    let mut resealed = [&file[..footer], &other[footer..]].concat();
    reseal(&mut resealed);
    let error = Table::<_>::open(resealed).unwrap_err();
    assert!(
        error.to_string().contains("table id: expected 7, found 8"),
        "{error}"
    );
}

#[test]
fn a_table_of_the_other_unit_is_refused() {
    let (_, file) = small();
    let error = Table::<_, Bit>::open(file).unwrap_err();
    assert!(error.to_string().contains("unit"), "{error}");
    let options = TableOptions::new(Policy::bit_variable(), 1);
    let mut writer = TableWriter::<_, Bit>::new(Vec::new(), options).unwrap();
    writer
        .append(BitStr::from_bytes(b"key"), BitStr::from_bytes(b"value"))
        .unwrap();
    let (file, _) = writer.finish().unwrap();
    assert!(Table::<_, Byte>::open(file).is_err());
}

/// Every aligned word of everything but the payload's records, set to the extremes with all checksums computed
/// again: a forger's file. An error, or the answers of the file without the forgery; or, where properties that
/// nothing depends on were forged, an error of `verify`. The words of the payload are forged in the next test.
#[test]
fn forged_counts_and_offsets_are_found_or_harmless() {
    let (records, file) = small();
    let table = Table::<_>::open(&file[..]).unwrap();
    let payload_end = 64 + table.encoded().unwrap().payload.len();
    let checked = (0..64).chain(payload_end.next_multiple_of(64)..file.len() - 12);
    let mut outcomes = [0, 0];
    for at in checked {
        for (len, value) in [
            (1, 0),
            (1, 1),
            (1, 0xff),
            (4, 0),
            (4, 1),
            (4, 0xffff_ffff),
            (8, 0),
            (8, 1),
            (8, u64::MAX),
        ] {
            let mut forged = file.clone();
            forged[at..at + len].copy_from_slice(&u64::to_le_bytes(value)[..len]);
            if forged == file {
                continue;
            }
            reseal(&mut forged);
            outcomes[usize::from(survives(&forged, &records))] += 1;
        }
    }
    assert!(outcomes[0] > 1000, "{outcomes:?}");
}

/// Whether a forged file reads as the true one does. Reading must end, and may not panic.
fn survives(forged: &[u8], records: &Records) -> bool {
    let Ok(table) = Table::<_>::open(forged) else {
        return false;
    };
    let verified = table.verify();
    let mut cursor = table.cursor();
    for key in records.keys() {
        // A forger can hide or move records: not what they are, but that nothing breaks is tried here.
        let (_, _, _) = (table.get(key), table.lower_bound(key), cursor.seek(key));
        let (_, _) = (cursor.next(), cursor.prev());
    }
    for forward in [true, false] {
        let mut cursor = table.cursor();
        let mut valid = if forward {
            cursor.seek_to_first()
        } else {
            cursor.seek_to_last()
        };
        let mut steps = 0;
        while valid == Ok(true) {
            steps += 1;
            assert!(steps <= table.record_count(), "a walk does not end");
            valid = if forward { cursor.next() } else { cursor.prev() };
        }
    }
    if verified.is_ok() {
        look_up(&table, records)
            .and(walk(&table, records, true))
            .and(walk(&table, records, false))
            .unwrap();
    }
    verified.is_ok()
}

/// Forged frames: whatever they say, reading them ends without a panic.
#[test]
fn forged_frames_break_nothing() {
    let (records, file) = small();
    let payload_end = 64
        + Table::<_>::open(&file[..])
            .unwrap()
            .encoded()
            .unwrap()
            .payload
            .len();
    for at in 64..payload_end {
        for value in [0, 1, 2, 3, 17, 0x7f, 0x80, 0xff] {
            let mut forged = file.clone();
            forged[at] = value;
            if forged != file {
                reseal(&mut forged);
                // A changed value is another value, which no rule forbids: hence no look at the answers.
                forged_walk(&forged, &records);
            }
        }
    }
}

fn forged_walk(forged: &[u8], records: &Records) {
    let Ok(table) = Table::<_>::open(forged) else {
        return;
    };
    let _ = table.verify();
    let mut cursor = table.cursor();
    for key in records.keys() {
        let (_, _, _) = (table.get(key), cursor.seek(key), cursor.prev());
    }
    let mut valid = cursor.seek_to_last();
    while valid == Ok(true) {
        valid = cursor.prev();
    }
    let mut valid = cursor.seek_to_first();
    while valid == Ok(true) {
        valid = cursor.next();
    }
}

/// The smallest tables, damaged likewise.
#[test]
fn tables_without_records_and_with_one_are_checked_as_well() {
    for records in [records(0, 0), records(1, 0), records(16, 0)] {
        let file = write(&records, 3, Policy::byte_fixed(0));
        assert_eq!(read_all(&file, &records), Ok(()));
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            read_all(&damaged, &records).expect_err("a flipped bit is found");
        }
        for len in 0..file.len() {
            assert!(Table::<_>::open(&file[..len]).is_err());
        }
    }
}

#[test]
fn errors_name_section_place_expected_and_found() {
    let (_, mut file) = small();
    let last = file.len() - 1;
    file[last] ^= 1;
    let error = Table::<_>::open(&file[..]).unwrap_err();
    assert_eq!(error.section(), TableSection::Footer);
    assert!(
        error
            .to_string()
            .starts_with(&format!("footer, byte {}: magic number: expected", last - 7)),
        "{error}"
    );
}
