//! The whole path: put, flush, get, compact, reopen.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::tests::{DIR, Rng, TestDb, manual};
use crate::vfs::{Calls, Fault, FaultFs, FileSystem as _, MemFs, Rule};
use crate::{Db, Durability, Error, KeyspaceOptions};

#[test]
fn a_key_is_readable_in_every_state_it_passes_through() {
    let mut db = TestDb::open(manual());
    db.put("key", "value").expect("put");
    assert_eq!(
        db.get("key").expect("get").as_deref(),
        Some(&b"value"[..]),
        "in the memtable"
    );
    db.flush().expect("flush");
    assert_eq!(db.stats().table_count, 1);
    assert_eq!(
        db.get("key").expect("get").as_deref(),
        Some(&b"value"[..]),
        "in a table"
    );
    db.put("other", "from the log").expect("put");
    db.reopen();
    assert_eq!(
        db.get("key").expect("get").as_deref(),
        Some(&b"value"[..]),
        "after reopening"
    );
    assert_eq!(
        db.get("other").expect("get").as_deref(),
        Some(&b"from the log"[..]),
        "replayed"
    );
    assert_eq!(db.get("absent").expect("get"), None);
    db.compact().expect("compact");
    assert_eq!(db.stats().table_count, 1, "{:?}", db.stats());
    assert_eq!(db.contents().len(), 2);
    db.assert_sound();
}

#[test]
fn the_store_equals_a_map_over_random_operations_flushes_compactions_and_reopens() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let options = manual()
            .memtable_bytes(1 << (9 + rng.below(5)))
            .target_table_bytes(256 << rng.below(6))
            .l0_compaction_trigger(1 + rng.below(4));
        let mut db = TestDb::open(options);
        let mut model = BTreeMap::new();
        for step in 0..800u32 {
            let key = format!("{:03}", rng.below(200)).into_bytes();
            match rng.below(100) {
                0..50 => {
                    let value = vec![b'v'; rng.below(40)];
                    db.put(&key, &value).expect("put");
                    model.insert(key, value);
                }
                50..85 => {
                    db.delete(&key).expect("delete");
                    model.remove(&key);
                }
                85..93 => {
                    let found = db.get(&key).expect("get").map(|value| value.to_vec());
                    assert_eq!(found.as_ref(), model.get(&key), "seed {seed}, step {step}");
                }
                93..96 => drop(db.run_background_step().expect("background step")),
                96 => db.flush().expect("flush"),
                97 => db.compact().expect("compact"),
                98 => db.reopen(),
                _ => db.assert_sound(),
            }
        }
        let expected: Vec<_> = model.into_iter().collect();
        assert_eq!(db.contents(), expected, "seed {seed}");
        db.assert_sound();
        db.compact().expect("compact");
        assert_eq!(db.contents(), expected, "seed {seed}, compacted");
        assert_eq!(db.stats().dead_record_count, 0);
        db.assert_sound();
    }
}

#[test]
fn a_delete_stays_a_delete_through_flush_compaction_and_reopen() {
    let mut db = TestDb::open(manual());
    for value in ["same", "same", "different"] {
        db.put("k", value).expect("put");
        db.flush().expect("flush");
        db.delete("k").expect("delete");
        db.flush().expect("flush");
        assert_eq!(db.get("k").expect("get"), None);
        assert_eq!(
            db.stats().table_count,
            0,
            "a table with nothing alive is dropped at once"
        );
        db.put("k", value).expect("put");
        db.flush().expect("flush");
        db.compact().expect("compact");
        assert_eq!(
            db.get("k").expect("get").as_deref(),
            Some(value.as_bytes()),
            "put, delete, put"
        );
        db.delete("k").expect("delete");
        db.reopen();
        assert_eq!(
            db.get("k").expect("get"),
            None,
            "a delete in the log shields the table"
        );
    }
    db.assert_sound();
}

