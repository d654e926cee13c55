//! The example of `FORMAT.md`, byte for byte: a table written long ago is read, and written the same today.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use std::num::NonZeroU32;

use tephra_sstable::{Policy, Table, TableOptions, TableWriter};

const RECORDS: [(&[u8], &[u8]); 4] = [(b"car", b"1"), (b"cart", b"22"), (b"cat", b""), (b"dog", b"4")];

/// The listing at the end of the specification: an offset and up to sixteen bytes a line, lines of zeros left out.
fn listed() -> Vec<u8> {
    let text = include_str!("../../FORMAT.md");
    let (_, listing) = text.rsplit_once("## 8.").unwrap();
    let listing = listing.split("```").nth(1).unwrap();
    let mut file = vec![0; 836];
    for line in listing.trim().lines() {
        let mut words = line.split_whitespace();
        let offset: usize = words.next().unwrap().parse().unwrap();
        for (at, byte) in (offset..).zip(words) {
            file[at] = u8::from_str_radix(byte, 16).unwrap();
        }
    }
    file
}

#[test]
fn the_example_is_written_as_specified() {
    let policy = Policy {
        records_per_block: NonZeroU32::new(2).unwrap(),
        ..Policy::byte_variable()
    };
    let options = TableOptions {
        creation: 9,
        ..TableOptions::new(policy, 7)
    };
    let mut writer = TableWriter::<_>::new(Vec::new(), options).unwrap();
    for (key, value) in RECORDS {
        writer.append(key, value).unwrap();
    }
    let (file, _) = writer.finish().unwrap();
    let listed = listed();
    let differing = file
        .iter()
        .zip(&listed)
        .position(|(found, expected)| found != expected);
    assert_eq!((file.len(), differing), (listed.len(), None));
}

#[test]
fn the_example_is_read() {
    let table = Table::<_>::open(listed()).unwrap();
    assert_eq!(table.verify().unwrap().record_count, 4);
    let properties = table.properties();
    assert_eq!(
        (properties.table_id, properties.creation, properties.record_count),
        (7, 9, 4)
    );
    assert!(properties.ordinary_front_coding);
    assert_eq!(properties.composition_law, "replace");
    let mut cursor = table.cursor();
    for (key, value) in RECORDS {
        assert_eq!(table.value(&table.get(key).unwrap().unwrap()), value);
        assert_eq!(cursor.next(), Ok(true));
        assert_eq!((cursor.key(), cursor.value()), (key, value));
    }
}
