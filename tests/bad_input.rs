//! What a store meets in the world: databases that are missing, cut short or damaged, logs torn by a crash, second
//! openers, read-only places, and keys and values of unusual size and bytes.
//!
//! The rule for all of it: an error that names the file, or the right answer; never a panic, never a silent loss.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "damages the files of a database behind its back"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tephradb::{Background, Db, Durability, Error, Options};

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> Options {
    Options::default().background(Background::Manual)
}

fn open_existing(path: &Path) -> tephradb::Result<Db> {
    Db::open(path, options().create_if_missing(false))
}

fn records(db: &Db) -> tephradb::Result<Records> {
    db.iter()
        .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec())))
        .collect()
}

/// Copies the files of a database. While it is open, that is what a killed process would leave.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.to_str().unwrap().ends_with(suffix))
        .collect();
    found.sort();
    found
}

/// A closed database: 200 records in two tables of different age, with overwrites and deletes between them.
fn database_with_tables(folder: &Path) -> Records {
    let db = Db::open(folder, options()).unwrap();
    for n in 0..200 {
        db.put(format!("shared/prefix/key {n:03}"), format!("value {n}"))
            .unwrap();
    }
    db.flush().unwrap();
    for n in (0..200).step_by(3) {
        db.put(format!("shared/prefix/key {n:03}"), format!("newer {n}"))
            .unwrap();
        db.delete(format!("shared/prefix/key {:03}", n + 1)).unwrap();
    }
    db.flush().unwrap();
    let all = records(&db).unwrap();
    db.close().unwrap();
    all
}

/// Everything a user can ask, on a database that may be damaged: no panic, and every answer given is right.
fn ask_everything(path: &Path, expected: &Records) -> Result<(), String> {
    let told = |error: Error| error.to_string();
    let db = open_existing(path).map_err(told)?;
    for (key, value) in expected {
        match db.get(key).map_err(told)? {
            Some(found) if found == value[..] => {}
            found => panic!("get of {} answers {found:?}", key.escape_ascii()),
        }
    }
    assert_eq!(&records(&db).map_err(told)?, expected, "a scan answers wrongly");
    let backwards: tephradb::Result<Records> = db
        .iter()
        .rev()
        .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec())))
        .collect();
    assert_eq!(
        &backwards.map_err(told)?,
        expected,
        "a scan backwards answers wrongly"
    );
    let report = db.verify().map_err(told)?;
    if report.is_sound() {
        Ok(())
    } else {
        Err(report.problems.join("; "))
    }
}

// Missing databases and things in the way.

#[test]
fn a_missing_database_is_an_error_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        folder.path().join("nowhere"),
        folder.path().join("deep/nowhere"),
        folder.path().to_path_buf(),
    ] {
        for options in [
            options().create_if_missing(false),
            options().read_only(true).create_if_missing(false),
        ] {
            let error = Db::open(&path, options).unwrap_err();
            assert!(matches!(error, Error::NotADatabase { .. }), "{error:?}");
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_in_the_way_is_an_error_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "precious").unwrap();
    for options in [options(), options().create_if_missing(false)] {
        let error = Db::open(&path, options).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert!(Db::open(path.join("below"), options()).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn an_existing_database_is_an_error_where_a_new_one_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    let error = Db::open(folder.path(), options().error_if_exists(true)).unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error:?}");
    ask_everything(folder.path(), &expected).unwrap();
}

#[test]
fn foreign_files_are_left_alone_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    let foreign = [
        ".DS_Store",
        "._000001",
        "Thumbs.db",
        "000009.table~",
        "7.log",
        "notes.txt",
    ];
    for name in foreign {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    ask_everything(folder.path(), &expected).unwrap();
    let db = open_existing(folder.path()).unwrap();
    db.compact().unwrap();
    let report = db.verify().unwrap();
    for name in foreign {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"mine");
        assert!(
            report.foreign_files.iter().any(|file| file.contains(name)),
            "{name}: {:?}",
            report.foreign_files
        );
    }
}

// Damaged files.

