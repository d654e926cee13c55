//! Ten thousand keyspaces: what is idle costs nothing.

use super::{TestDb, manual};
use crate::{Background, KeyspaceOptions};

const COUNT: usize = 10_000;

fn names() -> Vec<String> {
    (0..COUNT).map(|number| format!("tenant/{number:05}")).collect()
}

fn with_keyspaces() -> (TestDb, Vec<crate::Keyspace>) {
    let db = TestDb::open(manual().l0_compaction_trigger(2));
    let names = names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let keyspaces = db.keyspaces(&names, KeyspaceOptions::default()).expect("creates");
    assert_eq!(keyspaces.len(), COUNT);
    (db, keyspaces)
}

#[test]
fn an_idle_keyspace_is_not_looked_at_and_pins_no_log() {
    let (db, keyspaces) = with_keyspaces();
    assert_eq!(
        db.stats().compaction.look_count,
        0,
        "a keyspace without tables is never looked at"
    );
    // One put, and then nothing any more.
    keyspaces[7].put("idle", "v").expect("put");
    db.flush().expect("flush");
    for round in 0..20u32 {
        let before = db.stats();
        keyspaces[42].put("k", round.to_be_bytes()).expect("put");
        db.flush().expect("flush");
        while db.run_background_step().expect("step") {}
        let after = db.stats();
        let looks = after.compaction.look_count - before.compaction.look_count;
        assert!(looks <= 6, "{looks} looks in round {round}");
        assert!(
            after.manifest_bytes - before.manifest_bytes < 300,
            "an edit names what it changes"
        );
        assert_eq!(after.log_bytes, 0, "no segment is kept for the idle one");
        assert_eq!(db.count_files(".log"), 1);
    }
    assert_eq!(keyspaces[7].get("idle").expect("get").as_deref(), Some(&b"v"[..]));
}

#[test]
fn ten_thousand_keyspaces_with_tables_come_back_and_go_one_by_one() {
    let (mut db, keyspaces) = with_keyspaces();
    for (number, keyspace) in (0u32..).zip(&keyspaces) {
        keyspace.put("k", number.to_be_bytes()).expect("put");
    }
    drop(keyspaces);
    db.flush().expect("flush");
    assert_eq!(db.stats().table_count, COUNT);
    db.reopen();
    // Once after the open each is looked at, none of them again.
    assert!(!db.run_background_step().expect("step"));
    assert_eq!(db.stats().compaction.look_count, COUNT as u64);
    assert!(!db.run_background_step().expect("step"));
    assert_eq!(db.stats().compaction.look_count, COUNT as u64);
    let names = names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let keyspaces = db.keyspaces(&names, KeyspaceOptions::default()).expect("opens");
    for (number, keyspace) in (0u32..).zip(&keyspaces) {
        assert_eq!(
            keyspace.get("k").expect("get").as_deref(),
            Some(&number.to_be_bytes()[..])
        );
    }
    for keyspace in &keyspaces {
        db.drop_keyspace(keyspace).expect("drops");
    }
    let stats = db.stats();
    assert_eq!((stats.keyspace_count, stats.table_count), (1, 0));
    assert_eq!(db.count_files(".table"), 0);
    db.reopen();
    assert_eq!(db.keyspace_names(), [""]);
}

#[test]
fn keyspaces_of_one_call_are_created_together_or_not_at_all() {
    let db = TestDb::open(manual());
    let fixed = KeyspaceOptions::default().value_width_bytes(8);
    db.keyspace("taken", fixed).expect("creates");
    db.keyspaces(&["a", "taken", "b"], KeyspaceOptions::default())
        .expect_err("one has other settings");
    assert_eq!(db.keyspace_names(), ["", "taken"]);
    let opened = db
        .keyspaces(&["a", "b", "a"], KeyspaceOptions::default())
        .expect("creates");
    let opened: Vec<_> = opened.iter().map(crate::Keyspace::name).collect();
    assert_eq!(opened, ["a", "b", "a"], "a name given twice is one keyspace");
    assert_eq!(db.keyspace_names(), ["", "taken", "a", "b"]);
    assert_eq!(
        db.keyspaces(&[], KeyspaceOptions::default())
            .expect("nothing to do")
            .len(),
        0
    );
}

#[test]
fn threads_rest_with_many_keyspaces_open() {
    let options = manual().background(Background::Threads).l0_compaction_trigger(2);
    let db = TestDb::open(options);
    let names = names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let keyspaces = db.keyspaces(&names, KeyspaceOptions::default()).expect("creates");
    for number in 0..6u32 {
        keyspaces[3].put("k", number.to_be_bytes()).expect("put");
        db.flush().expect("flush");
    }
    keyspaces[3].compact(..).expect("compacts");
    assert_eq!(
        keyspaces[3].get("k").expect("get").as_deref(),
        Some(&5u32.to_be_bytes()[..])
    );
    let looks = db.stats().compaction.look_count;
    assert!(looks < 200, "{looks} looks");
}
