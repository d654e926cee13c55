//! Compactions by schedule and on request: threads, failures, pauses, cancellation, rest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::{DIR, Rng, TestDb, assert_sound, contents, manual};
use crate::clock::ManualClock;
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Operation, Rule};
use crate::{Cancel, Db, Error, KeyspaceOptions, Options};

/// Tables so small that merges have several parts.
fn tiny() -> Options {
    manual()
        .memtable_bytes(64 << 10)
        .target_table_bytes(4 << 10)
        .l0_compaction_trigger(2)
}

fn settle(db: &Db) {
    while db.run_background_step().expect("background step") {}
}

/// Flushed tables over the same keys, some of them deleted.
fn load(db: &Db, tables: u32) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut model = BTreeMap::new();
    let mut rng = Rng::new(7);
    for round in 0..tables {
        for _ in 0..600 {
            let key = format!("user:{:05}", rng.below(3000)).into_bytes();
            if rng.below(5) == 0 {
                db.delete(&key).expect("delete");
                model.remove(&key);
            } else {
                let value = format!("{round}").repeat(20).into_bytes();
                db.put(&key, &value).expect("put");
                model.insert(key, value);
            }
        }
        db.flush().expect("flush");
    }
    model
}

/// First key, last key and records of every table, by level.
fn shape(db: &Db) -> Vec<(usize, Vec<u8>, Vec<u8>, u64)> {
    let layers = db.default_keyspace().handle().engine().layers();
    let view = layers.version.keyspace(0).expect("exists");
    let levels = view.levels().iter().enumerate();
    levels
        .flat_map(|(level, tables)| tables.iter().map(move |table| (level, &table.file)))
        .map(|(level, file)| {
            let (first, last) = (file.first_key().to_vec(), file.last_key().to_vec());
            (level, first, last, file.record_count())
        })
        .collect()
}

#[test]
fn any_number_of_threads_writes_the_same_tables() {
    let outcome = |threads: usize| {
        let db = TestDb::open(tiny().compaction_threads(threads));
        let model = load(&db, 6);
        db.compact().expect("compact");
        assert!(db.contents().into_iter().eq(model));
        assert_eq!(db.stats().dead_record_count, 0);
        db.assert_sound();
        shape(&db)
    };
    let alone = outcome(1);
    assert!(alone.len() > 8, "a merge of several parts: {alone:?}");
    for threads in [2, 3, 16] {
        assert_eq!(outcome(threads), alone, "{threads} threads");
    }
}

#[test]
fn a_failure_of_any_part_ends_all_and_leaves_no_file() {
    for threads in [1, 4] {
        for operation in [
            Operation::Create,
            Operation::Write,
            Operation::Sync,
            Operation::Map,
        ] {
            for skipped in (0..).step_by(3) {
                let machine = MemFs::new();
                let disk = FaultFs::new(Arc::new(machine.clone()));
                let options = tiny().compaction_threads(threads);
                let db = Db::open_with(Arc::new(disk.clone()), DIR, options).expect("opens");
                let model = load(&db, 5);
                let tables = |machine: &MemFs| {
                    let files = super::files_of(machine).into_iter();
                    files.filter(|name| name.ends_with(".table")).count()
                };
                let before = tables(&machine);
                disk.add(
                    Rule::once(Calls::Only(operation), Fault::DeviceError)
                        .after(skipped)
                        .on(".table"),
                );
                let outcome = db.run_background_step();
                let what = format!("{threads} threads, {operation:?} {skipped}: {outcome:?}");
                if disk.fault_count() == 0 {
                    outcome.expect("nothing was in the way");
                    break;
                }
                let error = outcome.expect_err("it was hit").to_string();
                assert!(error.contains(".table") || error.contains("level 6"), "{error}");
                assert_eq!(tables(&machine), before, "{what}");
                assert!(contents(&db).into_iter().eq(model.clone()), "{what}");
                assert_sound(&db);
                db.compact().expect("the disk is well again");
                assert!(contents(&db).into_iter().eq(model), "{what}");
                assert_sound(&db);
            }
        }
    }
}

