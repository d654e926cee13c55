//! Ingests: their place among commits, what readers see of them, and what failures leave.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{DIR, TestDb, assert_sound, contents, files_of, manual};
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Rule};
use crate::{Background, Db, Durability, Error, KeyspaceOptions, Options, Result};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn ingest(db: &Db, records: &[(&str, &str)]) -> Result<()> {
    let mut ingest = db.default_keyspace().ingest()?;
    for (key, value) in records {
        ingest.put(key, value)?;
    }
    ingest.finish()
}

fn get(db: &Db, key: &str) -> Option<String> {
    let value = db.get(key).expect("get");
    value.map(|value| String::from_utf8(value.to_vec()).expect("text"))
}

/// Cause of the losses this is to prevent: the ingested table was ordered by when it was begun, or by its number alone.
#[test]
fn an_ingest_is_newer_than_what_was_put_before_and_older_than_what_is_put_after() {
    for flushes in 0..8 {
        for is_begun_first in [false, true] {
            let flush_at = |place: u32, db: &Db| {
                if flushes & (1 << place) != 0 {
                    db.flush().expect("flush");
                }
            };
            let what = format!("flushes {flushes:03b}, begun first: {is_begun_first}");
            let mut db = TestDb::open(manual().l0_compaction_trigger(100).l0_tables_max(100));
            db.put("other", "0").expect("put");
            db.flush().expect("the keyspace has a table");
            let begun = is_begun_first.then(|| {
                let mut ingest = db.default_keyspace().ingest().expect("begins");
                ingest.put("j", "2").expect("put");
                ingest.put("k", "2").expect("put");
                ingest
            });
            db.put("k", "1").expect("put");
            db.put("j", "1").expect("put");
            flush_at(0, &db);
            let before = db.snapshot();
            match begun {
                Some(begun) => begun.finish().expect("finishes"),
                None => ingest(&db, &[("j", "2"), ("k", "2")]).expect("ingests"),
            }
            assert_eq!(get(&db, "k").as_deref(), Some("2"), "{what}");
            flush_at(1, &db);
            let between = db.snapshot();
            db.put("k", "3").expect("put");
            db.delete("j").expect("delete");
            flush_at(2, &db);
            let check = |db: &Db| {
                assert_eq!(get(db, "k").as_deref(), Some("3"), "{what}");
                assert_eq!(get(db, "j"), None, "{what}");
                assert_eq!(contents(db).len(), 2, "{what}");
            };
            check(&db);
            for (snapshot, value) in [(&before, "1"), (&between, "2")] {
                for key in ["j", "k"] {
                    let found = snapshot.get(&*db, key).expect("get");
                    assert_eq!(found.as_deref(), Some(value.as_bytes()), "{what}, snapshot");
                }
            }
            drop((before, between));
            assert_sound(&db);
            let killed = Db::open_with(Arc::new(db.machine.after_kill()), DIR, manual()).expect("opens");
            check(&killed);
            db.reopen();
            check(&db);
            db.compact().expect("compacts");
            check(&db);
            db.reopen();
            check(&db);
            assert_sound(&db);
        }
    }
}

#[test]
fn a_run_is_cut_at_the_target_size_and_goes_to_the_bottom_of_an_empty_keyspace() {
    let db = TestDb::open(manual().target_table_bytes(2_000));
    let records: Vec<(String, String)> = (0..1_000u32)
        .map(|n| (format!("{n:06}"), format!("value {n}")))
        .collect();
    let mut ingest = db.default_keyspace().ingest().expect("begins");
    for (key, value) in &records {
        ingest.put(key, value).expect("put");
    }
    assert!(db.is_empty_now(), "nothing is visible before the end");
    assert!(
        db.verify().expect("verifies").leftover_files.is_empty(),
        "tables that are being written"
    );
    assert_eq!(ingest.record_count(), 1_000);
    ingest.finish().expect("finishes");
    let stats = db.stats();
    assert!(stats.table_count > 4, "{stats:?}");
    assert_eq!(stats.level_table_counts[..6], [0; 6]);
    assert_eq!(stats.ingested_table_count, stats.table_count as u64);
    assert!(
        contents(&db)
            .into_iter()
            .eq(records.iter().map(|(k, v)| (k.clone().into(), v.clone().into())))
    );
    assert_sound(&db);
    // The next one has tables below it.
    super::ingest::ingest(&db, &[("000500", "newer")]).expect("ingests");
    assert_eq!(db.stats().level_table_counts[0], 1);
    assert_eq!(get(&db, "000500").as_deref(), Some("newer"));
    assert_sound(&db);
}

