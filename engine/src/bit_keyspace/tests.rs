//! Keyspaces of bit strings against a sorted map of bits, through every layer.

use std::collections::BTreeMap;
use std::ops::Bound;

use tephra_sstable::BitString;

use super::BitKeyspace;
use crate::error::Error;
use crate::options::{Durability, KeyspaceOptions, Options};
use crate::tests::{Rng, TestDb, manual};

/// Ordered as bit strings are: a prefix before its extensions.
type Bits = Vec<bool>;
type Model = BTreeMap<Bits, Bits>;

fn string(bits: &[bool]) -> BitString {
    let mut string = BitString::new();
    bits.iter().for_each(|&bit| string.push_bits(u64::from(bit), 1));
    string
}

fn bits_of(string: tephra_sstable::BitStr<'_>) -> Bits {
    (0..string.len())
        .map(|at| string.get(at).expect("within"))
        .collect()
}

fn random_bits(rng: &mut Rng, len_max: usize) -> Bits {
    // Long runs of one bit make keys that share much, and groups of 64 that are all zeros or all ones.
    let mostly = rng.below(2) == 0;
    (0..rng.below(len_max + 1))
        .map(|_| mostly != (rng.below(8) == 0))
        .collect()
}

fn open_bits(db: &TestDb, options: KeyspaceOptions) -> BitKeyspace {
    db.bit_keyspace("bits", options).expect("opens")
}

fn read_all(keyspace: &BitKeyspace) -> Vec<(Bits, Bits)> {
    let items = keyspace.iter().map(|item| {
        let (key, value) = item.expect("readable");
        (bits_of(key.as_str()), bits_of(value.bits()))
    });
    items.collect()
}

fn check(keyspace: &BitKeyspace, model: &Model, rng: &mut Rng, context: &str) {
    let expected: Vec<_> = model
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    assert_eq!(read_all(keyspace), expected, "{context}");
    let mut backward: Vec<Bits> = keyspace
        .iter()
        .rev()
        .map(|item| bits_of(item.expect("readable").0.as_str()))
        .collect();
    backward.reverse();
    assert!(backward.iter().eq(model.keys()), "{context}");
    for _ in 0..10 {
        let probe = random_bits(rng, 140);
        let found = keyspace.get(string(&probe).as_str()).expect("readable");
        assert_eq!(
            found.map(|value| bits_of(value.bits())),
            model.get(&probe).cloned(),
            "{context}: {probe:?}"
        );
        let prefix = &probe[..probe.len().min(rng.below(20))];
        let counted = keyspace.prefix(string(prefix).as_str()).count();
        let expected = model.keys().filter(|key| key.starts_with(prefix)).count();
        assert_eq!(counted, expected, "{context}: prefix {prefix:?}");
        let (from, to) = (probe, random_bits(rng, 140));
        let (lower, upper) = (string(&from), string(&to));
        let range = (Bound::Excluded(lower.as_str()), Bound::Included(upper.as_str()));
        let counted = keyspace.range(range).count();
        let expected = model.keys().filter(|&key| *key > from && *key <= to).count();
        assert_eq!(counted, expected, "{context}: {from:?} to {to:?}");
    }
}

