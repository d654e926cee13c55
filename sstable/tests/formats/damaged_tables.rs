//! Small tables of both units, reading everything of one in every way, and making its checksums right after a change.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use std::collections::BTreeMap;

use tephra_sstable::{
    FilterPolicy, Policy, Table, TableCursor, TableError, TableOptions, TableWriter, Unit, UnitKind,
};

pub(crate) type Records = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) const FOOTER_LEN_BYTES: usize = 256;
pub(crate) const PAGE_LEN_BYTES: usize = 4096;

pub(crate) fn records(count: u32, value_len: usize) -> Records {
    let key = |number: u32| {
        format!(
            "shared/prefix/{:04}/{:x}@",
            number / 7,
            number.wrapping_mul(2_654_435_761)
        )
        .into_bytes()
    };
    (0..count)
        .map(|number| (key(number), vec![number.to_le_bytes()[0]; value_len]))
        .collect()
}

/// The string that some bytes stand for: of bits all but the last three, so that hardly one starts or ends at a byte.
/// Keys end with a byte whose other bits alone keep their order.
pub(crate) fn string<U: Unit>(bytes: &[u8]) -> U::Str<'_> {
    let units = match U::KIND {
        UnitKind::Byte => bytes.len() as u64,
        UnitKind::Bit => (bytes.len() as u64 * 8).saturating_sub(3),
    };
    U::string_at(bytes, 0, units).unwrap()
}

pub(crate) fn variable<U: Unit>() -> Policy {
    match U::KIND {
        UnitKind::Byte => Policy::byte_variable(),
        UnitKind::Bit => Policy::bit_variable(),
    }
}

pub(crate) fn write<U: Unit>(records: &Records, table_id: u64, policy: Policy) -> Vec<u8> {
    let options = TableOptions {
        filter: FilterPolicy::BitsPerKey(10),
        ..TableOptions::new(policy, table_id)
    };
    let mut writer = TableWriter::<_, U>::new(Vec::new(), options).unwrap();
    for (key, value) in records {
        writer.append(string::<U>(key), string::<U>(value)).unwrap();
    }
    writer.finish().unwrap().0
}

pub(crate) fn small<U: Unit>() -> (Records, Vec<u8>) {
    let records = records(40, 3);
    let file = write::<U>(&records, 7, variable::<U>());
    (records, file)
}

pub(crate) fn stands_on<U: Unit>(
    cursor: &TableCursor<'_, &[u8], U>,
    key: U::Str<'_>,
    value: U::Str<'_>,
) -> bool {
    U::compare(cursor.key(), key).is_eq() && U::compare(cursor.value(), value).is_eq()
}

pub(crate) fn look_up<U: Unit>(table: &Table<&[u8], U>, records: &Records) -> Result<(), TableError> {
    let mut cursor = table.cursor();
    for (ordinal, (key, value)) in (0u64..).zip(records) {
        let absent = [key, &b"?"[..]].concat();
        let (key, value) = (string::<U>(key), string::<U>(value));
        let found = table
            .get(key)?
            .expect("a present key is found, or an error says why not");
        assert_eq!(found.ordinal, ordinal);
        assert!(U::compare(table.value(&found), value).is_eq());
        assert_eq!(table.lower_bound(key)?, ordinal);
        assert!(cursor.seek(key)?);
        assert!(stands_on(&cursor, key, value));
        let absent = string::<U>(&absent);
        assert!(table.get(absent)?.is_none(), "an absent key was found");
    }
    Ok(())
}

pub(crate) fn walk<U: Unit>(
    table: &Table<&[u8], U>,
    records: &Records,
    forward: bool,
) -> Result<(), TableError> {
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
        assert!(stands_on(&cursor, string::<U>(key), string::<U>(value)));
        valid = if forward { cursor.next()? } else { cursor.prev()? };
    }
    assert!(!valid, "the walk goes on too long");
    Ok(())
}

/// Computes all checksums again after a change: of the pages, of the checksum section, of the footer.
pub(crate) fn reseal(file: &mut [u8]) {
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

/// Each test once for bytes and once for bits.
macro_rules! for_both_units {
    ($($name:ident),+ $(,)?) => {
        mod bytes {
            $(#[test] fn $name() { super::$name::<tephra_sstable::Byte>(); })+
        }
        mod bits {
            $(#[test] fn $name() { super::$name::<tephra_sstable::Bit>(); })+
        }
    };
}
pub(crate) use for_both_units;
