//! Opening: who holds the lock, whose files are left alone, and what a first open that failed leaves.

use std::path::Path;
use std::sync::Arc;

use super::{DIR, TestDb, contents, files_of, manual};
use crate::vfs::{Calls, Fault, FaultFs, FileSystem as _, MemFs, Rule, StdFs};
use crate::{Db, Error, Options};

#[test]
fn the_lock_tells_a_writer_by_number_and_readers_as_readers() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = || Options::default().memtable_bytes(1 << 16);
    let open = || Db::open(folder.path(), options());
    let writer = open().expect("opens");
    writer.put("k", "v").expect("put");
    let refused = [open(), Db::open_read_only(folder.path(), options())];
    for error in refused.map(|outcome| outcome.expect_err("a writer has it")) {
        let expected = format!("by this process ({})", std::process::id());
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
    writer.close().expect("closes");
    let reader = Db::open_read_only(folder.path(), options()).expect("opens");
    let second = Db::open_read_only(folder.path(), options()).expect("readers share");
    let error = open().expect_err("readers have it").to_string();
    assert!(
        error.contains("for reading") && !error.contains("process"),
        "{error}"
    );
    assert_eq!(second.get("k").expect("get").as_deref(), Some(&b"v"[..]));
    assert!(matches!(second.put("k", "w"), Err(Error::ReadOnly { .. })));
    drop((reader, second));
    open().expect("the lock went with them");
}

#[test]
fn every_call_on_a_database_open_for_reading_returns() {
    let machine = MemFs::new();
    let db = TestDb::open_on(machine.clone(), manual());
    db.put("k", "v").expect("put");
    drop(db);
    let before = files_of(&machine);
    let db = Db::open_with(Arc::new(machine.clone()), DIR, manual().read_only(true)).expect("opens");
    let refusals = [
        db.put("k", "w"),
        db.delete("k"),
        db.flush(),
        db.compact(),
        db.resume(),
        db.checkpoint("/copy"),
        db.default_keyspace().ingest().map(drop),
        db.run_background_step().map(drop),
    ];
    for refusal in refusals {
        let error = refusal.expect_err("nothing is written");
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    }
    assert_eq!(contents(&db).len(), 1);
    assert!(db.verify().expect("verifies").is_sound());
    drop((db.snapshot(), db.stats(), db.keyspace_names()));
    db.close().expect("closes");
    assert_eq!(files_of(&machine), before);
    assert!(!machine.exists(Path::new("/copy")).expect("looks"));
}

#[test]
fn the_empty_path_is_refused_before_anything_is_made() {
    for options in [manual(), manual().read_only(true)] {
        let error = Db::open("", options.clone()).expect_err("no path");
        assert!(matches!(error, Error::NotADatabase { .. }), "{error}");
        let error = Db::open_with(Arc::new(MemFs::new()), "", options).expect_err("no path");
        assert!(error.to_string().contains("empty"), "{error}");
    }
    assert!(!StdFs::new().exists(Path::new("LOCK")).expect("looks"));
}

#[test]
fn files_of_others_are_left_alone_and_told() {
    let mut db = TestDb::open(manual());
    let foreign = [
        ".DS_Store",
        "._000001",
        "000009.sst~",
        "MANIFEST-1",
        "Thumbs.db",
        "notes.log",
    ];
    for name in foreign {
        db.write_file(name, b"not ours");
    }
    db.machine
        .create_dir_all(&Path::new(DIR).join("000099.table"))
        .expect("makes");
    for round in 0..3u8 {
        db.put([round], "v").expect("put");
        db.flush().expect("flush");
        db.compact().expect("compacts");
        db.reopen();
    }
    for name in foreign {
        assert_eq!(db.read_file(name), b"not ours", "{name}");
    }
    let report = db.verify().expect("verifies");
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.foreign_files.len(), foreign.len() + 1, "{report:?}");
}

