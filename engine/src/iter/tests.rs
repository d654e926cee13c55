//! Ranges against a model, over memtables and tables in every mixture.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::tests::{Rng, TestDb, manual};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys that are prefixes of each other, with zeros and 0xFF everywhere.
fn key(rng: &mut Rng) -> Vec<u8> {
    let alphabet = [0x00, 0x01, b'a', 0xFE, 0xFF];
    let len = rng.below(5);
    (0..len).map(|_| alphabet[rng.below(alphabet.len())]).collect()
}

/// A database whose keys lie in the active memtable, frozen ones, flushed tables and sorted runs, with deletes in all of them.
fn mixed(seed: u64) -> (TestDb, Model) {
    let mut rng = Rng::new(seed);
    let db = TestDb::open(manual().memtable_bytes(4 << 10).target_table_bytes(512));
    let mut model = Model::new();
    for step in 0..600u32 {
        let key = key(&mut rng);
        if rng.below(3) == 0 {
            db.delete(&key).expect("delete");
            model.remove(&key);
        } else {
            let value = step.to_be_bytes().to_vec();
            db.put(&key, &value).expect("put");
            model.insert(key, value);
        }
        match rng.below(60) {
            0 => db.flush().expect("flush"),
            1 => drop(db.run_background_step().expect("background step")),
            2 if step < 400 => db.compact().expect("compact"),
            _ => {}
        }
    }
    (db, model)
}

fn bound(rng: &mut Rng) -> Bound<Vec<u8>> {
    match rng.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(key(rng)),
        _ => Bound::Excluded(key(rng)),
    }
}

