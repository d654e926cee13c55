//! Workloads that live on deletes: what they cost is counted, not timed.

use super::{TestDb, manual};
use crate::iter::effort::take_steps;

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// Pushes at the tail, pops at the head by scan and delete: each pop steps over a bounded number of things however long it goes on, and
/// the files stay few and small.
#[test]
fn a_queue_costs_the_same_after_300_000_operations_and_keeps_its_size() {
    let db = TestDb::open(manual().memtable_bytes(64 << 10).target_table_bytes(64 << 10));
    let (mut head, mut tail) = (0, 0);
    let mut most_steps = Vec::new();
    let mut most_bytes = 0;
    for _ in 0..30 {
        let mut most = 0;
        for number in 0..5_000 {
            db.put(key(tail), [b'v'; 16]).expect("put");
            tail += 1;
            if tail - head <= 1_000 {
                continue;
            }
            take_steps();
            let (first, _) = db.iter().next().expect("not empty").expect("readable");
            most = most.max(take_steps());
            assert_eq!(first, key(head), "the head of the queue");
            db.delete(&first).expect("delete");
            head += 1;
            // As often as the thread would at some ten thousand operations a second.
            if number % 20 == 0 {
                db.run_background_step().expect("background step");
            }
        }
        let stats = db.stats();
        most_bytes = most_bytes.max(stats.table_bytes);
        assert!(stats.table_count < 12, "{stats:?}");
        most_steps.push(most);
    }
    let early = *most_steps[1..4].iter().max().expect("three");
    let late = *most_steps[27..].iter().max().expect("three");
    assert!(
        late <= early.max(60),
        "steps of the most expensive pop: {most_steps:?}"
    );
    assert!(
        most_bytes < 512 << 10,
        "{most_bytes} bytes of tables for a thousand records"
    );
    db.assert_sound();
}

/// A live set churned many times, in three orders of keys: the disk holds a small multiple of it.
#[test]
fn churn_keeps_the_disk_within_a_small_multiple_of_the_live_set() {
    for order in ["sequential", "random", "window"] {
        let db = TestDb::open(manual().memtable_bytes(64 << 10).target_table_bytes(64 << 10));
        let mut rng = super::Rng::new(7);
        let live = 4_000u32;
        let value = [b'v'; 32];
        for number in 0..live {
            db.put(key(number), value).expect("put");
        }
        for number in 0..60_000u32 {
            let (removed, added) = match order {
                "sequential" => (number % live, number % live),
                "random" => {
                    let at = u32::try_from(rng.below(live as usize)).expect("small");
                    (at, at)
                }
                _ => (number, number + live),
            };
            db.delete(key(removed)).expect("delete");
            db.put(key(added), value).expect("put");
            if number % 50 == 0 {
                while db.run_background_step().expect("background step") {}
            }
        }
        while db.run_background_step().expect("background step") {}
        db.flush().expect("flush");
        while db.run_background_step().expect("background step") {}
        let stats = db.stats();
        let live_bytes = u64::from(live) * 36;
        assert_eq!(db.iter().count(), live as usize, "{order}");
        assert!(
            stats.table_bytes <= live_bytes * 5 / 2,
            "{order}: {} bytes for {live_bytes}",
            stats.table_bytes
        );
        db.assert_sound();
    }
}

