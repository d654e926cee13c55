//! Failing disks and damaged files.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::{DIR, Rng, TestDb, assert_sound, contents, manual};
use crate::vfs::{Calls, Fault, FaultFs, FileSystem as _, MemFs, Operation, Rule};
use crate::{Db, Durability, Error, Options, Usability};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(disk: &FaultFs, options: Options) -> Db {
    Db::open_with(Arc::new(disk.clone()), DIR, options).expect("opens")
}

fn healthy() -> (MemFs, FaultFs) {
    let machine = MemFs::new();
    let disk = FaultFs::new(Arc::new(machine.clone()));
    (machine, disk)
}

#[test]
fn every_call_failing_once_leaves_a_database_that_is_right_and_reopens() {
    let options = || {
        manual()
            .memtable_bytes(700)
            .target_table_bytes(300)
            .l0_compaction_trigger(2)
            .manifest_bytes(900)
    };
    for seed in 0..3 {
        for skipped in 0..400 {
            let (machine, disk) = healthy();
            disk.add(Rule::once(Calls::Any, Fault::DeviceError).after(skipped));
            let Ok(db) = Db::open_with(Arc::new(disk.clone()), DIR, options()) else {
                drop(open(&disk, options()));
                continue;
            };
            let mut rng = Rng::new(seed);
            let mut state = State::new();
            for step in 0..60u32 {
                let key = vec![b'a' + u8::try_from(rng.below(10)).expect("small")];
                let mut after = state.clone();
                let outcome = match rng.below(10) {
                    0 => db.flush(),
                    1 => db.compact(),
                    2 => db.run_background_step().map(drop),
                    3..6 => {
                        after.remove(&key);
                        db.delete(&key)
                    }
                    _ => {
                        after.insert(key.clone(), vec![b'v'; step as usize]);
                        db.put(&key, vec![b'v'; step as usize])
                    }
                };
                let what = format!("seed {seed}, fault after {skipped} calls, step {step}: {outcome:?}");
                if outcome.is_ok() {
                    state = after;
                } else {
                    let found: State = contents(&db).into_iter().collect();
                    assert!(found == state || found == after, "{what}");
                    state = found;
                }
            }
            let was_hit = disk.fault_count() > 0;
            disk.heal();
            assert!(
                contents(&db).into_iter().eq(state.clone()),
                "seed {seed}, after {skipped} calls"
            );
            drop(db);
            let db = open(&FaultFs::new(Arc::new(machine.after_kill())), options());
            assert!(
                contents(&db).into_iter().eq(state),
                "seed {seed}, after {skipped} calls, reopened"
            );
            assert_sound(&db);
            if !was_hit {
                break;
            }
        }
    }
}

#[test]
fn after_a_failed_sync_of_the_log_writes_are_refused_with_the_original_cause_and_reads_go_on() {
    let (_, disk) = healthy();
    let db = open(&disk, manual());
    db.put("k", "v").expect("put");
    disk.add(Rule::once(
        Calls::Only(Operation::SyncSegment),
        Fault::DeviceError,
    ));
    let commit = || {
        let mut batch = db.batch();
        batch.put(&db, "lost", "v");
        batch.commit(Durability::Sync)
    };
    let first = commit().expect_err("not acknowledged");
    assert_eq!(first.usability(), Usability::ReadsOnly);
    for outcome in [commit(), db.put("k", "again"), db.flush(), db.compact()] {
        let error = outcome.expect_err("refused");
        assert!(matches!(error, Error::WriterStopped { .. }), "{error}");
        assert_eq!(error.to_string(), first.to_string(), "the original cause");
    }
    assert_eq!(db.get("k").expect("reads go on").as_deref(), Some(&b"v"[..]));
}

/// Background work may have stopped the writer without anybody having been told: a close that said nothing would be taken for the
/// promise that all is durable.
#[test]
fn a_close_after_the_writer_has_stopped_says_that_nothing_was_synced() {
    let (_, disk) = healthy();
    let db = open(&disk, manual());
    db.put("k", "v").expect("put");
    disk.add(Rule::once(Calls::Only(Operation::Sync), Fault::DeviceError).on("MANIFEST"));
    let stopped = db.flush().expect_err("stops");
    let error = db.close().expect_err("not synced");
    assert_eq!(error.to_string(), stopped.to_string(), "the original cause");
    drop(open(&disk, manual()));
}

