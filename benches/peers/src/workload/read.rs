//! Reading a settled store, by one thread.

use super::Job;
use crate::engine::Engine;
use crate::random::{Order, Random};
use crate::shape::{Data, Kind};

const WARM_GETS: u64 = 200_000;
const SEEKS: u64 = 2_000_000;
const SCANS: u64 = 3;

/// Reads everything once in order and part of it at random: what an engine caches is cached, and what it checks at first touch
/// is checked.
pub(super) fn warm_up<E: Engine>(engine: &E, data: &Data) {
    scan_once(engine, data, false);
    let mut random = Random::new(17);
    for _ in 0..WARM_GETS.min(data.records) {
        let key = data.key(random.below(data.records), Kind::Loaded);
        assert!(engine.get(&key, |value| data.check(&key, value)).is_some());
    }
}

/// Gets of records that are there, each once.
pub(super) fn random<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(3));
    job.time("", job.seconds, |data, recorder| {
        for index in 0..data.records {
            let key = data.key(order.at(index), Kind::Loaded);
            let version = engine.get(&key, |value| data.check(&key, value));
            assert_eq!(version, Some(0), "version of what was loaded");
            if !recorder.done(1) {
                break;
            }
        }
    });
}

/// Gets of keys that lie between those that are there.
pub(super) fn missing<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(4));
    job.time("", job.seconds, |data, recorder| {
        for index in 0..data.records {
            let key = data.key(order.at(index), Kind::Missing);
            assert!(engine.get(&key, |_| ()).is_none(), "a key that was never written");
            if !recorder.done(1) {
                break;
            }
        }
    });
}

/// Seeks to a record that is there, then reads from it on.
pub(super) fn seek<E: Engine>(engine: &E, job: &mut Job, len: u64) {
    warm_up(engine, &job.data);
    let mut random = Random::new(job.seed(5));
    job.time("", job.seconds, |data, recorder| {
        for _ in 0..SEEKS.min(data.records) / len {
            let first = random.below(data.records - len);
            let from = data.key(first, Kind::Loaded);
            let to = data.key(first + len - 1, Kind::Loaded);
            let (mut seen, mut is_first, mut is_last) = (0, false, false);
            engine.scan(&from, len, |key, value| {
                data.check(key, value);
                is_first |= seen == 0 && *key == *from;
                seen += 1;
                is_last = *key == *to;
            });
            assert!(
                seen == len && is_first && is_last,
                "a seek to record {first} reads on from it"
            );
            if !recorder.done(1) {
                break;
            }
        }
    });
}

/// The whole store in order.
pub(super) fn scan<E: Engine>(engine: &E, job: &mut Job, reverse: bool) {
    warm_up(engine, &job.data);
    let expected = sum_of_all(&job.data);
    job.time("", job.seconds, |data, recorder| {
        for _ in 0..SCANS {
            assert_eq!(scan_once(engine, data, reverse), expected, "what a scan sees");
            if !recorder.done(data.records) {
                break;
            }
        }
    });
}

/// Count and sum of what one scan sees.
fn scan_once<E: Engine>(engine: &E, data: &Data, reverse: bool) -> (u64, u64) {
    let mut sum = 0_u64;
    let visit = |key: &[u8], value: &[u8]| {
        data.check(key, value);
        sum = sum.wrapping_add(last_word(key));
    };
    let count = if reverse {
        engine.scan_back(u64::MAX, visit)
    } else {
        engine.scan(&data.key(0, Kind::Loaded), u64::MAX, visit)
    };
    (count, sum)
}

fn sum_of_all(data: &Data) -> (u64, u64) {
    let sum = (0..data.records)
        .map(|number| last_word(&data.key(number, Kind::Loaded)))
        .fold(0, u64::wrapping_add);
    (data.records, sum)
}

fn last_word(key: &[u8]) -> u64 {
    u64::from_le_bytes(key[key.len() - 8..].try_into().unwrap())
}
