//! Eight threads commit while segments rotate, and the power goes at any moment: every commit that was acknowledged before is there,
//! and of each thread a prefix.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tephra_engine::vfs::{FileSystem, MemFs};
use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogSegment, LogWriter, PreparedSegment, Replay, ReplayOptions,
    SegmentBytes,
};

const THREAD_COUNT: usize = 8;
const COMMIT_COUNT: u64 = 150;
/// Of one thread.
const COMMITS_A_CUT: u64 = 30;
const CAPACITY_BYTES: u64 = 1 << 20;

fn path(number: u64) -> PathBuf {
    Path::new("db").join(format!("{number:06}.log"))
}

fn prepare(fs: &MemFs, number: u64) -> PreparedSegment<Box<dyn LogSegment>> {
    let segment = fs.create_segment(&path(number), CAPACITY_BYTES).unwrap();
    let prepared = PreparedSegment::new(
        segment,
        FileHeader::log(number, number * 77, BootId(fs.boot_id())),
    )
    .unwrap();
    fs.sync_dir(Path::new("db")).unwrap();
    prepared
}

/// The records of a machine, as (thread, serial).
fn replay(fs: &MemFs) -> Vec<(u8, u64)> {
    let files: Vec<_> = (1..)
        .map_while(|number| Some((number, fs.read(&path(number)).ok()?)))
        .collect();
    let given: Vec<_> = files
        .iter()
        .map(|(number, bytes)| SegmentBytes {
            number: *number,
            bytes,
        })
        .collect();
    let options = ReplayOptions {
        magic: LOG_MAGIC,
        boot_id: BootId(fs.boot_id()),
    };
    let records = Replay::new(&given, options)
        .unwrap()
        .map(|record| record.unwrap().payload);
    records
        .map(|payload| (payload[0], u64::from_le_bytes(payload[1..9].try_into().unwrap())))
        .collect()
}

#[test]
fn commits_acknowledged_before_a_power_cut_are_there_after_it() {
    let fs = MemFs::new();
    fs.create_dir_all(Path::new("db")).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    let writer = LogWriter::begin(prepare(&fs, 1), None).unwrap();
    let acknowledged: [AtomicU64; THREAD_COUNT] = Default::default();
    let cuts = Mutex::new(Vec::new());
    // What one of the committers does now and then, while the others go on.
    let cut_and_rotate = || {
        let mut cuts = cuts.lock().unwrap();
        let promised = acknowledged.each_ref().map(|count| count.load(Ordering::Acquire));
        let number = cuts.len() as u64 + 2;
        cuts.push((promised, fs.after_power_cut(number)));
        writer.rotate(prepare(&fs, number)).unwrap();
    };
    std::thread::scope(|scope| {
        for (thread, acknowledged) in (0_u8..).zip(&acknowledged) {
            let (writer, cut_and_rotate) = (&writer, &cut_and_rotate);
            scope.spawn(move || {
                for serial in 0..COMMIT_COUNT {
                    let mut record = vec![thread; 9 + usize::from(thread) * 10];
                    record[1..9].copy_from_slice(&serial.to_le_bytes());
                    let position = writer.append(&record).unwrap();
                    writer.sync_through(position).unwrap();
                    acknowledged.store(serial + 1, Ordering::Release);
                    if serial % COMMITS_A_CUT == 0 {
                        cut_and_rotate();
                    }
                }
            });
        }
    });
    let mut cuts = cuts.into_inner().unwrap();
    cuts.push(([COMMIT_COUNT; THREAD_COUNT], fs.after_power_cut(0)));
    for (promised, machine) in cuts {
        let records = replay(&machine);
        for (thread, promised) in (0_u8..).zip(promised) {
            let serials: Vec<u64> = records
                .iter()
                .filter(|record| record.0 == thread)
                .map(|record| record.1)
                .collect();
            let count = serials.len() as u64;
            assert_eq!(serials, (0..count).collect::<Vec<_>>(), "thread {thread}");
            assert!(
                count >= promised,
                "thread {thread}: {count} of {promised} promised"
            );
        }
    }
}
