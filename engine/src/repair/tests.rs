//! Each kind of damage, and what repair makes of it. The rule of all tests: what is alive was written; what is missing, stale or back from
//! the dead is told.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::{RepairOptions, RepairReport, repair_with};
use crate::law::AddU64;
use crate::tests::{DIR, Rng, TestDb, assert_sound, contents, files_of, manual};
use crate::vfs::{FileSystem, MemFs};
use crate::{BitString, Db, Error, KeyspaceOptions, Options};

const INTO: &str = "/repaired";

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// A closed database, and what its default keyspace should hold.
struct Fixture {
    machine: MemFs,
    now: State,
    /// All values that a key ever had.
    ever: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
}

fn options() -> Options {
    manual().manifest_bytes(1 << 20)
}

fn key(number: u32) -> Vec<u8> {
    format!("key {number:04}").into_bytes()
}

/// Two tables with dead records in the default keyspace, a bit keyspace, one with a law, and a log that puts and deletes.
fn fixture() -> Fixture {
    let mut db = TestDb::open(options());
    let (mut now, mut ever) = (State::new(), BTreeMap::<_, Vec<_>>::new());
    let mut put = |db: &Db, now: &mut State, number: u32, value: String| {
        db.put(key(number), &value).expect("put");
        now.insert(key(number), value.clone().into_bytes());
        ever.entry(key(number)).or_default().push(value.into_bytes());
    };
    let delete = |db: &Db, now: &mut State, number: u32| {
        db.delete(key(number)).expect("delete");
        now.remove(&key(number));
    };
    let counters = KeyspaceOptions::default().compose("add-u64", AddU64);
    let counters = db.keyspace("counters", counters).expect("creates");
    let bits = db
        .bit_keyspace("bits", KeyspaceOptions::default())
        .expect("creates");
    for number in 0..900 {
        put(
            &db,
            &mut now,
            number,
            format!("first value of {number} {}", "x".repeat(20)),
        );
    }
    for number in 0..50u64 {
        counters
            .merge((number % 10).to_be_bytes(), 1u64.to_le_bytes())
            .expect("merge");
        let mut string = BitString::default();
        string.push_bits(number, 13);
        bits.put(string.as_str(), string.as_str()).expect("put");
    }
    db.flush().expect("flush");
    for number in (0..900).step_by(3) {
        delete(&db, &mut now, number);
    }
    for number in (1..900).step_by(9) {
        put(&db, &mut now, number, format!("second value of {number}"));
    }
    db.flush().expect("flush");
    for number in (2..900).step_by(30) {
        delete(&db, &mut now, number);
    }
    db.flush().expect("flush");
    for number in 900..940 {
        put(&db, &mut now, number, format!("logged value of {number}"));
        delete(&db, &mut now, number - 895);
        counters
            .merge(3u64.to_be_bytes(), 1u64.to_le_bytes())
            .expect("merge");
    }
    drop((counters, bits));
    db.close();
    Fixture {
        machine: db.machine.clone(),
        now,
        ever,
    }
}

fn files(machine: &MemFs) -> Vec<(String, Vec<u8>)> {
    files_of(machine)
        .into_iter()
        .map(|name| {
            let bytes = machine.read(&Path::new(DIR).join(&name)).expect("readable");
            (name, bytes)
        })
        .collect()
}

fn open(machine: &MemFs) -> Db {
    let options = options().law("add-u64", AddU64);
    Db::open_with(Arc::new(machine.clone()), INTO, options).expect("a repaired database opens")
}

impl Fixture {
    /// A copy with another file of a name, or none.
    fn damaged(&self, name: &str, bytes: Option<&[u8]>) -> MemFs {
        let machine = self.machine.after_kill();
        let path = Path::new(DIR).join(name);
        machine.remove(&path).expect("removes");
        if let Some(bytes) = bytes {
            let mut file = machine.create_new(&path).expect("creates");
            file.write_all(bytes).expect("writes");
        }
        machine
    }

    fn file(&self, part: &str) -> (String, Vec<u8>) {
        let found = files(&self.machine)
            .into_iter()
            .find(|(name, _)| name.contains(part));
        found.expect("there is one")
    }

