//! Manifests and batches that anybody may have written, under checksums that are right: a database with them opens and answers, or is an
//! error. Nothing breaks, repair included.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use tephra_wal::{BootId, FileHeader, FramedFile, LOG_MAGIC};
use tephradb::vfs::{FileSystem, MemFs};
use tephradb::{AddU64, Background, Db, Options, RepairOptions, repair_with};

use super::choices::Choices;

const DIR: &str = "/db";

fn push_count(out: &mut Vec<u8>, number: u64) {
    tephra_sstable::counts::varint::push(out, number);
}

/// A change of an edit: of known kinds as a rule.
fn change(choices: &mut Choices<'_>, out: &mut Vec<u8>) {
    let tag = choices.next() % 12;
    out.push(tag);
    match tag {
        1 => {
            push_count(out, choices.number());
            let name = choices.below(4);
            push_count(out, name as u64);
            out.extend(choices.take(name).iter().map(|byte| byte & 0x7f));
            let settings = match choices.next() % 5 {
                0 => vec![1, 1, 1],
                1 => vec![2, 1, 8],
                2 => b"\x03\x07add-u64".to_vec(),
                _ => Vec::new(),
            };
            push_count(out, settings.len() as u64);
            out.extend(settings);
        }
        3 => (0..6).for_each(|_| push_count(out, choices.number())),
        5 => {
            push_count(out, choices.number());
            let len = choices.below(40);
            push_count(out, len as u64);
            out.extend(choices.take(len));
        }
        9 => (0..2).for_each(|_| push_count(out, choices.number())),
        _ => push_count(out, choices.number()),
    }
}

/// The operations of a batch.
fn batch(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut out = vec![1];
    for _ in 0..choices.below(6) {
        let kind = choices.next() % 5;
        out.push(kind);
        push_count(&mut out, u64::from(choices.next() % 5));
        let (key, value) = (choices.below(9), choices.below(9));
        push_count(
            &mut out,
            if choices.next() == 0 {
                choices.number()
            } else {
                key as u64
            },
        );
        if kind != 0 {
            push_count(&mut out, value as u64);
        }
        out.extend(choices.take(if kind == 0 { key } else { key + value }));
    }
    out
}

fn framed(magic: [u8; 8], number: u64, payloads: &[Vec<u8>]) -> Vec<u8> {
    let header = FileHeader {
        magic,
        ..FileHeader::log(number, 3 * number, BootId([5; 16]))
    };
    let mut file = FramedFile::create(Vec::new(), header).expect("memory takes it");
    for payload in payloads {
        file.append(payload).expect("memory takes it");
    }
    file.get_mut().clone()
}

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    // The default keyspace, one that composes, one of bits.
    let mut snapshot =
        b"\x01\x01\x00\x00\x00\x01\x01\x01c\x09\x03\x07add-u64\x01\x02\x01b\x03\x01\x01\x01".to_vec();
    let mut edits = Vec::new();
    for _ in 0..choices.below(5) {
        let mut edit = vec![1];
        for _ in 0..choices.below(6) {
            change(&mut choices, &mut edit);
        }
        edits.push(edit);
    }
    if choices.one_in(4) {
        choices.mutate(&mut snapshot);
    }
    edits.insert(0, snapshot);
    let mut batches: Vec<Vec<u8>> = (0..choices.below(6)).map(|_| batch(&mut choices)).collect();
    if choices.one_in(4) {
        batches.iter_mut().for_each(|batch| choices.mutate(batch));
    }
    let machine = MemFs::new();
    machine.create_dir_all(Path::new(DIR)).expect("an empty machine");
    let write = |name: &str, bytes: &[u8]| {
        let mut file = machine
            .create_new(&Path::new(DIR).join(name))
            .expect("no such file yet");
        file.write_all(bytes).expect("there is room");
    };
    write("CURRENT", b"MANIFEST-000001\n");
    write("MANIFEST-000001", &framed(*b"tephman\n", 1, &edits));
    write("000002.log", &framed(LOG_MAGIC, 2, &batches));
    let options = |read_only| {
        let options = Options::default()
            .background(Background::Manual)
            .memtable_bytes(32 << 10);
        options.law("add-u64", AddU64).read_only(read_only)
    };
    let repaired = repair_with(
        Arc::new(machine.after_kill()),
        DIR,
        "/new",
        RepairOptions::default(),
    );
    drop(repaired);
    for read_only in [true, false] {
        let Ok(db) = Db::open_with(Arc::new(machine.after_kill()), DIR, options(read_only)) else {
            continue;
        };
        let _ = db.iter().count();
        let _ = db.verify().map(|report| report.is_sound());
        if !read_only {
            let _ = (db.put("k", "v"), db.flush(), db.compact());
        }
        assert!(read_only || db.get("k").is_ok());
    }
}
