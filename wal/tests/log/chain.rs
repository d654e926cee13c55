//! Several segments in a row: rotation, recoveries that follow recoveries, missing and lost segments.

use crate::support::{BOOT, NEXT_BOOT, THIRD_BOOT, at, prepared, replay};
use tephra_wal::{DamageKind, LogPosition, LogWriter, ReplayError};

/// Three segments of ten records each.
fn three() -> (
    LogWriter<tephra_wal::MemorySegment>,
    Vec<tephra_wal::MemorySegment>,
) {
    let (first, segment) = prepared(1, BOOT, 1 << 16);
    let mut segments = vec![segment];
    let writer = LogWriter::begin(first, None).unwrap();
    for number in 1..=3_u64 {
        for i in 0..10 {
            writer.append(&[(number * 10 + i) as u8; 200]).unwrap();
        }
        if number < 3 {
            let (next, segment) = prepared(number + 1, BOOT, 1 << 16);
            writer.rotate(next).unwrap();
            segments.push(segment);
        }
    }
    (writer, segments)
}

fn first_bytes(records: &[Vec<u8>]) -> Vec<u8> {
    records.iter().map(|record| record[0]).collect()
}

#[test]
fn segments_replay_in_order_and_from_any_first_one() {
    let (writer, segments) = three();
    let bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
    for skip in 0..3 {
        let (records, report) = replay(&given[skip..], BOOT).unwrap();
        assert_eq!(
            first_bytes(&records),
            (10 + 10 * skip as u8..40).collect::<Vec<_>>()
        );
        assert_eq!(report.end, writer.end());
    }
    let without_the_middle = [given[0], given[2]];
    let missing = ReplayError::MissingSegment {
        segment: 2,
        named_by: 3,
    };
    assert_eq!(replay(&without_the_middle, BOOT).unwrap_err(), missing);
    let emptied: [(u64, &[u8]); 3] = [given[0], (2, &[]), given[2]];
    assert_eq!(replay(&emptied, NEXT_BOOT).unwrap_err(), missing);
}

/// A segment that others went on from is sealed with the name of the next: the newest cannot go without a trace.
#[test]
fn a_missing_or_emptied_newest_segment_is_an_error() {
    let (_, segments) = three();
    let bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
    for boot in [BOOT, NEXT_BOOT] {
        let missing = |segment, named_by| ReplayError::MissingSegment { segment, named_by };
        assert_eq!(replay(&given[..2], boot).unwrap_err(), missing(3, 2));
        assert_eq!(replay(&given[..1], boot).unwrap_err(), missing(2, 1));
        for lost in [&[][..], &bytes[2][..63], &[0; 4_096]] {
            let error = replay(&[given[0], given[1], (3, lost)], boot).unwrap_err();
            let kind = DamageKind::Unprepared { named_by: 2 };
            assert!(
                matches!(error, ReplayError::Damaged { segment: 3, offset: 0, kind: found } if found == kind),
                "{error}"
            );
        }
        // Nothing in it had reached the disk: a power cut may leave that.
        let (records, _) = replay(&[given[0], given[1], (3, &bytes[2][..64])], boot).unwrap();
        assert_eq!(records.len(), 20);
    }
    // The log went on in a later segment: the next one may be gone.
    let (later, unused) = prepared(5, BOOT, 4_096);
    drop(later);
    let (records, _) = replay(&[given[0], given[1], (5, &unused.to_vec())], BOOT).unwrap();
    assert_eq!(records.len(), 20);
}

#[test]
fn a_prepared_segment_is_no_part_of_the_log() {
    let (writer, segments) = three();
    let (_, unused) = prepared(4, BOOT, 1 << 16);
    let bytes: Vec<_> = segments.iter().chain([&unused]).map(|s| s.to_vec()).collect();
    let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
    let (records, report) = replay(&given, BOOT).unwrap();
    assert_eq!((records.len(), report.end), (30, writer.end()));

    // The recovery goes on in segment 5 and does not care whether 4 was removed.
    let (next, fifth) = prepared(5, BOOT, 1 << 16);
    LogWriter::begin(next, Some(report.end))
        .unwrap()
        .append(&[99; 10])
        .unwrap();
    let fifth = fifth.to_vec();
    let mut given = given;
    given.push((5, &fifth));
    assert_eq!(replay(&given, BOOT).unwrap().0.len(), 31);
    given.remove(3);
    assert_eq!(replay(&given, BOOT).unwrap().0.len(), 31);
}

