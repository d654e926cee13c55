//! Back-pressure: when writers slow down, when they stop, and what ends it.

use std::sync::Arc;
use std::time::Duration;

use super::{DIR, TestDb, manual};
use crate::clock::ManualClock;
use crate::vfs::MemFs;
use crate::{Db, KeyspaceOptions, Options};

fn options() -> Options {
    manual()
        .l0_compaction_trigger(4)
        .l0_tables_max(12)
        .clock(Arc::new(ManualClock::new()))
}

#[test]
fn the_delay_grows_with_every_flushed_table_and_a_stop_ends_with_the_backlog() {
    let db = TestDb::open(options());
    let mut delays = Vec::new();
    let mut stopped = Vec::new();
    for number in 0..12u32 {
        db.put("k", number.to_be_bytes()).expect("put");
        assert_eq!(
            db.stats().compaction_count,
            0,
            "a slowed commit does no work itself"
        );
        db.flush().expect("flush");
        let pace = db.stats().compaction;
        delays.push(pace.write_delay);
        stopped.push(pace.are_writes_stopped);
    }
    assert_eq!(db.stats().level_table_counts, [12]);
    assert!(delays.is_sorted(), "{delays:?}");
    assert_eq!(delays[5], Duration::ZERO, "half the limit costs nothing");
    assert!(delays[6] > Duration::ZERO && delays[6] < delays[11]);
    assert!(
        delays.iter().all(|delay| *delay <= Duration::from_millis(1)),
        "bounded"
    );
    assert_eq!(
        stopped.iter().position(|stopped| *stopped),
        Some(11),
        "only a full backlog stops"
    );
    // Where nobody else works a stopped writer does what it waits for.
    db.put("k", "last").expect("put");
    let stats = db.stats();
    assert_eq!(stats.compaction_count, 1);
    assert_eq!(stats.level_table_counts[0], 0);
    assert_eq!(stats.compaction.write_delay, Duration::ZERO);
    assert!(!stats.compaction.are_writes_stopped);
    assert!(stats.stall_count >= 1, "stalls are counted");
    assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"last"[..]));
}

#[test]
fn a_keyspace_with_a_backlog_slows_no_other() {
    let db = TestDb::open(options());
    let full = db.keyspace("full", KeyspaceOptions::default()).expect("creates");
    for number in 0..12u32 {
        full.put("k", number.to_be_bytes()).expect("put");
        db.flush().expect("flush");
    }
    assert!(db.stats().compaction.are_writes_stopped);
    let before = db.stats();
    db.put("k", "v").expect("put");
    let after = db.stats();
    assert_eq!(
        (after.stall_count, after.compaction_count),
        (before.stall_count, 0)
    );
    // A batch that touches both waits for the slower.
    let mut batch = db.batch();
    batch.put(&*db, "k", "v").put(&full, "k", "v");
    batch.commit(crate::Durability::Process).expect("commits");
    assert_eq!(db.stats().compaction_count, 1);
}

#[test]
fn a_stop_found_at_open_ends_by_itself() {
    let machine = MemFs::new();
    let db = TestDb::open_on(machine.clone(), options());
    for number in 0..12u32 {
        db.put("k", number.to_be_bytes()).expect("put");
        db.flush().expect("flush");
    }
    drop(db);
    let options = Options::default().l0_tables_max(12).memtable_bytes(256 << 10);
    let db = Db::open_with(Arc::new(machine), DIR, options).expect("opens");
    db.put("k", "v")
        .expect("there is room once the compaction thread has made some");
    assert!(db.stats().level_table_counts[0] < 12);
}