#[test]
fn an_edit_whose_sync_failed_may_survive_and_no_file_it_names_is_missing_then() {
    for work in ["flush", "compact"] {
        for round in 0..20 {
            let (machine, disk) = healthy();
            let db = open(&disk, manual());
            for value in ["1", "2"] {
                db.put("k", value).expect("put");
                db.flush().expect("flush");
            }
            db.default_keyspace()
                .put_with("k", "3", Durability::Sync)
                .expect("put");
            disk.add(Rule::once(Calls::Only(Operation::Sync), Fault::DeviceError).on("MANIFEST"));
            if work == "flush" {
                db.flush().expect_err("stops");
            } else {
                db.compact().expect_err("stops");
            }
            assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"3"[..]));
            assert!(matches!(db.put("k", "4"), Err(Error::WriterStopped { .. })));
            drop(db);
            for machine in [machine.after_kill(), machine.after_power_cut(round)] {
                let db = open(&FaultFs::new(Arc::new(machine.clone())), manual());
                assert_eq!(
                    db.get("k").expect("get").as_deref(),
                    Some(&b"3"[..]),
                    "{work} {round}"
                );
                let named = db.stats().table_count;
                let on_disk = super::files_of(&machine)
                    .iter()
                    .filter(|name| name.ends_with(".table"))
                    .count();
                assert_eq!(on_disk, named, "no orphan stays");
                assert_sound(&db);
            }
        }
    }
}

#[test]
fn a_failed_flush_leaves_no_trace_and_is_retried_in_order() {
    let (machine, disk) = healthy();
    let db = open(&disk, manual().memtable_bytes(300).frozen_memtables_max(9));
    for value in ["older", "newer"] {
        for number in 0..8u32 {
            db.put(number.to_be_bytes(), value).expect("put");
        }
    }
    disk.add(Rule::once(Calls::Only(Operation::Sync), Fault::DeviceError).on(".table"));
    assert!(db.run_background_step().is_err());
    assert!(
        !super::files_of(&machine)
            .iter()
            .any(|name| name.ends_with(".table"))
    );
    assert_eq!(db.stats().background_failure_count, 1);
    while db.run_background_step().expect("the disk is well again") {}
    assert!(contents(&db).iter().all(|(_, value)| value == b"newer"));
    drop(db);
    let db = open(&FaultFs::new(Arc::new(machine)), manual());
    assert!(contents(&db).iter().all(|(_, value)| value == b"newer"));
    assert_sound(&db);
}

#[test]
fn a_full_disk_refuses_writes_and_works_again_when_there_is_room() {
    let (_, disk) = healthy();
    let db = open(&disk, manual().memtable_bytes(500));
    db.put("k", "v").expect("put");
    disk.add(Rule::always(Calls::Changing, Fault::StorageFull));
    let mut refusals = 0;
    for number in 0..20u32 {
        if let Err(error) = db.put(number.to_be_bytes(), [b'v'; 60]) {
            assert_eq!(error.usability(), Usability::Usable, "{error}");
            refusals += 1;
        }
    }
    assert!(refusals > 0);
    let written = contents(&db);
    disk.heal();
    db.put("again", "v").expect("there is room");
    db.flush().expect("flush");
    assert_eq!(contents(&db).len(), written.len() + 1);
    assert_sound(&db);
}

#[test]
fn a_damaged_input_fails_the_compaction_and_leaves_the_tables() {
    let (_, disk) = healthy();
    let mut db = open(&disk, manual());
    for value in ["1", "2"] {
        for number in 0..2000u32 {
            db.put(number.to_be_bytes(), value.repeat(20)).expect("put");
        }
        db.flush().expect("flush");
    }
    drop(db);
    // A page in the middle of every table that is mapped from now on is read wrong.
    disk.add(Rule::always(Calls::Only(Operation::Map), Fault::FlipBit(8 * 20_000)).on(".table"));
    db = open(&disk, manual());
    let error = db.compact().expect_err("the input is damaged");
    assert!(matches!(error, Error::Table { .. }), "{error}");
    assert_eq!(db.stats().table_count, 2);
    let report = db.verify().expect("runs");
    assert!(
        report.problems.iter().any(|problem| problem.contains(".table")),
        "{report:?}"
    );
}

