//! What must be there after a restart, or must not.

use std::path::Path;
use std::sync::Arc;

use super::{TestDb, assert_sound, contents, manual};
use crate::options::Background;
use crate::vfs::FileSystem as _;
use crate::{AppendBytes, BitString, Composed, Db, Durability, KeyspaceOptions, LawFailure};

fn bits(number: u64) -> BitString {
    let mut bits = BitString::new();
    bits.push_bits(number, 12);
    bits
}

/// A keyspace that is cleared takes nothing of the others with it, whatever it holds.
#[test]
fn a_cleared_keyspace_of_each_kind_is_empty_and_the_others_are_whole() {
    for is_flushed in [false, true] {
        let mut db = TestDb::open(manual());
        let composing = || KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
        let fixed = || KeyspaceOptions::default().value_width_bytes(4_000);
        for cleared in 0..4 {
            let large = vec![b'v'; 4_000];
            let texts = db.keyspace("texts", composing()).expect("opens");
            let widths = db.keyspace("widths", fixed()).expect("opens");
            let paths = db
                .bit_keyspace("paths", KeyspaceOptions::default())
                .expect("opens");
            for number in 0..50u64 {
                db.put(number.to_be_bytes(), &large).expect("put");
                texts.merge(number.to_be_bytes(), &large).expect("merge");
                widths.put(number.to_be_bytes(), &large).expect("put");
                paths.put(bits(number).as_str(), bits(7).as_str()).expect("put");
            }
            if is_flushed {
                db.flush().expect("flush");
            }
            match cleared {
                0 => db.clear(),
                1 => texts.clear(),
                2 => widths.clear(),
                _ => paths.clear(),
            }
            .expect("clears");
            drop((texts, widths, paths));
            db.reopen();
            let counts = [
                db.iter().count(),
                db.keyspace("texts", composing()).expect("opens").iter().count(),
                db.keyspace("widths", fixed()).expect("opens").iter().count(),
                db.bit_keyspace("paths", KeyspaceOptions::default())
                    .expect("opens")
                    .iter()
                    .count(),
            ];
            let expected = [0, 1, 2, 3].map(|place| if place == cleared { 0 } else { 50 });
            assert_eq!(counts, expected, "flushed {is_flushed}");
            db.assert_sound();
        }
    }
}

/// Seventy writes in one keyspace for each in another, over two hundred flushes: both counts are exact after a restart.
#[test]
fn two_keyspaces_of_very_different_rates_come_back_whole() {
    let mut db = TestDb::open(manual().memtable_bytes(4_000));
    let rare = db.keyspace("rare", KeyspaceOptions::default()).expect("creates");
    let rounds = 210u32;
    for round in 0..rounds {
        for number in 0..70 {
            let key = (round * 70 + number).to_be_bytes();
            db.put(key, "a value of some bytes").expect("put");
        }
        rare.put(round.to_be_bytes(), "v").expect("put");
        db.run_background_step().expect("steps");
    }
    assert!(db.stats().flush_count >= 200, "{:?}", db.stats());
    drop(rare);
    db.reopen();
    let rare = db.keyspace("rare", KeyspaceOptions::default()).expect("opens");
    assert_eq!(
        (db.iter().count(), rare.iter().count()),
        (70 * rounds as usize, rounds as usize)
    );
    db.assert_sound();
}

/// A copy of a closed database at another path is a database of its own.
#[test]
fn a_database_that_was_copied_elsewhere_and_the_original_go_their_own_ways() {
    let mut db = TestDb::open(manual());
    for number in 0..100u32 {
        db.put(number.to_be_bytes(), "v").expect("put");
    }
    db.flush().expect("flush");
    db.put("logged", "v").expect("put");
    db.close();
    let copy = Path::new("/elsewhere/copy");
    db.machine.create_dir_all(copy).expect("makes");
    for name in db.files() {
        let bytes = db.read_file(&name);
        let mut file = db.machine.create_new(&copy.join(name)).expect("creates");
        std::io::Write::write_all(&mut file, &bytes).expect("writes");
        file.sync().expect("syncs");
    }
    db.reopen();
    let other = Db::open_with(Arc::new(db.machine.clone()), copy, manual()).expect("opens");
    assert_eq!(contents(&other), db.contents());
    other.put("own", "v").expect("put");
    db.delete("logged").expect("delete");
    other.compact().expect("compacts");
    db.compact().expect("compacts");
    assert!(other.contains("own").expect("get") && other.contains("logged").expect("get"));
    assert!(!db.contains("own").expect("get") && !db.contains("logged").expect("get"));
    assert_sound(&other);
    db.assert_sound();
}

