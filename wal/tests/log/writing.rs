//! The writer: rooms and refusals, failures that are final and failures that a rotation cures, shared syncs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{BOOT, NEXT_BOOT, TestDisk, TestSegment, log_of, prepared, replay, replay_one};
use tephra_wal::{
    FileHeader, FramedFile, LogError, LogWriter, PreparedSegment, Replay, ReplayOptions, SegmentBytes,
    segment_capacity_for,
};

fn start(segment: &TestSegment, number: u64) -> PreparedSegment<TestSegment> {
    PreparedSegment::new(segment.clone(), FileHeader::log(number, 5 * number, BOOT)).unwrap()
}

#[test]
fn a_record_that_does_not_fit_is_refused_whole_and_the_seal_always_fits() {
    let (first, segment) = prepared(7, BOOT, segment_capacity_for(100));
    assert_eq!(first.payload_len_bytes_max(), 100);
    let writer = LogWriter::begin(first, None).unwrap();
    let before = segment.to_vec();
    let full = writer.append(&[1; 101]).unwrap_err();
    assert!(
        matches!(
            full,
            LogError::SegmentFull {
                segment: 7,
                needed_bytes: 114,
                room_bytes: 113
            }
        ),
        "{full}"
    );
    assert_eq!(segment.to_vec(), before);
    writer.append(&[1; 100]).unwrap();
    assert_eq!(writer.room_bytes(), 0);
    writer.sync().unwrap();
    writer.seal().unwrap();
    // One that ends in a rotation names the next segment, in eight bytes more.
    assert_eq!(segment.to_vec().len() as u64, segment_capacity_for(100) - 8);
    assert!(matches!(writer.append(b""), Err(LogError::Sealed { segment: 7 })));
    let (records, report) = replay_one(&segment.to_vec(), NEXT_BOOT).unwrap();
    assert!(records == [[1; 100]] && report.is_sealed);
    // Too small, or not fresh.
    let small = tephra_wal::MemorySegment::new(segment_capacity_for(0) - 1);
    PreparedSegment::new(small, FileHeader::log(1, 1, BOOT)).unwrap_err();
    PreparedSegment::new(segment, FileHeader::log(1, 1, BOOT)).unwrap_err();
}

#[test]
fn a_disk_without_room_refuses_a_record_whole_and_the_segment_goes_on_when_there_is_some() {
    let segment = TestSegment::new(segment_capacity_for(1000));
    let writer = LogWriter::begin(start(&segment, 7), None).unwrap();
    writer.append(b"before").unwrap();
    let before = segment.memory.to_vec();
    segment.disk.is_full.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        let full = writer.append(b"refused").unwrap_err();
        assert!(matches!(full, LogError::SegmentFull { segment: 7, .. }), "{full}");
        writer.sync().unwrap();
        assert_eq!(segment.memory.to_vec(), before, "neither a record nor a mark");
    }
    segment.disk.is_full.store(false, Ordering::Relaxed);
    writer.append(b"after").unwrap();
    writer.seal().unwrap();
    let (records, report) = replay_one(&segment.memory.to_vec(), NEXT_BOOT).unwrap();
    assert!(records == [b"before".to_vec(), b"after".to_vec()] && report.is_sealed);
}

#[test]
fn a_record_of_64_mib_has_a_segment_of_its_own() {
    let (writer, small) = log_of(&[b"before"]);
    let record: Vec<u8> = (0..64 << 20).map(|i: u32| (i % 253) as u8).collect();
    assert!(matches!(
        writer.append(&record),
        Err(LogError::SegmentFull { .. })
    ));
    let (next, large) = prepared(8, BOOT, segment_capacity_for(record.len() as u64));
    writer.rotate(next).unwrap();
    writer.append(&record).unwrap();
    let (next, last) = prepared(9, BOOT, 4_096);
    writer.rotate(next).unwrap();
    writer.append(b"behind").unwrap();
    let (small, large, last) = (small.to_vec(), large.to_vec(), last.to_vec());
    let (records, _) = replay(&[(7, &small), (8, &large), (9, &last)], NEXT_BOOT).unwrap();
    assert!(records == [b"before".to_vec(), record, b"behind".to_vec()]);
}

