//! Laws that compose values of one width alone: others are refused before anything is logged, and what an older program wrote is got rid of.

use super::{contents, get};
use crate::batch::record::RecordBuilder;
use crate::tests::{TestDb, manual};
use crate::{AddU64, Compose, Composed, Durability, Error, Keyspace, KeyspaceOptions, LawFailure, MaxU64};

fn counters(db: &TestDb) -> Keyspace {
    let options = KeyspaceOptions::default().compose(AddU64::NAME, AddU64);
    db.keyspace("counters", options).expect("opens")
}

/// Keeps the larger of two pairs of bytes.
struct LargerPair;

impl Compose for LargerPair {
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        Ok(if newer > older {
            Composed::Newer
        } else {
            Composed::Older
        })
    }

    fn value_width_bytes(&self) -> Option<usize> {
        Some(2)
    }
}

#[test]
fn values_that_the_law_cannot_compose_are_refused_and_nothing_is_logged() {
    let mut db = TestDb::open(manual());
    let pairs = || KeyspaceOptions::default().compose("larger-pair", LargerPair);
    for name in ["counters", "largest", "pairs"] {
        let (options, width) = match name {
            "counters" => (KeyspaceOptions::default().law_by_name(AddU64::NAME), 8),
            "largest" => (KeyspaceOptions::default().compose(MaxU64::NAME, MaxU64), 8),
            _ => (pairs(), 2),
        };
        let keyspace = db.keyspace(name, options).expect("creates");
        assert_eq!(keyspace.info().law_value_width_bytes, Some(width));
        for wrong in [0, width - 1, width + 1] {
            let value = vec![b'7'; wrong];
            let mut batches = [db.batch(), db.batch()];
            batches[0]
                .put(&keyspace, "fine", vec![0; width])
                .put(&keyspace, "k", &value);
            batches[1]
                .put(&keyspace, "fine", vec![0; width])
                .merge(&keyspace, "k", &value);
            let [puts, merges] = batches;
            for refused in [
                keyspace.put("k", &value),
                keyspace.merge("k", &value),
                puts.commit(Durability::Process),
                merges.commit(Durability::Process),
                keyspace.ingest().expect("begins").put("k", &value),
            ] {
                let error = refused.expect_err("refused");
                assert!(
                    matches!(error, Error::LawValueWidth { expected_bytes, found_bytes, .. }
                        if expected_bytes == width && found_bytes == wrong),
                    "{error}"
                );
            }
        }
        assert_eq!(contents(&keyspace), []);
        keyspace.merge("k", vec![1; width]).expect("merges");
        assert_eq!(get(&keyspace, "k"), Some(vec![1; width]));
    }
    db.reopen();
    assert_eq!(contents(&counters(&db)).len(), 1);
    db.assert_sound();
}

#[test]
fn a_keyspace_of_a_width_that_its_law_does_not_compose_is_not_created() {
    let db = TestDb::open(manual());
    let of = |width| KeyspaceOptions::default().value_width_bytes(width);
    for options in [
        of(4).law_by_name(AddU64::NAME),
        of(0).compose(MaxU64::NAME, MaxU64),
        of(8).compose("larger-pair", LargerPair),
    ] {
        let refused = db.keyspace("k", options).expect_err("refused");
        assert!(
            matches!(
                refused,
                Error::InvalidOption {
                    option: "value_width_bytes",
                    ..
                }
            ),
            "{refused}"
        );
    }
    assert_eq!(db.keyspace_names(), [""]);
    db.keyspace("k", of(8).law_by_name(AddU64::NAME))
        .expect("creates");
    // A law of any width, and one that is not known, ask for nothing.
    db.keyspace("l", of(4).law_by_name("elsewhere")).expect("creates");
    db.keyspace("m", of(4).law_by_name("append-bytes"))
        .expect("creates");
}

/// Programs before this check could write such values; the log is replayed as it is.
#[test]
fn what_an_older_program_wrote_is_read_back_and_a_put_or_a_delete_gets_rid_of_it() {
    let mut db = TestDb::open(manual());
    let keyspace = counters(&db);
    for (key, value) in [
        ("a", "1"),
        ("b", "12345678"),
        ("b", "123"),
        ("c", "x"),
        ("c", "y"),
    ] {
        let mut record = RecordBuilder::new();
        record.merge(keyspace.number(), key.as_bytes(), value.as_bytes());
        let engine = keyspace.handle().engine();
        let committed = engine.commit(&record, std::slice::from_ref(&keyspace), Durability::Sync);
        committed.expect("commits");
    }
    drop(keyspace);
    db.reopen();
    let keyspace = counters(&db);
    assert_eq!(
        get(&keyspace, "a"),
        Some(b"1".to_vec()),
        "one record needs no law"
    );
    for key in ["b", "c"] {
        let error = keyspace.get(key).expect_err("does not compose").to_string();
        assert!(
            error.contains(&format!("\"{key}\"")) && error.ends_with("put or delete the key"),
            "{error}"
        );
    }
    keyspace.put("b", 7u64.to_le_bytes()).expect("puts");
    keyspace.delete("c").expect("deletes");
    db.compact().expect("compacts");
    assert_eq!(get(&keyspace, "b"), Some(7u64.to_le_bytes().to_vec()));
    assert_eq!(contents(&keyspace).len(), 2);
    db.assert_sound();
}