/// Opens a damaged copy. It must be an error naming the file, or, if the damage is to padding, change nothing.
fn damaged(folder: &Path, damage: impl Fn(&Path), expected: &Records, file: &Path, what: &str) -> bool {
    let scratch = tempfile::tempdir().unwrap();
    copy(folder, scratch.path());
    let target = scratch.path().join(file.file_name().unwrap());
    damage(&target);
    match ask_everything(scratch.path(), expected) {
        Ok(()) => false,
        Err(told) => {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(
                told.contains(name),
                "{what} of {name}: the error does not name it: {told}"
            );
            true
        }
    }
}

#[test]
fn a_table_cut_short_is_an_error_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    for table in files(folder.path(), ".table") {
        let len = usize::try_from(fs::metadata(&table).unwrap().len()).unwrap();
        let lengths = (0..len).step_by(197).chain(len.saturating_sub(20)..len);
        for cut in lengths {
            let damage = |path: &Path| fs::write(path, &fs::read(path).unwrap()[..cut]).unwrap();
            assert!(
                damaged(folder.path(), damage, &expected, &table, "a cut"),
                "cut to {cut} of {len} bytes: unnoticed"
            );
        }
        let longer = |path: &Path| fs::write(path, [fs::read(path).unwrap(), vec![0; 100]].concat()).unwrap();
        assert!(
            damaged(folder.path(), longer, &expected, &table, "a longer file"),
            "100 bytes more: unnoticed"
        );
    }
}

#[test]
fn a_flipped_bit_in_a_table_is_never_a_wrong_answer() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    let table = files(folder.path(), ".table").pop().unwrap();
    let len = usize::try_from(fs::metadata(&table).unwrap().len()).unwrap();
    let mut noticed = 0;
    let places: Vec<usize> = (0..len).step_by(1 + len / 150).collect();
    for (number, &at) in places.iter().enumerate() {
        let damage = |path: &Path| {
            let mut bytes = fs::read(path).unwrap();
            bytes[at] ^= 1 << (number % 8);
            fs::write(path, bytes).unwrap();
        };
        noticed += usize::from(damaged(folder.path(), damage, &expected, &table, "a flipped bit"));
    }
    assert_eq!(noticed, places.len(), "verify notices every flipped bit");
}

#[test]
fn a_missing_or_exchanged_table_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    let tables = files(folder.path(), ".table");
    assert_eq!(tables.len(), 2);
    for table in &tables {
        let remove = |path: &Path| fs::remove_file(path).unwrap();
        assert!(damaged(folder.path(), remove, &expected, table, "a removal"));
        let empty = |path: &Path| fs::write(path, "").unwrap();
        assert!(damaged(folder.path(), empty, &expected, table, "an empty file"));
        let other = tables.iter().find(|other| *other != table).unwrap();
        let exchange = |path: &Path| fs::copy(other, path).map(drop).unwrap();
        assert!(damaged(folder.path(), exchange, &expected, table, "an exchange"));
    }
}

#[test]
fn a_damaged_manifest_is_an_error_and_no_edit_is_lost_silently() {
    let folder = tempfile::tempdir().unwrap();
    let expected = database_with_tables(folder.path());
    let manifest = files(folder.path(), "")
        .into_iter()
        .find(|p| p.to_str().unwrap().contains("MANIFEST-"))
        .unwrap();
    let len = usize::try_from(fs::metadata(&manifest).unwrap().len()).unwrap();
    for at in 0..len {
        let scratch = tempfile::tempdir().unwrap();
        copy(folder.path(), scratch.path());
        let target = scratch.path().join(manifest.file_name().unwrap());
        let mut bytes = fs::read(&target).unwrap();
        bytes[at] ^= 0x10;
        fs::write(&target, bytes).unwrap();
        if let Ok(db) = open_existing(scratch.path()) {
            match records(&db) {
                Ok(found) if found != expected => {
                    panic!(
                        "byte {at} of {len} flipped: {} records instead of {}, and no error",
                        found.len(),
                        expected.len()
                    )
                }
                _ => {}
            }
        }
    }
    for name in ["CURRENT", manifest.file_name().unwrap().to_str().unwrap()] {
        for bytes in [&b""[..], b"garbage", &[0; 64]] {
            let scratch = tempfile::tempdir().unwrap();
            copy(folder.path(), scratch.path());
            fs::write(scratch.path().join(name), bytes).unwrap();
            let error = open_existing(scratch.path()).expect_err(name).to_string();
            assert!(error.contains(name), "{name}: {error}");
        }
    }
}

