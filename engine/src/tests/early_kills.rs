//! Deletes that are settled before their flush: what readers, flushes, compactions and crashes make of them.

use super::{TestDb, contents, manual};
use crate::background::Job;
use crate::version::TableView;
use crate::{Db, Options};

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn options() -> Options {
    manual().frozen_memtables_max(8)
}

/// A database whose flushed table holds the keys of `0..count`.
fn flushed(count: u32) -> TestDb {
    let db = TestDb::open(options());
    for number in 0..count {
        db.put(key(number), "old").expect("put");
    }
    db.flush().expect("flush");
    db
}

/// Settles what can be settled. Says whether that was anything.
fn settle(db: &Db) -> bool {
    let engine = db.default_keyspace().handle().engine();
    engine.step(Job::Resolve).expect("looks up")
}

/// Freezes the active memtable without flushing it.
fn freeze(db: &Db) {
    let engine = db.default_keyspace().handle().engine();
    let log = engine.check_writable().expect("writable");
    engine.rotate(log, &mut engine.writer.lock(), 0).expect("freezes");
}

fn numbers(db: &Db) -> Vec<u32> {
    let keys = contents(db).into_iter();
    let numbers: Vec<u32> = keys
        .map(|(key, _)| u32::from_be_bytes(key.try_into().expect("four bytes")))
        .collect();
    let back = db.iter().rev().map(|item| item.expect("readable").0.into_vec());
    let back: Vec<u32> = back
        .map(|key| u32::from_be_bytes(key.try_into().expect("four bytes")))
        .collect();
    assert!(numbers.iter().rev().eq(&back), "both directions");
    numbers
}

#[test]
fn settled_deletes_leave_the_map_and_readers_never_notice() {
    let mut db = flushed(100);
    let before = db.snapshot();
    for number in (10..40).chain([60, 99, 1000]) {
        db.delete(key(number)).expect("delete");
    }
    let between = db.snapshot();
    let expected: Vec<u32> = (0..10).chain(40..60).chain(61..99).collect();
    assert_eq!(numbers(&db), expected);
    let waiting = db.stats();
    assert!((32..=33).contains(&waiting.memtable_delete_count), "{waiting:?}");
    assert!(settle(&db) && !settle(&db), "idle means idle");
    let stats = db.stats();
    assert_eq!((stats.memtable_delete_count, stats.memtable_entry_count), (0, 0));
    assert_eq!(
        (stats.overlay_record_count, stats.overlay_run_count),
        (32, 3),
        "neighbours unite"
    );
    assert_eq!(stats.settled_delete_count, waiting.memtable_delete_count as u64);
    assert_eq!(
        (stats.dead_record_count, stats.live_record_count),
        (0, 100),
        "nothing is marked before the flush"
    );
    assert_eq!(numbers(&db), expected);
    for number in [9, 10, 39, 60] {
        assert_eq!(db.contains(key(number)).expect("get"), number == 9, "{number}");
    }
    db.assert_sound();
    let killed = TestDb::open_on(db.machine.after_kill(), options());
    assert_eq!(numbers(&killed), expected, "the log has the deletes by key");
    db.flush().expect("flush");
    let stats = db.stats();
    assert_eq!((stats.overlay_record_count, stats.dead_record_count), (0, 32));
    assert_eq!(numbers(&db), expected);
    db.compact().expect("compact");
    assert_eq!(numbers(&db), expected);
    assert_eq!(
        (before.iter(&*db).count(), between.iter(&*db).count()),
        (100, expected.len())
    );
    drop((before, between));
    db.assert_sound();
    db.reopen();
    assert_eq!(numbers(&db), expected);
}

#[test]
fn a_key_put_again_behind_its_settled_delete_lives_and_dies_again() {
    let db = flushed(10);
    for round in 0..4 {
        db.delete(key(5)).expect("delete");
        if round % 2 == 0 {
            settle(&db);
        }
        assert!(!db.contains(key(5)).expect("get"), "round {round}");
        db.put(key(5), "again").expect("put");
        settle(&db);
        assert_eq!(db.get(key(5)).expect("get").as_deref(), Some(&b"again"[..]));
        if round > 1 {
            db.flush().expect("flush");
        }
        assert_eq!(numbers(&db), (0..10).collect::<Vec<_>>());
        db.assert_sound();
    }
}

#[test]
fn a_delete_that_shields_an_entry_of_a_frozen_map_stays_until_that_is_flushed() {
    let db = flushed(10);
    db.put(key(3), "frozen").expect("put");
    db.put(key(20), "frozen").expect("put");
    freeze(&db);
    for number in [3, 4, 20] {
        db.delete(key(number)).expect("delete");
    }
    db.delete_range(key(19)..key(30)).expect("deletes");
    settle(&db);
    let stats = db.stats();
    // Key 20 lies in the range, which shields it as well.
    assert_eq!(
        (stats.memtable_delete_count, stats.memtable_range_delete_count),
        (1, 1)
    );
    assert!(!db.contains(key(3)).expect("get") && !db.contains(key(20)).expect("get"));
    let expected = [0, 1, 2, 5, 6, 7, 8, 9];
    assert_eq!(numbers(&db), expected);
    assert!(db.run_background_step().expect("flushes the frozen map"));
    assert_eq!(numbers(&db), expected);
    assert!(settle(&db));
    let stats = db.stats();
    assert_eq!(
        (stats.memtable_delete_count, stats.memtable_range_delete_count),
        (0, 0)
    );
    assert_eq!(numbers(&db), expected);
    db.flush().expect("flush");
    assert_eq!(numbers(&db), expected);
    db.assert_sound();
}

