//! What a key's value is, whatever lies where.

use super::{appending, contents, get};
use crate::tests::{TestDb, manual};
use crate::{AddU64, AppendBytes, Composed, Durability, Error, KeyspaceOptions, LawFailure, MaxU64};

#[test]
fn a_merge_joins_what_is_there_and_starts_where_nothing_is() {
    // Every border between two of the five writes: none, a flush, a flush and a compaction, or a reopening.
    for borders in 0..4usize.pow(4) {
        let mut db = TestDb::open(manual());
        let mut logs = appending(&db);
        for (number, write) in ["put a", "merge b", "merge c", "delete", "merge d"]
            .into_iter()
            .enumerate()
        {
            match write.split_once(' ') {
                Some(("put", value)) => logs.put("k", value).expect("put"),
                Some((_, operand)) => logs.merge("k", operand).expect("merge"),
                None => logs.delete("k").expect("delete"),
            }
            let expected = [Some("a"), Some("ab"), Some("abc"), None, Some("d")][number];
            assert_eq!(
                get(&logs, "k").as_deref(),
                expected.map(str::as_bytes),
                "borders {borders}"
            );
            match borders / 4usize.pow(u32::try_from(number.min(3)).expect("small")) % 4 {
                1 => db.flush().expect("flush"),
                2 => db.compact().expect("compact"),
                3 => {
                    drop(logs);
                    db.reopen();
                    logs = appending(&db);
                }
                _ => {}
            }
            assert_eq!(
                get(&logs, "k").as_deref(),
                expected.map(str::as_bytes),
                "borders {borders}"
            );
            assert_eq!(contents(&logs).len(), usize::from(expected.is_some()));
        }
        db.assert_sound();
    }
}

/// A delete that a merge follows in another memtable was once taken for an empty base elsewhere; the law must not be asked at all.
#[test]
fn after_a_delete_the_law_sees_nothing_and_not_an_empty_string() {
    let marking = |older: &[u8], newer: &[u8]| -> Result<Composed, LawFailure> {
        Ok(Composed::Owned([older, b"+", newer].concat()))
    };
    let mut db = TestDb::open(manual().law("marking", marking));
    let options = || KeyspaceOptions::default().compose("marking", marking);
    let marks = db.keyspace("marks", options()).expect("creates");
    marks.put("old", "v").expect("put");
    marks.put("empty", "").expect("put");
    db.flush().expect("flush");
    marks.delete("old").expect("delete");
    db.flush().expect("flush");
    for key in ["old", "never", "empty"] {
        marks.merge(key, "x").expect("merge");
    }
    let expected =
        [("empty", "+x"), ("never", "x"), ("old", "x")].map(|(key, value)| (key.into(), value.into()));
    assert_eq!(contents(&marks), expected);
    drop(marks);
    db.reopen();
    let marks = db.keyspace("marks", options()).expect("opens");
    assert_eq!(contents(&marks), expected);
    db.compact().expect("compact");
    assert_eq!(contents(&marks), expected);
    marks.merge("old", "y").expect("merge");
    assert_eq!(get(&marks, "old"), Some(b"x+y".to_vec()));
}

/// A binding elsewhere took the length of every result for 1.
#[test]
fn results_of_all_lengths_survive() {
    let mut db = TestDb::open(manual());
    let mut logs = appending(&db);
    for len in [0, 1, 255, 256, 1 << 20] {
        logs.put(format!("{len}"), vec![b'a'; len / 2]).expect("put");
        logs.merge(format!("{len}"), vec![b'b'; len - len / 2])
            .expect("merge");
    }
    for round in 0..3 {
        for len in [0, 1, 255, 256, 1 << 20] {
            let value = get(&logs, format!("{len}")).expect("present");
            assert_eq!(
                value,
                [vec![b'a'; len / 2], vec![b'b'; len - len / 2]].concat(),
                "round {round}"
            );
        }
        drop(logs);
        match round {
            0 => db.reopen(),
            _ => db.compact().expect("compact"),
        }
        logs = appending(&db);
    }
    db.assert_sound();
}

