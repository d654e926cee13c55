//! Checkpoints: exact instants, durable, and nothing left of those that fail.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{DIR, TestDb, assert_sound, contents, manual};
use crate::vfs::{Calls, Fault, FaultFs, FileSystem, MemFs, Operation, Rule};
use crate::{Db, Durability, Error, KeyspaceOptions, Options, Usability};

const COPY: &str = "/backups/copy";

fn open_at(machine: MemFs, path: &str) -> Db {
    Db::open_with(Arc::new(machine), path, manual()).expect("opens")
}

/// A database with tables on several levels, dead records, two keyspaces and a log.
fn some_database(machine: &MemFs) -> Db {
    let db = open_at(machine.clone(), DIR);
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
    for round in 0..3 {
        for number in 0..200u32 {
            db.put(number.to_be_bytes(), format!("value {round}"))
                .expect("put");
            other.put(number.to_le_bytes(), "v").expect("put");
        }
        for number in (0..200u32).step_by(7 + round) {
            db.delete(number.to_be_bytes()).expect("delete");
        }
        match round {
            0 => db.compact().expect("compacts"),
            1 => db.flush().expect("flushes"),
            _ => {}
        }
    }
    db
}

#[test]
fn a_checkpoint_is_a_database_of_its_own() {
    let machine = MemFs::new();
    let db = some_database(&machine);
    let before = contents(&db);
    db.checkpoint(COPY).expect("checkpoints");
    db.put("later", "v").expect("put");
    db.delete(5u32.to_be_bytes()).expect("delete");
    db.compact().expect("removes the tables that the copy names too");
    let copy = open_at(machine.clone(), COPY);
    assert_eq!(contents(&copy), before);
    assert_eq!(copy.keyspace_names(), db.keyspace_names());
    assert_sound(&copy);
    copy.put("own", "v").expect("put");
    copy.compact().expect("compacts");
    assert_sound(&copy);
    assert_sound(&db);
    assert!(!db.contains("own").expect("get") && !copy.contains("later").expect("get"));
    drop((db, copy));
    assert!(open_at(machine.clone(), COPY).contains("own").expect("get"));
    assert!(open_at(machine, DIR).contains("later").expect("get"));
}

