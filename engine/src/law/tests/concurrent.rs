//! Merges while others read, flush and compact.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::tests::{TestDb, manual};
use crate::{AddU64, Background, Keyspace, KeyspaceOptions};

fn counters(db: &TestDb) -> Keyspace {
    let options = KeyspaceOptions::default()
        .value_width_bytes(8)
        .compose(AddU64::NAME, AddU64);
    db.keyspace("counters", options).expect("opens")
}

fn count(keyspace: &Keyspace, key: &[u8]) -> u64 {
    let value = keyspace.get(key).expect("get");
    value.map_or(0, |value| {
        u64::from_le_bytes(value[..].try_into().expect("8 bytes"))
    })
}

/// An operand was once applied twice elsewhere, when a read raced with a flush, and when a flushed one was replayed.
#[test]
fn a_counter_says_what_was_acknowledged_while_gets_flushes_and_reopens_race() {
    let mut db = TestDb::open(
        manual()
            .background(Background::Threads)
            .memtable_bytes(4 << 10)
            .l0_compaction_trigger(2),
    );
    let acknowledged = [const { AtomicU64::new(0) }; 3];
    for round in 0..6u64 {
        let keyspace = counters(&db);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..2u64 {
                let (db, keyspace, acknowledged, done) = (&db, &keyspace, &acknowledged, &done);
                scope.spawn(move || {
                    for step in 0..1_500u64 {
                        let index = (step % 3) as usize;
                        keyspace
                            .merge(index.to_be_bytes(), 1u64.to_le_bytes())
                            .expect("merge");
                        acknowledged[index].fetch_add(1, Ordering::AcqRel);
                        // Others, so that memtables turn over.
                        db.put((step % 50).to_be_bytes(), [b'v'; 20]).expect("put");
                        if step % 500 == 250 {
                            db.flush().expect("flush");
                        }
                    }
                    if thread == 0 {
                        done.store(true, Ordering::Release);
                    }
                });
            }
            scope.spawn(|| {
                let mut seen = [0; 3];
                while !done.load(Ordering::Acquire) {
                    for (index, seen) in seen.iter_mut().enumerate() {
                        let before = acknowledged[index].load(Ordering::Acquire);
                        let found = count(&keyspace, &index.to_be_bytes());
                        let after = acknowledged[index].load(Ordering::Acquire);
                        assert!(before <= found, "round {round}: {found} of {before} acknowledged");
                        // Each writer may have committed one merge that it has not counted yet.
                        assert!(
                            found <= after + 2,
                            "round {round}: {found} of at most {after} + 2"
                        );
                        assert!(*seen <= found, "a counter never goes back");
                        *seen = found;
                    }
                    let snapshot = db.snapshot();
                    let walked: Vec<_> = snapshot
                        .iter(&keyspace)
                        .map(|item| item.expect("an entry"))
                        .collect();
                    for (key, value) in walked {
                        assert_eq!(snapshot.get(&keyspace, &key).expect("get"), Some(value));
                    }
                }
            });
        });
        for (index, acknowledged) in acknowledged.iter().enumerate() {
            assert_eq!(
                count(&keyspace, &index.to_be_bytes()),
                acknowledged.load(Ordering::Acquire)
            );
        }
        drop(keyspace);
        db.reopen();
        let keyspace = counters(&db);
        for (index, acknowledged) in acknowledged.iter().enumerate() {
            let found = count(&keyspace, &index.to_be_bytes());
            assert_eq!(
                found,
                acknowledged.load(Ordering::Acquire),
                "round {round}, reopened"
            );
        }
    }
    db.assert_sound();
}