// Logs.

const LOGGED: usize = 40;

/// The record that commit `n` of [`crashed_database`] wrote.
fn logged(n: usize) -> (Vec<u8>, Vec<u8>) {
    (
        format!("key {n:02}").into_bytes(),
        format!("value {n} {}", "x".repeat(n)).into_bytes(),
    )
}

/// What a process leaves that is killed after [`LOGGED`] commits: nothing in tables, everything in one log segment.
/// Returns the segment.
fn crashed_database(folder: &Path) -> PathBuf {
    let running = tempfile::tempdir().unwrap();
    let db = Db::open(running.path(), options()).unwrap();
    for n in 0..LOGGED {
        let (key, value) = logged(n);
        db.put(key, value).unwrap();
    }
    copy(running.path(), folder);
    db.close().unwrap();
    let logs = files(folder, ".log");
    assert_eq!(logs.len(), 1, "{logs:?}");
    logs[0].clone()
}

/// Offset in the segment of the end of each commit's value, found by its bytes.
fn ends_of_commits(segment: &Path) -> Vec<usize> {
    let bytes = fs::read(segment).unwrap();
    let mut from = 0;
    (0..LOGGED)
        .map(|n| {
            let value = logged(n).1;
            let at = bytes[from..]
                .windows(value.len())
                .position(|w| w == value)
                .expect("values stand in the log as they are");
            from += at + value.len();
            from
        })
        .collect()
}

/// How many commits from the first on a database holds; panics if it holds anything else.
fn commits_held(db: &Db) -> usize {
    let found = records(db).unwrap();
    let expected: Records = (0..found.len()).map(logged).collect();
    assert_eq!(found, expected, "the commits are a beginning of the history");
    found.len()
}

#[test]
fn a_killed_process_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    crashed_database(folder.path());
    for _ in 0..3 {
        let db = open_existing(folder.path()).unwrap();
        assert_eq!(commits_held(&db), LOGGED);
        assert!(db.verify().unwrap().is_sound());
        db.close().unwrap();
    }
}

#[test]
fn a_torn_tail_is_recovered_up_to_the_last_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let segment = crashed_database(folder.path());
    let ends = ends_of_commits(&segment);
    let bytes = fs::read(&segment).unwrap();
    // Inside the last commits, at both sides of their borders.
    let cuts = ends[LOGGED - 4..]
        .iter()
        .flat_map(|&end| [end - 9, end - 1, end, end + 1]);
    for cut in cuts {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        let zeroed = [&bytes[..cut], &vec![0; bytes.len() - cut]].concat();
        let garbage = [
            &bytes[..cut],
            &[0xa5; 64],
            &vec![0; bytes.len().saturating_sub(cut + 64)],
        ]
        .concat();
        for (what, torn) in [("zeroes", zeroed), ("garbage", garbage)] {
            let scratch = tempfile::tempdir().unwrap();
            copy(folder.path(), scratch.path());
            fs::write(scratch.path().join(segment.file_name().unwrap()), torn).unwrap();
            let db = open_existing(scratch.path()).unwrap_or_else(|e| panic!("{what} from {cut} on: {e}"));
            assert_eq!(commits_held(&db), whole, "{what} from {cut} on");
            // What was recovered is kept, and the database works on.
            db.put("zz after", "1").unwrap();
            db.close().unwrap();
            let db = open_existing(scratch.path()).unwrap();
            assert_eq!(
                records(&db).unwrap().len(),
                whole + 1,
                "{what} from {cut} on, opened again"
            );
        }
    }
}