#[test]
fn a_batch_composes_its_own_operations_in_order() {
    let db = TestDb::open(manual());
    let logs = appending(&db);
    logs.put("k", "0").expect("put");
    db.flush().expect("flush");
    let mut batch = db.batch();
    batch
        .merge(&logs, "k", "1")
        .merge(&logs, "k", "2")
        .put(&logs, "p", "3")
        .merge(&logs, "p", "4");
    batch
        .put(&logs, "d", "5")
        .delete(&logs, "d")
        .merge(&logs, "d", "6")
        .delete(&logs, "gone")
        .merge(&logs, "k", "7");
    batch
        .put(&logs, "l", "1")
        .put(&logs, "l", "2")
        .delete(&logs, "l")
        .put(&logs, "l", "3");
    batch.merge(&logs, "g", "8").delete(&logs, "g");
    assert_eq!(batch.len(), 15);
    batch.commit(Durability::Process).expect("commits");
    let expected = [("d", "6"), ("k", "0127"), ("l", "3"), ("p", "34")].map(|(k, v)| (k.into(), v.into()));
    assert_eq!(contents(&logs), expected);
    // Large batches take another way into the memtable.
    let mut batch = db.batch();
    for number in 0..500u32 {
        batch
            .merge(&logs, "many", [b'x'; 3])
            .merge(&logs, number.to_be_bytes(), "y");
    }
    batch.commit(Durability::Process).expect("commits");
    assert_eq!(get(&logs, "many"), Some(vec![b'x'; 1500]));
    db.compact().expect("compact");
    assert_eq!(get(&logs, "many"), Some(vec![b'x'; 1500]));
    assert_eq!(logs.iter().count(), 505);
    db.assert_sound();
}

#[test]
fn ready_laws_count_and_keep_the_largest() {
    let mut db = TestDb::open(manual());
    let counting = || {
        KeyspaceOptions::default()
            .value_width_bytes(8)
            .compose(AddU64::NAME, AddU64)
    };
    let largest = || {
        KeyspaceOptions::default()
            .value_width_bytes(8)
            .compose(MaxU64::NAME, MaxU64)
    };
    let mut model = [0u64; 10];
    for round in 0..20u64 {
        let hits = db.keyspace("hits", counting()).expect("opens");
        let peaks = db.keyspace("peaks", largest()).expect("opens");
        for (key, count) in (0u8..).zip(&mut model) {
            let amount = (round * 7 + u64::from(key)) % 5;
            hits.merge([key], amount.to_le_bytes()).expect("merge");
            hits.merge([key], u64::MAX.to_le_bytes()).expect("takes one away");
            peaks.merge([key], amount.to_le_bytes()).expect("merge");
            *count = count.wrapping_add(amount).wrapping_sub(1);
        }
        match round % 4 {
            1 => db.flush().expect("flush"),
            2 => db.compact().expect("compact"),
            _ => {}
        }
        let expected: Vec<_> = (0u8..)
            .zip(model)
            .map(|(k, n)| (vec![k], n.to_le_bytes().to_vec()))
            .collect();
        assert_eq!(contents(&hits), expected, "round {round}");
        if round >= 4 {
            assert!(
                contents(&peaks)
                    .iter()
                    .all(|(_, peak)| *peak == 4u64.to_le_bytes())
            );
        }
        drop((hits, peaks));
        if round % 4 == 3 {
            db.reopen();
        }
    }
    db.assert_sound();
    let hits = db.keyspace("hits", counting()).expect("opens");
    assert!(matches!(
        hits.merge("k", "seven b"),
        Err(Error::ValueWidth { .. })
    ));
}