/// A closed database with tables, dead records, a log with several records and two keyspaces.
fn closed() -> TestDb {
    let mut db = TestDb::open(manual());
    db.keyspace("other", crate::KeyspaceOptions::default())
        .expect("creates")
        .put("k", "v")
        .expect("put");
    for number in 0..40u32 {
        db.put(number.to_be_bytes(), [b'v'; 9]).expect("put");
    }
    db.flush().expect("flush");
    db.delete(3u32.to_be_bytes()).expect("delete");
    db.put("x", "y").expect("put");
    db.flush().expect("flush");
    for number in 100..110u32 {
        db.put(number.to_be_bytes(), "logged").expect("put");
    }
    db.close();
    db
}

/// Opens a damaged machine and asks it everything. It may refuse, with an error; it must not panic, nor give a wrong answer. Of a
/// manifest whose end was cut off nobody can tell that there was more, so there an older state may come back.
fn interrogate(machine: &MemFs, original: &State, what: &str) {
    let Ok(db) = Db::open_with(Arc::new(machine.clone()), DIR, manual()) else {
        return;
    };
    let found: crate::Result<State> = db
        .iter()
        .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec())))
        .collect();
    let may_be_older = what.contains("cut to") && what.contains("MANIFEST");
    if let Ok(found) = found {
        assert!(may_be_older || found == *original, "{what}: a wrong answer");
    }
    drop(db.verify());
}

#[test]
fn a_flipped_bit_or_a_cut_in_any_file_is_an_error_or_no_loss_and_never_a_panic() {
    let db = closed();
    let original: State = {
        let reopened = open(&FaultFs::new(Arc::new(db.machine.after_kill())), manual());
        contents(&reopened).into_iter().collect()
    };
    for name in db.files() {
        let bytes = db.read_file(&name);
        // The unused room of a segment is zeros: one place in it stands for all.
        let used = bytes
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |last| last + 2)
            .min(bytes.len());
        for index in 0..used {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << (index % 8);
            let copy = TestDb::closed_copy(&db);
            copy.replace_file(&name, &damaged);
            interrogate(&copy.machine, &original, &format!("{name}, byte {index} flipped"));
        }
        for len in (0..used).step_by(7) {
            let copy = TestDb::closed_copy(&db);
            copy.replace_file(&name, &bytes[..len]);
            interrogate(&copy.machine, &original, &format!("{name}, cut to {len}"));
        }
    }
}

#[test]
fn damage_in_the_middle_of_the_log_is_an_error_that_names_file_and_offset_and_keeps_the_log() {
    let db = closed();
    let name = db
        .files()
        .into_iter()
        .rfind(|name| name.ends_with(".log"))
        .expect("a segment");
    let mut bytes = db.read_file(&name);
    let middle = bytes.iter().rposition(|&byte| byte != 0).expect("used") / 2;
    bytes[middle] ^= 1;
    db.replace_file(&name, &bytes);
    let error = Db::open_with(Arc::new(db.machine.clone()), DIR, manual()).expect_err("refused");
    let Error::Damaged { path, offset, .. } = &error else {
        panic!("{error}")
    };
    assert!(
        path.ends_with(&name) && *offset <= middle as u64 && *offset > 0,
        "{error}"
    );
    assert_eq!(db.read_file(&name), bytes, "the evidence stays");
}

#[test]
fn missing_and_swapped_tables_are_named() {
    let db = closed();
    let tables: Vec<String> = db
        .files()
        .into_iter()
        .filter(|name| name.ends_with(".table"))
        .collect();
    let (first, second) = (db.read_file(&tables[0]), db.read_file(&tables[1]));
    let copy = TestDb::closed_copy(&db);
    copy.replace_file(&tables[0], &second);
    copy.replace_file(&tables[1], &first);
    let error = Db::open_with(Arc::new(copy.machine.clone()), DIR, manual()).expect_err("swapped");
    assert!(error.to_string().contains(".table"), "{error}");
    let copy = TestDb::closed_copy(&db);
    copy.remove_file(&tables[0]);
    let error = Db::open_with(Arc::new(copy.machine.clone()), DIR, manual()).expect_err("missing");
    assert!(
        error.to_string().contains(&tables[0]) && matches!(error, Error::Inconsistent { .. }),
        "{error}"
    );
    let copy = TestDb::closed_copy(&db);
    copy.remove_file("CURRENT");
    let error = Db::open_with(Arc::new(copy.machine.clone()), DIR, manual()).expect_err("no CURRENT");
    assert!(
        error.to_string().contains("CURRENT"),
        "a database without CURRENT is not taken for a new one"
    );
    assert_eq!(
        copy.files()
            .iter()
            .filter(|name| name.ends_with(".table"))
            .count(),
        tables.len()
    );
}