/// No crash takes the end of a file that got its whole length before it was used.
#[test]
fn a_log_whose_end_is_cut_off_is_an_error_naming_it() {
    let folder = tempfile::tempdir().unwrap();
    let segment = crashed_database(folder.path());
    let name = segment.file_name().unwrap().to_str().unwrap();
    let bytes = fs::read(&segment).unwrap();
    if bytes.last() != Some(&0) {
        // No room is set aside on this file system, so a log's file ends with its last record.
        return;
    }
    let end = *ends_of_commits(&segment).last().unwrap();
    for cut in [end - 700, end - 1, end, end + 1, bytes.len() - 1] {
        let scratch = tempfile::tempdir().unwrap();
        copy(folder.path(), scratch.path());
        fs::write(scratch.path().join(name), &bytes[..cut]).unwrap();
        let error = open_existing(scratch.path()).expect_err("a cut").to_string();
        assert!(
            error.contains(name) && error.contains("bytes long"),
            "cut at {cut}: {error}"
        );
    }
}

#[test]
fn damage_in_the_middle_of_a_log_is_an_error_naming_file_and_offset() {
    let folder = tempfile::tempdir().unwrap();
    let segment = crashed_database(folder.path());
    let ends = ends_of_commits(&segment);
    let name = segment.file_name().unwrap().to_str().unwrap();
    for commit in [1, LOGGED / 2, LOGGED - 2] {
        let scratch = tempfile::tempdir().unwrap();
        copy(folder.path(), scratch.path());
        let target = scratch.path().join(name);
        let mut bytes = fs::read(&target).unwrap();
        bytes[ends[commit] - 1] ^= 0x01;
        fs::write(&target, &bytes).unwrap();
        match open_existing(scratch.path()).expect_err("dropped silently") {
            Error::Damaged { path, offset, .. } => {
                assert!(path.ends_with(name), "{}", path.display());
                let range = ends[commit - 1] as u64..ends[commit] as u64;
                assert!(
                    range.contains(&offset),
                    "offset {offset} is not in the damaged record at {range:?}"
                );
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&target).unwrap(), bytes, "the evidence is kept");
    }
}

#[test]
fn a_synced_commit_is_never_taken_for_a_torn_tail() {
    let running = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(running.path(), options().durability(Durability::Sync)).unwrap();
    for n in 0..LOGGED {
        let (key, value) = logged(n);
        db.put(key, value).unwrap();
    }
    copy(running.path(), folder.path());
    db.close().unwrap();
    let segment = files(folder.path(), ".log").pop().unwrap();
    let end = ends_of_commits(&segment)[LOGGED / 2];
    let mut bytes = fs::read(&segment).unwrap();
    bytes[end - 1] ^= 0x80;
    fs::write(&segment, bytes).unwrap();
    let error = open_existing(folder.path()).expect_err("a synced commit was dropped");
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
}

// Second openers and read-only places.

#[test]
fn a_second_opener_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = Db::open(folder.path(), options()).unwrap();
    first.put("k", "v").unwrap();
    let error = Db::open(folder.path(), options()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    // The first goes on, and lets go when it closes.
    first.put("l", "w").unwrap();
    first.close().unwrap();
    let second = open_existing(folder.path()).unwrap();
    assert_eq!(records(&second).unwrap().len(), 2);
}

#[test]
fn reading_only_writes_nothing_and_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    crashed_database(folder.path());
    let contents = || -> Vec<_> {
        files(folder.path(), "")
            .into_iter()
            .map(|p| (fs::read(&p).unwrap(), p))
            .collect()
    };
    let before = contents();
    let db = Db::open(folder.path(), options().read_only(true)).unwrap();
    assert_eq!(commits_held(&db), LOGGED);
    for error in [
        db.put("k", "v").unwrap_err(),
        db.delete("k").unwrap_err(),
        db.flush().unwrap_err(),
        db.compact().unwrap_err(),
    ] {
        assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    }
    assert!(db.verify().unwrap().is_sound());
    db.close().unwrap();
    assert_eq!(contents(), before);
}

#[cfg(unix)]
#[test]
fn a_directory_without_the_right_to_write_is_an_error_that_names_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let expected = database_with_tables(&path);
    let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // The superuser may write anywhere: there is nothing to see then.
    let writable = fs::write(path.join("probe"), "").is_ok();
    if writable {
        fs::remove_file(path.join("probe")).unwrap();
    } else {
        let error = Db::open(&path, options()).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    let db = Db::open(&path, options().read_only(true)).unwrap();
    assert_eq!(records(&db).unwrap(), expected);
    db.close().unwrap();
    allow(0o755);
    ask_everything(&path, &expected).unwrap();
}

