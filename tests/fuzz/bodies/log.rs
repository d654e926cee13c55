//! Logs that anybody may have written: replayed and salvaged. Nothing breaks; what replay hands out is a beginning of what was written, or of
//! what a forger framed; salvage finds all that replay finds.

use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogWriter, MemorySegment, PreparedSegment, Replay, ReplayOptions,
    SegmentBytes, salvage,
};

use super::choices::Choices;

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let boot = BootId([1; 16]);
    let prepare = |number| {
        let segment = MemorySegment::new(1 << 16);
        let header = FileHeader::log(number, 77 * number, boot);
        let prepared = PreparedSegment::new(segment.clone(), header);
        (prepared.expect("memory takes it"), segment)
    };
    let (first, segment) = prepare(1);
    let mut segments = vec![(1, segment)];
    let writer = LogWriter::begin(first, None).expect("memory takes it");
    let mut written: Vec<Vec<u8>> = Vec::new();
    for _ in 0..choices.below(30) {
        match choices.next() % 8 {
            0 => {
                let number = segments.len() as u64 + 1;
                let (next, segment) = prepare(number);
                writer.rotate(next).expect("memory takes it");
                segments.push((number, segment));
            }
            1 => writer.sync().expect("memory syncs"),
            _ => {
                let len = choices.below(300);
                written.push(vec![choices.next(); len]);
                let record = written.last().expect("one was pushed");
                writer.append(record).expect("there is room");
            }
        }
    }
    if choices.one_in(3) {
        writer.seal().expect("memory takes it");
    }
    let mut files: Vec<(u64, Vec<u8>)> = segments
        .iter()
        .map(|(number, segment)| (*number, segment.to_vec()))
        .collect();
    let rounds = choices.next() % 4;
    for _ in 0..rounds {
        let index = choices.below(files.len());
        match choices.next() % 6 {
            0 => drop(files.remove(index)),
            1 => files[index].1.extend(vec![0; 700]),
            _ => choices.mutate(&mut files[index].1),
        }
        if files.is_empty() {
            return;
        }
    }
    let given: Vec<SegmentBytes<'_>> = files
        .iter()
        .map(|(number, bytes)| SegmentBytes {
            number: *number,
            bytes,
        })
        .collect();
    let salvaged = salvage(&given, LOG_MAGIC);
    let found: Vec<&[u8]> = salvaged.records.iter().map(|record| record.payload).collect();
    assert!(is_part_of(&found, &written), "checksums let nothing wrong pass");
    if rounds == 0 {
        assert!(salvaged.gaps.is_empty() && found.len() == written.len());
    }
    for today in [boot, BootId([2; 16])] {
        let options = ReplayOptions {
            magic: LOG_MAGIC,
            boot_id: today,
        };
        let Ok(mut replay) = Replay::new(&given, options) else {
            assert!(rounds > 0, "a log of ours is replayed");
            continue;
        };
        let mut replayed = Vec::new();
        let outcome = replay
            .by_ref()
            .try_for_each(|record| record.map(|record| replayed.push(record.payload)));
        assert!(outcome.is_ok() || rounds > 0, "a log of ours is replayed");
        assert!(
            is_part_of(&replayed, &written),
            "checksums let nothing wrong pass"
        );
        assert!(is_part_of(&replayed, &found), "salvage finds what replay finds");
    }
}

/// Whether all of `part` come in `whole`, in that order.
fn is_part_of<A: AsRef<[u8]>, B: AsRef<[u8]>>(part: &[A], whole: &[B]) -> bool {
    let mut whole = whole.iter();
    part.iter()
        .all(|one| whole.any(|other| other.as_ref() == one.as_ref()))
}
