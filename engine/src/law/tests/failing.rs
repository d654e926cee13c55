//! Laws that fail or panic: what is concerned, and what is not.

use super::{contents, get, touchy};
use crate::tests::{TestDb, manual};
use crate::{Background, Durability, Error, Keyspace, KeyspaceOptions};

fn touchy_keyspace(db: &TestDb) -> Keyspace {
    let options = KeyspaceOptions::default().compose("touchy", touchy);
    db.keyspace("touchy", options).expect("opens")
}

fn items(keyspace: &Keyspace, is_reversed: bool) -> Vec<Result<Vec<u8>, String>> {
    let told = |item: crate::Result<(crate::Key, crate::Value)>| {
        item.map(|(key, value)| [&key[..], b"=", &value[..]].concat())
            .map_err(|error| error.to_string())
    };
    if is_reversed {
        keyspace.iter().rev().map(told).collect()
    } else {
        keyspace.iter().map(told).collect()
    }
}

#[test]
fn a_failure_is_the_error_of_its_key_alone_in_every_read() {
    for (word, said) in [
        ("fail", "it failed: not to my taste"),
        ("panic", "it panicked: out of my depth"),
    ] {
        // The operands in one memtable, in two, in memtable and table, in two tables.
        for flushes in 0..4 {
            let mut db = TestDb::open(manual().law("touchy", touchy));
            let keyspace = touchy_keyspace(&db);
            for key in ["a", "k", "z"] {
                keyspace.merge(key, "1").expect("merge");
            }
            if flushes & 1 != 0 {
                db.flush().expect("flush");
            }
            for (key, operand) in [("a", "2"), ("k", word), ("z", "2")] {
                keyspace.merge(key, operand).expect("merge");
            }
            if flushes & 2 != 0 {
                db.flush().expect("flush");
            }
            let expected = format!(
                "keyspace \"touchy\": law \"touchy\" gave no value for key \"k\": {said}; to get out, put or delete the key"
            );
            for is_reopened in [false, true] {
                if is_reopened {
                    db.reopen();
                }
                let keyspace = touchy_keyspace(&db);
                assert_eq!(keyspace.get("k").expect_err("fails").to_string(), expected);
                let snapshot = db.snapshot();
                assert_eq!(
                    snapshot.get(&keyspace, "k").expect_err("fails").to_string(),
                    expected
                );
                let mut walked = vec![Ok(b"a=12".to_vec()), Err(expected.clone()), Ok(b"z=12".to_vec())];
                assert_eq!(items(&keyspace, false), walked, "flushes {flushes}");
                walked.reverse();
                assert_eq!(items(&keyspace, true), walked, "flushes {flushes}");
                let report = db.verify().expect("runs");
                assert!(report.is_sound(), "{report:?}");
                assert_eq!((report.live_key_count, report.uncomposed_key_count), (3, 1));
            }
            // A put or a delete ends what cannot be composed.
            let keyspace = touchy_keyspace(&db);
            keyspace.put("k", "new").expect("put");
            keyspace.merge("k", "er").expect("merge");
            assert_eq!(get(&keyspace, "k"), Some(b"newer".to_vec()));
            db.compact().expect("compacts, since nothing is left to fail on");
            assert_eq!(contents(&keyspace).len(), 3);
            db.assert_sound();
        }
    }
}