#[test]
fn an_early_segment_that_lost_its_end_takes_the_later_ones_with_it() {
    let (_, segments) = three();
    let mut bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    bytes[1][1_024..].fill(0);
    let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
    let (records, report) = replay(&given, NEXT_BOOT).unwrap();
    assert_eq!(first_bytes(&records), (10..24).collect::<Vec<_>>());
    assert_eq!(
        report.dropped.iter().map(|d| d.segment).collect::<Vec<_>>(),
        [2, 3]
    );

    // In the same boot that cannot be, and the error names the place.
    let error = replay(&given, BOOT).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("segment 2 is damaged at offset 945: "),
        "{error}"
    );

    // A recovery goes on in segment 4. From then on segment 3 and the rest of 2 do not count, whether or not they were removed.
    let (next, fourth) = prepared(4, NEXT_BOOT, 1 << 16);
    let writer = LogWriter::begin(next, Some(report.end)).unwrap();
    for i in 50..60 {
        writer.append(&[i; 100]).unwrap();
    }
    let fourth = fourth.to_vec();
    let mut after: Vec<_> = given.clone();
    after.push((4, &fourth));
    let expected: Vec<u8> = (10..24).chain(50..60).collect();
    for boot in [NEXT_BOOT, THIRD_BOOT] {
        let (records, report) = replay(&after, boot).unwrap();
        assert_eq!(first_bytes(&records), expected);
        assert_eq!(report.end, writer.end());
    }
    after.remove(2);
    assert_eq!(first_bytes(&replay(&after, NEXT_BOOT).unwrap().0), expected);

    // Once read after a restart, and followed, it was on the disk: to lose more of it now is damage in any boot.
    let mut second = bytes[1].clone();
    second[600..].fill(0);
    after[1].1 = &second;
    for boot in [NEXT_BOOT, THIRD_BOOT] {
        let error = replay(&after, boot).unwrap_err();
        assert!(
            matches!(error, ReplayError::Damaged { segment: 2, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_segment_that_lost_its_begin_is_dropped_and_the_log_goes_on_before_it() {
    let (_, segments) = three();
    let mut bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    bytes[2][64..512].fill(0);
    let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
    let (records, report) = replay(&given, NEXT_BOOT).unwrap();
    assert_eq!(records.len(), 20);
    assert_eq!(
        report.end.segment, 2,
        "the next segment follows the last one that counts"
    );
    assert_eq!(
        (
            report.dropped.len(),
            report.dropped[0].segment,
            report.dropped[0].from
        ),
        (1, 3, 64)
    );
    replay(&given, BOOT).unwrap_err();

    let (next, fourth) = prepared(4, NEXT_BOOT, 1 << 16);
    LogWriter::begin(next, Some(report.end))
        .unwrap()
        .append(&[77; 10])
        .unwrap();
    let fourth = fourth.to_vec();
    let mut after = given;
    after.push((4, &fourth));
    let (records, _) = replay(&after, NEXT_BOOT).unwrap();
    assert_eq!((records.len(), records[20][0]), (21, 77));
}

/// A mark in a later segment vouches for the earlier ones.
#[test]
fn a_synced_place_is_never_dropped() {
    let (writer, segments) = three();
    writer.sync().unwrap();
    writer.append(b"behind the mark").unwrap();
    let bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    for damaged in 0..3 {
        for sector in (1..4).chain([0].into_iter().filter(|_| damaged == 2)) {
            let mut bytes = bytes.clone();
            let from = if sector == 0 { 64 } else { sector * 512 };
            bytes[damaged][from..(sector + 1) * 512].fill(0);
            let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
            let error = replay(&given, NEXT_BOOT).unwrap_err();
            assert!(error.to_string().contains("says a mark (segment 3,"), "{error}");
        }
    }
}

/// Five rotations and nothing flushed: all of it is needed.
#[test]
fn every_unflushed_segment_is_replayed() {
    let (first, segment) = prepared(1, BOOT, 4_096);
    let mut segments = vec![(1, segment)];
    let writer = LogWriter::begin(first, None).unwrap();
    let mut written = Vec::new();
    for i in 0..60_u8 {
        let record = vec![i; 400];
        let position = match writer.append(&record) {
            Ok(position) => position,
            Err(tephra_wal::LogError::SegmentFull { segment, .. }) => {
                let (next, bytes) = prepared(segment + 2, BOOT, 4_096);
                writer.rotate(next).unwrap();
                segments.push((segment + 2, bytes));
                writer.append(&record).unwrap()
            }
            Err(error) => panic!("{error}"),
        };
        assert_eq!(position.segment, segments.last().unwrap().0);
        written.push(record);
    }
    assert!(segments.len() > 5);
    let bytes: Vec<_> = segments.iter().map(|(number, s)| (*number, s.to_vec())).collect();
    let given: Vec<(u64, &[u8])> = bytes.iter().map(|(number, b)| (*number, b.as_slice())).collect();
    assert_eq!(replay(&given, BOOT).unwrap().0, written);
}

#[test]
fn positions_are_ordered_as_the_log_is() {
    let default = LogPosition::default();
    assert!(default < at(1, 64) && at(1, 9_999) < at(2, 64) && at(2, 64) < at(2, 65));
}

/// A power cut took the `Begin` of the second segment and kept that of the third. Cause: walking back from the third, replay stopped at the
/// second, which names nothing. Loss: the whole first segment, synced or not. Fix: the walk goes on at the newest one before.
#[test]
fn a_begin_lost_in_the_middle_hides_no_earlier_segment() {
    let (_, segments) = three();
    let mut bytes: Vec<_> = segments.iter().map(|s| s.to_vec()).collect();
    for lost in [512, 1 << 16] {
        let end = lost.min(bytes[1].len());
        bytes[1][64..end].fill(0);
        let given: Vec<(u64, &[u8])> = (1..).zip(bytes.iter().map(Vec::as_slice)).collect();
        let (records, report) = replay(&given, NEXT_BOOT).unwrap();
        assert_eq!(first_bytes(&records), (10..20).collect::<Vec<_>>());
        assert_eq!(report.end.segment, 1);
        assert_eq!(
            report
                .dropped
                .iter()
                .map(|d| (d.segment, d.from))
                .collect::<Vec<_>>(),
            [(2, 64), (3, 64)]
        );
        replay(&given, BOOT).unwrap_err();
    }
}