#[test]
fn the_last_operation_on_a_key_in_a_batch_wins_and_leaves_one_live_record() {
    let mut db = TestDb::open(manual());
    let mut batch = db.batch();
    batch
        .put(&*db, "k", "1")
        .put(&*db, "k", "2")
        .delete(&*db, "k")
        .put(&*db, "k", "3");
    batch
        .put(&*db, "x", "1")
        .delete(&*db, "x")
        .put(&*db, "x", "2")
        .delete(&*db, "x");
    batch.commit(Durability::Sync).expect("commit");
    for _ in 0..2 {
        assert_eq!(db.contents(), [(b"k".to_vec(), b"3".to_vec())]);
        db.reopen();
    }
    db.flush().expect("flush");
    assert_eq!(db.stats().live_record_count, 1);
    db.assert_sound();
}

#[test]
fn a_key_pushed_and_popped_within_one_memtable_leaves_no_trace() {
    let db = TestDb::open(manual());
    db.put("older", "in a table").expect("put");
    db.flush().expect("flush");
    for round in 0..100u32 {
        db.put(round.to_be_bytes(), "v").expect("put");
        db.delete(round.to_be_bytes()).expect("delete");
    }
    assert_eq!(db.stats().memtable_entry_count, 0);
    db.delete("older").expect("delete");
    assert_eq!(
        db.stats().memtable_delete_count,
        1,
        "this one shields a table's record"
    );
}

#[test]
fn snapshots_and_values_outlive_deletes_compactions_and_the_database() {
    let mut db = TestDb::open(manual());
    db.put("k", "old").expect("put");
    db.flush().expect("flush");
    let snapshot = db.snapshot();
    let value = db.get("k").expect("get").expect("alive");
    db.put("k", "new").expect("put");
    db.flush().expect("flush");
    db.compact().expect("compact");
    assert_eq!(
        snapshot.get(&*db, "k").expect("get").as_deref(),
        Some(&b"old"[..])
    );
    assert_eq!(
        db.stats().pinned_file_count,
        1,
        "the snapshot and the value keep the merged table"
    );
    let tables_before = db.count_files(".table");
    drop(snapshot);
    assert_eq!(db.count_files(".table"), tables_before);
    assert_eq!(value, b"old");
    drop(value);
    assert_eq!(
        db.count_files(".table"),
        tables_before - 1,
        "unlinked when the last reader let go"
    );
    db.reopen();
    db.assert_sound();
}

#[test]
fn keyspaces_are_separate_share_batches_and_can_be_dropped() {
    let mut db = TestDb::open(manual());
    let users = db.keyspace("users", KeyspaceOptions::default()).expect("creates");
    let odd = db
        .keyspace("../\0é", KeyspaceOptions::default())
        .expect("any name is a name");
    let mut batch = db.batch();
    batch
        .put(&*db, "k", "default")
        .put(&users, "k", "user")
        .put(&odd, "k", "odd");
    batch.commit(Durability::Process).expect("commit");
    drop((users, odd));
    for flush in [false, true] {
        if flush {
            db.flush().expect("flush");
        }
        db.reopen();
        let users = db.keyspace("users", KeyspaceOptions::default()).expect("opens");
        assert_eq!(users.get("k").expect("get").as_deref(), Some(&b"user"[..]));
        assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"default"[..]));
        assert_eq!(db.keyspace_names(), ["", "users", "../\0é"]);
    }
    let users = db.keyspace("users", KeyspaceOptions::default()).expect("opens");
    let snapshot = db.snapshot();
    users.put("unflushed", "v").expect("put");
    db.drop_keyspace(&users).expect("drops");
    assert!(matches!(users.put("k", "v"), Err(Error::KeyspaceDropped { .. })));
    assert!(matches!(users.get("k"), Err(Error::KeyspaceDropped { .. })));
    assert!(users.iter().next().is_some_and(|item| item.is_err()));
    assert_eq!(
        snapshot.get(&users, "k").expect("get").as_deref(),
        Some(&b"user"[..])
    );
    let again = db
        .keyspace("users", KeyspaceOptions::default())
        .expect("the name is free again");
    assert_eq!(again.iter().count(), 0, "old data never shows in a new keyspace");
    drop((snapshot, users, again));
    db.reopen();
    assert_eq!(
        db.keyspace("users", KeyspaceOptions::default())
            .expect("opens")
            .iter()
            .count(),
        0
    );
    db.assert_sound();
}