    /// Repairs, and holds the outcome against the rule.
    fn repair(&self, machine: &MemFs, accept: bool, what: &str) -> (RepairReport, Db) {
        let before = files(machine);
        let options = RepairOptions::default().accept_undeleted(accept);
        let report = repair_with(Arc::new(machine.clone()), DIR, INTO, options)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(files(machine), before, "{what}: the source is as it was");
        let db = open(machine);
        let found: State = contents(&db).into_iter().collect();
        for (key, value) in &found {
            let (text, known) = (key.escape_ascii(), self.ever.get(key));
            assert!(
                known.is_some_and(|known| known.contains(value)),
                "{what}: {text} was never that"
            );
            match self.now.get(key) {
                Some(now) => assert!(
                    now == value || !report.is_complete(),
                    "{what}: {text} is stale: {report:#?}"
                ),
                None => assert!(report.may_undelete(), "{what}: {text} is back: {report:#?}"),
            }
        }
        if report.is_complete() {
            assert_eq!(found, self.now, "{what}: said to be complete");
        }
        if report.problems.is_empty() {
            assert_sound(&db);
        }
        (report, db)
    }

    fn assert_whole(&self, machine: &MemFs, what: &str) -> RepairReport {
        let (report, db) = self.repair(machine, false, what);
        assert!(report.is_complete(), "{what}: {report:#?}");
        let counters = db.keyspace("counters", KeyspaceOptions::default().compose("add-u64", AddU64));
        let counters = counters.expect("has its law");
        let sum = counters.get(3u64.to_be_bytes()).expect("get").expect("is there");
        assert_eq!(*sum, 45u64.to_le_bytes(), "{what}");
        let bits = db
            .bit_keyspace("bits", KeyspaceOptions::default())
            .expect("has its unit");
        assert_eq!(bits.iter().count(), 50, "{what}");
        report
    }
}

#[test]
fn what_is_whole_is_taken_whole_without_current_too() {
    let fixture = fixture();
    let report = fixture.assert_whole(&fixture.machine.after_kill(), "undamaged");
    assert_eq!(
        (report.rebuilt_table_count, report.notes.len()),
        (0, 0),
        "{report:#?}"
    );
    assert_eq!(report.log_record_count, 120);
    for bytes in [None, Some(&b""[..]), Some(b"MANIFEST-9")] {
        let report = fixture.assert_whole(&fixture.damaged("CURRENT", bytes), "CURRENT");
        assert!(
            report.notes.iter().any(|note| note.contains("CURRENT")),
            "{report:#?}"
        );
    }
}

#[test]
fn a_database_that_was_killed_or_repaired_before_is_taken_whole() {
    let fixture = fixture();
    let machine = fixture.machine.after_kill();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
    db.flush().expect("flush");
    db.compact().expect("compact");
    let machine = machine.after_kill();
    drop(db);
    fixture.assert_whole(&machine, "killed");
}

/// Nothing tells then which records are deleted, nor where a table belongs.
#[test]
fn without_a_manifest_tables_are_set_aside_or_become_keyspaces_of_their_own() {
    let fixture = fixture();
    let (name, _) = fixture.file("MANIFEST-");
    for bytes in [None, Some(&[0; 300][..])] {
        let machine = fixture.damaged(&name, bytes);
        let (report, db) = fixture.repair(&machine, false, "no manifest");
        let tables = files(&machine)
            .iter()
            .filter(|(name, _)| name.ends_with(".table"))
            .count();
        assert_eq!(report.set_aside.len(), tables, "{report:#?}");
        assert!(
            report.lost.iter().any(|loss| loss.file.contains("MANIFEST")),
            "{report:#?}"
        );
        assert_eq!(contents(&db).len(), 40, "what the log put");
        drop(db);
        let machine = fixture.damaged(&name, bytes);
        let (report, db) = fixture.repair(&machine, true, "no manifest, accepted");
        assert!(report.set_aside.is_empty() && report.may_undelete());
        let recovered: Vec<String> = db
            .keyspace_names()
            .into_iter()
            .filter(|name| name.starts_with("recovered "))
            .collect();
        assert_eq!(recovered.len(), tables, "{recovered:?}");
        let first = db.keyspace(&recovered[0], KeyspaceOptions::default());
        assert!(first.is_ok_and(|first| first.iter().count() > 0) || recovered.len() > 1);
    }
}

