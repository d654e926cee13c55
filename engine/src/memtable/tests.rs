use super::*;
use std::collections::BTreeMap;

fn put<'a>(keyspace: u32, key: &'a [u8], value: &'a [u8]) -> Write<'a> {
    let kind = EntryKind::Put;
    Write {
        keyspace,
        kind,
        key,
        value,
    }
}

#[test]
fn orders_as_keyspace_then_unsigned_bytes_whatever_the_head() {
    let keys: [&[u8]; 9] = [
        b"",
        b"\0",
        b"\0\0",
        b"a",
        b"a\0",
        b"abcdefgh",
        b"abcdefgh\0",
        b"abcdefgi",
        b"\xff\xff",
    ];
    for (i, a) in keys.iter().enumerate() {
        for (j, b) in keys.iter().enumerate() {
            let arena = Arena::default();
            let slot = |write| Slot::new(write, &arena);
            assert_eq!(
                slot(put(1, a, b"x")).cmp(&slot(put(1, b, b"y"))),
                i.cmp(&j),
                "{a:?} against {b:?}"
            );
            assert!(slot(put(1, a, b"")) < slot(put(2, b, b"")));
        }
    }
}

#[test]
fn one_entry_a_key_and_the_last_write_wins() {
    let mut memtable = Memtable::default();
    memtable.write(put(0, b"k", b"1"));
    memtable.write(Write::delete(0, b"k"));
    assert_eq!(memtable.delete_count(), 1);
    memtable.write(put(0, b"k", b"22"));
    assert_eq!((memtable.len(), memtable.delete_count()), (1, 0));
    let entry = memtable.get(0, b"k").expect("inserted");
    assert_eq!((entry.key(), entry.value()), (&b"k"[..], &b"22"[..]));
    assert!(memtable.get(1, b"k").is_none());
    memtable.remove(0, b"k");
    assert_eq!((memtable.len(), memtable.cost_bytes()), (0, 0));
}

#[test]
fn a_clone_stays_as_it_was() {
    let mut memtable = Memtable::default();
    for i in 0..1000u32 {
        memtable.write(put(0, &i.to_be_bytes(), b"old"));
    }
    let frozen = memtable.clone();
    for i in 0..1000u32 {
        let key = i.to_be_bytes();
        memtable.write(if i % 2 == 0 {
            put(0, &key, b"new")
        } else {
            Write::delete(0, &key)
        });
    }
    assert!(frozen.iter().all(|entry| entry.value() == b"old") && frozen.len() == 1000);
    assert_eq!(memtable.delete_count(), 500);
}

#[test]
fn ranges_stay_inside_their_keyspace_at_both_ends() {
    let mut memtable = Memtable::default();
    let mut model = BTreeMap::new();
    for keyspace in [0, 7, u32::MAX] {
        for key in [&b""[..], b"a", b"ab", b"b", b"\xff", b"\xff\xff"] {
            memtable.write(put(keyspace, key, b"v"));
            model.insert((keyspace, key.to_vec()), ());
        }
    }
    let bounds = [
        Bound::Unbounded,
        Bound::Included(&b"a"[..]),
        Bound::Excluded(&b"a"[..]),
    ];
    let uppers = [
        Bound::Unbounded,
        Bound::Included(&b"b"[..]),
        Bound::Excluded(&b"b"[..]),
    ];
    for keyspace in [0, 7, u32::MAX] {
        for lower in bounds {
            for upper in uppers {
                let expected: Vec<Vec<u8>> = model
                    .keys()
                    .filter(|(k, key)| {
                        *k == keyspace && std::ops::RangeBounds::contains(&(lower, upper), &key[..])
                    })
                    .map(|(_, key)| key.clone())
                    .collect();
                let found: Vec<Vec<u8>> = memtable
                    .range(keyspace, lower, upper)
                    .map(|entry| entry.key().to_vec())
                    .collect();
                assert_eq!(found, expected);
                let mut back: Vec<Vec<u8>> = memtable
                    .range(keyspace, lower, upper)
                    .rev()
                    .map(|entry| entry.key().to_vec())
                    .collect();
                back.reverse();
                assert_eq!(back, expected);
            }
        }
    }
}