#[test]
fn a_failed_compaction_names_its_keyspace_and_level() {
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let db = Db::open_with(Arc::new(disk.clone()), DIR, tiny()).expect("opens");
    let keyspace = db
        .keyspace("counters", KeyspaceOptions::default())
        .expect("creates");
    for value in ["1", "2"] {
        keyspace.put("k", value).expect("put");
        db.flush().expect("flush");
    }
    disk.add(Rule::always(Calls::Only(Operation::Create), Fault::DeviceError));
    let error = keyspace.compact(..).expect_err("no output can be made");
    assert!(matches!(error, Error::Compaction { level: 6, .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("\"counters\"") && text.contains("level 6"),
        "{text}"
    );
}

/// Cause: a compaction that fails is tried again at once, for ever, and nothing else is compacted. Loss: a processor, and
/// the whole database's compaction for one bad block.
#[test]
fn a_damaged_table_pauses_its_keyspace_longer_each_time_and_no_other() {
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let clock = Arc::new(ManualClock::new());
    let options = || manual().l0_compaction_trigger(2).clock(clock.clone());
    let mut db = Db::open_with(Arc::new(disk.clone()), DIR, options()).expect("opens");
    let mut bad = db.keyspace("bad", KeyspaceOptions::default()).expect("creates");
    for value in ["1", "2"] {
        for number in 0..2000u32 {
            bad.put(number.to_be_bytes(), value.repeat(20)).expect("put");
        }
        db.flush().expect("flush");
    }
    drop((bad, db));
    // A page in the middle of the tables that are mapped now is read wrong.
    disk.add(Rule::always(Calls::Only(Operation::Map), Fault::FlipBit(8 * 20_000)).on(".table"));
    db = Db::open_with(Arc::new(disk.clone()), DIR, options()).expect("opens");
    disk.heal();
    bad = db.keyspace("bad", KeyspaceOptions::default()).expect("opens");
    db.run_background_step().expect_err("an input is damaged");
    assert_eq!(db.stats().compaction.suspended_keyspace_count, 1);
    for tries in 0..7 {
        assert!(
            !db.run_background_step().expect("it waits"),
            "nothing runs in a pause"
        );
        assert_eq!(
            bad.get(0u32.to_be_bytes()).expect("a sound page").as_deref(),
            Some(&b"2".repeat(20)[..])
        );
        // Others go on in the pause.
        for _ in 0..2 {
            db.put("k", "v").expect("put");
            db.flush().expect("flush");
        }
        assert!(db.run_background_step().expect("the default keyspace is well"));
        assert!(!db.run_background_step().expect("it waits"));
        clock.advance_ms(50 << tries);
        db.run_background_step().expect_err("it is still damaged");
    }
    assert_eq!(db.stats().background_failure_count, 8);
    // The pause has a bound.
    clock.advance_ms(5000);
    db.run_background_step().expect_err("tried again");
    assert!(!db.run_background_step().expect("it waits"));
    // A drop of the keyspace ends the matter.
    db.drop_keyspace(&bad).expect("drops");
    assert_eq!(db.stats().compaction.suspended_keyspace_count, 0);
    clock.advance_ms(10_000);
    assert!(!db.run_background_step().expect("nothing left"));
}

/// Cause: an error at the start of an input that is not the first was taken for its end. Loss: all its records.
#[test]
fn an_unreadable_first_block_of_any_input_ends_the_compaction() {
    for damaged in 0..3u64 {
        let disk = FaultFs::new(Arc::new(MemFs::new()));
        let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
        for value in ["1", "2", "3"] {
            for number in 0..500u32 {
                db.put(number.to_be_bytes(), value.repeat(20)).expect("put");
            }
            db.flush().expect("flush");
        }
        drop(db);
        // The first page holds the header too, so the second is the first of records alone.
        let flip = Fault::FlipBit(8 * 4100);
        disk.add(
            Rule::once(Calls::Only(Operation::Map), flip)
                .on(".table")
                .after(damaged),
        );
        let db = Db::open_with(Arc::new(disk.clone()), DIR, manual()).expect("opens");
        let error = db.compact().expect_err("an input is damaged");
        assert!(matches!(error, Error::Table { .. }), "{error}");
        let stats = db.stats();
        assert_eq!(
            (stats.level_table_counts, stats.live_record_count),
            (vec![3], 1500)
        );
    }
}

/// Cause: a table that keeps qualifying for a rule that cannot change it. Loss: a disk worn out by an idle database.
#[test]
fn after_any_workload_background_work_ends_also_with_a_snapshot_held() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let options = manual()
            .memtable_bytes(2 << 10)
            .target_table_bytes(1 << (8 + rng.below(7)))
            .l0_compaction_trigger(1 + rng.below(5));
        let mut db = TestDb::open(options);
        let mut snapshots = Vec::new();
        for _ in 0..400 {
            let key = [b'k', u8::try_from(rng.below(200)).expect("a byte")];
            match rng.below(20) {
                0 => db.flush().expect("flush"),
                1 => snapshots.push(db.snapshot()),
                2 => drop(db.run_background_step().expect("step")),
                3..9 => db.delete(key).expect("delete"),
                _ => db.put(key, [b'v'; 40]).expect("put"),
            }
        }
        settle(&db);
        let written = |db: &Db| {
            let stats = db.stats();
            let looks = stats.compaction.look_count;
            (
                stats.compaction_write_bytes,
                stats.flush_bytes,
                stats.manifest_bytes,
                looks,
            )
        };
        let at_rest = written(&db);
        for _ in 0..5 {
            assert!(!db.run_background_step().expect("step"), "seed {seed}");
        }
        assert_eq!(written(&db), at_rest, "seed {seed}");
        drop(snapshots);
        assert!(
            !db.run_background_step().expect("step"),
            "seed {seed}: a snapshot delays nothing"
        );
        db.reopen();
        settle(&db);
        assert!(!db.run_background_step().expect("step"), "seed {seed}");
        db.assert_sound();
    }
}

