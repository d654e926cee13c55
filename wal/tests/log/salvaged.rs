//! Segments with a damaged header: their records are taken if they prove what the header said, and never those of another file.

use crate::support::{log_of, prepared};
use tephra_wal::{LOG_MAGIC, LogWriter, Salvage, SegmentBytes, salvage};

const RECORDS: [&[u8]; 3] = [b"first", b"", b"third"];

fn salvaged(number: u64, bytes: &[u8]) -> Salvage<'_> {
    salvage(&[SegmentBytes { number, bytes }], LOG_MAGIC)
}

#[test]
fn one_damaged_byte_or_field_of_a_header_costs_no_record() {
    let (_, segment) = log_of(&RECORDS);
    let whole = segment.to_vec();
    let bytes = (0..64).map(|at| at..at + 1);
    let fields = [0..8, 8..12, 12..16, 16..24, 24..32, 32..48, 48..56, 60..64];
    for damaged in bytes.chain(fields) {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[damaged.clone()].iter_mut().for_each(|byte| *byte ^= flip);
            let found = salvaged(7, &bytes);
            let payloads: Vec<_> = found.records.iter().map(|record| record.payload).collect();
            assert_eq!(payloads, RECORDS, "{damaged:?} {flip}");
            assert!(
                matches!(&found.gaps[..], [gap] if gap.is_header() && gap.segment == 7),
                "{damaged:?} {flip}: {:?}",
                found.gaps
            );
        }
    }
}

#[test]
fn a_damaged_record_behind_a_damaged_header_is_a_gap_of_its_own() {
    let (_, segment) = log_of(&RECORDS);
    let mut bytes = segment.to_vec();
    bytes[16] ^= 1;
    // Within the payload of the first record.
    bytes[64 + 29 + 13 + 2] ^= 1;
    let found = salvaged(7, &bytes);
    let payloads: Vec<_> = found.records.iter().map(|record| record.payload).collect();
    assert_eq!(payloads, RECORDS[1..]);
    assert_eq!(found.gaps.len(), 2, "{:?}", found.gaps);
}

#[test]
fn nothing_is_taken_of_another_file_nor_where_nothing_proves_the_salt() {
    let (_, segment) = log_of(&RECORDS);
    let whole = segment.to_vec();
    // Another number, whole or with a flip behind it; another kind of file.
    for at in [None, Some(25), Some(40), Some(62)] {
        let mut bytes = whole.clone();
        at.into_iter().for_each(|at: usize| bytes[at] ^= 4);
        let found = salvaged(8, &bytes);
        assert!(found.records.is_empty() && found.gaps.len() == 1, "{at:?}");
        assert!(!found.gaps[0].is_header());
        let given = [SegmentBytes {
            number: 7,
            bytes: &bytes,
        }];
        assert!(salvage(&given, *b"another\n").records.is_empty(), "{at:?}");
    }
    // Salt and `Begin` are both damaged.
    let mut bytes = whole;
    bytes[24] ^= 1;
    bytes[64] ^= 1;
    assert!(salvaged(7, &bytes).records.is_empty());
    // A `Begin` alone proves nothing.
    let (prepared, segment) = prepared(7, crate::support::BOOT, 1 << 16);
    let _writer = LogWriter::begin(prepared, None).unwrap();
    let mut bytes = segment.to_vec();
    bytes[24] ^= 1;
    let found = salvaged(7, &bytes);
    assert!(found.records.is_empty() && !found.gaps[0].is_header());
}