/// Cause: a name like ours was enough. Loss: empty files of somebody else were removed, and a number near the largest left none for ours.
#[test]
fn a_name_like_ours_does_not_make_a_file_ours() {
    let mut db = TestDb::open(manual());
    db.put("k", "v").expect("put");
    db.flush().expect("flush");
    let next = db.stats().table_count as u64 + 20;
    let foreign = [
        ("999999.table".to_owned(), &b""[..]),
        ("888888.log".to_owned(), &[0; 100][..]),
        (format!("{}.table", u64::MAX), b"\xf2tephra\n"),
        (format!("MANIFEST-{}", u64::MAX), b""),
        (format!("{:06}.table", next), b"my notes"),
        (format!("MANIFEST-{:06}", next + 1), b"my manifest"),
    ];
    // Left of work that was cut short.
    let orphans = [
        (format!("{:06}.table", next + 2), &b""[..]),
        (format!("{:06}.table", next + 3), b"\xf2tep"),
        (format!("{:06}.log", next + 4), &[0; 700]),
        ("777777.table".to_owned(), b"\xf2tephra\n and more"),
    ];
    for (name, bytes) in foreign.iter().chain(&orphans) {
        db.write_file(name, bytes);
    }
    let report = db.verify().expect("verifies");
    assert_eq!(report.foreign_files.len(), foreign.len(), "{report:?}");
    for round in 0..40u8 {
        db.put([round], "v").expect("put");
        db.flush().expect("flush");
        if round % 10 == 0 {
            db.reopen();
        }
    }
    for (name, bytes) in &foreign {
        assert_eq!(db.read_file(name), *bytes, "{name}");
    }
    for (name, _) in &orphans {
        assert!(!db.files().contains(name), "{name}");
    }
    assert_eq!(contents(&db).len(), 41);
    db.assert_sound();
}

#[test]
fn what_a_first_open_that_failed_leaves_is_gone_after_the_next() {
    for skipped in 0.. {
        let machine = MemFs::new();
        let disk = FaultFs::new(Arc::new(machine.clone()));
        disk.add(Rule::once(Calls::Changing, Fault::DeviceError).after(skipped));
        let failed = Db::open_with(Arc::new(disk.clone()), DIR, manual()).is_err();
        let was_hit = disk.fault_count() > 0;
        disk.heal();
        if failed {
            let db = Db::open_with(Arc::new(disk), DIR, manual()).expect("the next works");
            db.put("k", "v").expect("put");
            let files = files_of(&machine);
            let count = |part: &str| files.iter().filter(|name| name.contains(part)).count();
            let counts = (count("CURRENT"), count("LOCK"), count("MANIFEST"), count(".log"));
            assert_eq!(
                (counts, count("EVENTS"), files.len()),
                ((1, 1, 1, 1), 1, 5),
                "call {skipped}: {files:?}"
            );
        }
        if !was_hit {
            break;
        }
    }
}

/// Every byte of the payload is wrong, and the open does not notice: it reads header, properties, filter and separators alone.
#[test]
fn an_open_reads_no_payload() {
    let mut db = TestDb::open(manual().memtable_bytes(8 << 20));
    for number in 0..20_000u32 {
        db.put(number.to_be_bytes(), [b'v'; 100]).expect("put");
    }
    db.flush().expect("flush");
    db.close();
    let files = db.files();
    let tables: Vec<&String> = files.iter().filter(|name| name.ends_with(".table")).collect();
    assert!(!tables.is_empty());
    for table in tables {
        let mut bytes = db.read_file(table);
        // Behind the first page, and far in front of what follows the payload.
        let payload = 4096..bytes.len() * 3 / 4;
        bytes[payload].iter_mut().for_each(|byte| *byte ^= 0x55);
        db.replace_file(table, &bytes);
    }
    db.reopen();
    assert_eq!(db.stats().live_record_count, 20_000);
    assert!(db.get(1000u32.to_be_bytes()).is_err(), "a read notices");
}