/// The newest log segment, removed or cut by hand, used to be taken for one that a crash had cut short: what it held was gone without
/// a word.
#[test]
fn a_log_segment_removed_or_cut_by_hand_is_an_error_whatever_came_before_it() {
    let options = || manual().memtable_bytes(2_000).frozen_memtables_max(9);
    for flushes in 0..4 {
        for closes in [false, true] {
            let mut db = TestDb::open(options());
            for number in 0..120u32 {
                db.put(number.to_be_bytes(), [b'v'; 40]).expect("put");
            }
            for _ in 0..flushes {
                assert!(db.run_background_step().expect("flush"));
            }
            let expected = contents(&db);
            let machine = if closes {
                db.close();
                db.machine.clone()
            } else {
                db.machine.after_kill()
            };
            let logs: Vec<String> = super::files_of(&machine)
                .into_iter()
                .filter(|name| name.ends_with(".log"))
                .collect();
            // One that was made ahead of need may lie there.
            let in_use: Vec<&String> = logs
                .iter()
                .filter(|name| {
                    let bytes = machine.read(&Path::new(DIR).join(name)).expect("readable");
                    bytes.iter().skip(64).any(|&byte| byte != 0)
                })
                .collect();
            assert!(flushes > 2 || in_use.len() > 1, "several segments: {logs:?}");
            for name in in_use {
                let path = Path::new(DIR).join(name);
                let bytes = machine.read(&path).expect("readable");
                let copy = machine.after_kill();
                copy.remove(&path).expect("removes");
                let error = Db::open_with(Arc::new(copy), DIR, options()).expect_err("removed");
                assert!(
                    error.to_string().contains(name.as_str()),
                    "{name} removed: {error}"
                );
                for len in (0..bytes.len()).step_by(bytes.len() / 50) {
                    let copy = machine.after_kill();
                    copy.remove(&path).expect("removes");
                    let mut file = copy.create_new(&path).expect("creates");
                    file.write_all(&bytes[..len]).expect("writes");
                    let what = format!("{name} cut to {len} of {}", bytes.len());
                    match Db::open_with(Arc::new(copy), DIR, options()) {
                        Ok(db) => assert_eq!(contents(&db), expected, "{what}"),
                        Err(error) => assert!(error.to_string().contains(name.as_str()), "{what}: {error}"),
                    }
                }
            }
        }
    }
}

/// Cause of the losses this is to prevent: outputs and marks of compactions that never came into force piled up.
#[test]
fn compactions_whose_edit_fails_again_and_again_leave_no_files_behind() {
    let (machine, disk) = healthy();
    let db = open(&disk, manual().manifest_bytes(1 << 20));
    for value in ["older", "newer"] {
        for number in 0..40u32 {
            db.put(number.to_be_bytes(), value).expect("put");
        }
        db.flush().expect("flush");
    }
    for number in 0..20u32 {
        db.delete(number.to_be_bytes()).expect("delete");
    }
    db.flush().expect("flush");
    let before = contents(&db);
    for attempt in 0..20 {
        disk.add(Rule::once(Calls::Only(Operation::Write), Fault::StorageFull).on("MANIFEST"));
        let outcome = db.compact();
        assert!(outcome.is_err(), "attempt {attempt}");
        assert_eq!(contents(&db), before, "attempt {attempt}");
    }
    assert_eq!(disk.fault_count(), 20, "every fault was met");
    disk.heal();
    db.compact().expect("the disk is well again");
    drop(db);
    let db = open(&FaultFs::new(Arc::new(machine.clone())), manual());
    assert_eq!(contents(&db), before);
    let tables = super::files_of(&machine);
    let tables = tables.iter().filter(|name| name.ends_with(".table")).count();
    assert_eq!(tables, db.stats().table_count, "no file but those of the version");
    assert_sound(&db);
}
