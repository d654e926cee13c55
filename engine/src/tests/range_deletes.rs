//! Range deletes through log, memtable, reads, flush and compaction.

use std::ops::Bound;

use super::{Rng, TestDb, contents, manual};
use crate::{Durability, KeyspaceOptions};

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// The numbers of the keys there are.
fn numbers(db: &TestDb) -> Vec<u32> {
    let keys = db.contents().into_iter();
    keys.map(|(key, _)| u32::from_be_bytes(key.try_into().expect("four bytes")))
        .collect()
}

fn filled(db: &TestDb, count: u32) {
    for number in 0..count {
        db.put(key(number), "value").expect("put");
    }
}

#[test]
fn every_kind_of_bound_deletes_what_it_holds_in_memory_and_in_tables() {
    for flushed in [false, true] {
        let db = TestDb::open(manual());
        let mut expected: Vec<u32> = (0..100).collect();
        filled(&db, 100);
        if flushed {
            db.flush().expect("flush");
        }
        let deleted: [(Bound<u32>, Bound<u32>); 5] = [
            (Bound::Included(10), Bound::Excluded(13)),
            (Bound::Included(20), Bound::Included(23)),
            (Bound::Excluded(30), Bound::Included(33)),
            (Bound::Excluded(90), Bound::Unbounded),
            (Bound::Unbounded, Bound::Excluded(3)),
        ];
        for bounds in deleted {
            db.delete_range((bounds.0.map(key), bounds.1.map(key)))
                .expect("deletes");
            expected.retain(|number| !std::ops::RangeBounds::contains(&bounds, number));
            assert_eq!(numbers(&db), expected, "{bounds:?}, flushed: {flushed}");
        }
        db.delete_range(key(60)..key(50))
            .expect("an inverted range deletes nothing");
        db.delete_range(..b"").expect("nor does an empty one");
        assert_eq!(numbers(&db), expected);
        assert_eq!(db.get(key(11)).expect("get"), None);
        assert_eq!(
            db.stats().memtable_range_delete_count > 0,
            flushed,
            "nothing to shield, nothing to remember"
        );
        db.flush().expect("flush");
        assert_eq!(numbers(&db), expected);
        db.assert_sound();
        db.clear().expect("clears");
        assert_eq!((db.contents().len(), db.get(key(5)).expect("get")), (0, None));
        db.flush().expect("flush");
        assert_eq!(
            (db.stats().table_count, db.count_files(".table")),
            (0, 0),
            "gone as a whole"
        );
        db.assert_sound();
    }
}

#[test]
fn puts_behind_a_range_delete_live_and_those_before_it_die_wherever_the_flush_falls() {
    // A flush behind each subset of the four steps.
    for flushes in 0..16u32 {
        let mut db = TestDb::open(manual());
        let flush_behind = |db: &TestDb, step: u32| {
            if flushes >> step & 1 == 1 {
                db.flush().expect("flush");
            }
        };
        filled(&db, 30);
        flush_behind(&db, 0);
        db.delete_range(key(5)..key(25)).expect("deletes");
        flush_behind(&db, 1);
        for number in [5, 10, 24] {
            db.put(key(number), "newer").expect("put");
        }
        flush_behind(&db, 2);
        db.delete(key(10)).expect("delete");
        flush_behind(&db, 3);
        let expected: Vec<u32> = (0..5).chain([5, 24]).chain(25..30).collect();
        for round in 0..3 {
            assert_eq!(numbers(&db), expected, "flushes {flushes:b}, round {round}");
            assert_eq!(db.get(key(10)).expect("get"), None, "flushes {flushes:b}");
            assert_eq!(
                db.get(key(5)).expect("get").as_deref(),
                Some(&b"newer"[..]),
                "flushes {flushes:b}"
            );
            let back: Vec<_> = db
                .iter()
                .rev()
                .map(|item| item.expect("readable").0.into_vec())
                .collect();
            assert!(
                back.iter().rev().map(Vec::as_slice).eq(expected
                    .iter()
                    .map(|n| key(*n))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|k| &k[..]))
            );
            db.assert_sound();
            if round == 0 {
                db.reopen();
            } else {
                db.compact().expect("compact");
            }
        }
        assert_eq!(db.stats().dead_record_count, 0);
    }
}

#[test]
fn a_batch_applies_its_range_deletes_in_order() {
    let mut db = TestDb::open(manual());
    filled(&db, 10);
    db.flush().expect("flush");
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
    other.put(key(1), "stays").expect("put");
    let mut batch = db.batch();
    batch
        .put(&*db, key(3), "before")
        .delete_range(&*db, key(2)..key(6))
        .put(&*db, key(4), "after");
    batch
        .delete_range(&*db, key(9)..key(1))
        .clear(&other)
        .put(&other, key(2), "new");
    assert_eq!(batch.len(), 5, "an inverted range is no operation");
    batch.commit(Durability::Process).expect("commits");
    drop(other);
    for _ in 0..2 {
        assert_eq!(numbers(&db), [0, 1, 4, 6, 7, 8, 9]);
        let other = db.keyspace("other", KeyspaceOptions::default()).expect("opens");
        assert_eq!(other.iter().count(), 1);
        assert!(other.contains(key(2)).expect("get"));
        drop(other);
        db.reopen();
    }
    db.flush().expect("flush");
    assert_eq!(numbers(&db), [0, 1, 4, 6, 7, 8, 9]);
    db.assert_sound();
}

