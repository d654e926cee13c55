//! Segments that somebody made to do harm: every checksum right, everything else arbitrary. Replay ends, with records or an error.

use tephra_wal::{BootId, FileHeader, Framing, HEADER_LEN_BYTES, RecordKind};

use crate::support::{BOOT, NEXT_BOOT, Random, replay};

/// A number that is small, or at an edge.
fn number(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => u64::MAX - random.below(3) as u64,
        1 => 0,
        2 => HEADER_LEN_BYTES as u64,
        3 => 93,
        4 => random.below(900) as u64,
        _ => random.below(7) as u64,
    }
}

fn segment(random: &mut Random, number_of: u64) -> Vec<u8> {
    let salt = random.next();
    let boot = [BOOT, NEXT_BOOT, BootId::UNKNOWN][random.below(3)];
    let mut bytes = FileHeader::log(number_of, salt, boot).encode().to_vec();
    let framing = Framing::new(salt);
    for index in 0..random.below(6) {
        let kind = match (index, random.below(10)) {
            (0, 1..) | (_, 0) => RecordKind::Begin,
            (_, 1 | 2) => RecordKind::SyncMark,
            (_, 3) => RecordKind::Seal,
            _ => RecordKind::Data,
        };
        let mut payload = [number(random).to_le_bytes(), number(random).to_le_bytes()].concat();
        match (kind, random.below(8)) {
            (_, 0) => payload.truncate(random.below(17)),
            (RecordKind::SyncMark, _) => payload.truncate(8),
            (RecordKind::Seal, _) => payload.clear(),
            _ => {}
        }
        let checksum = crc32fast::hash(&payload);
        // A length that lies.
        let len = if random.below(20) == 0 {
            number(random) as u32
        } else {
            payload.len() as u32
        };
        bytes.extend(framing.header(bytes.len() as u64, kind, len, checksum));
        bytes.extend(payload);
        if random.below(12) == 0 {
            bytes.extend(vec![0; random.below(600)]);
        }
    }
    match random.below(8) {
        0 => bytes.truncate(random.below(bytes.len() + 1)),
        1 => bytes.extend(vec![0; random.below(2_000)]),
        2 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        _ => {}
    }
    bytes
}

#[test]
fn right_checksums_on_wrong_contents_end_in_records_or_an_error() {
    let (mut good, mut bad, mut dropped) = (0, 0, 0);
    for seed in 0..30_000 {
        let mut random = Random(seed);
        let segments: Vec<_> = (1..=random.below(5) as u64)
            .map(|n| (n, segment(&mut random, n)))
            .collect();
        let given: Vec<(u64, &[u8])> = segments
            .iter()
            .map(|(number, bytes)| (*number, bytes.as_slice()))
            .collect();
        let data_len: usize = segments.iter().map(|(_, bytes)| bytes.len()).sum();
        match replay(&given, BOOT) {
            Ok((records, report)) => {
                good += 1;
                dropped += usize::from(!report.dropped.is_empty());
                assert_eq!(report.record_count, records.len() as u64, "seed {seed}");
                assert!(
                    records.iter().map(Vec::len).sum::<usize>() <= data_len,
                    "seed {seed}"
                );
                // The verdict stands: what is named as the end is not beyond what was given.
                let end = segments.iter().find(|(number, _)| *number == report.end.segment);
                assert!(
                    end.is_none_or(|(_, bytes)| report.end.offset <= bytes.len() as u64),
                    "seed {seed}"
                );
            }
            Err(error) => {
                bad += 1;
                assert!(error.to_string().starts_with("segment "), "seed {seed}: {error}");
            }
        }
    }
    assert!(
        good > 5_000 && bad > 5_000 && dropped > 300,
        "{good} good, {bad} bad, {dropped} dropped"
    );
}
