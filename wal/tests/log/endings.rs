//! How one segment may end: cut short, flipped, torn, stale, sealed; and which of these are damage.

use crate::support::{BOOT, NEXT_BOOT, Random, log_of, prepared, replay_one};
use tephra_wal::{
    DamageKind, Evidence, FileHeader, Framing, LogWriter, RecordFault, RecordKind, ReplayError,
};

const RECORDS: [&[u8]; 4] = [b"first", b"", b"the third one is somewhat longer", &[9; 9]];

#[test]
fn what_was_appended_is_replayed() {
    let (writer, segment) = log_of(&RECORDS);
    let (records, report) = replay_one(&segment.to_vec(), BOOT).unwrap();
    assert_eq!(records, RECORDS);
    assert_eq!(
        (report.end, report.is_sealed, report.record_count),
        (writer.end(), false, 4)
    );
    assert!(report.dropped.is_empty());
    writer.seal().unwrap();
    let (records, report) = replay_one(&segment.to_vec(), NEXT_BOOT).unwrap();
    assert_eq!(
        (records.len(), report.is_sealed, report.end),
        (4, true, writer.end())
    );
}

#[test]
fn zeros_behind_the_last_record_are_an_ordinary_end() {
    let (_, segment) = log_of(&RECORDS);
    let mut bytes = segment.to_vec();
    let len = bytes.len();
    for more in [1, 511, 512, 100_000] {
        bytes.resize(len + more, 0);
        let (records, report) = replay_one(&bytes, BOOT).unwrap();
        assert!(records == RECORDS && report.dropped.is_empty());
    }
}

#[test]
fn every_truncation_gives_a_prefix() {
    let (_, segment) = log_of(&RECORDS);
    let whole = segment.to_vec();
    let ends: Vec<usize> = {
        let mut ends = vec![64 + 29];
        ends.extend(RECORDS.iter().scan(64 + 29, |end, record| {
            *end += 13 + record.len();
            Some(*end)
        }));
        ends
    };
    for len in 0..=whole.len() {
        for boot in [BOOT, NEXT_BOOT] {
            let (records, report) = replay_one(&whole[..len], boot).unwrap();
            let expected = ends.iter().filter(|&&end| end <= len).count().saturating_sub(1);
            assert_eq!(records, RECORDS[..expected], "cut at {len}");
            let at_an_end = len <= 64 || ends.contains(&len);
            assert_eq!(report.dropped.is_empty(), at_an_end, "cut at {len}: {report:?}");
            // Cut short, then zeros up to the capacity: the same records.
            let mut padded = whole[..len].to_vec();
            padded.resize(whole.len() + 700, 0);
            assert_eq!(
                replay_one(&padded, boot).unwrap().0,
                RECORDS[..expected],
                "zeros from {len}"
            );
        }
    }
}

/// A file whose room is set aside has its whole length from the start, and gives the rest back when it is sealed.
#[test]
fn a_file_shorter_than_its_header_says_is_damaged_unless_it_ends_in_a_seal() {
    let reserved_bytes = 2_000;
    let header = FileHeader {
        reserved_bytes,
        ..FileHeader::log(7, 99, BOOT)
    };
    let framing = Framing::new(99);
    let mut bytes = header.encode().to_vec();
    let push = |bytes: &mut Vec<u8>, kind, payload: &[u8]| {
        let (len, checksum) = (payload.len() as u32, crc32fast::hash(payload));
        let header = framing.header(bytes.len() as u64, kind, len, checksum);
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(payload);
    };
    push(&mut bytes, RecordKind::Begin, &[0; 16]);
    RECORDS
        .iter()
        .for_each(|record| push(&mut bytes, RecordKind::Data, record));
    let mut sealed = bytes.clone();
    push(&mut sealed, RecordKind::Seal, &[]);
    bytes.resize(reserved_bytes as usize, 0);
    for boot in [BOOT, NEXT_BOOT] {
        assert_eq!(replay_one(&bytes, boot).unwrap().0, RECORDS);
        // A power cut may leave a header alone, of a file that was never put in use.
        assert!(replay_one(&bytes[..64], boot).unwrap().0.is_empty());
        for len in 65..bytes.len() {
            let error = replay_one(&bytes[..len], boot).expect_err(&format!("cut to {len}"));
            let said = format!("made 2000 bytes long and has {len}");
            assert!(error.to_string().contains(&said), "{error}");
        }
        let (records, report) = replay_one(&sealed, boot).unwrap();
        assert!(records == RECORDS && report.is_sealed);
        replay_one(&sealed[..sealed.len() - 1], boot).expect_err("the seal is cut");
    }
}

