//! What goes wrong in stores that mark rows dead beside their tables, one test for each.

use super::{TestDb, manual};
use crate::{Durability, KeyspaceOptions};

// A cache of marks keyed by a number that was used again: keys of the new table were missing.
#[test]
fn a_keyspace_dropped_and_made_again_with_the_same_keys_misses_none() {
    let db = TestDb::open(manual());
    for round in 0..3 {
        let keyspace = db.keyspace("again", KeyspaceOptions::default()).expect("creates");
        for number in 0..50u8 {
            keyspace.put([number], "v").expect("put");
        }
        db.flush().expect("flush");
        for number in 0..25u8 {
            keyspace.delete([number * 2]).expect("delete");
        }
        db.run_background_step().expect("background step");
        assert_eq!(keyspace.iter().count(), 25, "round {round}");
        if round == 1 {
            db.compact().expect("compact");
        }
        db.drop_keyspace(&keyspace).expect("drops");
        let keyspace = db.keyspace("again", KeyspaceOptions::default()).expect("creates");
        for number in 0..50u8 {
            keyspace.put([number], "v").expect("put");
        }
        db.flush().expect("flush");
        assert_eq!(keyspace.iter().count(), 50, "round {round}");
        db.assert_sound();
        db.drop_keyspace(&keyspace).expect("drops");
    }
}

// The place of a delete among the writes of a batch was worked out twice, differently.
#[test]
fn the_last_write_of_a_batch_wins_after_flush_and_reopening_too() {
    for below in [false, true] {
        let mut db = TestDb::open(manual());
        if below {
            for key in ["a", "b", "c"] {
                db.put(key, "below").expect("put");
            }
            db.flush().expect("flush");
        }
        let mut batch = db.batch();
        batch.put(&*db, "a", "1").delete(&*db, "a").put(&*db, "a", "2");
        batch.delete(&*db, "b").put(&*db, "b", "1").delete(&*db, "b");
        batch
            .put(&*db, "c", "1")
            .put(&*db, "c", "2")
            .delete(&*db, "c")
            .put(&*db, "c", "3");
        batch.commit(Durability::Process).expect("commits");
        let expected = [(b"a".to_vec(), b"2".to_vec()), (b"c".to_vec(), b"3".to_vec())];
        assert_eq!(db.contents(), expected);
        while db.run_background_step().expect("background step") {}
        assert_eq!(db.contents(), expected);
        db.flush().expect("flush");
        assert_eq!(db.contents(), expected);
        db.reopen();
        assert_eq!(db.contents(), expected);
        db.assert_sound();
        db.compact().expect("compact");
        assert_eq!(
            (db.contents(), db.stats().live_record_count),
            (expected.to_vec(), 2)
        );
    }
}

// A key put again after its delete collapsed to deleted in a full compaction.
#[test]
fn a_key_put_again_behind_its_delete_survives_every_mixture_of_flushes() {
    for flushes in 0..8u32 {
        for again in ["same", "other"] {
            let db = TestDb::open(manual());
            let step = |number: u32| {
                if flushes >> number & 1 == 1 {
                    db.flush().expect("flush");
                } else {
                    db.run_background_step().expect("background step");
                }
            };
            db.put("k", "same").expect("put");
            step(0);
            db.delete("k").expect("delete");
            step(1);
            db.put("k", again).expect("put");
            step(2);
            db.compact().expect("compact");
            assert_eq!(
                db.get("k").expect("get").as_deref(),
                Some(again.as_bytes()),
                "{flushes:b}"
            );
            assert_eq!(db.stats().live_record_count, 1);
            db.assert_sound();
        }
    }
}

// Marks without an order against snapshots.
#[test]
fn snapshots_between_deletes_of_one_table_each_see_their_own_and_pin_no_space_for_long() {
    let db = TestDb::open(manual());
    for number in 0..100u8 {
        db.put([number], [b'v'; 1000]).expect("put");
    }
    db.flush().expect("flush");
    let first = db.snapshot();
    db.delete([1]).expect("delete");
    let second = db.snapshot();
    db.run_background_step().expect("settles");
    let third = db.snapshot();
    db.delete_range([2u8]..[99u8]).expect("deletes");
    db.flush().expect("flush");
    db.compact().expect("compact");
    assert_eq!(first.iter(&*db).count(), 100);
    assert_eq!((second.iter(&*db).count(), third.iter(&*db).count()), (99, 99));
    assert!(first.contains(&*db, [1]).expect("get") && !second.contains(&*db, [1]).expect("get"));
    assert!(third.contains(&*db, [50]).expect("get"));
    assert_eq!(db.contents().len(), 2);
    drop((first, second, third));
    assert!(db.stats().table_bytes < 5_000 && db.stats().pinned_file_count == 0);
    assert_eq!(db.count_files(".table"), 1);
}

// A tombstone that a compaction dropped while an older level still held the key.
#[test]
fn a_delete_holds_for_the_deepest_table_whatever_is_compacted_above_it() {
    let db = TestDb::open(manual().l0_compaction_trigger(2).target_table_bytes(400));
    for number in 0..200u32 {
        db.put(number.to_be_bytes(), "bottom").expect("put");
    }
    db.compact().expect("compact");
    for round in 0..6u32 {
        for number in (round..200).step_by(5) {
            db.put(number.to_be_bytes(), "above").expect("put");
        }
        db.delete(7u32.to_be_bytes()).expect("delete");
        db.delete_range((50 + round).to_be_bytes()..(60 + round).to_be_bytes())
            .expect("deletes");
        db.flush().expect("flush");
        db.run_background_step().expect("background step");
        assert!(!db.contains(7u32.to_be_bytes()).expect("get"), "round {round}");
        assert!(
            !db.contains((55 + round).to_be_bytes()).expect("get"),
            "round {round}"
        );
    }
    db.assert_sound();
    let before = db.contents();
    db.compact().expect("compact");
    assert_eq!(db.contents(), before);
}

#[test]
fn deleting_each_key_that_a_walk_hands_out_meets_every_key_once() {
    for flushed in [false, true] {
        let db = TestDb::open(manual().memtable_bytes(2 << 10));
        for number in 0..500u32 {
            db.put(number.to_be_bytes(), "v").expect("put");
        }
        if flushed {
            db.flush().expect("flush");
        }
        let mut met = 0u32;
        for item in db.iter() {
            let (key, _) = item.expect("readable");
            assert_eq!(key, met.to_be_bytes());
            db.delete(&key).expect("delete");
            db.delete_range(&key[..]..&(met + 1).to_be_bytes()[..])
                .expect("deletes");
            met += 1;
            if met.is_multiple_of(50) {
                db.run_background_step().expect("background step");
            }
        }
        assert_eq!((met, db.contents().len()), (500, 0));
    }
}