#[test]
fn what_a_frozen_map_deleted_needs_nothing_from_a_newer_delete() {
    let db = flushed(10);
    db.delete(key(3)).expect("delete");
    db.delete_range(key(5)..key(8)).expect("deletes");
    freeze(&db);
    for number in [3, 6] {
        db.delete(key(number)).expect("delete");
    }
    assert_eq!(db.stats().memtable_delete_count, 1, "there is nothing to shield");
    settle(&db);
    assert_eq!(numbers(&db), [0, 1, 2, 4, 8, 9]);
    db.flush().expect("flush");
    assert_eq!(numbers(&db), [0, 1, 2, 4, 8, 9]);
    db.assert_sound();
}

#[test]
fn a_settled_range_delete_is_one_run_a_table_and_its_tables_go_at_the_flush() {
    let db = TestDb::open(options());
    for round in 0..10 {
        for number in 0..100 {
            db.put(key(round * 100 + number), "v").expect("put");
        }
        db.flush().expect("flush");
    }
    db.delete_range(key(50)..key(950)).expect("deletes");
    assert!(settle(&db));
    let stats = db.stats();
    assert_eq!((stats.overlay_run_count, stats.overlay_record_count), (10, 900));
    assert_eq!(stats.memtable_range_delete_count, 0);
    assert_eq!(numbers(&db).len(), 100);
    assert_eq!(db.approximate_len().expect("counts"), 100);
    db.put(key(500), "newer").expect("put");
    db.assert_sound();
    db.flush().expect("flush");
    assert_eq!((db.stats().table_count, db.stats().emptied_table_count), (3, 8));
    assert_eq!(numbers(&db).len(), 101);
    db.assert_sound();
}

#[test]
fn a_memtable_is_frozen_when_too_many_deletes_wait() {
    let db = {
        let db = TestDb::open(options().pending_deletes_max(20));
        for number in 0..100 {
            db.put(key(number), "v").expect("put");
        }
        db.flush().expect("flush");
        db
    };
    for number in 0..100 {
        db.delete(key(number)).expect("delete");
        let pending = db
            .default_keyspace()
            .handle()
            .engine()
            .instant()
            .active
            .pending_count();
        assert!(pending <= 20, "{pending}");
    }
    assert!(db.stats().frozen_memtable_count >= 4);
    while db.run_background_step().expect("step") {}
    assert_eq!(
        (db.contents().len(), db.stats().table_count),
        (0, 1),
        "the last twenty are in the overlay"
    );
    db.flush().expect("flush");
    assert_eq!(db.stats().table_count, 0);
}

/// Every way in which deletes, settlings, freezes and flushes can fall into a running compaction.
#[test]
fn settled_deletes_move_to_the_outputs_of_a_compaction_whatever_came_when() {
    type Write = fn(&TestDb);
    let writes: [Write; 4] = [
        |db| db.delete(key(50)).expect("delete"),
        |db| db.delete_range(key(10)..key(40)).expect("deletes"),
        |db| db.put(key(20), "newest").expect("put"),
        |db| (60..70).for_each(|number| db.delete(key(number)).expect("delete")),
    ];
    // Behind each write: nothing, settle, settle and freeze, flush.
    type After = fn(&TestDb);
    let afters: [After; 4] = [
        |_| {},
        |db| {
            settle(db);
        },
        |db| {
            settle(db);
            freeze(db);
        },
        |db| db.flush().expect("flush"),
    ];
    // Each write happens before the compaction starts, while it runs, or behind it.
    for places in 0..3u32.pow(4) {
        for (kind, after) in afters.iter().enumerate() {
            let db = flushed(100);
            for number in (0..100).step_by(2) {
                db.put(key(number), "new").expect("put");
            }
            db.flush().expect("flush");
            let value_of = |number| if number % 2 == 0 { "new" } else { "old" };
            let mut model: std::collections::BTreeMap<u32, &str> =
                (0..100).map(|n| (n, value_of(n))).collect();
            let mut run = |place: u32| {
                for (number, write) in (0..).zip(writes) {
                    if places / 3u32.pow(number) % 3 == place {
                        write(&db);
                        match number {
                            0 => drop(model.remove(&50)),
                            1 => model.retain(|n, _| !(10..40).contains(n)),
                            2 => drop(model.insert(20, "newest")),
                            _ => model.retain(|n, _| !(60..70).contains(n)),
                        }
                        after(&db);
                    }
                }
            };
            let engine = db.default_keyspace().handle().engine();
            run(0);
            let start = engine.start_compaction();
            let inputs: Vec<TableView> = {
                let view = start.version().keyspace(0).expect("exists");
                view.tables().rev().cloned().collect()
            };
            let outputs = crate::compact::merge_for_tests(engine, db.default_keyspace().core(), &inputs);
            run(1);
            let runs_before = db.stats().overlay_record_count;
            crate::compact::install_for_tests(engine, &start, &inputs, outputs);
            drop((inputs, start));
            let what = format!("places {places}, kind {kind}");
            assert!(db.stats().overlay_record_count <= runs_before, "{what}");
            run(2);
            let check = |db: &Db| {
                let found = contents(db);
                let expected: Vec<_> = model
                    .iter()
                    .map(|(n, v)| (key(*n).to_vec(), v.as_bytes().to_vec()))
                    .collect();
                assert_eq!(found, expected, "{what}");
                super::assert_sound(db);
            };
            check(&db);
            check(&TestDb::open_on(db.machine.after_kill(), options()));
            settle(&db);
            check(&db);
            db.flush().expect("flush");
            check(&db);
            assert_eq!(db.stats().overlay_record_count, 0, "{what}");
        }
    }
}