/// In the boot that wrote the log nothing can be missing, so every flip is an error, but for those in the last record, which look like
/// a record that was being written when the process died: it is dropped and reported.
#[test]
fn every_bit_flip_is_an_error_or_drops_the_last_record() {
    let (_, segment) = log_of(&RECORDS);
    let whole = segment.to_vec();
    let last = whole.len() - 13 - RECORDS[3].len();
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        match replay_one(&bytes, BOOT) {
            Ok((records, report)) => {
                assert!(bit / 8 >= last, "flip of bit {bit} passed");
                assert_eq!(records, RECORDS[..3]);
                assert_eq!((report.dropped.len(), report.dropped[0].from), (1, last as u64));
            }
            Err(ReplayError::Damaged { segment, offset, .. }) => {
                assert!(bit / 8 < last, "flip of bit {bit}");
                assert!(
                    segment == 7 && offset <= (bit / 8) as u64 || bit / 8 < 60,
                    "bit {bit}, named {offset}"
                );
            }
            Err(other) => panic!("flip of bit {bit}: {other}"),
        }
    }
}

/// The same log, closed: there is no last record to doubt, in whatever boot.
#[test]
fn every_bit_flip_of_a_sealed_log_is_an_error() {
    let (writer, segment) = log_of(&RECORDS);
    writer.seal().unwrap();
    let whole = segment.to_vec();
    let mark = whole.len() - 13 - 13 - 8;
    for bit in 0..mark * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        for boot in [BOOT, NEXT_BOOT] {
            replay_one(&bytes, boot).expect_err(&format!("flip of bit {bit}"));
        }
    }
}