#[test]
fn after_a_failed_sync_everything_is_refused_with_the_first_cause() {
    let segment = TestSegment::new(1 << 16);
    let writer = LogWriter::begin(start(&segment, 1), None).unwrap();
    let durable = writer.append(b"durable").unwrap();
    writer.sync_through(durable).unwrap();
    let position = writer.append(b"doubtful").unwrap();
    segment.disk.sync_fails.store(true, Ordering::Relaxed);
    let expected = "the log is closed for writing since a sync of segment 1 failed: the platter cracked";
    assert_eq!(writer.sync_through(position).unwrap_err().to_string(), expected);
    // The disk is well again, and nobody believes it.
    segment.disk.sync_fails.store(false, Ordering::Relaxed);
    let syncs = segment.disk.sync_count.load(Ordering::Relaxed);
    let bytes = segment.memory.to_vec();
    for refused in [
        writer.append(b"more").map(drop),
        writer.sync_through(position),
        writer.sync_through(durable),
        writer.sync(),
        writer.seal(),
        writer.rotate(start(&TestSegment::new(4_096), 2)).map(drop),
        Err(writer.failure().unwrap()),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.cause().unwrap().to_string(), "the platter cracked");
    }
    assert_eq!(
        (
            segment.disk.sync_count.load(Ordering::Relaxed),
            segment.memory.to_vec()
        ),
        (syncs, bytes)
    );
}

#[test]
fn a_failed_append_ends_the_segment_and_a_rotation_cures_it() {
    for breaks_at in 94..240 {
        let mut segment = TestSegment::new(1 << 16);
        segment.breaks_at = breaks_at;
        let writer = LogWriter::begin(start(&segment, 1), None).unwrap();
        let mut written = Vec::new();
        let broken = loop {
            let record = vec![written.len() as u8 + 1; 20];
            match writer.append(&record) {
                Ok(_) => written.push(record),
                Err(error) => break error,
            }
        };
        assert!(broken.to_string().ends_with(": the cable fell out"), "{broken}");
        let again = writer.append(b"x").unwrap_err();
        assert_eq!(again.to_string(), broken.to_string());
        writer.sync().unwrap();
        let second = TestSegment::new(1 << 16);
        writer.rotate(start(&second, 2)).unwrap();
        assert!(writer.failure().is_none());
        writer.append(b"after").unwrap();
        writer.sync().unwrap();
        written.push(b"after".to_vec());
        let (first, second) = (segment.memory.to_vec(), second.memory.to_vec());
        for boot in [BOOT, NEXT_BOOT] {
            let (records, report) = replay(&[(1, &first), (2, &second)], boot).unwrap();
            assert!(
                records == written && report.dropped.is_empty(),
                "breaks at {breaks_at}"
            );
        }
        // Had the process died instead of rotating, the broken end is a torn tail.
        assert_eq!(
            replay(&[(1, &first)], BOOT).unwrap().0,
            written[..written.len() - 1]
        );
    }
}

#[test]
fn syncs_are_shared() {
    const THREADS: u64 = 8;
    const COMMITS: u64 = 100;
    let mut segment = TestSegment::new(1 << 20);
    segment.disk = TestDisk {
        sync_takes: Duration::from_micros(300),
        ..TestDisk::default()
    }
    .into();
    let writer = LogWriter::begin(start(&segment, 1), None).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let writer = &writer;
            scope.spawn(move || {
                for i in 0..COMMITS {
                    let position = writer.append(&[thread as u8, i as u8]).unwrap();
                    writer.sync_through(position).unwrap();
                    assert!(writer.durable() >= position);
                }
            });
        }
    });
    let syncs = segment.disk.sync_count.load(Ordering::Relaxed) - 1;
    assert_eq!(writer.stats().record_count, THREADS * COMMITS);
    assert_eq!(writer.stats().sync_count, syncs);
    // A commit waits for at most the sync in progress and one more, so of those in flight all but one share.
    assert!(
        syncs <= THREADS * COMMITS / 2,
        "{syncs} syncs for {} commits",
        THREADS * COMMITS
    );
    let (records, _) = replay(&[(1, &segment.memory.to_vec())], BOOT).unwrap();
    for thread in 0..THREADS as u8 {
        let of_thread: Vec<u8> = records.iter().filter(|r| r[0] == thread).map(|r| r[1]).collect();
        assert_eq!(of_thread, (0..COMMITS as u8).collect::<Vec<_>>());
    }
}