/// Ten thousand range deletes waiting in memory, then settled, then flushed: a walk takes one more step for each that it meets and none
/// for others.
#[test]
fn ten_thousand_range_deletes_cost_a_walk_only_what_it_meets() {
    let db = TestDb::open(manual().memtable_bytes(64 << 20));
    for number in 0..100_000 {
        db.put(key(number), "v").expect("put");
    }
    db.flush().expect("flush");
    let steps_of_seek = |at: u32| {
        take_steps();
        let first = db.range(key(at)..).next().expect("there").expect("readable");
        (first.0.to_vec(), take_steps())
    };
    let (_, before) = steps_of_seek(50_009);
    for number in 0..10_000 {
        db.delete_range(key(number * 10)..key(number * 10 + 9))
            .expect("deletes");
    }
    for round in ["waiting", "settled", "flushed"] {
        match round {
            "settled" => while db.run_background_step().expect("background step") {},
            "flushed" => db.flush().expect("flush"),
            _ => assert_eq!(db.stats().memtable_range_delete_count, 10_000),
        }
        let (found, after) = steps_of_seek(50_000);
        assert_eq!(found, key(50_009));
        assert!(after <= before + 3, "{round}: {after} steps, {before} before");
        take_steps();
        assert_eq!(db.iter().count(), 10_000, "{round}");
        let steps = take_steps();
        assert!(
            steps < 10_000 * 6,
            "{round}: {steps} steps for 10,000 keys of 100,000"
        );
        take_steps();
        assert_eq!(db.iter().rev().count(), 10_000, "{round} reversed");
        assert!(take_steps() < 10_000 * 6, "{round} reversed");
        assert!(!db.contains(key(77)).expect("get") && db.contains(key(79)).expect("get"));
    }
    db.assert_sound();
}

#[test]
fn a_seek_across_a_hundred_thousand_deleted_neighbours_costs_a_few_steps() {
    let db = TestDb::open(manual().memtable_bytes(64 << 20).pending_deletes_max(1 << 20));
    for number in 0..120_000 {
        db.put(key(number), "v").expect("put");
    }
    db.flush().expect("flush");
    for number in 10_000..110_000 {
        db.delete(key(number)).expect("delete");
    }
    while db.run_background_step().expect("background step") {}
    for round in ["settled", "flushed"] {
        take_steps();
        let (first, _) = db.range(key(10_000)..).next().expect("there").expect("readable");
        assert_eq!(first, key(110_000));
        let (last, _) = db
            .range(..key(110_000))
            .next_back()
            .expect("there")
            .expect("readable");
        assert_eq!(last, key(9_999));
        let steps = take_steps();
        assert!(steps <= 10, "{round}: {steps} steps");
        db.flush().expect("flush");
    }
}

/// Counts are kept right by every kind of write, in every layer.
#[test]
fn the_approximate_length_is_the_length_where_every_key_is_written_once() {
    let db = TestDb::open(
        manual()
            .memtable_bytes(4 << 10)
            .target_table_bytes(4 << 10)
            .frozen_memtables_max(4),
    );
    let mut rng = super::Rng::new(3);
    let mut alive = std::collections::BTreeSet::new();
    for number in 0..6_000u32 {
        match rng.below(10) {
            0..6 => {
                // Spread over the key space, and never twice.
                let number = number.wrapping_mul(0x9E37_79B1);
                db.put(key(number), "v").expect("put");
                alive.insert(number);
            }
            6..8 => {
                let from = u32::try_from(rng.next() & 0xFFFF_FFFF).expect("32 bits");
                if let Some(&doomed) = alive.range(from..).next() {
                    db.delete(key(doomed)).expect("delete");
                    alive.remove(&doomed);
                }
            }
            8 if rng.below(4) == 0 => {
                let from = u32::try_from(rng.next() & 0xFFFF_FFFF).expect("32 bits");
                let to = from.saturating_add(1 << 26);
                db.delete_range(key(from)..key(to)).expect("deletes");
                alive.retain(|number| !(from..to).contains(number));
            }
            8 => drop(db.run_background_step().expect("background step")),
            _ if rng.below(50) == 0 => db.compact().expect("compact"),
            _ => {}
        }
        if number % 10 == 0 {
            let found = db.approximate_len().expect("counts");
            assert_eq!(found, alive.len() as u64, "step {number}");
        }
    }
    assert_eq!(db.iter().count(), alive.len());
    db.clear().expect("clears");
    assert_eq!(db.approximate_len().expect("counts"), 0);
    db.put("k", "v").expect("put");
    assert_eq!(db.approximate_len().expect("counts"), 1);
}