#[test]
fn extreme_keys_and_values_survive_every_layer() {
    let mut db = TestDb::open(manual());
    let long_key = vec![0xFF; 1 << 20];
    let large = vec![0xA5; 64 << 20];
    let pairs: [(&[u8], &[u8]); 6] = [
        (b"", b"empty key"),
        (b"\0", b""),
        (b"\0\0", b"\0"),
        (b"\xff", b"\xff"),
        (&long_key, b"long"),
        (b"l", &large),
    ];
    for (key, value) in pairs {
        db.put(key, value).expect("put");
    }
    for _ in 0..2 {
        for (key, value) in pairs {
            assert!(
                db.get(key).expect("get").is_some_and(|found| *found == *value),
                "{} bytes",
                key.len()
            );
        }
        assert_eq!(db.iter().count(), pairs.len());
        db.reopen();
        db.flush().expect("flush");
    }
    db.compact().expect("compact");
    assert!(db.get("l").expect("get").is_some_and(|found| *found == *large));
    let too_long = vec![0; crate::limits::KEY_LEN_BYTES_MAX + 1];
    assert!(matches!(db.put(&too_long, ""), Err(Error::KeyTooLong { .. })));
    db.assert_sound();
}

#[test]
fn opening_says_what_is_in_the_way() {
    let machine = MemFs::new();
    machine.create_dir_all(Path::new("/empty")).expect("creates");
    let open = |path: &str, options| Db::open_with(Arc::new(machine.clone()), path, options).map(drop);
    let refused = |outcome: crate::Result<()>| matches!(outcome, Err(Error::NotADatabase { .. }));
    assert!(refused(open("/missing", manual().create_if_missing(false))));
    assert!(
        !machine.exists(Path::new("/missing")).expect("inspects"),
        "a refused open leaves nothing behind"
    );
    assert!(refused(open("/empty", manual().create_if_missing(false))));
    assert!(refused(open("/empty", manual().read_only(true))));
    assert!(machine.list(Path::new("/empty")).expect("lists").is_empty());
    drop(machine.create_new(Path::new("/file")).expect("creates"));
    assert!(refused(open("/file", manual())));
    let db = TestDb::open_on(machine.clone(), manual());
    assert!(
        matches!(open(DIR, manual()), Err(Error::Locked { .. })),
        "in the same process too"
    );
    assert!(matches!(
        open(DIR, manual().read_only(true)),
        Err(Error::Locked { .. })
    ));
    db.put("k", "v").expect("put");
    drop(db);
    assert!(matches!(
        open(DIR, manual().error_if_exists(true)),
        Err(Error::AlreadyExists { .. })
    ));
    open(DIR, manual()).expect("opens");
}

#[test]
fn reading_only_replays_in_memory_and_writes_nothing() {
    let mut db = TestDb::open(manual());
    db.put("flushed", "1").expect("put");
    db.flush().expect("flush");
    db.put("logged", "2").expect("put");
    db.close();
    let listing = || -> Vec<_> {
        db.files()
            .iter()
            .map(|name| (name.clone(), db.read_file(name)))
            .collect()
    };
    let before = listing();
    let machine = FaultFs::new(Arc::new(db.machine.clone()));
    machine.add(Rule::always(Calls::Changing, Fault::DeviceError));
    let open = || Db::open_with(Arc::new(machine.clone()), DIR, manual().read_only(true));
    let reader = open().expect("opens");
    let second = open().expect("readers share");
    assert_eq!(reader.iter().count(), 2);
    assert!(matches!(reader.put("k", "v"), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.flush(), Err(Error::ReadOnly { .. })));
    assert!(matches!(reader.compact(), Err(Error::ReadOnly { .. })));
    assert!(matches!(
        reader.keyspace("new", KeyspaceOptions::default()),
        Err(Error::ReadOnly { .. })
    ));
    assert!(reader.verify().expect("verifies").is_sound());
    drop((reader, second));
    assert_eq!(listing(), before);
}