#[test]
fn a_range_is_compacted_alone_and_what_is_newer_is_left() {
    let db = TestDb::open(tiny().l0_compaction_trigger(100).l0_tables_max(100));
    for round in 0..3 {
        for key in ["a", "b", "x", "y"] {
            db.put(format!("{key}{round}"), "v").expect("put");
        }
        db.put("m", format!("{round}")).expect("put");
        db.flush().expect("flush");
        // The tables of the next rounds begin behind this one's end, but for the key that they share.
        assert_eq!(db.stats().level_table_counts[0], round + 1);
    }
    let keyspace = db.default_keyspace();
    keyspace.compact("zz"..).expect("nothing there");
    assert_eq!(db.stats().level_table_counts[0], 3, "no table touches the range");
    keyspace.compact("a".."c").expect("compacts");
    let stats = db.stats();
    assert_eq!((stats.level_table_counts[0], stats.table_count), (0, 1));
    assert_eq!(db.get("m").expect("get").as_deref(), Some(&b"2"[..]));
    assert_eq!(db.count_files(".table"), 1, "the merged files are gone");
    db.assert_sound();
}

#[test]
fn a_pinned_input_goes_when_its_reader_does() {
    let db = TestDb::open(tiny());
    load(&db, 3);
    let snapshot = db.snapshot();
    let before = contents(&db);
    db.default_keyspace().compact(..).expect("compacts");
    let stats = db.stats();
    assert!(stats.pinned_file_count >= 3, "{stats:?}");
    let seen: Vec<_> = snapshot
        .iter(&*db)
        .map(|item| item.expect("readable").1.to_vec())
        .collect();
    assert!(seen.into_iter().eq(before.into_iter().map(|(_, value)| value)));
    drop(snapshot);
    let stats = db.stats();
    assert_eq!(stats.pinned_file_count, 0);
    assert_eq!(db.count_files(".table"), stats.table_count);
}

/// Cause: a cancelled job stayed on the books. Loss: its tables were never compacted again.
#[test]
fn a_cancelled_compaction_leaves_everything_to_be_compacted_later() {
    let db = TestDb::open(tiny());
    let model = load(&db, 4);
    let cancel = Cancel::new();
    cancel.cancel();
    let error = db
        .default_keyspace()
        .compact_range(.., &cancel)
        .expect_err("it was cancelled before");
    assert!(matches!(error, Error::CompactionCancelled { .. }), "{error}");
    assert!(contents(&db).into_iter().eq(model));
    settle(&db);
    assert!(db.stats().level_table_counts[0] < 2, "compaction goes on");
    db.assert_sound();
}

#[test]
fn cancelling_at_any_moment_under_load_stops_nothing_else() {
    let db = TestDb::open(
        Options::default()
            .memtable_bytes(8 << 10)
            .target_table_bytes(4 << 10)
            .l0_compaction_trigger(2),
    );
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..6000u32 {
                db.put(number.wrapping_mul(0x9E37_79B1).to_be_bytes(), [b'v'; 30])
                    .expect("put");
            }
            done.store(true, Ordering::Release);
        });
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let cancel = Cancel::new();
                std::thread::scope(|inner| {
                    let running = inner.spawn(|| db.default_keyspace().compact_range(.., &cancel));
                    std::thread::yield_now();
                    cancel.cancel();
                    match running.join().expect("no panic") {
                        Ok(()) | Err(Error::CompactionCancelled { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                });
            }
        });
    });
    db.compact().expect("compact");
    assert_eq!(contents(&db).len(), 6000);
    assert_eq!(db.stats().level_table_counts[0], 0);
    db.assert_sound();
}