// Keys and values.

/// Puts records, and finds them in memory, in a table, in a merged table, and after reopening.
fn kept_everywhere(all: &Records) {
    let folder = tempfile::tempdir().unwrap();
    let check = |db: &Db, when: &str| {
        for (key, value) in all {
            assert!(
                db.get(key).unwrap().is_some_and(|v| v == value[..]),
                "{when}: a key of {} bytes",
                key.len()
            );
        }
        assert!(records(db).unwrap() == *all, "{when}: forwards");
        let backwards: Vec<_> = db.iter().rev().map(|item| item.unwrap().0.into_vec()).collect();
        assert!(backwards.iter().eq(all.keys().rev()), "{when}: backwards");
    };
    let mut db = Db::open(folder.path(), options()).unwrap();
    for (key, value) in all {
        db.put(key, value).unwrap();
    }
    check(&db, "in memory");
    db.close().unwrap();
    db = open_existing(folder.path()).unwrap();
    check(&db, "from the log");
    db.flush().unwrap();
    check(&db, "from a table");
    for (key, value) in all {
        db.put(key, value).unwrap();
    }
    db.compact().unwrap();
    check(&db, "merged");
    db.close().unwrap();
    db = open_existing(folder.path()).unwrap();
    check(&db, "reopened");
    assert!(db.verify().unwrap().is_sound());
    for key in all.keys() {
        db.delete(key).unwrap();
    }
    db.flush().unwrap();
    assert!(records(&db).unwrap().is_empty(), "everything is deleted");
}

#[test]
fn the_empty_key_and_the_empty_value_are_kept() {
    kept_everywhere(&Records::from([(Vec::new(), Vec::new())]));
    kept_everywhere(&Records::from([
        (Vec::new(), b"v".to_vec()),
        (b"a".to_vec(), Vec::new()),
    ]));
}

#[test]
fn a_key_of_1_mib_and_its_neighbours_are_kept() {
    let long = vec![b'k'; 1 << 20];
    let mut all = Records::new();
    for last in [0x00, b'k', 0xff] {
        let mut key = long.clone();
        *key.last_mut().unwrap() = last;
        all.insert(key, vec![last]);
    }
    all.insert(long[..long.len() - 1].to_vec(), b"a prefix".to_vec());
    all.insert(b"k".to_vec(), b"short".to_vec());
    kept_everywhere(&all);
}

#[test]
fn a_value_of_64_mib_is_kept() {
    let value: Vec<u8> = (0..64u32 << 20)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    kept_everywhere(&Records::from([
        (b"big".to_vec(), value),
        (b"small".to_vec(), b"v".to_vec()),
    ]));
}

#[test]
fn keys_that_are_prefixes_of_each_other_are_kept() {
    let text = b"a prefix of a prefix of a prefix";
    kept_everywhere(
        &(0..=text.len())
            .map(|len| (text[..len].to_vec(), len.to_string().into_bytes()))
            .collect(),
    );
}

#[test]
fn bytes_00_and_ff_everywhere_are_kept() {
    let mut all = Records::new();
    let units = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];
    for a in units {
        for b in units {
            for len in 0..4 {
                let mut key = vec![a; len];
                key.push(b);
                all.insert(key, vec![b, a, 0x00, 0xff]);
            }
        }
    }
    all.insert(vec![0xff; 300], vec![0xff; 300]);
    all.insert(vec![0x00; 300], vec![0x00; 300]);
    kept_everywhere(&all);
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(folder.path(), options()).unwrap();
    for (key, value) in &all {
        db.put(key, value).unwrap();
    }
    for flushed in [false, true] {
        if flushed {
            db.flush().unwrap();
        }
        for prefix in [
            &b""[..],
            &[0x00],
            &[0xff],
            &[0xff, 0xff],
            &[0x7f, 0x7f],
            &[0xfe, 0xff],
        ] {
            let expected: Vec<_> = all.keys().filter(|key| key.starts_with(prefix)).collect();
            let found: Vec<_> = db.prefix(prefix).map(|item| item.unwrap().0.into_vec()).collect();
            assert!(
                found.iter().eq(expected.iter().copied()),
                "prefix {}",
                prefix.escape_ascii()
            );
            let backwards: Vec<_> = db
                .prefix(prefix)
                .rev()
                .map(|item| item.unwrap().0.into_vec())
                .collect();
            assert!(
                backwards.iter().eq(expected.iter().rev().copied()),
                "prefix {} backwards",
                prefix.escape_ascii()
            );
        }
    }
}

