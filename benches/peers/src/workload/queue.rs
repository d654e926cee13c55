//! A queue: first in, first out.

use super::Job;
use crate::engine::Engine;
use crate::shape::Kind;

const DEPTH: u64 = 1_000;

/// Keeps a queue at its depth: an operation puts a record behind the last, looks for the first from the lowest key on, checks that it is
/// the oldest, and deletes it.
pub(super) fn run<E: Engine>(engine: &E, job: &mut Job) {
    let mut buffer = Vec::new();
    for number in 0..DEPTH {
        let key = job.data.key(number, Kind::Loaded);
        engine.put(&key, job.data.value(&key, 0, &mut buffer));
    }
    let front = job.data.key(0, Kind::Loaded);
    let popped = job.time("", "push and pop", |data, recorder| {
        for number in DEPTH..data.records {
            let last = data.key(number, Kind::Loaded);
            engine.put(&last, data.value(&last, 0, &mut buffer));
            let first = data.key(number - DEPTH, Kind::Loaded);
            let count = engine.scan(&front, 1, |key, value| {
                data.check(key, value);
                assert_eq!(*key, *first, "the oldest record is popped first");
            });
            assert_eq!(count, 1, "a queue that is not empty");
            engine.delete(&first);
            if !recorder.done(1) {
                return number - DEPTH + 1;
            }
        }
        data.records - DEPTH
    });
    let count = engine.scan(&front, u64::MAX, |_, _| ());
    assert_eq!(count, DEPTH, "depth of the queue after {popped} pops");
}
