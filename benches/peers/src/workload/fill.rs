//! Writing: into an empty store, and over what is there.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Job;
use crate::engine::{Engine, Records};
use crate::random::Order;
use crate::shape::{Data, Kind};

const BATCH_RECORDS: u64 = 1_000;
const DURABLE_PUTS: u64 = 10_000;
const DURABLE_THREADS: u64 = 8;

/// Puts the records that `number` names, one commit each, and says how many there was time for.
fn puts<E: Engine>(engine: &E, job: &mut Job, seconds: f64, version: u8, number: impl Fn(u64) -> u64) -> u64 {
    job.time_for(seconds, "", "puts", |data, recorder| {
        let mut buffer = Vec::new();
        for index in 0..data.records {
            let key = data.key(number(index), Kind::Loaded);
            engine.put(&key, data.value(&key, version, &mut buffer));
            if !recorder.done(1) {
                return index + 1;
            }
        }
        data.records
    })
}

/// In key order.
pub(super) fn sequential<E: Engine>(engine: &E, job: &mut Job) {
    puts(engine, job, f64::INFINITY, 0, |index| index);
    check_all(engine, &job.data);
}

/// In random order.
pub(super) fn random<E: Engine>(engine: &E, job: &mut Job) {
    let order = Order::new(job.data.records, job.seed(1));
    puts(engine, job, f64::INFINITY, 0, |index| order.at(index));
    check_all(engine, &job.data);
}

/// Over the records that are there, in another random order.
pub(super) fn overwrite<E: Engine>(engine: &E, job: &mut Job) {
    let order = Order::new(job.data.records, job.seed(2));
    let done = puts(engine, job, job.seconds, 1, |index| order.at(index));
    let data = &job.data;
    for index in (0..done).step_by(97) {
        let key = data.key(order.at(index), Kind::Loaded);
        let version = engine.get(&key, |value| data.check(&key, value));
        assert_eq!(version, Some(1), "version after it was overwritten");
    }
}

/// In random order, a thousand a commit.
pub(super) fn batches<E: Engine>(engine: &E, job: &mut Job) {
    let order = Order::new(job.data.records, job.seed(1));
    job.time_for(f64::INFINITY, "", "records", |data, recorder| {
        let mut buffer = Vec::new();
        let mut records = Records::default();
        let mut begin = 0;
        while begin < data.records {
            let end = data.records.min(begin + BATCH_RECORDS);
            records.clear();
            for index in begin..end {
                let key = data.key(order.at(index), Kind::Loaded);
                records.push(&key, data.value(&key, 0, &mut buffer));
            }
            engine.put_batch(&records);
            recorder.done(end - begin);
            begin = end;
        }
    });
    check_all(engine, &job.data);
}

/// In random order, each durable before the next.
pub(super) fn durable<E: Engine>(engine: &E, job: &mut Job) {
    let order = Order::new(job.data.records, job.seed(1));
    job.time("", "puts", |data, recorder| {
        let mut buffer = Vec::new();
        for index in 0..data.records.min(DURABLE_PUTS) {
            let key = data.key(order.at(index), Kind::Loaded);
            engine.put_sync(&key, data.value(&key, 0, &mut buffer));
            if !recorder.done(1) {
                break;
            }
        }
    });
}

/// In random order by several threads, each put durable before the thread's next.
pub(super) fn durable_by_threads<E: Engine>(engine: &E, job: &mut Job) {
    let order = Order::new(job.data.records, job.seed(1));
    let next = AtomicU64::new(0);
    job.time("", "puts", |data, recorder| {
        let (order, next) = (&order, &next);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..DURABLE_THREADS)
                .map(|_| {
                    let recorder = recorder.beside();
                    scope.spawn(move || {
                        let mut recorder = recorder.on_this_thread();
                        let mut buffer = Vec::new();
                        loop {
                            let index = next.fetch_add(1, Ordering::Relaxed);
                            if index >= data.records.min(DURABLE_PUTS) {
                                return recorder.stop();
                            }
                            let key = data.key(order.at(index), Kind::Loaded);
                            engine.put_sync(&key, data.value(&key, 0, &mut buffer));
                            if !recorder.done(1) {
                                return recorder.stop();
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                recorder.join(&thread.join().unwrap());
            }
        });
    });
}

/// All records are there, each with the value of its key.
pub(super) fn check_all<E: Engine>(engine: &E, data: &Data) {
    let first = data.key(0, Kind::Loaded);
    let count = engine.scan(&first, u64::MAX, |key, value| {
        data.check(key, value);
    });
    assert_eq!(count, data.records, "records after the store was filled");
}
