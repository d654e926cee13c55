//! Compaction racing with deletes, drops and failures.

use std::sync::Arc;

use super::CompactionStart;
use super::merge::Merge;
use crate::Cancel;
use crate::db::Engine;
use crate::keyspace::KeyspaceCore;
use crate::sorted_map::SortedMap;
use crate::table_file::TableFile;
use crate::tests::{TestDb, manual};
use crate::version::TableView;
use crate::{AppendBytes, KeyspaceOptions};

/// The outputs of a merge that is not installed yet.
pub(crate) fn merge_for_tests(
    engine: &Engine,
    core: &KeyspaceCore,
    inputs: &[TableView],
) -> SortedMap<u64, Arc<TableFile>> {
    let merge = Merge {
        core,
        inputs,
        level: 6,
        threads: 1,
        cancel: &Cancel::new(),
    };
    merge.run(engine).expect("merges")
}

/// Installs them.
pub(crate) fn install_for_tests(
    engine: &Engine,
    start: &CompactionStart<'_>,
    inputs: &[TableView],
    outputs: SortedMap<u64, Arc<TableFile>>,
) {
    engine.install_merge(start, 0, inputs, outputs).expect("installs");
}

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// Two overlapping flushed tables, each with every key of `0..count`.
fn two_tables(count: u32) -> TestDb {
    let db = TestDb::open(manual().target_table_bytes(300));
    for generation in ["old", "new"] {
        for number in 0..count {
            db.put(key(number), generation).expect("put");
        }
        db.flush().expect("flush");
    }
    db
}

/// The tables of the default keyspace, oldest first.
fn inputs_of(db: &TestDb) -> Vec<TableView> {
    let layers = db.default_keyspace().handle().engine().layers();
    layers
        .version
        .keyspace(0)
        .expect("exists")
        .tables()
        .rev()
        .cloned()
        .collect()
}

#[test]
fn deletes_flushed_while_a_compaction_runs_are_killed_in_its_outputs() {
    // Every third key, all keys (the inputs vanish from the version), and none.
    for step in [3, 1, 1000] {
        let db = two_tables(100);
        let engine = db.default_keyspace().handle().engine();
        let start = engine.start_compaction();
        let inputs = inputs_of(&db);
        let outputs = merge_for_tests(engine, db.default_keyspace().core(), &inputs);
        assert!(outputs.len() > 1, "several outputs share the kills");
        for number in (0..100).filter(|number| number % step == 1 || step == 1) {
            db.delete(key(number)).expect("delete");
        }
        db.flush().expect("flush");
        let before = db.contents();
        engine
            .install_merge(&start, 0, &inputs, outputs)
            .expect("installs");
        drop((inputs, start));
        assert_eq!(db.contents(), before, "nothing that was deleted comes back");
        let stats = db.stats();
        assert_eq!(stats.live_record_count, before.len() as u64);
        db.assert_sound();
        db.compact().expect("compact");
        assert_eq!(db.contents(), before);
        assert_eq!(db.stats().dead_record_count, 0);
        db.assert_sound();
    }
}

#[test]
fn a_put_after_a_late_delete_wins_over_the_outputs() {
    let db = two_tables(20);
    let engine = db.default_keyspace().handle().engine();
    let start = engine.start_compaction();
    let inputs = inputs_of(&db);
    let outputs = merge_for_tests(engine, db.default_keyspace().core(), &inputs);
    db.delete(key(5)).expect("delete");
    db.flush().expect("flush");
    db.put(key(5), "newest").expect("put");
    db.flush().expect("flush");
    engine
        .install_merge(&start, 0, &inputs, outputs)
        .expect("installs");
    assert_eq!(db.get(key(5)).expect("get").as_deref(), Some(&b"newest"[..]));
    db.delete(key(5)).expect("delete");
    db.flush().expect("flush");
    assert_eq!(
        db.get(key(5)).expect("get"),
        None,
        "no older record comes to light"
    );
    drop((inputs, start));
    db.assert_sound();
}

