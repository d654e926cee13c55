//! What the database tells of itself: statistics, size estimates, events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::{DIR, Rng, TestDb, manual};
use crate::clock::ManualClock;
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Operation, Rule};
use crate::{Background, Db, Durability, Event, EventListener, KeyspaceOptions, Options, Stats};

/// Everything that is a number of the statistics.
fn numbers(stats: &Stats) -> Vec<u64> {
    let mut numbers = vec![
        stats.table_count as u64,
        stats.table_bytes,
        stats.filter_bytes,
        stats.index_bytes,
        stats.dead_set_bytes,
        stats.live_record_count,
        stats.dead_record_count,
        stats.memtable_entry_count as u64,
        stats.memtable_delete_count as u64,
        stats.memtable_bytes as u64,
        stats.log_bytes,
        stats.manifest_bytes,
        stats.flush_bytes,
        stats.compaction_read_bytes,
        stats.compaction_write_bytes,
        stats.filter_probe_count(),
        stats.snapshot_memtable_bytes as u64,
        stats.pinned_file_count as u64,
        stats.pinned_file_bytes,
    ];
    for level in &stats.levels {
        numbers.extend([
            level.table_bytes,
            level.live_record_count,
            level.dead_record_count,
            level.write_bytes,
        ]);
    }
    numbers
}

#[test]
fn statistics_never_underflow_and_agree_with_a_scan() {
    for seed in 0..6 {
        let db = TestDb::open(
            manual()
                .memtable_bytes(1_500)
                .target_table_bytes(600)
                .l0_compaction_trigger(2),
        );
        let mut rng = Rng::new(seed);
        let mut snapshots = Vec::new();
        for step in 0..600u64 {
            let key = [
                b'a' + u8::try_from(rng.below(26)).expect("small"),
                u8::try_from(rng.below(9)).expect("small"),
            ];
            match rng.below(20) {
                0 => db.flush().expect("flush"),
                1 => drop(db.run_background_step().expect("steps")),
                2 => snapshots.push(db.snapshot()),
                3 => drop(snapshots.pop()),
                4 => db.delete_range(&key[..1]..&key[..]).expect("deletes"),
                5..9 => db.delete(key).expect("delete"),
                _ => db.put(key, step.to_be_bytes()).expect("put"),
            }
            let stats = db.stats();
            assert!(
                numbers(&stats).iter().all(|&number| number < 1 << 32),
                "seed {seed}, step {step}: {stats:?}"
            );
            assert_eq!(stats.snapshot_count, snapshots.len());
            let of_levels: u64 = stats.levels.iter().map(|level| level.table_bytes).sum();
            assert_eq!(of_levels, stats.table_bytes);
        }
        let held = db.stats();
        snapshots.clear();
        db.compact().expect("compacts");
        let stats = db.stats();
        assert_eq!(stats.live_record_count, db.iter().count() as u64, "seed {seed}");
        assert_eq!(
            (stats.dead_record_count, stats.memtable_entry_count),
            (0, 0),
            "seed {seed}"
        );
        assert_eq!(
            (stats.pinned_file_count, stats.pinned_file_bytes),
            (0, 0),
            "seed {seed}: {held:?}"
        );
        assert!(stats.write_amplification().is_some_and(|times| times >= 1.0));
    }
}

#[test]
fn a_held_snapshot_shows_with_its_age_and_what_it_pins() {
    let clock = Arc::new(ManualClock::new());
    let db = TestDb::open(manual().clock(Arc::clone(&clock) as Arc<dyn crate::clock::Clock>));
    for number in 0..500u32 {
        db.put(number.to_be_bytes(), [b'v'; 50]).expect("put");
    }
    db.flush().expect("flush");
    db.put("in memory", [b'v'; 100]).expect("put");
    let snapshot = db.snapshot();
    let copy = snapshot.clone();
    clock.advance_ms(2_500);
    let second = db.snapshot();
    assert_eq!(db.stats().snapshot_count, 2, "clones are one");
    assert_eq!(db.stats().oldest_snapshot_age, Some(Duration::from_millis(2_500)));
    assert_eq!(db.stats().pinned_file_bytes, 0);
    db.delete_range(..).expect("deletes");
    db.compact().expect("compacts");
    let stats = db.stats();
    assert_eq!(stats.pinned_file_count, 1, "{stats:?}");
    assert!(
        stats.pinned_file_bytes > 5_000 && stats.snapshot_memtable_bytes > 100,
        "{stats:?}"
    );
    drop((snapshot, copy));
    assert_eq!(db.stats().oldest_snapshot_age, Some(Duration::ZERO));
    drop(second);
    let stats = db.stats();
    assert_eq!((stats.snapshot_count, stats.oldest_snapshot_age), (0, None));
    assert_eq!(
        (stats.pinned_file_bytes, stats.snapshot_memtable_bytes),
        (0, 0),
        "{stats:?}"
    );
    assert_eq!(db.count_files(".table"), 0);
}

