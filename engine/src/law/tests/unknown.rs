//! Opening without the law.

use super::{contents, get};
use crate::tests::{TestDb, manual};
use crate::{AppendBytes, Db, Error, Keyspace, KeyspaceOptions};

fn options() -> KeyspaceOptions {
    KeyspaceOptions::default().compose("mine", AppendBytes)
}

/// A database whose keyspace "mine" has `in_log` operands of key "k" in its log, and `in_tables` in as many tables.
fn prepared(in_tables: usize, in_log: usize) -> TestDb {
    let mut db = TestDb::open(manual().l0_compaction_trigger(100).l0_tables_max(100));
    let mine = db.keyspace("mine", options()).expect("creates");
    for number in 0..in_tables + in_log {
        mine.merge("k", [b'a' + u8::try_from(number % 26).expect("a letter")])
            .expect("merge");
        mine.put(format!("single {number}"), "v").expect("put");
        if number < in_tables {
            db.flush().expect("flush");
        }
    }
    db.put("plain", "v").expect("put");
    drop(mine);
    db.close();
    db
}

fn expected(count: usize) -> Vec<u8> {
    (0..count)
        .map(|number| b'a' + u8::try_from(number % 26).expect("a letter"))
        .collect()
}

/// The keyspace without its law, as a program sees it that has not asked for it yet.
fn without_law(db: &Db) -> Keyspace {
    let handle = db.default_keyspace().handle();
    let core = handle
        .engine()
        .cores()
        .values()
        .find(|core| core.name == "mine")
        .cloned();
    Keyspace::new(std::sync::Arc::clone(handle), core.expect("exists"))
}

#[test]
fn what_needs_no_law_works_and_what_does_names_it() {
    for (in_tables, in_log) in [(3, 0), (3, 5), (0, 24)] {
        let db = TestDb::open_on(
            prepared(in_tables, in_log).machine.after_kill(),
            manual().l0_compaction_trigger(2),
        );
        let raw = without_law(&db);
        let error = raw.get("k").expect_err("needs the law");
        assert_eq!(
            error.to_string(),
            "keyspace \"mine\" composes with law \"mine\", which this program has not given \
             (Options::law, KeyspaceOptions::compose)"
        );
        assert!(matches!(raw.merge("k", "x"), Err(Error::LawUnknown { .. })));
        assert_eq!(get(&raw, "single 0"), Some(b"v".to_vec()));
        raw.put("new", "v").expect("a put needs no law");
        raw.delete("single 0").expect("nor does a delete");
        assert_eq!(raw.iter().filter(Result::is_err).count(), 1);
        let (mut range, mut lent, mut refused) = (raw.iter(), 0, 0);
        loop {
            match range.lend_next() {
                Ok(Some(_)) => lent += 1,
                Ok(None) => break,
                Err(_) => refused += 1,
            }
        }
        assert_eq!((lent, refused), (raw.iter().filter(Result::is_ok).count(), 1));
        assert_eq!(get(db.default_keyspace(), "plain"), Some(b"v".to_vec()));
        let report = db.verify().expect("runs");
        assert!(
            report.is_sound() && report.uncomposed_key_count == 1,
            "{report:?}"
        );
        db.flush().expect("a few operands become tables of their own");
        while db.run_background_step().expect("step") {}
        assert!(matches!(db.compact(), Err(Error::LawUnknown { .. })));
        assert!(raw.get("k").is_err());
        let mine = db.keyspace("mine", options()).expect("the law is given");
        assert_eq!(get(&mine, "k"), Some(expected(in_tables + in_log)));
        while db.run_background_step().expect("step") {}
        db.compact().expect("compacts");
        assert_eq!(get(&mine, "k"), Some(expected(in_tables + in_log)));
        assert_eq!(contents(&mine).len(), in_tables + in_log + 1);
        db.assert_sound();
    }
}

#[test]
fn more_operands_than_a_flush_can_write_one_by_one_wait_for_the_law() {
    let mut db = TestDb::open_on(
        prepared(2, 3000).machine.after_kill(),
        manual().memtable_bytes(1 << 20),
    );
    assert!(matches!(db.flush(), Err(Error::LawUnknown { .. })));
    assert_eq!(get(db.default_keyspace(), "plain"), Some(b"v".to_vec()));
    db.put("more", "v").expect("put");
    assert!(matches!(db.flush(), Err(Error::LawUnknown { .. })));
    // Nothing is lost by closing.
    db.reopen();
    assert!(matches!(db.run_background_step(), Err(Error::LawUnknown { .. })));
    let mine = db.keyspace("mine", options()).expect("the law is given");
    db.flush().expect("flush");
    assert_eq!(get(&mine, "k"), Some(expected(3002)));
    assert_eq!(get(db.default_keyspace(), "more"), Some(b"v".to_vec()));
    db.assert_sound();
}

#[test]
fn a_law_given_at_open_serves_background_work_at_once() {
    let db = prepared(3, 3000);
    let options = manual().l0_compaction_trigger(2).law("mine", AppendBytes);
    let db = TestDb::open_on(db.machine.after_kill(), options);
    while db.run_background_step().expect("step") {}
    assert_eq!(get(&without_law(&db), "k"), Some(expected(3003)));
    db.assert_sound();
}
