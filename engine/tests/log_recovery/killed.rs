//! Real processes that are killed while they log, on the real file system: every record they acknowledged is there, the log opens
//! without a question, and nothing but the last record is ever torn.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tephra_engine::vfs::{FileSystem, StdFs};
use tephra_wal::{
    BootId, FileHeader, LOG_MAGIC, LogError, LogPosition, LogSegment, LogWriter, PreparedSegment, Replay,
    ReplayOptions, SegmentBytes,
};

const DIRECTORY: &str = "TEPHRA_TEST_LOG_DIRECTORY";
const KILL_COUNT: u32 = 25;

fn numbers(fs: &StdFs, dir: &Path) -> Vec<u64> {
    let list = fs.list(dir).unwrap();
    list.iter()
        .map(|entry| entry.name.to_str().unwrap().parse().unwrap())
        .collect()
}

fn prepare(fs: &StdFs, dir: &Path, number: u64) -> PreparedSegment<Box<dyn LogSegment>> {
    let segment = fs
        .create_segment(&dir.join(format!("{number:06}")), 1 << 20)
        .unwrap();
    PreparedSegment::new(segment, FileHeader::log(number, number, BootId(fs.boot_id()))).unwrap()
}

/// Serial numbers of all records, and where the log ends. Any error is a failure.
fn replay(fs: &StdFs, dir: &Path) -> (Vec<u64>, LogPosition) {
    let read = |number| (number, fs.read(&dir.join(format!("{number:06}"))).unwrap());
    let files: Vec<_> = numbers(fs, dir).into_iter().map(read).collect();
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
    let mut replay = Replay::new(&given, options).unwrap();
    let serials = replay
        .by_ref()
        .map(|record| u64::from_le_bytes(*record.unwrap().payload.first_chunk().unwrap()));
    let serials = serials.collect();
    assert!(replay.report().dropped.len() <= 1, "{:?}", replay.report());
    (serials, replay.report().end)
}

/// The process that will be killed: logs on, in new segments, and names each record once it is logged.
#[test]
#[ignore = "runs as a child of the next test"]
fn child() {
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let (fs, dir) = (StdFs::new(), Path::new(&dir));
    let (serials, end) = replay(&fs, dir);
    let mut number = numbers(&fs, dir).last().map_or(1, |last| last + 1);
    let writer = LogWriter::begin(prepare(&fs, dir, number), Some(end)).unwrap();
    let mut out = std::io::stdout();
    for serial in serials.len() as u64.. {
        let mut record = vec![0xAA; 8 + (serial % 5_000) as usize];
        record[..8].copy_from_slice(&serial.to_le_bytes());
        if let Err(LogError::SegmentFull { .. }) = writer.append(&record) {
            number += 1;
            writer.rotate(prepare(&fs, dir, number)).unwrap();
            writer.append(&record).unwrap();
        }
        writeln!(out, "logged {serial}").unwrap();
    }
}

fn start(dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::child", "--ignored", "--nocapture", "--quiet"]);
    command
        .env(DIRECTORY, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    let (fs, dir) = (StdFs::new(), tempfile::tempdir().unwrap());
    let mut least = 0;
    for round in 0..KILL_COUNT {
        let mut child = start(dir.path());
        let out = BufReader::new(child.stdout.take().unwrap());
        let logged = out.lines().map_while(Result::ok).filter_map(|line| {
            line.strip_prefix("logged ")
                .and_then(|serial| serial.parse::<u64>().ok())
        });
        for serial in logged.take(1 + round as usize * 37 % 500) {
            least = serial + 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (serials, _) = replay(&fs, dir.path());
        assert_eq!(serials, (0..serials.len() as u64).collect::<Vec<_>>());
        assert!(
            serials.len() as u64 >= least,
            "{} of {least} acknowledged",
            serials.len()
        );
    }
    assert!(least > u64::from(KILL_COUNT), "the processes did log: {least}");
}