// fjall #241, #287: a clear that was not logged, and one that surprised a running compaction.
#[test]
fn a_clear_survives_a_kill_and_leaves_exactly_what_was_put_behind_it() {
    for flushed in [false, true] {
        let db = TestDb::open(manual());
        filled(&db, 1000);
        if flushed {
            db.flush().expect("flush");
        }
        db.clear().expect("clears");
        let killed = TestDb::open_on(db.machine.after_kill(), manual());
        assert_eq!(killed.contents().len(), 0);
        for number in 0..10 {
            db.put(key(number * 7), "new").expect("put");
        }
        let killed = TestDb::open_on(db.machine.after_kill(), manual());
        assert_eq!(
            numbers(&killed),
            (0..10).map(|number| number * 7).collect::<Vec<_>>()
        );
        killed.flush().expect("flush");
        assert_eq!(killed.contents().len(), 10);
        killed.assert_sound();
    }
}

#[test]
fn a_range_delete_kills_by_runs_and_drops_whole_tables() {
    let db = TestDb::open(manual().manifest_bytes(1 << 20));
    for number in 0..5000 {
        db.put(key(number), "value").expect("put");
        if number % 500 == 499 {
            db.flush().expect("flush");
        }
    }
    let tables = db.stats().table_count;
    assert_eq!(tables, 10);
    let manifest_bytes = db.stats().manifest_bytes;
    db.delete_range(key(10)..key(4990)).expect("deletes");
    assert_eq!(db.stats().memtable_range_delete_count, 1);
    db.flush().expect("flush");
    let stats = db.stats();
    assert_eq!(
        (stats.table_count, stats.emptied_table_count),
        (2, tables as u64 - 2)
    );
    assert_eq!((stats.live_record_count, stats.killed_record_count), (20, 4980));
    assert!(
        stats.manifest_bytes - manifest_bytes < 400,
        "runs, not ordinals one by one"
    );
    assert_eq!(db.contents().len(), 20);
    db.assert_sound();
    db.compact().expect("compact");
    assert_eq!((db.stats().dead_record_count, db.contents().len()), (0, 20));
}

#[test]
fn snapshots_and_iterators_taken_before_a_range_delete_do_not_see_it() {
    let db = TestDb::open(manual());
    filled(&db, 50);
    db.flush().expect("flush");
    for number in 50..60 {
        db.put(key(number), "in memory").expect("put");
    }
    let before = db.snapshot();
    let mut range = db.iter();
    assert!(range.next().is_some());
    db.delete_range(key(20)..key(55)).expect("deletes");
    let between = db.snapshot();
    db.put(key(30), "newer").expect("put");
    db.clear().expect("clears");
    db.flush().expect("flush");
    db.compact().expect("compact");
    assert_eq!(range.count(), 59);
    assert_eq!(
        (before.iter(&*db).count(), before.iter(&*db).rev().count()),
        (60, 60)
    );
    assert!(before.contains(&*db, key(30)).expect("get") && !between.contains(&*db, key(30)).expect("get"));
    assert_eq!(
        (between.iter(&*db).count(), between.iter(&*db).rev().count()),
        (25, 25)
    );
    assert_eq!(db.contents().len(), 0);
    drop((before, between));
    assert_eq!(db.count_files(".table"), 0, "what no snapshot pins is gone");
}

#[test]
fn walks_over_layers_with_range_deletes_equal_the_model() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let db = TestDb::open(
            manual()
                .memtable_bytes(3 << 10)
                .target_table_bytes(700)
                .frozen_memtables_max(4),
        );
        let mut model = std::collections::BTreeMap::new();
        for step in 0..500u32 {
            let number = u32::try_from(rng.below(300)).expect("small");
            match rng.below(20) {
                0..13 => {
                    db.put(key(number), step.to_be_bytes()).expect("put");
                    model.insert(number, step);
                }
                13..16 => {
                    db.delete(key(number)).expect("delete");
                    model.remove(&number);
                }
                16..19 => {
                    let end = number + u32::try_from(rng.below(60)).expect("small");
                    db.delete_range(key(number)..key(end)).expect("deletes");
                    model.retain(|at, _| !(number..end).contains(at));
                }
                _ if rng.below(4) == 0 => db.flush().expect("flush"),
                _ => drop(db.run_background_step().expect("background step")),
            }
            if step % 20 == 0 {
                let from = u32::try_from(rng.below(300)).expect("small");
                let to = from + u32::try_from(rng.below(150)).expect("small");
                let mut expected: Vec<_> = model
                    .range(from..to)
                    .map(|(n, step)| (key(*n).to_vec(), step.to_be_bytes().to_vec()))
                    .collect();
                let found = |range: &mut dyn Iterator<Item = crate::Result<(crate::Key, crate::Value)>>| {
                    range
                        .map(|item| item.expect("readable"))
                        .map(|(k, v)| (k.into_vec(), v.to_vec()))
                        .collect::<Vec<_>>()
                };
                assert_eq!(
                    found(&mut db.range(key(from)..key(to))),
                    expected,
                    "seed {seed}, step {step}"
                );
                expected.reverse();
                assert_eq!(
                    found(&mut db.range(key(from)..key(to)).rev()),
                    expected,
                    "seed {seed}, step {step} reversed"
                );
            }
        }
        assert_eq!(contents(&db).len(), model.len(), "seed {seed}");
        db.assert_sound();
    }
}