#[test]
fn keys_over_the_limit_are_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(folder.path(), options()).unwrap();
    let key = vec![b'k'; tephradb::limits::KEY_LEN_BYTES_MAX + 1];
    for error in [db.put(&key, "v").unwrap_err(), db.delete(&key).unwrap_err()] {
        assert!(matches!(error, Error::KeyTooLong { .. }), "{error:?}");
        assert_eq!(error.usability(), tephradb::Usability::Usable);
    }
    let mut batch = db.batch();
    batch
        .put(&db, "good", "1")
        .put(&db, &key, "2")
        .put(&db, "good too", "3");
    let error = batch.commit(Durability::Process).unwrap_err();
    assert!(matches!(error, Error::KeyTooLong { .. }), "{error:?}");
    assert!(records(&db).unwrap().is_empty(), "a refused batch writes nothing");
    assert!(
        db.get(&key).unwrap().is_none(),
        "looking for such a key finds none"
    );
    db.put(&key[1..], "the longest key").unwrap();
    assert_eq!(records(&db).unwrap().len(), 1);
}

// Copies of a whole folder.

#[test]
fn a_moved_database_is_the_same_and_a_copied_one_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let (first, moved, copied) = (
        folder.path().join("first"),
        folder.path().join("moved"),
        folder.path().join("copied"),
    );
    let mut expected = database_with_tables(&first);
    fs::rename(&first, &moved).unwrap();
    ask_everything(&moved, &expected).unwrap();
    copy(&moved, &copied);
    // Both are open at once, and neither sees what is written to the other.
    let (original, other) = (open_existing(&moved).unwrap(), open_existing(&copied).unwrap());
    original.put("shared/prefix/only here", "1").unwrap();
    other.clear().unwrap();
    other.compact().unwrap();
    original.close().unwrap();
    other.close().unwrap();
    expected.insert(b"shared/prefix/only here".to_vec(), b"1".to_vec());
    ask_everything(&moved, &expected).unwrap();
    ask_everything(&copied, &Records::new()).unwrap();
}

#[test]
fn every_string_up_to_the_limit_is_a_name_of_a_keyspace_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        ".".to_owned(),
        "..".to_owned(),
        "../x".to_owned(),
        "/".to_owned(),
        "a\0b".to_owned(),
        "\n".to_owned(),
        "é".repeat(255),
        "CURRENT".to_owned(),
        "000001.table".to_owned(),
        "x".repeat(tephradb::limits::KEYSPACE_NAME_LEN_BYTES_MAX),
    ];
    let path = folder.path().join("db");
    let db = Db::open(&path, options()).unwrap();
    for name in &names {
        let keyspace = db.keyspace(name, tephradb::KeyspaceOptions::default()).unwrap();
        keyspace.put("its name", name).unwrap();
    }
    let long = "x".repeat(tephradb::limits::KEYSPACE_NAME_LEN_BYTES_MAX + 1);
    let error = db
        .keyspace(&long, tephradb::KeyspaceOptions::default())
        .unwrap_err();
    assert!(matches!(error, Error::KeyspaceNameTooLong { .. }), "{error:?}");
    db.flush().unwrap();
    db.close().unwrap();
    let db = open_existing(&path).unwrap();
    assert_eq!(db.keyspace_names().len(), names.len() + 1);
    for name in &names {
        let keyspace = db.keyspace(name, tephradb::KeyspaceOptions::default()).unwrap();
        assert_eq!(
            keyspace.get("its name").unwrap().as_deref(),
            Some(name.as_bytes())
        );
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "a name is no path"
    );
}