#[test]
fn a_lost_edit_makes_the_dead_sets_of_earlier_tables_unknown_and_later_tables_stay_certain() {
    let fixture = fixture();
    let (name, bytes) = fixture.file("MANIFEST-");
    let (mut with_tables, mut set_aside) = (0, 0);
    for at in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        let what = format!("byte {at} of the manifest");
        let (report, db) = fixture.repair(&fixture.damaged(&name, Some(&damaged)), false, &what);
        assert!(
            report.lost.iter().all(|loss| !loss.reason.contains("taken with")),
            "{what}: {report:#?}"
        );
        with_tables += usize::from(report.table_count > 0);
        set_aside += report.set_aside.len();
        drop(db);
        let (accepted, _db) = fixture.repair(&fixture.damaged(&name, Some(&damaged)), true, &what);
        assert!(accepted.set_aside.is_empty(), "{what}: {accepted:#?}");
        assert!(accepted.table_count >= report.table_count, "{what}");
    }
    assert!(with_tables > 0 && set_aside > 0, "{with_tables} {set_aside}");
}

#[test]
fn of_a_damaged_table_every_readable_record_is_taken_and_the_dead_stay_dead() {
    let fixture = fixture();
    let (name, bytes) = fixture.file(".table");
    for at in (0..bytes.len()).step_by(509) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x01;
        let what = format!("byte {at} of {} of {name}", bytes.len());
        let (report, db) = fixture.repair(&fixture.damaged(&name, Some(&damaged)), true, &what);
        assert!(
            report.may_undelete() || contents(&db).iter().all(|(key, _)| fixture.now.contains_key(key)),
            "{what}"
        );
        let is_openable = report.rebuilt_table_count == 1;
        if is_openable {
            // A page and what hangs on it.
            let missing = fixture.now.len() - contents(&db).len();
            assert!(missing < 300, "{what}: {missing} keys are missing: {report:#?}");
        } else {
            assert!(
                report
                    .lost
                    .iter()
                    .any(|loss| loss.file == name && loss.record_count.is_some()),
                "{what}: {report:#?}"
            );
        }
    }
    // Appended bytes do no harm.
    let longer = [&bytes[..], &[7; 100]].concat();
    fixture.assert_whole(&fixture.damaged(&name, Some(&longer)), "a longer table");
    for bytes in [None, Some(&b"no table"[..])] {
        let (report, _db) = fixture.repair(&fixture.damaged(&name, bytes), false, "no table");
        assert!(report.lost.iter().any(|loss| loss.file == name), "{report:#?}");
    }
}

#[test]
fn of_a_damaged_log_every_whole_record_is_taken_and_the_gap_is_named() {
    let fixture = fixture();
    let machine = fixture.machine.after_kill();
    let logs: Vec<_> = files(&machine)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".log"))
        .collect();
    let (name, bytes) = logs.last().expect("a segment");
    let used = bytes.iter().rposition(|&byte| byte != 0).expect("used");
    for at in (64..used).step_by(41) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x04;
        let what = format!("byte {at} of {used} of {name}");
        let (report, _db) = fixture.repair(&fixture.damaged(name, Some(&damaged)), false, &what);
        if !report.is_complete() {
            let [gap] = &report.lost[..] else {
                panic!("{what}: {report:#?}")
            };
            assert!(
                gap.file == *name && gap.may_undelete && gap.offset.is_some_and(|offset| offset <= at as u64)
            );
            assert!(report.log_record_count >= 118, "{what}: {report:#?}");
        }
    }
    // Its header, its end, all of it.
    for bytes in [None, Some(&[][..]), Some(&bytes[..used / 2]), Some(&bytes[64..])] {
        let (report, _db) = fixture.repair(&fixture.damaged(name, bytes), false, "a log in pieces");
        assert!(
            report
                .lost
                .iter()
                .any(|loss| loss.file == *name && loss.may_undelete),
            "{report:#?}"
        );
    }
}