#[test]
fn a_keyspace_dropped_while_it_is_compacted_takes_the_outputs_along() {
    let mut db = TestDb::open(manual());
    let doomed = db
        .keyspace("doomed", KeyspaceOptions::default())
        .expect("creates");
    for value in ["1", "2"] {
        doomed.put("k", value).expect("put");
        db.flush().expect("flush");
    }
    let number = doomed.number();
    let engine = Arc::clone(db.default_keyspace().handle());
    let start = engine.engine().start_compaction();
    let inputs: Vec<TableView> = {
        let layers = engine.engine().layers();
        layers
            .version
            .keyspace(number)
            .expect("exists")
            .tables()
            .rev()
            .cloned()
            .collect()
    };
    let outputs = merge_for_tests(engine.engine(), doomed.core(), &inputs);
    db.drop_keyspace(&doomed).expect("drops");
    engine
        .engine()
        .install_merge(&start, number, &inputs, outputs)
        .expect("gives up without an error");
    drop(start);
    drop((inputs, doomed, engine));
    assert_eq!(db.count_files(".table"), 0, "{:?}", db.files());
    db.assert_sound();
    db.reopen();
    db.assert_sound();
}

#[test]
fn mixes_of_tables_with_few_and_many_records_merge_to_the_model() {
    let db = TestDb::open(manual().memtable_bytes(64 << 20).target_table_bytes(1 << 20));
    let mut model = std::collections::BTreeMap::new();
    for (round, count) in [1u32, 2, 16, 65_535, 65_536, 1].into_iter().enumerate() {
        for number in 0..count {
            let value = format!("{round}");
            db.put(key(number.wrapping_mul(0x9E37_79B1)), &value)
                .expect("put");
            model.insert(key(number.wrapping_mul(0x9E37_79B1)).to_vec(), value.into_bytes());
        }
        db.flush().expect("flush");
    }
    db.compact().expect("compact");
    assert!(db.contents().into_iter().eq(model));
    assert_eq!(db.stats().level_table_counts.first(), Some(&0));
}

#[test]
fn deleting_everything_converges_to_no_table_whatever_levels_it_lay_on() {
    let db = TestDb::open(manual().l0_compaction_trigger(2).target_table_bytes(500));
    for round in 0..6u32 {
        for number in 0..200 {
            db.put(key(number * 7 + round), [b'v'; 20]).expect("put");
        }
        db.flush().expect("flush");
        while db.run_background_step().expect("background step") {}
    }
    for (key, _) in db.contents() {
        db.delete(key).expect("delete");
    }
    db.flush().expect("flush");
    assert_eq!(
        db.stats().table_count,
        0,
        "tables with nothing alive need no compaction"
    );
    assert_eq!(db.count_files(".table"), 0);
    assert!(
        !db.run_background_step().expect("background step"),
        "idle means idle"
    );
    db.assert_sound();
}

/// Deletes of every kind, each flushed before, while or after a merge of everything runs; in one generation or in one each; with a
/// put behind them or not.
#[test]
fn range_deletes_in_every_order_with_a_running_compaction_are_exact() {
    type Write = fn(&TestDb);
    let writes: [Write; 4] = [
        |db| db.delete_range(key(10)..key(40)).expect("deletes"),
        |db| db.delete(key(50)).expect("delete"),
        |db| db.put(key(20), "newest").expect("put"),
        |db| db.clear().expect("clears"),
    ];
    // Each write happens at one of four places: before the start (flushed or not), while it runs, or after the installation.
    for places in 0..4u32.pow(4) {
        let place_of = |write: u32| places / 4u32.pow(write) % 4;
        for flush_each in [false, true] {
            let db = two_tables(100);
            let mut model: std::collections::BTreeMap<u32, &str> = (0..100).map(|n| (n, "new")).collect();
            let mut run = |place: u32| {
                for (number, write) in (0..).zip(writes) {
                    if place_of(number) == place {
                        write(&db);
                        match number {
                            0 => model.retain(|n, _| !(10..40).contains(n)),
                            1 => drop(model.remove(&50)),
                            2 => drop(model.insert(20, "newest")),
                            _ => model.clear(),
                        }
                        if flush_each {
                            db.flush().expect("flush");
                        }
                    }
                }
            };
            let engine = db.default_keyspace().handle().engine();
            run(0);
            db.flush().expect("flush");
            run(1);
            let start = engine.start_compaction();
            let inputs: Vec<TableView> = start
                .version()
                .keyspace(0)
                .expect("exists")
                .tables()
                .rev()
                .cloned()
                .collect();
            let outputs = merge_for_tests(engine, db.default_keyspace().core(), &inputs);
            db.flush().expect("flush");
            run(2);
            db.flush().expect("flush");
            engine
                .install_merge(&start, 0, &inputs, outputs)
                .expect("installs");
            drop((inputs, start));
            run(3);
            for _ in 0..2 {
                let expected: Vec<_> = model
                    .iter()
                    .map(|(n, v)| (key(*n).to_vec(), v.as_bytes().to_vec()))
                    .collect();
                assert_eq!(
                    db.contents(),
                    expected,
                    "places {places}, flush each: {flush_each}"
                );
                db.flush().expect("flush");
            }
            db.assert_sound();
        }
    }
}

