//! What a reader makes of damaged table files: a typed error that says where, or the right answer. Never a panic,
//! never an allocation out of proportion, never a wrong answer.
//!
//! The tables are small, so that every bit, every length and every field can be tried: one page, and several.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use crate::damaged_tables::{
    FOOTER_LEN_BYTES, PAGE_LEN_BYTES, Records, for_both_units, look_up, records, reseal, small, string,
    variable, walk, write,
};
use tephra_sstable::{
    Bit, BitStr, Byte, Policy, Table, TableError, TableOptions, TableSection, TableWriter, Unit, UnitKind,
};

/// Opens a file, reads everything in every way, and gives the first error; panics on a wrong answer.
fn read_all<U: Unit>(file: &[u8], records: &Records) -> Result<(), TableError> {
    let table = Table::<_, U>::open(file)?;
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

fn resealing_an_undamaged_file_changes_nothing<U: Unit>() {
    let (records, file) = small::<U>();
    let mut again = file.clone();
    reseal(&mut again);
    assert!(again == file);
    assert_eq!(read_all::<U>(&file, &records), Ok(()));
}

/// Whichever bit is flipped, an error says so: every byte of the file is under a checksum.
fn every_flipped_bit_is_found<U: Unit>() {
    let (records, file) = small::<U>();
    assert!(
        file.len() < 2 * PAGE_LEN_BYTES,
        "{} bytes are too many to try each bit",
        file.len()
    );
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = Table::<_, U>::open(&damaged[..]).and_then(|table| table.verify().map(drop));
        let error = error.expect_err(&format!("bit {bit} of {} was flipped unseen", file.len() * 8));
        assert!(!error.to_string().is_empty());
        if bit % 8 == bit / 8 % 8 {
            read_all::<U>(&damaged, &records).expect_err("and no way of reading gives a wrong answer");
        }
    }
}

/// The same in a table of many pages: the error names the page, and other pages can still be read.
fn a_damaged_page_is_named_and_the_others_are_read<U: Unit>() {
    let records = records(1500, 30);
    let file = write::<U>(&records, 7, variable::<U>());
    let mut damaged = file.clone();
    let page = 5;
    damaged[page * PAGE_LEN_BYTES + 77] ^= 4;
    let table = Table::<_, U>::open(&damaged[..]).unwrap();
    let (mut found, mut failed) = (0, 0);
    for (key, value) in &records {
        match table.get(string::<U>(key)) {
            Ok(located) => {
                assert!(U::compare(table.value(&located.unwrap()), string::<U>(value)).is_eq());
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

fn every_truncation_and_extension_is_refused<U: Unit>() {
    let (_, file) = small::<U>();
    for len in 0..file.len() {
        assert!(
            Table::<_, U>::open(&file[..len]).is_err(),
            "{len} of {} bytes",
            file.len()
        );
    }
    for more in [1, 4, 255, 256, 4096] {
        assert!(
            Table::<_, U>::open([&file[..], &vec![0; more]].concat()).is_err(),
            "{more} bytes more"
        );
        assert!(
            Table::<_, U>::open([&vec![0; more], &file[..]].concat()).is_err(),
            "{more} bytes before"
        );
    }
    for garbage in [vec![0; 5000], vec![0xff; 5000]] {
        assert!(Table::<_, U>::open(garbage).is_err());
    }
}

fn parts_of_other_tables_are_refused<U: Unit>() {
    let (records, file) = small::<U>();
    let other = write::<U>(&records, 8, variable::<U>());
    assert_eq!(file.len(), other.len());
    let footer = file.len() - FOOTER_LEN_BYTES;
    let foreign_footer = [&file[..footer], &other[footer..]].concat();
    assert!(Table::<_, U>::open(foreign_footer).is_err());
    // Even with every checksum right, header and footer must name the same table.
    let mut resealed = [&file[..footer], &other[footer..]].concat();
    reseal(&mut resealed);
    let error = Table::<_, U>::open(resealed).unwrap_err();
    assert!(
        error.to_string().contains("table id: expected 7, found 8"),
        "{error}"
    );
}

#[test]
fn a_table_of_the_other_unit_is_refused() {
    let (_, file) = small::<Byte>();
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

/// The smallest tables, damaged likewise.
fn tables_without_records_and_with_one_are_checked_as_well<U: Unit>() {
    let fixed = match U::KIND {
        UnitKind::Byte => Policy::byte_fixed(0),
        UnitKind::Bit => Policy::bit_fixed(0),
    };
    for records in [records(0, 0), records(1, 0), records(16, 0)] {
        let file = write::<U>(&records, 3, fixed);
        assert_eq!(read_all::<U>(&file, &records), Ok(()));
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            read_all::<U>(&damaged, &records).expect_err("a flipped bit is found");
        }
        for len in 0..file.len() {
            assert!(Table::<_, U>::open(&file[..len]).is_err());
        }
    }
}

#[test]
fn errors_name_section_place_expected_and_found() {
    let (_, mut file) = small::<Byte>();
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

for_both_units!(
    resealing_an_undamaged_file_changes_nothing,
    every_flipped_bit_is_found,
    every_truncation_and_extension_is_refused,
    parts_of_other_tables_are_refused,
    tables_without_records_and_with_one_are_checked_as_well,
    a_damaged_page_is_named_and_the_others_are_read,
);