/// Each record has a checksum of its own.
#[test]
fn a_damaged_header_of_the_log_or_the_manifest_costs_no_record() {
    let fixture = fixture();
    let (log, bytes) = files(&fixture.machine)
        .into_iter()
        .rfind(|(name, _)| name.ends_with(".log"))
        .expect("a segment");
    let (manifest, edits) = fixture.file("MANIFEST-");
    let fields = [(0, 8), (16, 8), (24, 8), (32, 16), (48, 8), (60, 4)];
    for (at, width) in (0..64).map(|at| (at, 1)).chain(fields) {
        let flipped = |bytes: &[u8]| {
            let mut damaged = bytes.to_vec();
            damaged[at..at + width].iter_mut().for_each(|byte| *byte ^= 0x10);
            damaged
        };
        let what = format!("{width} bytes at {at} of {log}");
        let machine = fixture.damaged(&log, Some(&flipped(&bytes)));
        let (report, db) = fixture.repair(&machine, false, &what);
        assert_eq!(report.log_record_count, 120, "{what}: {report:#?}");
        assert_eq!(
            contents(&db),
            fixture.now.clone().into_iter().collect::<Vec<_>>(),
            "{what}"
        );
        let [loss] = &report.lost[..] else {
            panic!("{what}: {report:#?}")
        };
        assert!(loss.file == log && loss.offset == Some(0), "{what}: {loss}");
        drop(db);
        let what = format!("{width} bytes at {at} of {manifest}");
        let report = fixture.assert_whole(&fixture.damaged(&manifest, Some(&flipped(&edits))), &what);
        assert!(
            report.notes.iter().any(|note| note.contains(&manifest)),
            "{what}: {report:#?}"
        );
    }
    // Another file is not this one, whatever its records are.
    for at in [None, Some(30), Some(61)] {
        let mut other = edits.clone();
        at.into_iter().for_each(|at: usize| other[at] ^= 0x10);
        let machine = fixture.damaged(&log, Some(&other));
        let (report, _db) = fixture.repair(&machine, false, "another file");
        assert_eq!(report.log_record_count, 0, "{report:#?}");
        assert!(report.may_undelete(), "{report:#?}");
    }
}

/// Anything, anywhere: the rule holds.
#[test]
fn random_damage_to_any_files_is_told_and_never_a_panic() {
    let fixture = fixture();
    let originals = files(&fixture.machine);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let machine = fixture.machine.after_kill();
        let mut what = format!("seed {seed}");
        for _ in 0..=rng.below(2) {
            let (name, bytes) = &originals[rng.below(originals.len())];
            let used = bytes
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |last| last + 1);
            let mut damaged = bytes.clone();
            let kind = rng.below(5);
            what += &format!(", {name} {kind}");
            match kind {
                0 => damaged.truncate(rng.below(used + 1)),
                1 => (0..4).for_each(|_| {
                    damaged[rng.below(used.max(1)).min(bytes.len().saturating_sub(1))..]
                        .iter_mut()
                        .take(1)
                        .for_each(|byte| *byte ^= 0x81)
                }),
                2 => {
                    let from = rng.below(used + 1);
                    let to = (from + 600).min(damaged.len());
                    damaged[from..to].fill(0);
                }
                3 => damaged.extend([0x5a; 70]),
                _ => damaged = originals[rng.below(originals.len())].1.clone(),
            }
            let path = Path::new(DIR).join(name);
            machine.remove(&path).expect("removes");
            let mut file = machine.create_new(&path).expect("creates");
            file.write_all(&damaged).expect("writes");
        }
        for accept in [false, true] {
            drop(fixture.repair(&machine.after_kill(), accept, &what));
        }
    }
}

#[test]
fn a_place_that_is_taken_and_a_source_that_is_none_are_refused() {
    let fixture = fixture();
    let refused = |source: &str, into: &str| {
        let machine = fixture.machine.after_kill();
        let error = repair_with(Arc::new(machine.clone()), source, into, RepairOptions::default());
        (error.expect_err("refused"), machine)
    };
    for into in ["/db", "/db/below"] {
        let (error, machine) = refused(DIR, into);
        assert!(matches!(error, Error::RepairTarget { .. }), "{error}");
        assert_eq!(files(&machine).len(), files(&fixture.machine).len());
    }
    let (error, machine) = refused("/nowhere", INTO);
    assert!(matches!(error, Error::NotADatabase { .. }), "{error}");
    assert!(!machine.exists(Path::new(INTO)).expect("asks"));
    let machine = fixture.machine.after_kill();
    let _writer = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
    let error = repair_with(Arc::new(machine.clone()), DIR, INTO, RepairOptions::default());
    assert!(matches!(error, Err(Error::Locked { .. })));
}