#[test]
fn a_late_range_delete_costs_no_look_up_by_key() {
    let db = TestDb::open(manual().memtable_bytes(16 << 20));
    for generation in ["old", "new"] {
        for number in 0..50_000 {
            db.put(key(number), generation).expect("put");
        }
        db.flush().expect("flush");
    }
    let engine = db.default_keyspace().handle().engine();
    let start = engine.start_compaction();
    let inputs = inputs_of(&db);
    let outputs = merge_for_tests(engine, db.default_keyspace().core(), &inputs);
    db.delete_range(key(100)..key(49_000)).expect("deletes");
    db.delete(key(50)).expect("delete");
    db.flush().expect("flush");
    let now = engine.layers();
    let now = now.version.keyspace(0).expect("exists");
    let ranges = start.range_kills_since(0);
    let kills = super::late_kills::find(&inputs, now, &ranges, &outputs).expect("finds");
    assert_eq!(kills.values().map(|ordinals| ordinals.len()).sum::<u64>(), 48_901);
    // Without the ranges every key is looked up, to the same end.
    let one_by_one = super::late_kills::find(&inputs, now, &crate::memtable::Intervals::default(), &outputs);
    assert_eq!(one_by_one.expect("finds"), kills);
    engine
        .install_merge(&start, 0, &inputs, outputs)
        .expect("installs");
    assert_eq!(db.contents().len(), 50_000 - 48_901);
}

#[test]
fn a_put_flushed_while_a_compaction_runs_ends_the_history_in_its_outputs() {
    let db = TestDb::open(manual().target_table_bytes(300));
    let options = KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
    let logs = db.keyspace("logs", options).expect("creates");
    for operand in ["1", "2"] {
        for number in 0..60u32 {
            logs.merge(number.to_be_bytes(), operand).expect("merge");
        }
        db.flush().expect("flush");
    }
    let engine = db.default_keyspace().handle().engine();
    let start = engine.start_compaction();
    let inputs: Vec<TableView> = {
        let layers = engine.layers();
        let view = layers.version.keyspace(logs.number()).expect("exists");
        view.tables().rev().cloned().collect()
    };
    let outputs = merge_for_tests(engine, logs.core(), &inputs);
    {
        for number in 0..60u32 {
            match number % 4 {
                0 => logs.put(number.to_be_bytes(), "new").expect("put"),
                1 => logs.delete(number.to_be_bytes()).expect("delete"),
                2 => logs.merge(number.to_be_bytes(), "3").expect("merge"),
                _ => {}
            }
        }
        db.flush().expect("flush");
        logs.merge(0u32.to_be_bytes(), "4").expect("merge");
        db.flush().expect("flush");
    }
    engine
        .install_merge(&start, logs.number(), &inputs, outputs)
        .expect("installs");
    drop((start, inputs));
    for round in 0..2 {
        for number in 0..60u32 {
            let expected = match number {
                0 => Some("new4"),
                _ => [Some("new"), None, Some("123"), Some("12")][number as usize % 4],
            };
            let found = logs.get(number.to_be_bytes()).expect("get");
            assert_eq!(
                found.as_deref(),
                expected.map(str::as_bytes),
                "key {number}, round {round}"
            );
        }
        db.assert_sound();
        db.compact().expect("compact");
    }
}
