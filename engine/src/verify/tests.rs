//! What verification must notice, and what it must not.

use std::sync::Arc;

use crate::tests::{Rng, TestDb, manual};
use crate::version::{Change, Edit, Version};

/// A database with two tables of overlapping keys, the older one with a dead record.
fn two_tables() -> TestDb {
    let db = TestDb::open(manual());
    for key in ["a", "b", "c"] {
        db.put(key, "old").expect("put");
    }
    db.flush().expect("flush");
    db.delete("a").expect("delete");
    db.put("b", "new").expect("put");
    db.flush().expect("flush");
    db
}

/// Publishes a version that the manifest knows nothing of: the hook with which memory is made wrong.
fn tamper(db: &TestDb, change: Change) {
    let engine = db.default_keyspace().handle().engine();
    let versions = engine.versions.lock();
    let edit = Edit {
        changes: vec![change],
    };
    let version: Version = versions
        .current()
        .after(&edit, versions.state(), &Default::default());
    engine.publish(Arc::new(version), None);
}

#[test]
fn a_live_record_marked_dead_by_mistake_is_reported_with_its_table() {
    let db = two_tables();
    db.assert_sound();
    tamper(
        &db,
        Change::Kill {
            table: 4,
            ordinals: [2].into_iter().collect(),
        },
    );
    let report = db.verify().expect("runs");
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.contains("000004.table")),
        "{report:#?}"
    );
}

#[test]
fn a_record_killed_while_an_older_one_of_its_key_lives_is_reported() {
    let db = two_tables();
    let newest = *db
        .default_keyspace()
        .handle()
        .engine()
        .versions
        .lock()
        .state()
        .tables
        .keys()
        .max()
        .expect("two");
    tamper(
        &db,
        Change::Kill {
            table: newest,
            ordinals: [0].into_iter().collect(),
        },
    );
    let report = db.verify().expect("runs");
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.contains("alive in the older table")),
        "{report:#?}"
    );
}

#[test]
fn a_missing_file_is_reported() {
    let db = two_tables();
    db.remove_file("000004.table");
    let report = db.verify().expect("runs");
    let about = |name: &str| report.problems.iter().any(|problem| problem.contains(name));
    assert!(about("000004.table"), "{report:#?}");
}

#[test]
fn healthy_databases_in_every_state_are_never_called_damaged() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut db = TestDb::open(
            manual()
                .memtable_bytes(600)
                .target_table_bytes(300)
                .l0_compaction_trigger(2),
        );
        let mut snapshots = Vec::new();
        for _ in 0..60 {
            let key = [b'a' + u8::try_from(rng.below(20)).expect("small")];
            match rng.below(12) {
                0 => db.flush().expect("flush"),
                1 => db.compact().expect("compact"),
                2 => drop(db.run_background_step().expect("step")),
                3 => snapshots.push(db.snapshot()),
                4 => {
                    snapshots.clear();
                    db.reopen();
                }
                5..8 => db.delete(key).expect("delete"),
                _ => db.put(key, [b'v'; 30]).expect("put"),
            }
            let report = db.verify().expect("runs");
            assert!(report.is_sound(), "seed {seed}: {report:#?}");
            assert_eq!(report.live_key_count, db.iter().count() as u64);
            let stats = db.stats();
            assert_eq!(
                report.record_count,
                stats.live_record_count + stats.dead_record_count
            );
        }
    }
}

#[test]
fn what_a_crash_left_is_told_and_not_blamed() {
    let db = two_tables();
    let leftovers = ["MANIFEST-000998", "000999.table"];
    db.write_file(leftovers[0], b"tephman\ncut short");
    db.write_file(leftovers[1], &[0; 300]);
    let report = db.verify().expect("runs");
    assert!(report.is_sound(), "{report:#?}");
    assert_eq!(report.leftover_files, leftovers);
}

/// Cause: the checks between tables went on over a damaged one. Loss: one bad page was reported once a record.
#[test]
fn one_damaged_page_is_one_problem() {
    let mut db = TestDb::open(manual());
    for number in 0..500u32 {
        db.put(format!("key {number:05}"), [7; 40]).expect("put");
    }
    db.flush().expect("flush");
    let table = db
        .files()
        .into_iter()
        .find(|name| name.ends_with(".table"))
        .expect("flushed");
    db.close();
    let mut bytes = db.read_file(&table);
    bytes[5_000] ^= 1;
    db.replace_file(&table, &bytes);
    db.reopen();
    let report = db.verify().expect("runs");
    assert_eq!(report.problems.len(), 1, "{report:#?}");
    assert!(report.problems[0].contains(&table), "{report:#?}");
}
