//! Damage that is met after the open: what still works, what is said, and what stays within bounds.

use super::{TestDb, manual};
use crate::repair::{RepairOptions, repair_with};
use crate::{Db, Error, Usability};
use std::sync::Arc;

const KEYS: u32 = 4_000;

fn key(number: u32) -> String {
    format!("key {number:04}")
}

/// A database whose one table has a wrong byte in the value of the key in the middle. Returns the table's name.
fn damaged() -> (TestDb, String) {
    let mut db = TestDb::open(manual().frozen_memtables_max(2));
    for number in 0..KEYS {
        db.put(key(number), format!("value {number:04}")).expect("put");
    }
    db.flush().expect("flush");
    db.close();
    let files = db.files();
    let table = files
        .iter()
        .find(|name| name.ends_with(".table"))
        .expect("flushed");
    let mut bytes = db.read_file(table);
    let value = format!("value {:04}", KEYS / 2);
    let at = bytes
        .windows(value.len())
        .position(|found| found == value.as_bytes());
    bytes[at.expect("values stand in tables as they are")] ^= 0x20;
    db.replace_file(table, &bytes);
    let table = table.clone();
    db.reopen();
    (db, table)
}

#[track_caller]
fn assert_names(error: &Error, table: &str) {
    let text = error.to_string();
    assert!(error.is_damage(), "{text}");
    assert!(
        text.contains(table) && text.contains("checksum of the page"),
        "{text}"
    );
}

/// A delete whose key may lie on a damaged page cannot be flushed: to mark nothing would bring the key back. It is logged, everything else is
/// read and written as ever until as many memtables wait as may, then every writer is told why. No restart loses anything, none makes the
/// log longer than that, and what `repair` makes has the delete.
#[test]
fn a_delete_on_a_damaged_page_is_kept_told_and_bounded() {
    let (mut db, table) = damaged();
    let deleted = key(KEYS / 2);
    db.delete(&deleted).expect("it is logged");
    db.put("after", "v").expect("put");
    let error = db.flush().expect_err("the delete has to be marked");
    assert!(matches!(error, Error::DeletesUnresolved { .. }), "{error}");
    assert_eq!(error.usability(), Usability::Usable);
    assert_names(&error, &table);
    let stats = db.stats();
    let last = stats.last_background_failure.clone().expect("told");
    assert!(
        last.contains(&table) && stats.background_failure_count > 0,
        "{last}"
    );
    assert_eq!(stats.frozen_memtable_count, 1);
    // The deleted key is gone, and so it stays; the others are there.
    let looks = |db: &Db| {
        assert_eq!(db.get(&deleted).expect("a memtable answers"), None);
        assert_eq!(db.get("after").expect("get").as_deref(), Some(&b"v"[..]));
        assert_eq!(db.get(key(1)).expect("get").as_deref(), Some(&b"value 0001"[..]));
        assert_names(&db.get(key(KEYS / 2 + 1)).expect_err("on the page"), &table);
    };
    looks(&db);
    let log_bytes = |db: &TestDb| -> usize {
        let files = db.files().into_iter();
        let logs = files.filter(|name| name.ends_with(".log"));
        logs.map(|name| db.read_file(&name).len()).sum()
    };
    let large = vec![b'v'; 50 << 10];
    let mut written = 0usize;
    for round in 0..6 {
        let refusal = loop {
            match db.put(format!("large {written}"), &large) {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
            assert!(written < 100, "nobody stops the writer");
        };
        assert!(matches!(refusal, Error::BackgroundFailing { .. }), "{refusal}");
        assert_names(&refusal, &table);
        assert!(
            log_bytes(&db) < 5 * (256 << 10),
            "round {round}: {}",
            log_bytes(&db)
        );
        looks(&db);
        assert_eq!(db.prefix("large ").count(), written);
        db.reopen();
    }
    db.close();
    let into = "/repaired";
    let machine = Arc::new(db.machine.clone());
    let report = repair_with(machine.clone(), super::DIR, into, RepairOptions::default()).expect("repairs");
    assert!(!report.lost.is_empty() && !report.may_undelete(), "{report:#?}");
    let repaired = Db::open_with(machine, into, manual()).expect("opens");
    assert_eq!(repaired.get(&deleted).expect("get"), None);
    assert_eq!(repaired.prefix("large ").count(), written);
    assert!(repaired.prefix("key ").count() > KEYS as usize / 2);
    super::assert_sound(&repaired);
}

/// What tells of no damage must not send anybody to `repair`.
#[test]
fn only_damage_is_called_damage() {
    let db = TestDb::open(manual());
    let long = vec![0; crate::limits::KEY_LEN_BYTES_MAX + 1];
    assert!(!db.put(long, "v").expect_err("too long").is_damage());
    let machine = Arc::new(db.machine.clone());
    let missing = Db::open_with(machine.clone(), "/nowhere", manual().create_if_missing(false));
    assert!(!missing.expect_err("nothing there").is_damage());
    let held = Db::open_with(machine, super::DIR, manual());
    assert!(!held.expect_err("locked").is_damage());
}

/// A database that lost `CURRENT` is told from a directory with nothing in it, whether it may be created or not.
#[test]
fn a_lost_current_is_damage_in_every_way_of_opening() {
    let (mut db, _) = damaged();
    db.close();
    db.remove_file("CURRENT");
    for options in [
        manual(),
        manual().create_if_missing(false),
        manual().read_only(true),
    ] {
        let error = Db::open_with(Arc::new(db.machine.clone()), super::DIR, options).expect_err("no CURRENT");
        let text = error.to_string();
        assert!(
            error.is_damage() && text.contains("CURRENT") && text.contains("lies beside"),
            "{text}"
        );
    }
}

/// A directory in place of the event log costs the events alone.
#[test]
fn a_directory_named_events_is_told_and_in_nobodys_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = || crate::Options::default().memtable_bytes(1 << 16);
    let open = || Db::open(folder.path(), options()).expect("opens");
    let db = open();
    db.put("k", "v").expect("put");
    db.close().expect("closes");
    let events = folder.path().join("EVENTS");
    #[expect(clippy::disallowed_methods, reason = "somebody else's directory")]
    {
        std::fs::remove_file(&events).expect("removes");
        std::fs::create_dir(&events).expect("makes");
        std::fs::write(events.join("mine"), "text").expect("writes");
    }
    let db = open();
    db.put("l", "v").expect("put");
    db.flush().expect("flush");
    let history = db.event_history().expect("reads what there is");
    assert_eq!(history.events.len(), 0);
    let [unreadable] = &history.unreadable_files[..] else {
        panic!("{history:?}")
    };
    assert!(unreadable.contains("EVENTS"), "{unreadable}");
    assert!(db.stats().lost_event_count > 0);
    assert!(db.verify().expect("verifies").is_sound());
    db.close().expect("closes");
    assert_eq!(open().iter().count(), 2);
    assert!(events.join("mine").exists(), "it is not ours");
}