#[test]
fn a_sync_covers_the_segments_that_were_rotated_away() {
    let (first, second, third) = (
        TestSegment::new(4_096),
        TestSegment::new(4_096),
        TestSegment::new(4_096),
    );
    let writer = LogWriter::begin(start(&first, 1), None).unwrap();
    writer.append(b"a").unwrap();
    writer.rotate(start(&second, 2)).unwrap();
    writer.append(b"b").unwrap();
    writer.rotate(start(&third, 3)).unwrap();
    let position = writer.append(b"c").unwrap();
    // The first was flushed into a table meanwhile.
    writer.forget_through(1);
    writer.sync_through(position).unwrap();
    let counts = [&first, &second, &third].map(|s| s.disk.sync_count.load(Ordering::Relaxed));
    assert_eq!(
        counts,
        [1, 2, 2],
        "one for each header, one for what was appended"
    );
    writer.sync().unwrap();
    assert_eq!(third.disk.sync_count.load(Ordering::Relaxed), 2, "nothing to do");
}

#[test]
fn a_failed_rotation_can_be_tried_again() {
    let first = TestSegment::new(4_096);
    let writer = LogWriter::begin(start(&first, 1), None).unwrap();
    writer.append(b"a").unwrap();
    let mut broken = TestSegment::new(4_096);
    broken.breaks_at = 70;
    writer.rotate(start(&broken, 2)).unwrap_err();
    let third = TestSegment::new(4_096);
    writer.rotate(start(&third, 3)).unwrap();
    writer.append(b"b").unwrap();
    let bytes = [first, broken, third].map(|s| s.memory.to_vec());
    let (records, _) = replay(&[(1, &bytes[0]), (2, &bytes[1]), (3, &bytes[2])], BOOT).unwrap();
    assert_eq!(records, [b"a", b"b"]);
}

#[test]
fn a_framed_file_is_replayed_with_its_own_magic() {
    let header = FileHeader {
        magic: *b"edits  \n",
        number: 3,
        salt: 17,
        boot_id: BOOT,
        reserved_bytes: 0,
    };
    let mut file = FramedFile::create(Vec::new(), header).unwrap();
    for i in 0..5_u8 {
        file.append(&[i; 50]).unwrap();
        file.mark_synced();
    }
    let bytes = file.get_mut().clone();
    assert_eq!(bytes.len() as u64, file.len_bytes());
    let read = |bytes: &[u8], magic| {
        let options = ReplayOptions {
            magic,
            boot_id: NEXT_BOOT,
        };
        let replay = Replay::new(&[SegmentBytes { number: 3, bytes }], options)?;
        replay
            .map(|record| record.map(|record| record.payload[0]))
            .collect::<Result<Vec<u8>, _>>()
    };
    assert_eq!(read(&bytes, header.magic).unwrap(), [0, 1, 2, 3, 4]);
    read(&bytes, *b"tephlog\n").unwrap_err();
    // All but the last record are marked as synced.
    for at in 93..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 4;
        match read(&flipped, header.magic) {
            Ok(records) => assert!(
                at >= bytes.len() - 63 - 21 && records == [0, 1, 2, 3],
                "byte {at}"
            ),
            Err(error) => assert!(at < bytes.len() - 63, "byte {at}: {error}"),
        }
    }
}
