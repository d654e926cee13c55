//! What must be there after a restart, or must not.

use std::path::Path;
use std::sync::Arc;

use super::{TestDb, assert_sound, contents, manual};
use crate::vfs::FileSystem as _;
use crate::{AppendBytes, BitString, Db, Durability, KeyspaceOptions};

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
