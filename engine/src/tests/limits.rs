//! What is over a limit is refused with its error, and nothing is logged.

use super::{TestDb, manual};
use crate::limits::{
    KEY_LEN_BYTES_MAX, KEYSPACE_COUNT_MAX, KEYSPACE_NAME_LEN_BYTES_MAX, VALUE_LEN_BYTES_MAX,
};
use crate::{AppendBytes, Durability, Error, KeyspaceOptions};

/// Log and counters of a database that took nothing.
fn assert_untouched(db: &TestDb) {
    let stats = db.stats();
    assert_eq!(
        (stats.commit_count, stats.log_bytes, stats.memtable_entry_count),
        (0, 0, 0)
    );
    assert_eq!(db.keyspace_names(), [""]);
}

#[test]
fn lengths_over_their_limits_are_refused_before_anything_is_logged() {
    let db = TestDb::open(manual());
    // Memory of zeros that is never touched.
    let long_key = vec![0; KEY_LEN_BYTES_MAX + 1];
    let long_value = vec![0; VALUE_LEN_BYTES_MAX + 1];
    let is_long_key = |outcome| matches!(outcome, Err(Error::KeyTooLong { len_bytes, .. }) if len_bytes > KEY_LEN_BYTES_MAX);
    assert!(is_long_key(db.put(&long_key, "v")));
    assert!(is_long_key(db.delete(&long_key)));
    let longer_bound = vec![1; KEY_LEN_BYTES_MAX + 2];
    assert!(is_long_key(db.delete_range(&longer_bound[..]..)));
    assert!(matches!(
        db.put("k", &long_value),
        Err(Error::ValueTooLong { len_bytes, .. }) if len_bytes == VALUE_LEN_BYTES_MAX + 1
    ));
    let mut batch = db.batch();
    batch.put(&*db, "first", "1").put(&*db, &long_key, "2");
    assert!(is_long_key(batch.commit(Durability::Process)));
    drop(long_value);
    let name = "n".repeat(KEYSPACE_NAME_LEN_BYTES_MAX + 1);
    assert!(matches!(
        db.keyspace(&name, KeyspaceOptions::default()),
        Err(Error::KeyspaceNameTooLong { .. })
    ));
    assert_untouched(&db);
    db.put(&long_key[1..], "the longest key")
        .expect("as long as may be");
    db.keyspace(&name[1..], KeyspaceOptions::default())
        .expect("as long as may be");
}

#[test]
fn operands_and_ingested_records_have_the_same_limits() {
    let db = TestDb::open(manual());
    let options = KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
    let appended = db.keyspace("appended", options).expect("creates");
    let before = db.stats();
    let (long_key, long_value) = (vec![0; KEY_LEN_BYTES_MAX + 1], vec![0; VALUE_LEN_BYTES_MAX + 1]);
    let refused = appended.merge(&long_key, "v").expect_err("too long");
    assert!(matches!(refused, Error::KeyTooLong { .. }), "{refused}");
    let refused = appended.merge("k", &long_value).expect_err("too long");
    assert!(matches!(refused, Error::ValueTooLong { .. }), "{refused}");
    for (key, value) in [(&long_key[..], &b"v"[..]), (b"k", &long_value)] {
        let mut ingest = appended.ingest().expect("begins");
        let refused = ingest.put(key, value).expect_err("too long");
        assert!(
            matches!(refused, Error::KeyTooLong { .. } | Error::ValueTooLong { .. }),
            "{refused}"
        );
    }
    let after = db.stats();
    assert_eq!(
        (after.commit_count, after.log_bytes, after.table_count),
        (before.commit_count, before.log_bytes, 0)
    );
}

#[test]
fn too_many_keyspaces_are_refused_and_none_is_created() {
    let db = TestDb::open(manual());
    let names: Vec<String> = (0..KEYSPACE_COUNT_MAX).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let error = db
        .keyspaces(&names, KeyspaceOptions::default())
        .expect_err("one too many");
    assert!(matches!(error, Error::TooManyKeyspaces { .. }), "{error}");
    assert_untouched(&db);
}

#[test]
fn too_many_tables_stop_puts_until_some_are_merged_and_never_deletes() {
    let db = TestDb::open(manual().tables_max(3).l0_compaction_trigger(8));
    let side = db.keyspace("side", KeyspaceOptions::default()).expect("creates");
    for number in 0..3u8 {
        db.put([number], "v").expect("room");
        db.flush().expect("flush");
    }
    let before = db.stats();
    for error in [
        db.put("k", "v").expect_err("full"),
        side.put("k", "v").expect_err("full for all keyspaces"),
    ] {
        assert_eq!(
            error.to_string(),
            "the database has 3 tables, and takes no more puts and merges from 3 on; nothing was written"
        );
        assert_eq!(error.usability(), crate::Usability::Usable);
    }
    assert!(matches!(side.ingest(), Err(Error::TooManyTables { .. })));
    let after = db.stats();
    assert_eq!(
        (after.commit_count, after.log_bytes),
        (before.commit_count, before.log_bytes)
    );
    db.delete([0]).expect("deletes work");
    db.delete_range([1]..[2]).expect("range deletes work");
    db.compact().expect("compacts");
    assert_eq!(db.stats().table_count, 1);
    db.put("k", "v").expect("there is room again");
    db.assert_sound();
}