/// The deletes are in the log's last segment, unsynced; a compaction of their tables is durable. A power cut takes the deletes back:
/// then the records must be there again.
#[test]
fn a_power_cut_takes_settled_deletes_back_whole_whatever_was_compacted() {
    for cut in 0..20 {
        let db = flushed(50);
        for number in 0..50 {
            db.put(key(number), "new").expect("put");
        }
        db.flush().expect("flush");
        for number in 10..30 {
            db.delete(key(number)).expect("delete");
        }
        db.delete_range(key(40)..key(45)).expect("deletes");
        settle(&db);
        let engine = db.default_keyspace().handle().engine();
        engine.step(Job::Compact).expect("compacts");
        let start = engine.start_compaction();
        let view = start.version().keyspace(0).expect("exists");
        let inputs: Vec<TableView> = view.tables().rev().cloned().collect();
        let outputs = crate::compact::merge_for_tests(engine, db.default_keyspace().core(), &inputs);
        crate::compact::install_for_tests(engine, &start, &inputs, outputs);
        assert_eq!(numbers(&db).len(), 25);
        let reopened = TestDb::open_on(db.machine.after_power_cut(cut), options());
        let found = numbers(&reopened);
        // The deletes were committed in order, so any number of the first may have survived.
        let states = (0..=21).map(|count: u32| {
            let deleted =
                move |n: &u32| (10..10 + count.min(20)).contains(n) || count == 21 && (40..45).contains(n);
            (0..50).filter(move |n| !deleted(n)).collect::<Vec<u32>>()
        });
        assert!(
            states.into_iter().any(|state| state == found),
            "power cut {cut}: {found:?}"
        );
        reopened.assert_sound();
    }
}

#[test]
fn what_is_ingested_behind_a_settled_delete_lives_through_compactions() {
    let db = flushed(20);
    db.delete(key(5)).expect("delete");
    db.delete_range(key(10)..key(15)).expect("deletes");
    settle(&db);
    let mut ingest = db.default_keyspace().ingest().expect("begins");
    for number in [5, 12] {
        ingest.put(key(number), "ingested").expect("takes");
    }
    ingest.finish().expect("ingests");
    let expected: Vec<u32> = (0..10).chain([12]).chain(15..20).collect();
    assert_eq!(numbers(&db), expected);
    db.compact().expect("compact");
    assert_eq!(numbers(&db), expected);
    assert_eq!(db.get(key(5)).expect("get").as_deref(), Some(&b"ingested"[..]));
    db.assert_sound();
}

// A delete that had nothing to shield was in the log alone; replayed behind an ingest, it killed what had been ingested.
#[test]
fn what_is_ingested_behind_deletes_without_a_trace_survives_a_replay_of_the_log() {
    type Write = fn(&TestDb);
    let deletes: [Write; 4] = [
        |db| db.delete(key(5)).expect("delete"),
        |db| db.clear().expect("clears"),
        |db| {
            db.put(key(5), "gone").expect("put");
            db.delete_range(key(3)..key(9)).expect("deletes");
        },
        |db| {
            db.put(key(5), "below").expect("put");
            db.flush().expect("flush");
            db.delete(key(5)).expect("delete");
            assert!(settle(db));
        },
    ];
    for (number, delete) in deletes.iter().enumerate() {
        let db = TestDb::open(options());
        delete(&db);
        assert!(!db.contains(key(5)).expect("get"), "delete {number}");
        let mut ingest = db.default_keyspace().ingest().expect("begins");
        ingest.put(key(5), "ingested").expect("takes");
        ingest.finish().expect("ingests");
        assert_eq!(numbers(&db), [5], "delete {number}");
        let killed = TestDb::open_on(db.machine.after_kill(), options());
        assert_eq!(numbers(&killed), [5], "delete {number}, replayed");
        killed.flush().expect("flush");
        assert_eq!(numbers(&killed), [5], "delete {number}, flushed");
        killed.assert_sound();
    }
}
