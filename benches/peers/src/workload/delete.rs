//! Deleting, and reading what is left.

use super::Job;
use super::read::{scan_once, sum_of, warm_up};
use crate::engine::Engine;
use crate::random::{Order, Random};
use crate::shape::{Data, Kind};

const RUN: u64 = 100_000;
const SEEKS: u64 = 10_000;
const SCANS: u64 = 3;

/// Deletes half of the records one by one, in random order.
pub(super) fn half_at_random<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(9));
    let done = job.time("/delete", "deletes", |data, recorder| {
        for index in 0..data.records / 2 {
            engine.delete(&data.key(order.at(index), Kind::Loaded));
            if !recorder.done(1) {
                return index + 1;
            }
        }
        data.records / 2
    });
    let records = job.data.records;
    // In another order than they were deleted in, each with what is expected of it.
    let shuffled = Order::new(records, job.seed(10));
    job.time("/read", "gets", |data, recorder| {
        for index in 0..records {
            let index = shuffled.at(index);
            get(engine, data, order.at(index), index >= done);
            if !recorder.done(1) {
                break;
            }
        }
    });
    let left = sum_of(&job.data, (done..records).map(|index| order.at(index)));
    scans(engine, job, left);
}

/// Deletes the middle half of the keys at once.
pub(super) fn range<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let records = job.data.records;
    let gap = records / 4..records / 4 * 3;
    job.time("/delete", "deletes", |data, recorder| {
        let (from, to) = (data.key(gap.start, Kind::Loaded), data.key(gap.end, Kind::Loaded));
        engine.delete_range(&from, &to);
        recorder.done(1);
    });
    let left = sum_of(&job.data, (0..records).filter(|number| !gap.contains(number)));
    scans(engine, job, left);
    let order = Order::new(records, job.seed(9));
    job.time("/read", "gets", |data, recorder| {
        for index in 0..records {
            let number = order.at(index);
            get(engine, data, number, !gap.contains(&number));
            if !recorder.done(1) {
                break;
            }
        }
    });
}

/// Deletes adjacent records one by one, then seeks to where they were.
pub(super) fn run<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let records = job.data.records;
    let begin = records / 3;
    let end = job.time("/delete", "deletes", |data, recorder| {
        let end = begin + RUN.min(records / 2);
        for number in begin..end {
            engine.delete(&data.key(number, Kind::Loaded));
            if !recorder.done(1) {
                return number + 1;
            }
        }
        end
    });
    let mut random = Random::new(job.seed(9));
    job.time("/seek", "seeks", |data, recorder| {
        let next = data.key(end, Kind::Loaded);
        for _ in 0..SEEKS {
            let from = data.key(begin + random.below(end - begin), Kind::Loaded);
            let mut is_next = false;
            engine.scan(&from, 1, |key, value| {
                data.check(key, value);
                is_next = *key == *next;
            });
            assert!(is_next, "a seek into the gap leads behind it");
            if !recorder.done(1) {
                break;
            }
        }
    });
}

fn get<E: Engine>(engine: &E, data: &Data, number: u64, is_there: bool) {
    let key = data.key(number, Kind::Loaded);
    let version = engine.get(&key, |value| data.check(&key, value));
    assert_eq!(version.is_some(), is_there, "record {number}");
}

fn scans<E: Engine>(engine: &E, job: &mut Job, left: (u64, u64)) {
    job.time("/scan", "records", |data, recorder| {
        for _ in 0..SCANS {
            assert_eq!(scan_once(engine, data, false), left, "what is left");
            if !recorder.done(left.0) {
                break;
            }
        }
    });
}