#[test]
fn a_key_aware_law_gets_the_key_everywhere() {
    let keyed = |key: &[u8], older: &[u8], newer: &[u8]| -> Result<Composed, LawFailure> {
        assert!(key.starts_with(b"key"), "a whole key: {}", key.escape_ascii());
        // The key's last byte says which side stands in front; both are associative.
        Ok(Composed::Owned(match key.last() {
            Some(b'1') => [newer, older].concat(),
            _ => [older, newer].concat(),
        }))
    };
    let mut db = TestDb::open(manual().law_with_key("keyed", keyed));
    let options = || KeyspaceOptions::default().compose_with_key("keyed", keyed);
    let keyspace = db.keyspace("keyed", options()).expect("creates");
    for operand in ["a", "b", "c", "d", "e", "f"] {
        for key in ["key0", "key1"] {
            keyspace.merge(key, operand).expect("merge");
        }
        match operand {
            "b" | "d" => db.flush().expect("flush"),
            "c" => db.compact().expect("compact"),
            _ => {}
        }
    }
    let expected = [("key0", "abcdef"), ("key1", "fedcba")].map(|(key, value)| (key.into(), value.into()));
    assert_eq!(contents(&keyspace), expected);
    drop(keyspace);
    db.reopen();
    db.compact().expect("compact");
    assert_eq!(
        contents(&db.keyspace("keyed", options()).expect("opens")),
        expected
    );
    db.assert_sound();
}

/// 20,000 operands once made every read of their key take a third of a second elsewhere.
#[test]
fn many_operands_on_one_key_are_few_by_the_time_somebody_reads() {
    for law_calls_are_cheap in [false, true] {
        let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&calls);
        let law = move |older: &[u8], newer: &[u8]| -> Result<Composed, LawFailure> {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if law_calls_are_cheap {
                crate::law::Compose::compose(&AddU64, older, newer)
            } else {
                crate::law::Compose::compose(&AppendBytes, older, newer)
            }
        };
        let db = TestDb::open(manual().memtable_bytes(8 << 20));
        let keyspace = db
            .keyspace("k", KeyspaceOptions::default().compose("counted", law))
            .expect("creates");
        for _ in 0..20_000u64 {
            keyspace.merge("k", 1u64.to_le_bytes()).expect("merge");
        }
        let calls_of = |what: &dyn Fn()| {
            let before = calls.load(std::sync::atomic::Ordering::Relaxed);
            what();
            calls.load(std::sync::atomic::Ordering::Relaxed) - before
        };
        let by_writes = calls_of(&|| ());
        assert_eq!(by_writes, 0);
        assert!(
            calls.load(std::sync::atomic::Ordering::Relaxed) < 20_000,
            "at most a call an operand"
        );
        let read = || {
            let value = get(&keyspace, "k").expect("present");
            if law_calls_are_cheap {
                assert_eq!(value, 20_000u64.to_le_bytes());
            } else {
                assert_eq!(value.len(), 160_000);
            }
        };
        assert!(
            calls_of(&read) < crate::memtable::PARTS_MAX,
            "a read composes a handful of parts"
        );
        db.flush().expect("flush");
        assert_eq!(calls_of(&read), 0, "a flush leaves one record");
    }
}

#[test]
fn snapshots_and_iterators_keep_the_value_of_their_instant() {
    let db = TestDb::open(manual());
    let logs = appending(&db);
    let mut snapshots = Vec::new();
    for number in 0..12u8 {
        logs.merge("k", [b'a' + number]).expect("merge");
        snapshots.push((db.snapshot(), logs.iter()));
        match number % 4 {
            1 => db.flush().expect("flush"),
            3 => db.compact().expect("compact"),
            _ => {}
        }
    }
    for (number, (snapshot, mut iterator)) in (1usize..).zip(snapshots) {
        let expected = &b"abcdefghijkl"[..number];
        assert_eq!(snapshot.get(&logs, "k").expect("get").as_deref(), Some(expected));
        assert_eq!(iterator.next().expect("one").expect("an entry").1, expected);
    }
}

#[test]
fn plain_keyspaces_refuse_merges_and_names_of_laws_are_checked() {
    let db = TestDb::open(manual());
    assert!(matches!(db.merge("k", "v"), Err(Error::NoLaw { keyspace }) if keyspace.is_empty()));
    let mut batch = db.batch();
    batch.put(&*db, "k", "v").merge(&*db, "k", "w");
    assert!(matches!(
        batch.commit(Durability::Process),
        Err(Error::NoLaw { .. })
    ));
    assert!(!db.contains("k").expect("get"));
    for (name, is_good) in [
        ("", false),
        ("replace", false),
        (AddU64::NAME, false),
        ("mine", true),
    ] {
        let created = db.keyspace("x", KeyspaceOptions::default().compose(name, AppendBytes));
        match created {
            Ok(_) => assert!(is_good, "{name}"),
            Err(error) => assert!(
                !is_good && matches!(error, Error::InvalidOption { .. }),
                "{name}: {error}"
            ),
        }
    }
    let other = db
        .keyspace("x", KeyspaceOptions::default().compose("other", AppendBytes))
        .expect_err("refused");
    assert!(
        other.to_string().contains("law \"mine\"") && other.to_string().contains("law \"other\""),
        "{other}"
    );
    let options = manual().law("replace", AppendBytes);
    let opened = crate::Db::open_with(std::sync::Arc::new(crate::vfs::MemFs::new()), "/other", options);
    assert!(matches!(opened, Err(Error::InvalidOption { .. })));
}