#[test]
fn foreign_files_stay_and_orphans_go() {
    let mut db = TestDb::open(manual());
    db.put("k", "v").expect("put");
    db.flush().expect("flush");
    let foreign = [".DS_Store", "._000001.table", "Thumbs.db", "000009.sst~", "7.log"];
    let orphans = ["009999.table", "MANIFEST-000900", "CURRENT.tmp"];
    for name in foreign {
        db.write_file(name, b"not the database's");
    }
    for name in orphans {
        db.write_file(name, b"");
    }
    db.reopen();
    let files = db.files();
    for name in foreign {
        assert!(files.iter().any(|file| file == name), "{name} is not ours");
    }
    for name in orphans {
        assert!(!files.iter().any(|file| file == name), "{name} is an orphan");
    }
    assert_eq!(db.verify().expect("verifies").foreign_files.len(), foreign.len());
    db.assert_sound();
}

#[test]
fn one_key_in_many_tables_is_one_item_with_the_newest_value() {
    let db = TestDb::open(manual().l0_compaction_trigger(100).l0_tables_max(100));
    for number in 0..64u32 {
        db.put("k", number.to_be_bytes()).expect("put");
        db.put([b'k', u8::try_from(number).expect("small")], "other")
            .expect("put");
        db.flush().expect("flush");
    }
    assert_eq!(db.stats().table_count, 64);
    assert_eq!(
        db.get("k").expect("get").as_deref(),
        Some(&63u32.to_be_bytes()[..])
    );
    let contents = db.contents();
    assert_eq!(
        (contents.len(), &contents[0].1[..]),
        (65, &63u32.to_be_bytes()[..])
    );
    db.compact().expect("compact");
    assert_eq!(db.contents(), contents);
    assert_eq!(db.stats().live_record_count, 65);
    db.assert_sound();
}

#[test]
fn deleting_large_values_gives_their_space_back_without_a_compaction() {
    let mut db = TestDb::open(manual().memtable_bytes(8 << 20));
    for number in 0..64u32 {
        db.put(number.to_be_bytes(), vec![b'v'; 512 << 10]).expect("put");
    }
    db.flush().expect("flush");
    assert!(db.stats().table_bytes > 30 << 20);
    for number in 0..64u32 {
        db.delete(number.to_be_bytes()).expect("delete");
    }
    db.flush().expect("flush");
    assert_eq!((db.stats().table_bytes, db.count_files(".table")), (0, 0));
    db.reopen();
    assert_eq!(db.contents().len(), 0);
}

#[test]
fn churn_over_a_small_live_set_does_not_grow_the_store() {
    let db = TestDb::open(manual().memtable_bytes(16 << 10).target_table_bytes(16 << 10));
    let mut peak_bytes = 0;
    for round in 0..100u32 {
        for number in 0..100u32 {
            // A sliding window: every round writes a hundred new keys and deletes those of the round before.
            db.put((round * 100 + number).to_be_bytes(), [b'v'; 100])
                .expect("put");
            if let Some(old) = (round * 100 + number).checked_sub(100) {
                db.delete(old.to_be_bytes()).expect("delete");
            }
        }
        while db.run_background_step().expect("step") {}
        peak_bytes = peak_bytes.max(db.stats().table_bytes);
    }
    assert_eq!(db.contents().len(), 100);
    let live_bytes = 100 * 104;
    assert!(
        peak_bytes < 6 * live_bytes,
        "{peak_bytes} bytes for {live_bytes} alive"
    );
    db.assert_sound();
}