#[test]
fn bit_keyspaces_equal_a_sorted_map_of_bits_in_every_layer() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let options = || {
            Options::memtable_bytes(manual(), 3_000)
                .target_table_bytes(800)
                .l0_compaction_trigger(2)
        };
        let mut db = TestDb::open(options());
        let mut keyspace = open_bits(&db, KeyspaceOptions::default());
        let mut model = Model::new();
        for step in 0..400 {
            let context = format!("seed {seed}, step {step}");
            match rng.below(60) {
                0 => db.flush().expect("flushes"),
                1 => db.compact().expect("compacts"),
                2 => {
                    drop(keyspace);
                    db.reopen();
                    keyspace = open_bits(&db, KeyspaceOptions::default());
                }
                3 => check(&keyspace, &model, &mut rng, &context),
                4 => {
                    let snapshot = db.snapshot();
                    let before = model.clone();
                    let key = random_bits(&mut rng, 140);
                    keyspace
                        .put(string(&key).as_str(), string(&key).as_str())
                        .expect("puts");
                    model.insert(key.clone(), key);
                    let seen = snapshot
                        .range_bits(&keyspace, ..)
                        .map(|item| bits_of(item.expect("readable").0.as_str()));
                    assert!(seen.eq(before.keys().cloned()), "{context}");
                }
                5 => {
                    let (from, to) = (random_bits(&mut rng, 140), random_bits(&mut rng, 140));
                    let (lower, upper) = (string(&from), string(&to));
                    let range = (Bound::Excluded(lower.as_str()), Bound::Included(upper.as_str()));
                    keyspace.delete_range(range).expect("deletes");
                    model.retain(|key, _| *key <= from || *key > to);
                }
                6 => {
                    let prefix = random_bits(&mut rng, 12);
                    keyspace.delete_prefix(string(&prefix).as_str()).expect("deletes");
                    model.retain(|key, _| !key.starts_with(&prefix));
                }
                7..15 => {
                    let existing = model.keys().nth(rng.below(model.len().max(1))).cloned();
                    let key = existing.unwrap_or_default();
                    keyspace.delete(string(&key).as_str()).expect("deletes");
                    model.remove(&key);
                }
                _ => {
                    let mut batch = db.batch();
                    for _ in 0..=rng.below(4) {
                        let (key, value) = (random_bits(&mut rng, 140), random_bits(&mut rng, 70));
                        batch.put_bits(&keyspace, string(&key).as_str(), string(&value).as_str());
                        model.insert(key, value);
                    }
                    batch.commit(Durability::Process).expect("commits");
                }
            }
        }
        db.flush().expect("flushes");
        db.compact().expect("compacts");
        check(&keyspace, &model, &mut rng, &format!("seed {seed}, at the end"));
        let report = db.verify().expect("runs");
        assert!(report.is_sound(), "seed {seed}: {report:?}");
    }
}

#[test]
fn tables_of_a_bit_keyspace_hold_bits_and_cost_bits() {
    let db = TestDb::open(manual());
    let keyspace = open_bits(&db, KeyspaceOptions::default());
    // Keys of 101 bits that differ in their last 20: the engine's form of one alone has 18 bytes.
    for number in 0..10_000_u64 {
        let mut key = string(&[true; 81]);
        key.push_bits(number, 20);
        keyspace
            .put(key.as_str(), string(&[number % 2 == 0]).as_str())
            .expect("puts");
    }
    db.flush().expect("flushes");
    let table_bytes = db.stats().table_bytes;
    assert!(
        table_bytes < 10_000 * 6,
        "{table_bytes} bytes for 10,000 records of 102 bits, filters included"
    );
    assert_eq!(keyspace.iter().count(), 10_000);
}

#[test]
fn a_width_counts_bits_and_units_do_not_mix() {
    let mut db = TestDb::open(manual());
    let keyspace = open_bits(&db, KeyspaceOptions::default().value_width_bits(3));
    let key = string(&[true]);
    keyspace
        .put(key.as_str(), string(&[true, false, true]).as_str())
        .expect("puts");
    let refused = keyspace.put(key.as_str(), string(&[true, false]).as_str());
    assert!(matches!(refused, Err(Error::ValueWidth { .. })), "{refused:?}");
    db.flush().expect("flushes");
    drop(keyspace);
    db.reopen();
    let as_bytes = db.keyspace("bits", KeyspaceOptions::default());
    assert!(
        matches!(as_bytes, Err(Error::KeyspaceMismatch { .. })),
        "{as_bytes:?}"
    );
    let other_width = db.bit_keyspace("bits", KeyspaceOptions::default().value_width_bits(4));
    assert!(
        matches!(other_width, Err(Error::KeyspaceMismatch { .. })),
        "{other_width:?}"
    );
    let keyspace = open_bits(&db, KeyspaceOptions::default().value_width_bits(3));
    let value = keyspace.get(key.as_str()).expect("readable").expect("there");
    assert_eq!(bits_of(value.bits()), [true, false, true]);
    let bytes_width = db.bit_keyspace("other", KeyspaceOptions::default().value_width_bytes(3));
    assert!(
        matches!(bytes_width, Err(Error::InvalidOption { .. })),
        "{bytes_width:?}"
    );
    let bits_width = db.keyspace("other", KeyspaceOptions::default().value_width_bits(3));
    assert!(
        matches!(bits_width, Err(Error::InvalidOption { .. })),
        "{bits_width:?}"
    );
}