#[test]
fn a_range_delete_ends_histories_wherever_it_and_the_merges_lie() {
    // Borders before and behind the range delete: none, flush, reopen, compaction.
    for borders in 0..16 {
        let mut db = TestDb::open(manual());
        let mut logs = appending(&db);
        let cross = |db: &mut TestDb, logs: &mut crate::Keyspace, border: usize| match border {
            1 => db.flush().expect("flush"),
            2 => {
                // Handles keep a database open.
                *logs = db.default_keyspace().clone();
                db.reopen();
                *logs = appending(db);
            }
            3 => db.compact().expect("compact"),
            _ => {}
        };
        for key in ["a", "b", "c", "d"] {
            logs.merge(key, "1").expect("merge");
        }
        cross(&mut db, &mut logs, borders % 4);
        logs.merge("b", "2").expect("merge");
        let mut batch = db.batch();
        batch
            .merge(&logs, "c", "2")
            .delete_range(&logs, "b".."d")
            .merge(&logs, "c", "3");
        batch.commit(Durability::Process).expect("commits");
        cross(&mut db, &mut logs, borders / 4);
        logs.merge("b", "4").expect("merge");
        logs.merge("c", "4").expect("merge");
        logs.merge("d", "4").expect("merge");
        let expected = [("a", "1"), ("b", "4"), ("c", "34"), ("d", "14")].map(|(k, v)| (k.into(), v.into()));
        for round in 0..3 {
            assert_eq!(contents(&logs), expected, "borders {borders}, round {round}");
            cross(&mut db, &mut logs, 1 + round);
        }
        logs.clear().expect("clear");
        logs.merge("b", "5").expect("merge");
        assert_eq!(contents(&logs), [("b".into(), "5".into())]);
        db.compact().expect("compact");
        assert_eq!(contents(&logs), [("b".into(), "5".into())]);
        db.assert_sound();
    }
}

/// Appending a byte at a time must not copy the whole value each time.
#[test]
fn a_value_that_grows_is_copied_a_logarithmic_number_of_times() {
    let copied = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&copied);
    let law = move |older: &[u8], newer: &[u8]| -> Result<Composed, LawFailure> {
        counter.fetch_add(older.len() + newer.len(), std::sync::atomic::Ordering::Relaxed);
        Ok(Composed::Owned([older, newer].concat()))
    };
    let db = TestDb::open(manual().memtable_bytes(64 << 20));
    let logs = db
        .keyspace("logs", KeyspaceOptions::default().compose("copying", law))
        .expect("creates");
    let copied_by_now = || copied.load(std::sync::atomic::Ordering::Relaxed);
    let mut expected = Vec::new();
    for number in 0..20_000u32 {
        let operand = number.to_be_bytes().repeat(1 + number as usize % 40);
        logs.merge("k", &operand).expect("merge");
        expected.extend(operand);
    }
    let by_writes = copied_by_now();
    assert!(
        by_writes < 40 * expected.len(),
        "{by_writes} bytes copied for {}",
        expected.len()
    );
    assert_eq!(get(&logs, "k"), Some(expected.clone()));
    let by_read = copied_by_now() - by_writes;
    assert!(
        by_read < 2 * expected.len(),
        "a read copies {by_read} bytes for {}",
        expected.len()
    );
    // One large operand on many small ones: the small ones meet first.
    logs.merge("k", vec![b'x'; 10 << 20]).expect("merge");
    let by_large = copied_by_now() - by_writes - by_read;
    assert!(by_large < 3 * (10 << 20), "{by_large} bytes copied");
}