#[test]
fn where_links_are_not_possible_tables_are_copied() {
    let machine = MemFs::new();
    let before = contents(&some_database(&machine));
    let disk = FaultFs::new(Arc::new(machine.clone()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
    disk.add(Rule::always(Calls::Only(Operation::Link), Fault::DeviceError));
    db.checkpoint(COPY).expect("checkpoints");
    assert!(disk.fault_count() > 0);
    let copy = open_at(machine.after_power_cut(1), COPY);
    assert_eq!(contents(&copy), before);
    assert_sound(&copy);
}

#[test]
fn a_place_that_is_taken_is_refused_and_left_as_it_is() {
    let db = TestDb::open(manual());
    db.put("k", "v").expect("put");
    db.machine.create_dir_all(Path::new("/full/of")).expect("makes");
    db.machine.create_new(Path::new("/file")).expect("makes");
    for (target, reason) in [
        ("/full", "not empty"),
        (DIR, "not empty"),
        ("/file", "in the way"),
        ("", "empty"),
    ] {
        let error = db.checkpoint(target).expect_err("refused");
        assert!(matches!(error, Error::CheckpointTarget { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{target}: {error}");
        assert_eq!(error.usability(), Usability::Usable);
    }
    assert_eq!(db.machine.list(Path::new("/full")).expect("lists").len(), 1);
    db.machine.create_dir_all(Path::new("/empty")).expect("makes");
    db.checkpoint("/empty").expect("an empty directory will do");
    db.checkpoint("/empty").expect_err("now it is not empty");
    assert_eq!(contents(&open_at(db.machine.clone(), "/empty")).len(), 1);
    db.assert_sound();
}

#[test]
fn a_checkpoint_that_fails_at_any_call_leaves_nothing_and_one_that_is_cut_is_whole_or_no_database() {
    for skipped in 0.. {
        let machine = MemFs::new();
        let before = contents(&some_database(&machine));
        let disk = FaultFs::new(Arc::new(machine.clone()));
        let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
        disk.add(Rule::once(Calls::Changing, Fault::StorageFull).after(skipped));
        let outcome = db.checkpoint(COPY);
        let what = format!("call {skipped}: {outcome:?}");
        let was_hit = disk.fault_count() > 0;
        if outcome.is_err() {
            assert!(!machine.exists(Path::new(COPY)).expect("looks"), "{what}");
        }
        assert_eq!(contents(&db), before, "{what}");
        drop(db);

        // The same call, but everything fails from it on, and the power goes.
        let machine = MemFs::new();
        drop(some_database(&machine));
        let disk = FaultFs::new(Arc::new(machine.clone()));
        let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
        disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(skipped));
        let outcome = db.checkpoint(COPY);
        for cut in 0..3 {
            let after = machine.after_power_cut(cut);
            let copy = Db::open_with(Arc::new(after.clone()), COPY, manual().create_if_missing(false));
            match copy {
                Ok(copy) => {
                    assert_eq!(contents(&copy), before, "{what}, cut {cut}");
                    assert_sound(&copy);
                }
                Err(error) => assert!(outcome.is_err(), "{what}, cut {cut}: {error}"),
            }
            let db = open_at(after, DIR);
            assert_eq!(contents(&db), before, "{what}, cut {cut}: the source");
            assert_sound(&db);
        }
        if !was_hit {
            break;
        }
    }
}

#[test]
fn under_load_a_checkpoint_is_an_instant_between_its_call_and_its_return_also_after_a_power_cut() {
    for round in 0..8 {
        let machine = MemFs::new();
        let options = Options::default().memtable_bytes(8_000).target_table_bytes(4_000);
        let db = Db::open_with(Arc::new(machine.clone()), DIR, options).expect("opens");
        let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
        // Numbers are committed in order, each in two keyspaces; every fourth deletes an older one instead.
        let (next, acknowledged, ends) = (Mutex::new(0u64), AtomicU64::new(0), AtomicBool::new(false));
        let mut copies = Vec::new();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !ends.load(Ordering::SeqCst) {
                        let mut batch = db.batch();
                        let position = {
                            let mut next = next.lock();
                            let number = *next;
                            for keyspace in [db.default_keyspace(), &other] {
                                match number % 4 {
                                    3 => batch.delete(keyspace, (number / 2).to_be_bytes()),
                                    _ => batch.put(keyspace, number.to_be_bytes(), [b'v'; 40]),
                                };
                                batch.put(keyspace, "last", number.to_be_bytes());
                            }
                            // The log orders what is committed under this lock; syncs are shared beside it.
                            batch.commit(Durability::Process).expect("commits");
                            *next += 1;
                            number
                        };
                        db.default_keyspace()
                            .put_with("synced", b"", Durability::Sync)
                            .expect("syncs");
                        acknowledged.fetch_max(position + 1, Ordering::SeqCst);
                    }
                });
            }
            for number in 0..4 {
                let target = format!("/copies/{number}");
                let from = acknowledged.load(Ordering::SeqCst);
                db.checkpoint(&target).expect("checkpoints");
                let after = machine.after_power_cut(round * 10 + number);
                let durable = acknowledged.load(Ordering::SeqCst);
                let to = *next.lock();
                copies.push((after, target, from, to, durable));
            }
            ends.store(true, Ordering::SeqCst);
        });
        for (machine, target, from, to, _) in copies {
            let what = format!("round {round}, {target}, {from} to {to}");
            let copy = open_at(machine.clone(), &target);
            let end = check_instant(&copy, &what);
            assert!(from <= end && end <= to, "{what}: found {end}");
            let source = open_at(machine, DIR);
            let end = check_instant(&source, &what);
            assert!(
                from <= end,
                "{what}: the source lost what was acknowledged, {end} are there"
            );
        }
    }
}

/// The database holds exactly the first so many commits; returns how many.
fn check_instant(db: &Db, what: &str) -> u64 {
    let last = db.get("last").expect("get");
    let end = last.map_or(0, |last| {
        u64::from_be_bytes(last[..].try_into().expect("a number")) + 1
    });
    let mut expected = std::collections::BTreeSet::new();
    for number in 0..end {
        match number % 4 {
            3 => expected.remove(&(number / 2)),
            _ => expected.insert(number),
        };
    }
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("there");
    for keyspace in [db.default_keyspace(), &other] {
        let found: Vec<u64> = keyspace
            .iter()
            .map(|item| item.expect("readable").0)
            .filter(|key| key.len() == 8)
            .map(|key| u64::from_be_bytes(key[..].try_into().expect("a number")))
            .collect();
        assert!(
            found.iter().eq(expected.iter()),
            "{what}: not the first {end} commits"
        );
    }
    assert_sound(db);
    end
}