/// Many threads, many tiny tables: that no table is in two jobs is asserted where a job starts.
#[test]
fn sixteen_compaction_threads_never_meet() {
    let machine = MemFs::new();
    let options = || {
        Options::default()
            .memtable_bytes(4 << 10)
            .target_table_bytes(1 << 10)
            .l0_compaction_trigger(2)
            .compaction_threads(16)
    };
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
    let keyspaces: Vec<_> = (0..4)
        .map(|number| {
            db.keyspace(&format!("{number}"), KeyspaceOptions::default())
                .expect("creates")
        })
        .collect();
    let mut models = vec![BTreeMap::new(); keyspaces.len()];
    let mut rng = Rng::new(11);
    for _ in 0..12_000 {
        let index = rng.below(keyspaces.len());
        let key = format!("{:04}", rng.below(2000)).into_bytes();
        if rng.below(4) == 0 {
            keyspaces[index].delete(&key).expect("delete");
            models[index].remove(&key);
        } else {
            keyspaces[index].put(&key, [b'v'; 20]).expect("put");
            models[index].insert(key, vec![b'v'; 20]);
        }
    }
    for (keyspace, model) in keyspaces.iter().zip(models) {
        let found = keyspace.iter().map(|item| item.expect("readable"));
        assert!(
            found
                .map(|(key, value)| (key.into_vec(), value.to_vec()))
                .eq(model)
        );
    }
    assert_sound(&db);
    assert_eq!(db.stats().background_failure_count, 0, "{:?}", db.stats());
}

/// Cause: a compaction was committed whose inputs a drop had taken. Loss: a panic inside two locks, and the keyspace with it.
#[test]
fn drops_range_deletes_and_compactions_of_one_keyspace_at_once() {
    let db = TestDb::open(
        Options::default()
            .memtable_bytes(4 << 10)
            .target_table_bytes(2 << 10)
            .l0_compaction_trigger(2),
    );
    for _ in 0..15 {
        let keyspace = db
            .keyspace("short-lived", KeyspaceOptions::default())
            .expect("creates");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..400u32 {
                    match keyspace.put(number.to_be_bytes(), [b'v'; 40]) {
                        Ok(()) | Err(Error::KeyspaceDropped { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            scope.spawn(|| {
                for number in 0..20u32 {
                    let range = (number * 10).to_be_bytes()..(number * 20).to_be_bytes();
                    drop(keyspace.delete_range(range));
                }
            });
            scope.spawn(|| {
                for _ in 0..5 {
                    match keyspace.compact(..) {
                        Ok(()) | Err(Error::KeyspaceDropped { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                db.drop_keyspace(&keyspace).expect("drops");
            });
        });
    }
    db.put("k", "v").expect("put");
    db.compact().expect("compact");
    let stats = db.stats();
    assert_eq!((stats.keyspace_count, stats.table_count), (1, 1));
    assert_eq!(stats.background_failure_count, 0, "{stats:?}");
    db.assert_sound();
}

/// Cause: two calls that wait for each other. Loss: the program. All calls that take locks for long, each against all others.
#[test]
fn no_two_calls_wait_for_each_other() {
    const ROUNDS: u32 = 12;
    let options = Options::default()
        .memtable_bytes(8 << 10)
        .target_table_bytes(4 << 10)
        .l0_compaction_trigger(2)
        .l0_tables_max(4)
        .frozen_memtables_max(2);
    let db = Db::open_with(Arc::new(MemFs::new()), DIR, options).expect("opens");
    type Call = fn(&Db, u32);
    let calls: [Call; 10] = [
        |db, round| {
            for number in 0..200 {
                db.put([number, round].map(u32::to_be_bytes).concat(), [b'v'; 30])
                    .expect("put");
            }
        },
        |db, _| db.flush().expect("flush"),
        |db, _| db.compact().expect("compact"),
        |db, round| {
            db.default_keyspace()
                .compact(round.to_be_bytes()..)
                .expect("compact")
        },
        |db, _| {
            let cancel = Cancel::new();
            cancel.cancel();
            drop(db.default_keyspace().compact_range(.., &cancel));
        },
        |db, round| {
            let name = format!("{round}");
            let keyspace = db.keyspace(&name, KeyspaceOptions::default()).expect("creates");
            keyspace.put("k", "v").expect("put");
            db.drop_keyspace(&keyspace).expect("drops");
        },
        |db, _| drop(db.verify().expect("verifies")),
        |db, _| drop(db.stats()),
        |db, _| db.resume().expect("resumes"),
        |db, round| {
            let snapshot = db.snapshot();
            db.default_keyspace()
                .delete_range(..round.to_be_bytes())
                .expect("deletes");
            assert!(snapshot.iter(db).all(|item| item.is_ok()));
        },
    ];
    let (done, all_done) = mpsc::channel();
    for call in calls {
        let (db, done) = (db.clone(), done.clone());
        let thread = std::thread::Builder::new();
        let body = move || {
            for round in 0..ROUNDS {
                call(&db, round);
            }
            done.send(()).expect("somebody waits");
        };
        thread.spawn(body).expect("starts");
    }
    for ended in 0..calls.len() {
        // A watchdog, not a measurement: a deadlock never ends.
        let outcome = all_done.recv_timeout(Duration::from_secs(120));
        assert!(
            outcome.is_ok(),
            "only {ended} of {} callers have ended",
            calls.len()
        );
    }
    assert_sound(&db);
}
