//! Keyspaces taken as they are, and laws that go by their name.

use super::{TestDb, manual};
use crate::{BitString, Error, ExistingKeyspace, KeyspaceOptions};

#[test]
fn existing_keyspaces_come_with_their_settings_and_nothing_is_created() {
    let mut db = TestDb::open(manual());
    let counters = KeyspaceOptions::default()
        .value_width_bytes(8)
        .law_by_name("add-u64");
    db.keyspace("counters", counters).expect("creates");
    db.bit_keyspace("routes", KeyspaceOptions::default().value_width_bits(16))
        .expect("creates");
    let foreign = KeyspaceOptions::default()
        .law_by_name("theirs")
        .target_table_bytes(1 << 20);
    db.keyspace("foreign", foreign).expect("creates");
    db.reopen();

    assert!(db.existing_keyspace("nowhere").expect("open").is_none());
    assert_eq!(db.keyspace_names(), ["", "counters", "routes", "foreign"]);
    let infos = db.keyspace_infos();
    let facts: Vec<_> = infos
        .iter()
        .map(|info| {
            (
                info.is_of_bits,
                info.value_width_units,
                info.law.as_deref(),
                info.is_law_known,
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            (false, None, None, true),
            (false, Some(8), Some("add-u64"), true),
            (true, Some(16), None, true),
            (false, None, Some("theirs"), false)
        ]
    );
    for info in &infos {
        let existing = db.existing_keyspace(&info.name).expect("open").expect("there");
        assert_eq!(existing.info(), *info);
        // The options of what is there open it again.
        if info.is_of_bits {
            db.bit_keyspace(&info.name, info.options())
                .expect("the same settings");
        } else {
            db.keyspace(&info.name, info.options())
                .expect("the same settings");
        }
    }
}

#[test]
fn a_law_by_name_composes_if_it_is_known_and_else_refuses_what_needs_it() {
    let db = TestDb::open(manual());
    let named = |law: &str| KeyspaceOptions::default().law_by_name(law);
    let known = db.keyspace("known", named("append-bytes")).expect("creates");
    known.merge("k", "a").expect("merges");
    known.merge("k", "b").expect("merges");
    assert_eq!(known.get("k").expect("composes").as_deref(), Some(&b"ab"[..]));

    let foreign = db.keyspace("foreign", named("theirs")).expect("creates");
    foreign.put("k", "v").expect("puts need no law");
    assert_eq!(foreign.get("k").expect("one record").as_deref(), Some(&b"v"[..]));
    assert!(matches!(foreign.merge("k", "w"), Err(Error::LawUnknown { .. })));
    foreign.delete("k").expect("deletes need no law");

    let long = "x".repeat(256);
    for bad in ["", "replace", long.as_str()] {
        let refused = db.keyspace("bad", named(bad)).expect_err("no law's name");
        assert!(matches!(refused, Error::InvalidOption { .. }), "{refused}");
    }
    assert!(
        db.bit_keyspace("bits", named("append-bytes")).is_err(),
        "bits have no laws"
    );
    assert!(db.existing_keyspace("bad").expect("open").is_none());
}

#[test]
fn bit_keyspaces_are_measured_and_compacted_through_their_handle() {
    let db = TestDb::open(manual());
    let routes = db
        .bit_keyspace("routes", KeyspaceOptions::default())
        .expect("creates");
    let mut key = BitString::new();
    for round in 0..3 {
        key.push_bits(1, 5);
        routes.put(key.as_str(), key.as_str()).expect("put");
        db.flush().expect("flush");
        assert_eq!(routes.approximate_len().expect("counts"), round + 1);
    }
    assert_eq!(routes.approximate_size(..).expect("estimates").table_count, 3);
    routes.compact_range(.., &crate::Cancel::new()).expect("compacts");
    assert_eq!(routes.approximate_size(..).expect("estimates").table_count, 1);
    let Some(ExistingKeyspace::Bits(same)) = db.existing_keyspace("routes").expect("open") else {
        panic!("it holds bits");
    };
    assert_eq!(same.iter().count(), 3);
}