#[test]
fn operands_that_do_not_compose_are_kept_up_to_a_bound_and_flushed_in_order() {
    let mut db = TestDb::open(manual().law("touchy", touchy));
    let keyspace = touchy_keyspace(&db);
    keyspace.put("k", "fail").expect("put");
    keyspace.merge("other", "fine").expect("merge");
    let accepted = (0..20)
        .take_while(|number| keyspace.merge("k", format!("{number}")).is_ok())
        .count();
    assert_eq!(accepted + 1, crate::memtable::UNCOMPOSED_MAX);
    let refused = keyspace.merge("k", "x").expect_err("refused");
    assert!(
        matches!(&refused, Error::LawFailed { key, .. } if key == "k"),
        "{refused}"
    );
    let mut batch = db.batch();
    batch.put(&keyspace, "not", "there").merge(&keyspace, "k", "x");
    assert!(batch.commit(Durability::Process).is_err());
    assert!(
        !keyspace.contains("not").expect("get"),
        "a batch is refused as a whole"
    );
    drop(keyspace);
    db.reopen();
    let keyspace = touchy_keyspace(&db);
    assert!(
        keyspace.merge("k", "x").is_ok(),
        "what the log held waits in a memtable of its own"
    );
    db.flush()
        .expect("a failing law does not keep a memtable from becoming tables");
    assert_eq!(db.stats().memtable_entry_count, 0);
    assert!(db.stats().table_count >= crate::memtable::UNCOMPOSED_MAX);
    assert_eq!(get(&keyspace, "other"), Some(b"fine".to_vec()));
    drop(keyspace);
    // The same name with a law that takes everything: what was kept apart composes in the order it was written.
    let mut healed = TestDb::open_on(
        db.machine.after_kill(),
        manual().law("touchy", crate::AppendBytes),
    );
    let options = KeyspaceOptions::default().compose("touchy", crate::AppendBytes);
    let keyspace = healed.keyspace("touchy", options).expect("opens");
    let expected = b"fail0123456x".to_vec();
    assert_eq!(get(&keyspace, "k"), Some(expected.clone()));
    healed.compact().expect("compact");
    assert_eq!(get(&keyspace, "k"), Some(expected));
    healed.assert_sound();
    drop(keyspace);
    healed.close();
}

#[test]
fn a_compaction_that_the_law_stops_leaves_its_inputs_and_the_others_go_on() {
    for word in ["fail", "panic"] {
        let mut db = TestDb::open(
            manual()
                .l0_compaction_trigger(2)
                .l0_tables_max(4)
                .law("touchy", touchy),
        );
        let keyspace = touchy_keyspace(&db);
        for round in 0..2 {
            keyspace
                .merge("k", if round == 0 { "1" } else { word })
                .expect("merge");
            db.put("other", format!("{round}")).expect("put");
            db.flush().expect("flush");
        }
        while db
            .run_background_step()
            .expect("the law's failure is not the step's")
        {}
        let stats = db.stats();
        assert_eq!(
            stats.level_table_counts[0], 2,
            "the default keyspace was compacted, this one was not: {stats:?}"
        );
        assert!(
            !db.run_background_step().expect("step"),
            "nothing runs in circles"
        );
        let error = db.compact().expect_err("who asks is told");
        assert!(
            error.to_string().starts_with(
                "keyspace \"touchy\": law \"touchy\" stops the compaction, the tables are unchanged"
            ),
            "{error}"
        );
        assert_eq!(
            db.count_files(".table"),
            db.stats().table_count,
            "no file of the failed attempt stays"
        );
        // More flushes: the keyspace fills up and refuses, others do not notice.
        let refused = (0..10).find_map(|_| {
            let refused = keyspace.merge("x", "1").err();
            db.put("other", "v").expect("other keyspaces are not held up");
            db.flush().expect("flush");
            while db.run_background_step().expect("step") {}
            refused
        });
        assert!(matches!(refused, Some(Error::LawHoldsUp { .. })), "{refused:?}");
        assert!(matches!(keyspace.put("x", "1"), Err(Error::LawHoldsUp { .. })));
        keyspace.delete("k").expect("a delete needs no room");
        db.flush().expect("flush");
        while db.run_background_step().expect("step") {}
        keyspace
            .merge("x", "1")
            .expect("the tables have changed: compacted and there is room again");
        db.assert_sound();
        drop(keyspace);
        db.close();
    }
}

#[test]
fn threads_do_not_stop_for_a_failing_law() {
    let options = manual()
        .background(Background::Threads)
        .memtable_bytes(4 << 10)
        .l0_compaction_trigger(2)
        .l0_tables_max(3)
        .law("touchy", touchy);
    let mut db = TestDb::open(options);
    let keyspace = touchy_keyspace(&db);
    let mut refused = 0;
    for number in 0..3_000u32 {
        let operand = if number % 100 == 50 { "fail" } else { "1" };
        match keyspace.merge((number % 7).to_be_bytes(), operand) {
            Ok(()) => {}
            Err(Error::LawFailed { .. } | Error::LawHoldsUp { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        db.put(number.to_be_bytes(), [b'v'; 20])
            .expect("another keyspace goes on");
    }
    assert!(refused > 0, "the failing keyspace has its bounds");
    assert_eq!(db.iter().count(), 3_000);
    drop(keyspace);
    db.close();
}