impl TestDb {
    fn is_empty_now(&self) -> bool {
        self.contents().is_empty()
    }
}

#[test]
fn what_is_out_of_order_is_refused_and_the_rest_goes_on() {
    let db = TestDb::open(manual());
    let mut ingest = db.default_keyspace().ingest().expect("begins");
    ingest.put("b", "1").expect("put");
    let unsorted = ingest.put("a", "2").expect_err("lower");
    assert!(
        matches!(
            unsorted,
            Error::IngestOrder {
                is_duplicate: false,
                ..
            }
        ),
        "{unsorted}"
    );
    let twice = ingest.put("b", "2").expect_err("equal");
    assert!(
        matches!(
            twice,
            Error::IngestOrder {
                is_duplicate: true,
                ..
            }
        ),
        "{twice}"
    );
    assert_eq!(twice.to_string(), "ingest: key \"b\" comes twice, after \"b\"");
    ingest.put("c", "3").expect("goes on");
    ingest.finish().expect("finishes");
    assert_eq!(contents(&db).len(), 2);
    assert_eq!(get(&db, "b").as_deref(), Some("1"));

    let fixed = db
        .keyspace("fixed", KeyspaceOptions::default().value_width_bytes(4))
        .expect("creates");
    let mut ingest = fixed.ingest().expect("begins");
    assert!(matches!(ingest.put("k", "12345"), Err(Error::ValueWidth { .. })));
    ingest.put("k", "1234").expect("put");
    ingest.finish().expect("finishes");
    assert_eq!(fixed.get("k").expect("get").as_deref(), Some(&b"1234"[..]));
    let nothing = db.default_keyspace().ingest().expect("begins");
    nothing.finish().expect("nothing is something too");
    assert_sound(&db);
}

#[test]
fn what_is_dropped_leaves_nothing_and_a_dropped_keyspace_takes_nothing() {
    let db = TestDb::open(manual().target_table_bytes(200));
    let tables = || db.count_files(".table");
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
    let begin = || {
        let mut ingest = other.ingest().expect("begins");
        for number in 0..100u32 {
            ingest.put(number.to_be_bytes(), "value").expect("put");
        }
        ingest
    };
    let ingest = begin();
    assert!(tables() > 1);
    drop(ingest);
    assert_eq!(tables(), 0);
    let ingest = begin();
    db.drop_keyspace(&other).expect("drops");
    assert!(matches!(ingest.finish(), Err(Error::KeyspaceDropped { .. })));
    assert_eq!(tables(), 0);
    assert!(matches!(other.ingest(), Err(Error::KeyspaceDropped { .. })));
    assert_sound(&db);
}

#[test]
fn a_delete_that_looked_before_an_ingest_still_deletes_after_it() {
    // With one thread the window between look and commit cannot be met; many deletes against many ingests meet it now and then.
    let db = TestDb::open(Options::default().memtable_bytes(1 << 20));
    let ingested = AtomicU64::new(0);
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..200u64 {
                ingest(&db, &[("k", &round.to_string())]).expect("ingests");
                ingested.store(round + 1, Ordering::SeqCst);
            }
            ends.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                let before = ingested.load(Ordering::SeqCst);
                db.delete("k").expect("deletes");
                // What is there now was ingested after the delete began.
                if let Some(found) = get(&db, "k") {
                    assert!(
                        found.parse::<u64>().expect("a number") >= before,
                        "{found} came back after {before}"
                    );
                }
            }
        });
    });
    assert_sound(&db);
}