fn expected(model: &Model, bounds: &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> Vec<(Vec<u8>, Vec<u8>)> {
    let contains = |key: &[u8]| {
        let lower = match &bounds.0 {
            Bound::Unbounded => true,
            Bound::Included(lower) => key >= &lower[..],
            Bound::Excluded(lower) => key > &lower[..],
        };
        let upper = match &bounds.1 {
            Bound::Unbounded => true,
            Bound::Included(upper) => key <= &upper[..],
            Bound::Excluded(upper) => key < &upper[..],
        };
        lower && upper
    };
    model
        .iter()
        .filter(|(key, _)| contains(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn collected(
    range: impl Iterator<Item = crate::Result<(crate::Key, crate::Value)>>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    range
        .map(|item| item.expect("readable"))
        .map(|(key, value)| (key.into_vec(), value.to_vec()))
        .collect()
}

#[test]
fn ranges_with_all_kinds_of_bounds_equal_the_model_in_both_directions() {
    for seed in 0..12 {
        let (db, model) = mixed(seed);
        let mut rng = Rng::new(seed ^ 0x5EED);
        for _ in 0..60 {
            let bounds = (bound(&mut rng), bound(&mut rng));
            let mut expected = expected(&model, &bounds);
            assert_eq!(
                collected(db.range(bounds.clone())),
                expected,
                "seed {seed}, {bounds:?}"
            );
            expected.reverse();
            assert_eq!(
                collected(db.range(bounds.clone()).rev()),
                expected,
                "seed {seed}, {bounds:?} reversed"
            );
        }
    }
}

#[test]
fn alternating_ends_meet_exactly_once() {
    for seed in 0..12 {
        let (db, model) = mixed(seed);
        let mut rng = Rng::new(seed ^ 0xA17);
        for _ in 0..40 {
            let bounds = (bound(&mut rng), bound(&mut rng));
            let mut expected: std::collections::VecDeque<_> = expected(&model, &bounds).into();
            let mut range = db.range(bounds.clone());
            loop {
                let (found, wanted) = if rng.below(2) == 0 {
                    (range.next(), expected.pop_front())
                } else {
                    (range.next_back(), expected.pop_back())
                };
                let found = found.map(|item| item.expect("readable"));
                let found = found.map(|(key, value)| (key.into_vec(), value.to_vec()));
                assert_eq!(found, wanted, "seed {seed}, {bounds:?}");
                if found.is_none() {
                    break;
                }
            }
            assert!(
                range.next().is_none() && range.next_back().is_none(),
                "an ended range stays ended"
            );
        }
    }
}

#[test]
fn prefixes_also_of_0xff_bytes_equal_a_filter() {
    let (db, model) = mixed(77);
    let prefixes: [&[u8]; 9] = [
        b"",
        b"\0",
        b"a",
        b"a\xff",
        b"\xff",
        b"\xff\xff",
        b"\xff\xff\xff",
        b"\xfe\xff",
        b"a\xff\xff",
    ];
    for prefix in prefixes {
        let mut expected: Vec<_> = model.iter().filter(|(key, _)| key.starts_with(prefix)).collect();
        let found = collected(db.prefix(prefix));
        assert!(
            found.iter().map(|(k, v)| (k, v)).eq(expected.iter().copied()),
            "prefix {prefix:x?}"
        );
        expected.reverse();
        let found = collected(db.prefix(prefix).rev());
        assert!(
            found.iter().map(|(k, v)| (k, v)).eq(expected),
            "prefix {prefix:x?} reversed"
        );
    }
}

#[test]
fn a_range_sees_its_instant_whatever_is_written_flushed_or_compacted_meanwhile() {
    let (db, model) = mixed(5);
    let mut range = db.iter();
    let first = range.next().map(|item| item.expect("readable").0.into_vec());
    for key in model.keys() {
        db.delete(key).expect("delete");
    }
    db.put("new", "key").expect("put");
    db.flush().expect("flush");
    db.compact().expect("compact");
    assert!(collected(db.iter()).len() == 1);
    let rest = collected(range).into_iter().map(|(key, _)| key);
    assert!(
        first.into_iter().chain(rest).eq(model.keys().cloned()),
        "every key, once"
    );
}

#[test]
fn inverted_and_empty_bounds_are_empty_and_return_no_neighbour() {
    let (db, _) = mixed(3);
    assert_eq!(collected(db.range("b".."a")).len(), 0);
    assert_eq!(collected(db.range("a".."a")).len(), 0);
    assert_eq!(collected(db.range(..b"")).len(), 0);
    assert_eq!(
        collected(db.range((Bound::Excluded("a"), Bound::Included("a"))).rev()).len(),
        0
    );
}

/// Where an end of a range stands.
#[derive(Clone, Debug)]
enum End {
    AtBound,
    /// Sent to this key.
    Sent(Vec<u8>),
    /// Has handed out this key.
    Behind(Vec<u8>),
}

#[test]
fn ends_can_be_sent_ahead_and_back_and_walk_on_from_there() {
    for seed in 0..12 {
        let (db, model) = mixed(seed);
        let mut rng = Rng::new(seed ^ 0x5EE6);
        for _ in 0..20 {
            let bounds = (bound(&mut rng), bound(&mut rng));
            let all = expected(&model, &bounds);
            let mut range = db.range(bounds.clone());
            let (mut front, mut back, mut is_over) = (End::AtBound, End::AtBound, false);
            for step in 0..60 {
                let context = format!("seed {seed}, {bounds:?}, step {step}, {front:?} {back:?}");
                let sought = key(&mut rng);
                match rng.below(8) {
                    0 => {
                        back = if is_over { End::AtBound } else { back };
                        range.seek(&sought);
                        (front, is_over) = (End::Sent(sought), false);
                    }
                    1 => {
                        front = if is_over { End::AtBound } else { front };
                        range.seek_back(&sought);
                        (back, is_over) = (End::Sent(sought), false);
                    }
                    side => {
                        let left = all.iter().filter(|(key, _)| {
                            let is_behind_front = match &front {
                                End::AtBound => true,
                                End::Sent(at) => key >= at,
                                End::Behind(at) => key > at,
                            };
                            let is_before_back = match &back {
                                End::AtBound => true,
                                End::Sent(at) => key <= at,
                                End::Behind(at) => key < at,
                            };
                            is_behind_front && is_before_back && !is_over
                        });
                        let left: Vec<_> = left.collect();
                        let is_front = side % 2 == 0;
                        let next = if is_front { left.first() } else { left.last() }.copied();
                        let is_lent = rng.below(2) == 0;
                        let found = if is_lent {
                            let lent = if is_front {
                                range.lend_next()
                            } else {
                                range.lend_next_back()
                            };
                            let lent = lent.expect("readable");
                            lent.map(|(key, value)| (key.to_vec(), value.to_vec()))
                        } else {
                            let item = if is_front { range.next() } else { range.next_back() };
                            let item = item.map(|item| item.expect("readable"));
                            item.map(|(key, value)| (key.into_vec(), value.to_vec()))
                        };
                        assert_eq!(found.as_ref(), next, "{context}");
                        match found {
                            None => is_over = true,
                            Some((key, _)) if side % 2 == 0 => front = End::Behind(key),
                            Some((key, _)) => back = End::Behind(key),
                        }
                    }
                }
            }
        }
    }
}
