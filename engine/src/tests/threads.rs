//! Readers, writers and background threads at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::{DIR, Rng, TestDb, assert_sound, contents};
use crate::vfs::MemFs;
use crate::{Cancel, Db, Durability, Error, KeyspaceOptions, Options};

/// Memtables and tables so small that flushes and compactions never pause.
fn busy() -> Options {
    Options::default()
        .memtable_bytes(8 << 10)
        .target_table_bytes(4 << 10)
        .l0_compaction_trigger(2)
}

#[test]
fn a_published_delete_is_never_read_back() {
    let db = TestDb::open(busy());
    let published = AtomicU32::new(0);
    let rounds = 4000u32;
    for number in 0..rounds {
        db.put(number.to_be_bytes(), [b'v'; 30]).expect("put");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..rounds {
                db.delete(number.to_be_bytes()).expect("delete");
                published.store(number + 1, Ordering::Release);
            }
        });
        scope.spawn(|| {
            let mut seen = 0;
            while seen < rounds {
                seen = published.load(Ordering::Acquire);
                if let Some(number) = seen.checked_sub(1) {
                    assert_eq!(db.get(number.to_be_bytes()).expect("get"), None, "{number}");
                }
            }
        });
    });
    assert_eq!(contents(&db).len(), 0);
    db.assert_sound();
}

#[test]
fn a_batch_is_seen_whole_by_gets_ranges_and_snapshots() {
    let db = TestDb::open(busy());
    let done = AtomicBool::new(false);
    let keys: Vec<[u8; 2]> = (0..100u8).map(|number| [b'k', number]).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..400u32 {
                let mut batch = db.batch();
                for key in &keys {
                    batch.put(&*db, key, round.to_be_bytes());
                }
                batch.commit(Durability::Process).expect("commits");
            }
            done.store(true, Ordering::Release);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    let snapshot = db.snapshot();
                    let values: Vec<_> = snapshot
                        .iter(&*db)
                        .map(|item| item.expect("readable").1.to_vec())
                        .collect();
                    assert!(
                        values.is_empty() || values.len() == 100,
                        "{} of 100",
                        values.len()
                    );
                    assert!(values.windows(2).all(|pair| pair[0] == pair[1]), "one round");
                    let ends = db
                        .range(..)
                        .next_back()
                        .map(|item| item.expect("readable").1.to_vec());
                    assert!(ends.is_none_or(|value| values.first().is_none_or(|first| *first <= value)));
                }
            });
        }
    });
    db.assert_sound();
}

#[test]
fn concurrent_durable_commits_survive_a_power_cut_and_share_syncs() {
    let machine = MemFs::new();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, busy()).expect("opens");
    let acknowledged = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (db, acknowledged) = (&db, &acknowledged);
            scope.spawn(move || {
                for number in 0..100u32 {
                    let mut batch = db.batch();
                    batch.put(db, (thread * 1000 + number).to_be_bytes(), [b'v'; 20]);
                    batch.commit(Durability::Sync).expect("commits");
                    acknowledged.fetch_add(1, Ordering::AcqRel);
                }
            });
        }
    });
    for cut in 0..5 {
        let db = Db::open_with(Arc::new(machine.after_power_cut(cut)), DIR, busy()).expect("reopens");
        assert_eq!(contents(&db).len(), 400, "power cut {cut}");
        assert_sound(&db);
    }
}

#[test]
fn closing_under_load_ends_every_caller_with_an_error_and_loses_nothing() {
    let machine = MemFs::new();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, busy()).expect("opens");
    let acknowledged = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0u32.. {
                if db.put(number.to_be_bytes(), [b'v'; 30]).is_err() {
                    break;
                }
                acknowledged.store(number + 1, Ordering::Release);
            }
        });
        scope.spawn(|| {
            while acknowledged.load(Ordering::Acquire) < 2000 {
                std::thread::yield_now();
            }
            db.clone().close().expect("closes");
        });
    });
    assert!(matches!(db.get("k"), Err(crate::Error::Closed)));
    let reopened = Db::open_with(Arc::new(machine), DIR, busy()).expect("the lock is free");
    assert_eq!(
        contents(&reopened).len(),
        acknowledged.load(Ordering::Acquire) as usize
    );
    assert_sound(&reopened);
}

#[test]
fn a_backlog_of_flushed_tables_found_at_open_is_compacted_without_a_write() {
    let machine = MemFs::new();
    let db = TestDb::open_on(machine.clone(), super::manual().l0_compaction_trigger(20));
    for number in 0..10u32 {
        db.put(number.to_be_bytes(), "v").expect("put");
        db.flush().expect("flush");
    }
    drop(db);
    let db = TestDb::open_on(machine, Options::default());
    // The threads were asked to look; there is nothing to wait for but their work.
    for _ in 0..10_000 {
        if db.stats().compaction_count > 0 {
            break;
        }
        std::thread::yield_now();
        let work = &db.default_keyspace().handle().engine().work;
        work.wait_for_progress(work.ticket(), std::time::Duration::from_millis(1));
    }
    assert!(db.stats().compaction_count > 0);
    db.assert_sound();
}