#[test]
fn damage_in_the_middle_is_named_with_its_offset() {
    let (writer, segment) = log_of(&RECORDS);
    let third = 64 + 29 + 13 + 5 + 13;
    let mut bytes = segment.to_vec();
    bytes[third + 13] ^= 0x10;
    let error = replay_one(&bytes, BOOT).unwrap_err();
    let ReplayError::Damaged {
        segment: 7,
        offset,
        kind: DamageKind::Record { fault, evidence },
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(offset, third as u64);
    assert!(matches!(fault, RecordFault::PayloadChecksum { .. }));
    assert!(matches!(evidence, Evidence::SameBoot { .. }));
    assert!(
        error
            .to_string()
            .starts_with("segment 7 is damaged at offset 124: record payload checksum: expected ")
    );

    // After a loss of power: a valid record follows, and what is wrong is not a sector that was never written.
    let error = replay_one(&bytes, NEXT_BOOT).unwrap_err();
    assert!(
        error.to_string().contains("no sector in between was lost"),
        "{error}"
    );

    // With the sector's end zeroed a crash explains it, unless the log says the place was synced.
    let with_a_lost_sector = |synced: bool| {
        if synced {
            writer.sync().unwrap();
        }
        writer.append(&[1; 1_000]).unwrap();
        writer.append(b"behind").unwrap();
        let mut bytes = segment.to_vec();
        bytes[third..512].fill(0);
        replay_one(&bytes, NEXT_BOOT)
    };
    let (records, report) = with_a_lost_sector(false).unwrap();
    assert_eq!(records, RECORDS[..2]);
    assert_eq!(
        (report.end.offset, report.dropped[0].from),
        (third as u64, third as u64)
    );
    assert_eq!(report.dropped[0].fault, Some(RecordFault::NothingWritten));
    let error = with_a_lost_sector(true).unwrap_err();
    assert!(
        error.to_string().contains("it had reached the disk, says a mark"),
        "{error}"
    );
}

#[test]
fn a_hole_is_never_skipped() {
    let records: Vec<Vec<u8>> = (0..40).map(|i| vec![i + 1; 300]).collect();
    let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let (_, segment) = log_of(&slices);
    let whole = segment.to_vec();
    for sector in 1..whole.len() / 512 {
        let mut bytes = whole.clone();
        bytes[sector * 512..][..512].fill(0);
        let (replayed, report) = replay_one(&bytes, NEXT_BOOT).unwrap();
        let intact = (sector * 512 - 64 - 29) / 313;
        assert_eq!(replayed, records[..intact], "sector {sector}");
        assert_eq!(
            report.dropped[0].to,
            whole.len() as u64,
            "all that follows is reported"
        );
    }
}

#[test]
fn records_of_another_file_or_another_place_never_pass() {
    let (writer, segment) = log_of(&[b"mine"]);
    // A file that held an older log before: its records follow ours, at the offsets they were written for.
    let (other, stale) = {
        let (prepared, segment) = prepared(6, BOOT, 1 << 20);
        (LogWriter::begin(prepared, None).unwrap(), segment)
    };
    for _ in 0..100 {
        other.append(b"mine").unwrap();
    }
    let mut bytes = stale.to_vec();
    let ours = segment.to_vec();
    bytes[..ours.len()].copy_from_slice(&ours);
    let (records, report) = replay_one(&bytes, BOOT).unwrap();
    assert_eq!(records, [b"mine"]);
    assert_eq!(report.dropped[0].from, ours.len() as u64);

    // A user who stores a log in a log: the copy is no record, and hides no damage before it.
    let copy = segment.to_vec();
    writer.append(&copy).unwrap();
    let mut bytes = segment.to_vec();
    assert_eq!(replay_one(&bytes, BOOT).unwrap().0, [b"mine".to_vec(), copy]);
    bytes[93 + 13 + 4 + 1] ^= 1;
    let (records, report) = replay_one(&bytes, BOOT).unwrap();
    assert_eq!(records, [b"mine"]);
    assert_eq!(
        report.dropped[0]
            .fault
            .map(|fault| matches!(fault, RecordFault::HeaderChecksum { .. })),
        Some(true)
    );
}

#[test]
fn garbage_is_refused_or_dropped_and_never_read() {
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let (writer, segment) = log_of(&RECORDS);
        if random.below(2) == 0 {
            writer.sync().unwrap();
        }
        let mut bytes = segment.to_vec();
        bytes.resize(bytes.len() + random.below(2_000), 0);
        let from = random.below(bytes.len());
        let len = random.below(bytes.len() - from + 1);
        let garbage = random.bytes(len);
        bytes[from..from + len].copy_from_slice(&garbage);
        for boot in [BOOT, NEXT_BOOT] {
            if let Ok((records, _)) = replay_one(&bytes, boot) {
                assert!(
                    RECORDS[..].starts_with(&records.iter().map(Vec::as_slice).collect::<Vec<_>>()),
                    "seed {seed}"
                );
            }
        }
    }
}

#[test]
fn another_magic_version_or_number_is_an_error() {
    let (_, segment) = log_of(&RECORDS);
    let forge = |at: usize, byte: u8| {
        let mut bytes = segment.to_vec();
        bytes[at] = byte;
        let checksum = crc32fast::hash(&bytes[..60]);
        bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
        replay_one(&bytes, BOOT).unwrap_err().to_string()
    };
    assert_eq!(
        forge(0, b'T'),
        r#"segment 7 is damaged at offset 0: expected "tephlog\n", found "Tephlog\n""#
    );
    assert_eq!(
        forge(8, 2),
        "segment 7 has format version 2, the newest known is 1"
    );
    assert_eq!(
        forge(16, 9),
        "segment 7 is damaged at offset 16: expected file number 7, found 9"
    );
}

#[test]
fn a_file_that_was_never_begun_is_empty() {
    let (_, segment) = prepared(7, BOOT, 4_096);
    let header = segment.to_vec();
    for len in 0..=64 {
        let mut bytes = header[..len].to_vec();
        assert_eq!(replay_one(&bytes, BOOT).unwrap(), Default::default());
        bytes.resize(4_096, 0);
        assert_eq!(replay_one(&bytes, BOOT).unwrap(), Default::default());
    }
    // But a bad header before records is damage.
    let (_, segment) = log_of(&RECORDS);
    let mut bytes = segment.to_vec();
    bytes[..64].fill(0);
    let error = replay_one(&bytes, NEXT_BOOT).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("segment 7 is damaged at offset 60: header checksum"),
        "{error}"
    );
}
