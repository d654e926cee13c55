//! The bytes are those of the worked example in `FORMAT.md`, which is read here, line by line.

use tephra_wal::{BootId, FileHeader, LogWriter, MemorySegment, PreparedSegment};

use crate::support::{NEXT_BOOT, replay_one};

const SPECIFICATION: &str = include_str!("../../FORMAT.md");

/// The bytes of the example: lines like `0040  02 10 00 | what it is`.
fn example() -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in SPECIFICATION.lines() {
        let Some((offset, rest)) = line.trim().split_once("  ") else {
            continue;
        };
        let (Ok(offset), 4) = (usize::from_str_radix(offset, 16), offset.len()) else {
            continue;
        };
        let digits = rest.split('|').next().unwrap_or_default();
        assert_eq!(offset, bytes.len(), "offsets in the example: {line}");
        bytes.extend(
            digits
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap()),
        );
    }
    bytes
}

#[test]
fn the_example_of_the_specification_is_what_is_written_and_read() {
    let segment = MemorySegment::new(1 << 12);
    let header = FileHeader::log(7, 0x0123_4567_89AB_CDEF, BootId(*b"0123456789abcdef"));
    let prepared = PreparedSegment::new(segment.clone(), header).unwrap();
    let writer = LogWriter::begin(prepared, None).unwrap();
    writer.append(b"abc").unwrap();
    writer.seal().unwrap();
    let written = segment.to_vec();
    let rows: Vec<String> = written.chunks(16).map(|row| format!("{row:02x?}")).collect();
    assert_eq!(example(), written, "written:\n{}", rows.join("\n"));
    let (records, report) = replay_one(&example(), NEXT_BOOT).unwrap();
    assert!(records == [b"abc"] && report.is_sealed);
}
