use super::*;
use crate::tests::Rng;
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

type Said = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn said(memtable: &Memtable) -> Said {
    let entries = memtable.range(0, Bound::Unbounded, Bound::Unbounded);
    let value = |entry: EntryRef<'_>| entry.is_live().then(|| entry.value().to_vec());
    entries
        .map(|entry| (entry.key().to_vec(), value(entry)))
        .collect()
}

/// A change of a memtable and of what it ought to say. Emptied often: that is when bytes may go that somebody still has.
fn change(memtable: &mut Memtable, other: &mut Memtable, model: &mut Said, rng: &mut Rng) {
    let key = format!("{:03}", rng.below(150)).into_bytes();
    match rng.below(40) {
        0..18 => {
            let value = vec![b'v'; rng.below(400)];
            memtable.write(put(0, &key, &value));
            model.insert(key, Some(value));
        }
        18..24 => {
            memtable.write(Write::delete(0, &key));
            model.insert(key, None);
        }
        24..28 => {
            memtable.delete_traceless(0, &key);
            model.remove(&key);
        }
        // Entries that go through hands of their own: out of this memtable, or out of another one's arena.
        28..32 => {
            if let Some(entry) = memtable.take_state(0, &key) {
                memtable.insert(entry);
            }
        }
        32..36 => {
            other.write(put(0, &key, b"of another arena"));
            let entry = other.get(0, &key).expect("just written").to_entry();
            if rng.below(4) == 0 {
                *other = Memtable::default();
            }
            memtable.insert(entry);
            model.insert(key, Some(b"of another arena".to_vec()));
        }
        36 => {
            let keys: Vec<Vec<u8>> = (0..rng.below(60))
                .map(|number| format!("{number:03}").into_bytes())
                .collect();
            memtable.write_all(keys.iter().map(|key| put(0, key, b"at once")));
            model.extend(keys.into_iter().map(|key| (key, Some(b"at once".to_vec()))));
        }
        37 => {
            for key in std::mem::take(model).into_keys() {
                memtable.remove(0, &key);
            }
        }
        38 => {
            let end = format!("{:03}", rng.below(150)).into_bytes();
            memtable.delete_range(Interval::new(0, &key, Some(&end)), false);
            model.retain(|other, _| *other < key || *other >= end);
        }
        _ => {
            memtable.delete_range(Interval::new(0, b"", None), false);
            model.clear();
        }
    }
}

/// Under a sanitizer, a byte that is freed too early is found here; without one, a byte that is written twice.
#[test]
fn clones_and_entries_keep_their_bytes_whatever_becomes_of_the_memtable() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let (mut memtable, mut other, mut model) = (Memtable::default(), Memtable::default(), Said::new());
        let mut clones: Vec<(Memtable, Said)> = Vec::new();
        let mut entries: Vec<(Entry, Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for _ in 0..600 {
            change(&mut memtable, &mut other, &mut model, &mut rng);
            if rng.below(6) == 0 {
                clones.push((memtable.clone(), model.clone()));
            }
            if let Some((key, value)) = model.iter().nth(rng.below(40)) {
                let entry = memtable.get(0, key).expect("the model has it").to_entry();
                entries.push((entry, key.clone(), value.clone()));
            }
            if clones.len() > 12 {
                // A clone is written on its own as well, in the arena that it shares.
                let (mut clone, mut model) = clones.swap_remove(rng.below(clones.len()));
                assert_eq!(said(&clone), model, "seed {seed}");
                change(&mut clone, &mut other, &mut model, &mut rng);
                assert_eq!(said(&clone), model, "seed {seed}");
            }
            if entries.len() > 40 {
                let (entry, key, value) = entries.swap_remove(rng.below(entries.len()));
                let entry = entry.as_ref();
                assert_eq!(
                    (entry.key(), entry.is_live()),
                    (&key[..], value.is_some()),
                    "seed {seed}"
                );
                assert_eq!(entry.value(), value.unwrap_or_default(), "seed {seed}");
            }
        }
        assert_eq!(said(&memtable), model, "seed {seed}");
        drop((memtable, other));
        for (entry, key, value) in entries {
            assert_eq!(entry.as_ref().key(), key, "seed {seed}");
            assert_eq!(entry.as_ref().value(), value.unwrap_or_default(), "seed {seed}");
        }
        for (clone, model) in clones {
            assert_eq!(said(&clone), model, "seed {seed}");
        }
    }
}

#[test]
fn readers_of_clones_and_the_writer_do_not_meet() {
    let published = parking_lot::RwLock::new((Memtable::default(), Said::new()));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut held = Vec::new();
                while !done.load(std::sync::atomic::Ordering::Acquire) {
                    let (clone, model) = published.read().clone();
                    assert_eq!(said(&clone), model);
                    held.push((clone, model));
                    if held.len() > 4 {
                        let (clone, model) = held.remove(0);
                        assert_eq!(said(&clone), model);
                    }
                }
            });
        }
        let mut rng = Rng::new(1);
        let mut other = Memtable::default();
        for _ in 0..2000 {
            let mut published = published.write();
            let (memtable, model) = &mut *published;
            change(memtable, &mut other, model, &mut rng);
        }
        done.store(true, std::sync::atomic::Ordering::Release);
    });
}
