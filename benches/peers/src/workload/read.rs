//! Reading a settled store.

use std::ops::Range;

use super::Job;
use crate::engine::Engine;
use crate::measure::Recorder;
use crate::random::{Order, Random};
use crate::shape::{Data, Kind};

const WARM_GETS: u64 = 200_000;
const SEEKS: u64 = 2_000_000;
const SCANS: u64 = 3;
const THREADS: u64 = 4;
/// Operations through one read transaction, where an engine has them: as a program does that answers a request by several reads.
const OPERATIONS_A_READER: u64 = 100;

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

/// Runs operations through readers that are renewed now and then, for as long as there is time.
pub(super) fn with_readers<E: Engine>(
    engine: &E,
    indices: Range<u64>,
    recorder: &mut Recorder,
    mut operation: impl FnMut(&E::Reader<'_>, u64),
) {
    let mut begin = indices.start;
    while begin < indices.end {
        let end = indices.end.min(begin + OPERATIONS_A_READER);
        let reader = engine.reader();
        for index in begin..end {
            operation(&reader, index);
            if !recorder.done(1) {
                return;
            }
        }
        begin = end;
    }
}

/// Gets of records that are there, each once.
pub(super) fn random<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(3));
    job.time("", "gets", |data, recorder| {
        with_readers(engine, 0..data.records, recorder, |reader, index| {
            get_loaded::<E>(reader, data, order.at(index));
        });
    });
}

fn get_loaded<E: Engine>(reader: &E::Reader<'_>, data: &Data, number: u64) {
    let key = data.key(number, Kind::Loaded);
    let version = E::get_by(reader, &key, |value| data.check(&key, value));
    assert_eq!(version, Some(0), "version of what was loaded");
}

/// Gets of keys that lie between those that are there.
pub(super) fn missing<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(4));
    job.time("", "gets", |data, recorder| {
        with_readers(engine, 0..data.records, recorder, |reader, index| {
            let key = data.key(order.at(index), Kind::Missing);
            assert!(
                E::get_by(reader, &key, |_| ()).is_none(),
                "a key that was never written"
            );
        });
    });
}

/// Gets of records that are there by several threads, each its share of them.
pub(super) fn random_by_threads<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(3));
    job.time("", "gets", |data, recorder| {
        let order = &order;
        std::thread::scope(|scope| {
            let share = data.records / THREADS;
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let recorder = recorder.beside();
                    scope.spawn(move || {
                        let mut recorder = recorder.on_this_thread();
                        with_readers(
                            engine,
                            thread * share..(thread + 1) * share,
                            &mut recorder,
                            |reader, index| get_loaded::<E>(reader, data, order.at(index)),
                        );
                        recorder.stop()
                    })
                })
                .collect();
            for thread in threads {
                recorder.join(&thread.join().unwrap());
            }
        });
    });
}

/// Seeks to a record that is there, then reads from it on.
pub(super) fn seek<E: Engine>(engine: &E, job: &mut Job, len: u64) {
    warm_up(engine, &job.data);
    let mut random = Random::new(job.seed(5));
    job.time("", "seeks", |data, recorder| {
        with_readers(engine, 0..SEEKS.min(data.records) / len, recorder, |reader, _| {
            let first = random.below(data.records - len);
            let from = data.key(first, Kind::Loaded);
            let to = data.key(first + len - 1, Kind::Loaded);
            let (mut seen, mut is_first, mut is_last) = (0, false, false);
            E::scan_by(reader, &from, len, |key, value| {
                data.check(key, value);
                is_first |= seen == 0 && *key == *from;
                seen += 1;
                is_last = *key == *to;
            });
            assert!(
                seen == len && is_first && is_last,
                "a seek to record {first} reads on from it"
            );
        });
    });
}

/// The whole store in order.
pub(super) fn scan<E: Engine>(engine: &E, job: &mut Job, reverse: bool) {
    warm_up(engine, &job.data);
    let expected = sum_of(&job.data, 0..job.data.records);
    job.time("", "records", |data, recorder| {
        for _ in 0..SCANS {
            assert_eq!(scan_once(engine, data, reverse), expected, "what a scan sees");
            if !recorder.done(data.records) {
                break;
            }
        }
    });
}

/// Count and sum of the keys that one scan sees.
pub(super) fn scan_once<E: Engine>(engine: &E, data: &Data, reverse: bool) -> (u64, u64) {
    let mut sum = 0_u64;
    let visit = |key: &[u8], value: &[u8]| {
        data.check(key, value);
        sum = sum.wrapping_add(last_word(key));
    };
    let count = if reverse {
        E::scan_back_by(&engine.reader(), visit)
    } else {
        engine.scan(&data.key(0, Kind::Loaded), u64::MAX, visit)
    };
    (count, sum)
}

/// What a scan sees of these records.
pub(super) fn sum_of(data: &Data, numbers: impl Iterator<Item = u64>) -> (u64, u64) {
    numbers
        .map(|number| last_word(&data.key(number, Kind::Loaded)))
        .fold((0, 0), |(count, sum), word| {
            (count + 1, u64::wrapping_add(sum, word))
        })
}

fn last_word(key: &[u8]) -> u64 {
    u64::from_le_bytes(key[key.len() - 8..].try_into().unwrap())
}