#[test]
fn a_kill_at_any_moment_of_busy_threads_loses_nothing_that_was_acknowledged() {
    let machine = MemFs::new();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, busy()).expect("opens");
    let (acknowledged, done) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0u32.. {
                if done.load(Ordering::Acquire) {
                    break;
                }
                db.put(number.to_be_bytes(), [b'v'; 40]).expect("put");
                if let Some(old) = number.checked_sub(300) {
                    db.delete(old.to_be_bytes()).expect("delete");
                }
                acknowledged.store(number + 1, Ordering::Release);
            }
        });
        for _ in 0..25 {
            let before = acknowledged.load(Ordering::Acquire);
            let killed = machine.after_kill();
            let after = acknowledged.load(Ordering::Acquire);
            let reopened = Db::open_with(Arc::new(killed), DIR, super::manual()).expect("reopens");
            let keys = contents(&reopened).into_iter();
            let numbers: Vec<u32> = keys
                .map(|(key, _)| u32::from_be_bytes(key.try_into().expect("four bytes")))
                .collect();
            assert!(
                numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
                "no gap: {numbers:?}"
            );
            let end = numbers.last().map_or(0, |last| last + 1);
            assert!(
                (before..=after + 1).contains(&end),
                "{before} to {after} acknowledged, {end} found"
            );
            assert!(
                numbers.len() <= 301,
                "deletes are not forgotten: {} keys",
                numbers.len()
            );
            assert_sound(&reopened);
        }
        done.store(true, Ordering::Release);
    });
}

/// One call of many, on a database that others use.
fn any_call(db: &Db, number: usize, rng: &mut Rng, round: usize) -> crate::Result<()> {
    let own = format!("own {number}");
    match rng.below(15) {
        0 => db.flush(),
        1 => db.compact(),
        2 => {
            let cancel = Cancel::new();
            if rng.below(2) == 0 {
                cancel.cancel();
            }
            match db.default_keyspace().compact_range("a".."m", &cancel) {
                Err(Error::CompactionCancelled { .. }) => Ok(()),
                outcome => outcome,
            }
        }
        3 => {
            let mut ingest = db.default_keyspace().ingest()?;
            for key in ["b", "f", "q"] {
                ingest.put(key, [b'i'; 40])?;
            }
            ingest.finish()
        }
        4 => db.checkpoint(format!("/checkpoint {number} {round}")),
        5 => {
            let keyspace = db.keyspace(&own, KeyspaceOptions::default())?;
            keyspace.put("k", "v")?;
            db.drop_keyspace(&keyspace)
        }
        6 => db.resume(),
        7 => db
            .verify()
            .map(|report| assert!(report.is_sound(), "{report:#?}")),
        8 => db.clear(),
        9 => db.delete_range("c".."k"),
        10 => {
            drop((db.stats(), db.keyspace_names(), db.approximate_len()?));
            Ok(())
        }
        11 => {
            let snapshot = db.snapshot();
            let keys = snapshot.iter(db).map(|item| item.map(drop));
            keys.collect()
        }
        12 => {
            let mut batch = db.batch();
            for key in ["a", "g", "z"] {
                batch.put(db, key, [b'b'; 300]);
            }
            batch.commit(Durability::Sync)
        }
        13 => db.delete("a"),
        _ => db.put(format!("{}", rng.below(100)), [b'p'; 200]),
    }
}

/// No two calls wait for each other: a deadlock shows as a test that does not end.
#[test]
fn every_call_beside_every_other_returns() {
    let db = TestDb::open(busy());
    std::thread::scope(|scope| {
        for number in 0..6 {
            let db: &Db = &db;
            scope.spawn(move || {
                let mut rng = Rng::new(number as u64);
                for round in 0..60 {
                    any_call(db, number, &mut rng, round).expect("works beside all others");
                }
            });
        }
    });
    db.assert_sound();
    assert_eq!(db.keyspace_names().len(), 1, "the default keyspace");
}

#[test]
fn snapshots_that_went_leave_nothing() {
    let db = TestDb::open(busy());
    for number in 0..100_000u32 {
        let snapshot = db.snapshot();
        if number.is_multiple_of(100) {
            db.put(number.to_be_bytes(), [b'v'; 100]).expect("put");
        }
        drop(snapshot);
    }
    db.compact().expect("compact");
    let stats = db.stats();
    assert_eq!((stats.snapshot_count, stats.snapshot_memtable_bytes), (0, 0));
    assert_eq!((stats.pinned_file_count, stats.pinned_file_bytes), (0, 0));
}