/// Names are names, not paths: they come back as they are.
#[test]
fn keyspaces_of_unusual_names_come_back() {
    let mut db = TestDb::open(manual());
    let names = [".", "..", "../x", "a\0b", "CURRENT", "/", " "];
    let long = "\u{e9}".repeat(255);
    let names: Vec<&str> = names.into_iter().chain([long.as_str()]).collect();
    for name in &names {
        let keyspace = db.keyspace(name, KeyspaceOptions::default()).expect("creates");
        keyspace.put_with("k", name, Durability::Sync).expect("put");
    }
    let files = db.files();
    db.reopen();
    assert_eq!(db.keyspace_names().len(), names.len() + 1);
    for name in &names {
        let keyspace = db.keyspace(name, KeyspaceOptions::default()).expect("opens");
        assert_eq!(keyspace.get("k").expect("get").as_deref(), Some(name.as_bytes()));
    }
    assert!(
        files
            .iter()
            .all(|file| !names.contains(&file.as_str()) || file == "CURRENT")
    );
    db.assert_sound();
}

/// The log segments in the directory.
fn segments(db: &TestDb) -> usize {
    db.files().iter().filter(|name| name.ends_with(".log")).count()
}

/// A process that writes one record and goes leaves a segment. However many of them ran, the next finds one memtable, and no writer is
/// slowed down or stopped. What such a memtable holds is flushed into one table, and its segments go together.
#[test]
fn programs_that_write_a_record_and_go_leave_nothing_that_stops_the_next() {
    let mut db = TestDb::open(manual());
    for number in 0..40u32 {
        db.put(number.to_be_bytes(), "old").expect("put");
        db.put("last", number.to_be_bytes()).expect("put");
        if number % 3 == 0 {
            db.delete((number / 2).to_be_bytes()).expect("delete");
        }
        let stats = db.stats();
        assert!(stats.frozen_memtable_count <= 1, "{stats:?}");
        assert_eq!((stats.stall_count, stats.flush_count), (0, 0));
        assert_eq!(stats.compaction.write_delay, std::time::Duration::ZERO);
        db.reopen();
    }
    let before = db.contents();
    assert_eq!(before.len(), 40 - 14 + 1);
    assert_eq!(segments(&db), 41);
    db.flush().expect("flush");
    assert_eq!((db.stats().flush_count, db.stats().level_table_counts[0]), (1, 1));
    assert_eq!(segments(&db), 1, "{:?}", db.files());
    assert_eq!(db.contents(), before);
    db.reopen();
    assert_eq!(db.contents(), before);
    db.assert_sound();
}

/// Behind a segment that fills its memtable a new one begins; a flush of the first takes its own segments alone.
#[test]
fn a_flush_of_the_oldest_memtable_leaves_the_segments_of_the_next() {
    let options = manual().frozen_memtables_max(8);
    let mut db = TestDb::open(options.clone());
    let large = vec![b'v'; 100 << 10];
    for round in 0..4u8 {
        for number in 0..2u8 {
            db.put([round, number], &large).expect("put");
        }
        db.reopen();
        db.put([round, 9], "small").expect("put");
        db.reopen();
    }
    let before = db.contents();
    // The first large one, three more each behind a small one, and a small one.
    assert_eq!(db.stats().frozen_memtable_count, 5);
    for frozen in (0..5).rev() {
        assert!(db.run_background_step().expect("steps"));
        assert_eq!(db.stats().frozen_memtable_count, frozen);
        let machine = db.machine.after_kill();
        let copy = Db::open_with(Arc::new(machine), super::DIR, options.clone()).expect("opens after a kill");
        assert_eq!(contents(&copy), before);
        assert_sound(&copy);
    }
    db.assert_sound();
}

/// With threads, an open flushes leftovers when many have come together: the log does not grow with the number of programs, however short
/// they are.
#[test]
fn many_short_programs_keep_the_log_short() {
    let options = manual().background(Background::Threads);
    let machine = crate::vfs::MemFs::new();
    for number in 0..60u32 {
        let db = TestDb::open_on(machine.clone(), options.clone());
        assert!(
            segments(&db) <= crate::db::LEFT_SEGMENTS_MAX + 1,
            "{:?}",
            db.files()
        );
        db.put(number.to_be_bytes(), "v").expect("put");
        assert_eq!(db.stats().stall_count, 0);
    }
    let db = TestDb::open_on(machine, options);
    assert_eq!(db.contents().len(), 60);
    db.assert_sound();
}

/// A law that fails leaves operands as they are, and a flush takes so many of a key: segments with many do not join.
#[test]
fn operands_that_do_not_compose_keep_segments_apart() {
    let law = |_: &[u8], _: &[u8]| -> Result<Composed, LawFailure> { Err(LawFailure::new("never")) };
    let never = || KeyspaceOptions::default().compose("never", law);
    let mut db = TestDb::open(manual());
    for _ in 0..6 {
        let stuck = db.keyspace("stuck", never()).expect("opens");
        while stuck.merge("k", "v").is_ok() {}
        drop(stuck);
        db.reopen();
    }
    db.keyspace("stuck", never()).expect("opens");
    db.flush().expect("no flush has too many operands of a key");
    db.assert_sound();
}