#[test]
fn writers_of_the_same_keys_neither_starve_an_ingest_nor_lose_a_write() {
    let options = || {
        Options::default()
            .memtable_bytes(20_000)
            .background(Background::Threads)
    };
    let db = TestDb::open(options());
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (db, ends) = (&db, &ends);
            scope.spawn(move || {
                for number in 0u64.. {
                    let key = format!("{:03}", (number * 7) % 100);
                    db.put(&key, "written").expect("put");
                    let own = format!("own {writer}");
                    db.put(&own, number.to_string()).expect("put");
                    assert_eq!(get(db, &own), Some(number.to_string()));
                    if ends.load(Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
        for round in 0..15 {
            let mut ingest = db.default_keyspace().ingest().expect("begins");
            for number in 0..100 {
                ingest
                    .put(format!("{number:03}"), format!("ingested {round}"))
                    .expect("put");
            }
            ingest.finish().expect("finishes");
            // A snapshot holds all of this round, but for what was written since.
            let snapshot = db.snapshot();
            for number in 0..100 {
                let found = snapshot
                    .get(&*db, format!("{number:03}"))
                    .expect("get")
                    .expect("there");
                let found = String::from_utf8(found.to_vec()).expect("text");
                assert!(
                    found == "written" || found == format!("ingested {round}"),
                    "round {round}: {found}"
                );
            }
        }
        ends.store(true, Ordering::SeqCst);
    });
    assert_sound(&db);
}

#[test]
fn an_ingest_that_fails_or_is_cut_at_any_call_is_there_whole_or_not_at_all() {
    let options = || manual().target_table_bytes(150).manifest_bytes(600);
    let old: State = (0..20u32)
        .map(|n| (n.to_be_bytes().to_vec(), b"old".to_vec()))
        .collect();
    let new: State = (5..40u32)
        .map(|n| (n.to_be_bytes().to_vec(), b"new".to_vec()))
        .collect();
    let mut both = old.clone();
    both.extend(new.clone());
    for lasts in [false, true] {
        for skipped in 0.. {
            let machine = MemFs::new();
            let disk = FaultFs::new(Arc::new(machine.clone()));
            let db = Db::open_with(Arc::new(disk.clone()), DIR, options()).expect("opens");
            for (key, value) in &old {
                db.default_keyspace()
                    .put_with(key, value, Durability::Sync)
                    .expect("put");
            }
            let rule = if lasts { Rule::always } else { Rule::once };
            disk.add(rule(Calls::Changing, Fault::DeviceError).after(skipped));
            let attempt = || -> Result<()> {
                let mut ingest = db.default_keyspace().ingest()?;
                new.iter().try_for_each(|(key, value)| ingest.put(key, value))?;
                ingest.finish()
            };
            let outcome = attempt();
            let what = format!("lasts {lasts}, call {skipped}: {outcome:?}");
            let found: State = contents(&db).into_iter().collect();
            assert_eq!(
                found,
                if outcome.is_ok() {
                    both.clone()
                } else {
                    old.clone()
                },
                "{what}"
            );
            let was_hit = disk.fault_count() > 0;
            drop(db);
            for machine in [machine.after_kill(), machine.after_power_cut(skipped)] {
                let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("reopens");
                let found: State = contents(&db).into_iter().collect();
                let is_whole = found == both;
                assert!(
                    is_whole || outcome.is_err() && found == old,
                    "{what}: {} keys",
                    found.len()
                );
                assert_sound(&db);
                let tables = files_of(&machine)
                    .iter()
                    .filter(|name| name.ends_with(".table"))
                    .count();
                assert_eq!(tables, db.stats().table_count, "{what}: no orphan stays");
            }
            if !was_hit {
                break;
            }
        }
    }
}

/// Operands of older layers must not live on beneath an ingested record.
#[test]
fn an_ingested_record_ends_its_keys_history_in_a_composing_keyspace() {
    for is_flushed in [false, true] {
        let mut db = TestDb::open(manual());
        let options = || KeyspaceOptions::default().compose(crate::AppendBytes::NAME, crate::AppendBytes);
        let texts = db.keyspace("texts", options()).expect("opens");
        for number in 0..100u32 {
            texts.merge(number.to_be_bytes(), "old").expect("merges");
        }
        if is_flushed {
            db.flush().expect("flush");
            texts.merge(7u32.to_be_bytes(), "er").expect("merges");
        }
        let mut ingest = texts.ingest().expect("begins");
        for number in (0..100u32).step_by(2).chain([200]) {
            ingest.put(number.to_be_bytes(), "new").expect("takes it");
        }
        ingest.finish().expect("in force");
        texts.merge(0u32.to_be_bytes(), "+").expect("merges");
        for round in 0..3 {
            let texts = db.keyspace("texts", options()).expect("opens");
            let get = |number: u32| {
                let value = texts.get(number.to_be_bytes()).expect("readable");
                value.map(|value| value.escape_ascii().to_string())
            };
            let older = if is_flushed { "older" } else { "old" };
            let seen = [0, 2, 7, 9, 200].map(|number| get(number).unwrap_or_default());
            assert_eq!(
                seen,
                ["new+", "new", older, "old", "new"],
                "flushed {is_flushed}, round {round}"
            );
            assert_eq!(texts.iter().count(), 101);
            assert_sound(&db);
            drop(texts);
            if round == 0 {
                db.reopen();
            } else {
                db.flush().expect("flush");
                db.compact().expect("compact");
            }
        }
    }
}