#[test]
fn a_held_snapshot_keeps_its_values_through_kills_and_lets_the_space_go_at_its_end() {
    let db = TestDb::open(manual());
    for number in 0..200u32 {
        db.put(number.to_be_bytes(), "old").expect("put");
    }
    db.flush().expect("flush");
    db.delete(1u32.to_be_bytes()).expect("delete");
    db.flush().expect("flush");
    let between = db.snapshot();
    for number in 0..200u32 {
        db.delete(number.to_be_bytes()).expect("delete");
    }
    db.flush().expect("flush");
    db.compact().expect("compact");
    assert_eq!(db.contents().len(), 0);
    assert_eq!(
        between.get(&*db, 0u32.to_be_bytes()).expect("get").as_deref(),
        Some(&b"old"[..])
    );
    assert_eq!(
        between.get(&*db, 1u32.to_be_bytes()).expect("get"),
        None,
        "dead before the snapshot"
    );
    assert_eq!(between.iter(&*db).count(), 199);
    assert_eq!((db.stats().table_count, db.stats().pinned_file_count), (0, 1));
    drop(between);
    assert_eq!((db.stats().pinned_file_count, db.count_files(".table")), (0, 0));
}

#[test]
fn idle_means_idle_also_with_a_snapshot_held() {
    let db = TestDb::open(
        manual()
            .memtable_bytes(500)
            .target_table_bytes(300)
            .l0_compaction_trigger(2),
    );
    let mut rng = Rng::new(9);
    for _ in 0..500 {
        db.put([u8::try_from(rng.below(200)).expect("small")], [b'v'; 20])
            .expect("put");
        if rng.below(3) == 0 {
            db.delete([u8::try_from(rng.below(200)).expect("small")])
                .expect("delete");
        }
    }
    let _snapshot = db.snapshot();
    let mut steps = 0;
    while db.run_background_step().expect("step") {
        steps += 1;
        assert!(steps < 1000, "background work feeds itself");
    }
    db.compact().expect("compact");
    assert!(!db.run_background_step().expect("step"));
}

#[test]
fn a_keyspace_reopens_with_its_settings_alone_and_the_error_names_both() {
    let settings = || {
        KeyspaceOptions::default()
            .value_width_bytes(8)
            .target_table_bytes(1 << 20)
    };
    let mut db = TestDb::open(manual().manifest_bytes(1));
    let wide = db.keyspace("wide", settings()).expect("creates");
    let plain = db.keyspace("plain", KeyspaceOptions::default()).expect("creates");
    for round in 0..4u64 {
        for number in 0..50u64 {
            wide.put(number.to_be_bytes(), (round + number).to_le_bytes())
                .expect("put");
            plain.put(number.to_be_bytes(), [b'v'; 3]).expect("put");
        }
        db.flush().expect("flush");
    }
    for value in [&[0; 7][..], &[0; 9], b""] {
        let refused = wide.put("k", value).expect_err("refused");
        assert_eq!(
            refused.to_string(),
            format!(
                "keyspace \"wide\" holds values of 8 bytes, not of {}; nothing was written",
                value.len()
            )
        );
        let mut batch = db.batch();
        batch.put(&plain, "k", "v").put(&wide, "k", value);
        let refused = batch.commit(Durability::Process).expect_err("refused");
        assert!(matches!(refused, Error::ValueWidth { .. }));
        assert!(
            !plain.contains("k").expect("get"),
            "a batch is refused as a whole"
        );
    }
    db.compact().expect("compact");
    db.assert_sound();
    drop((wide, plain));
    for is_reopened in [false, true] {
        if is_reopened {
            db.reopen();
        }
        let wide = db.keyspace("wide", settings()).expect("the same settings");
        assert_eq!(wide.iter().count(), 50);
        assert_eq!(
            wide.get(7u64.to_be_bytes()).expect("get").as_deref(),
            Some(&10u64.to_le_bytes()[..])
        );
        let error = db
            .keyspace("wide", KeyspaceOptions::default())
            .expect_err("refused");
        assert_eq!(
            error.to_string(),
            "keyspace \"wide\" was created with values of 8 bytes, target tables of 1048576 bytes, and is asked for with values of any \
             width, tables of the database's target size; settings are fixed at creation"
        );
        let error = db
            .keyspace("", settings())
            .expect_err("the default keyspace is plain");
        assert!(matches!(error, Error::KeyspaceMismatch { .. }));
    }
    let none = db.keyspace("none", KeyspaceOptions::default().target_table_bytes(0));
    assert!(matches!(none, Err(Error::InvalidOption { .. })));
}