#[test]
fn filters_are_counted_by_what_came_of_them() {
    let db = TestDb::open(manual());
    for number in 0..1_000u32 {
        db.put(number.to_be_bytes(), "v").expect("put");
    }
    db.flush().expect("flush");
    let before = db.stats();
    for number in 0..1_000u32 {
        assert!(db.contains(number.to_be_bytes()).expect("get"));
        assert!(
            !db.contains([&number.to_be_bytes()[..], b"-"].concat())
                .expect("get")
        );
    }
    let stats = db.stats();
    assert_eq!(
        stats.filter_true_positive_count - before.filter_true_positive_count,
        1_000
    );
    let missed = stats.filter_negative_count + stats.filter_false_positive_count
        - before.filter_negative_count
        - before.filter_false_positive_count;
    // Keys outside the table's span are not asked for.
    assert!(
        missed > 500 && stats.filter_false_positive_count < missed / 4,
        "{stats:?}"
    );
    assert!(stats.filter_bytes > 1_000 && stats.index_bytes > 100, "{stats:?}");
}

#[test]
fn statistics_fit_a_screen() {
    let mut stats = Stats::default();
    assert!(stats.to_string().lines().count() <= 24);
    let db = TestDb::open(manual());
    db.put("k", "v").expect("put");
    db.flush().expect("flush");
    stats = db.stats();
    stats.levels.resize(7, stats.levels[0]);
    for level in &mut stats.levels {
        level.table_count = 99_999;
        level.table_bytes = u64::MAX / 2;
        level.live_record_count = 99_999_999_999_999;
        level.write_bytes = u64::MAX / 2;
    }
    stats.commit_count = u64::from(u32::MAX);
    stats.last_background_failure = Some("x".repeat(500));
    let text = stats.to_string();
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for word in [
        "L0",
        "filters",
        "dead sets",
        "log",
        "stalls",
        "snapshots",
        "pinned",
        "times what came in",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn size_estimates_are_within_a_factor_of_two_from_one_in_a_hundred_on_and_read_no_payload() {
    // Uniform and skewed values; the truth is what a table of the range alone takes.
    for is_skewed in [false, true] {
        let disk = FaultFs::new(Arc::new(MemFs::new()));
        let options = || manual().memtable_bytes(8 << 20).target_table_bytes(300 << 10);
        let db = Db::open_with(Arc::new(disk), DIR, options()).expect("opens");
        let value_len = |number: u32| match is_skewed {
            true if number < 2_000 => 400,
            true => 4,
            false => 60,
        };
        for number in 0..20_000u32 {
            let value: Vec<u8> = (0..value_len(number))
                .map(|place| u8::try_from((number + place) % 251).expect("a byte"))
                .collect();
            db.put(format!("key {number:06}"), value).expect("put");
        }
        db.flush().expect("flush");
        let keyspace = db.default_keyspace();
        let whole = keyspace.approximate_size(..).expect("estimates");
        assert_eq!(
            (whole.table_bytes, whole.table_count),
            (db.stats().table_bytes, db.stats().table_count)
        );
        for (from, len) in [
            (0, 200),
            (0, 2_000),
            (1_900, 200),
            (5_000, 200),
            (5_000, 5_000),
            (19_800, 200),
            (10_000, 10_000),
        ] {
            let (start, end) = (format!("key {from:06}"), format!("key {:06}", from + len));
            let estimate = keyspace
                .approximate_size(start.as_str()..end.as_str())
                .expect("estimates");
            let truth: u64 = keyspace
                .range(start.as_str()..end.as_str())
                .map(|item| item.expect("readable").1.len() as u64 + 4)
                .sum();
            let (low, high) = (truth / 2, truth * 2 + 4_096);
            assert!(
                (low..=high).contains(&estimate.table_bytes),
                "skewed {is_skewed}, {len} from {from}: {estimate:?}, about {truth}"
            );
        }
        for empty in ["key 000100".."key 000050", "z".."zz"] {
            let estimate = keyspace.approximate_size(empty).expect("estimates");
            assert_eq!((estimate.table_bytes, estimate.table_count), (0, 0));
        }
    }
}

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Diary {
    events: Mutex<Vec<Event>>,
    panics: AtomicBool,
    calls: Mutex<Option<Db>>,
}

impl EventListener for Diary {
    fn on_event(&self, event: &Event) {
        self.events.lock().push(event.clone());
        // A listener may call the database; once, for each call makes events again.
        let db = self.calls.lock().take();
        if let Some(db) = db {
            db.put("from the listener", "v").expect("put");
            db.flush().expect("flush");
            drop(db.stats());
        }
        assert!(!self.panics.load(Ordering::SeqCst), "a listener that panics");
    }
}

impl Diary {
    fn count(&self, is_meant: impl Fn(&Event) -> bool) -> usize {
        self.events.lock().iter().filter(|event| is_meant(event)).count()
    }
}

#[test]
fn listeners_are_told_of_flushes_compactions_tables_and_failures_in_order() {
    let diary = Arc::new(Diary::default());
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let options = manual().listener(Arc::clone(&diary) as Arc<dyn EventListener>);
    let db = Db::open_with(Arc::new(disk.clone()), DIR, options).expect("opens");
    let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
    for round in 0..3u8 {
        db.put("k", [round; 20]).expect("put");
        other.put("k", [round; 20]).expect("put");
        db.flush().expect("flush");
    }
    db.compact().expect("compacts");
    assert_eq!(
        diary.count(|event| matches!(event, Event::FlushBegun { entry_count: 2, .. })),
        3
    );
    assert_eq!(
        diary.count(|event| matches!(
            event,
            Event::FlushEnded {
                error: None,
                written_bytes: 1..,
                ..
            }
        )),
        3
    );
    let created = diary.count(|event| matches!(event, Event::TableCreated { .. }));
    let removed = diary.count(|event| matches!(event, Event::TableRemoved { .. }));
    assert_eq!(created - removed, db.stats().table_count);
    let texts: Vec<String> = diary
        .events
        .lock()
        .iter()
        .map(|event| format!("{event:?}"))
        .collect();
    let begun: Vec<&String> = texts
        .iter()
        .filter(|text| text.starts_with("CompactionBegun"))
        .collect();
    assert!(
        begun
            .iter()
            .any(|text| text.contains("merge L0") && text.contains("\"other\"")),
        "{texts:#?}"
    );
    assert_eq!(
        begun.len(),
        diary.count(|event| matches!(event, Event::CompactionEnded { error: None, .. }))
    );

    db.put("k", "v").expect("put");
    disk.add(Rule::once(Calls::Only(Operation::Sync), Fault::DeviceError).on(".table"));
    db.flush().expect_err("fails");
    assert_eq!(
        diary.count(|event| matches!(event, Event::BackgroundFailed { .. })),
        1
    );
    assert_eq!(
        diary.count(|event| matches!(event, Event::FlushEnded { error: Some(_), .. })),
        1
    );
    disk.add(Rule::once(
        Calls::Only(Operation::SyncSegment),
        Fault::DeviceError,
    ));
    let lost = db.default_keyspace().put_with("k", "v", Durability::Sync);
    lost.expect_err("the sync failed");
    db.flush().expect_err("refused");
    assert_eq!(
        diary.count(|event| matches!(event, Event::WriterStopped { .. })),
        1
    );
}

#[test]
fn a_listener_may_call_the_database_and_may_panic() {
    let diary = Arc::new(Diary::default());
    let options = Options::default()
        .memtable_bytes(2_000)
        .frozen_memtables_max(1)
        .background(Background::Threads)
        .listener(Arc::clone(&diary) as Arc<dyn EventListener>);
    let mut db = TestDb::open(options);
    *diary.calls.lock() = Some(Db::clone(&db));
    db.put("k", "v").expect("put");
    db.flush().expect("flush");
    // Another thread may be the one that tells, and `flush` does not wait for listeners.
    let is_there = || db.contains("from the listener").expect("get");
    for _ in 0..5_000_000 {
        if is_there() {
            break;
        }
        std::thread::yield_now();
    }
    assert!(is_there());
    assert!(diary.calls.lock().is_none(), "it was called once");
    diary.panics.store(true, Ordering::SeqCst);
    let written = AtomicU64::new(0);
    for number in 0..500u64 {
        db.put(number.to_be_bytes(), [b'v'; 40]).expect("put");
        written.fetch_add(1, Ordering::Relaxed);
    }
    db.flush().expect("flush");
    assert!(db.stats().listener_panic_count > 0);
    assert_eq!(db.iter().count(), 502);
    db.assert_sound();
    // The last events may still be on their way, handed out by a thread that ends with the database.
    db.close();
    let begun = diary.count(|event| matches!(event, Event::StallBegun));
    assert_eq!(
        begun,
        diary.count(|event| matches!(event, Event::StallEnded { .. }))
    );
}
