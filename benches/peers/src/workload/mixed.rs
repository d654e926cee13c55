//! Reading while another thread writes at a steady pace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Job;
use super::read::{warm_up, with_readers};
use crate::engine::Engine;
use crate::measure::Recorder;
use crate::random::{Order, Random};
use crate::shape::{Data, Kind};

const WRITES_A_SECOND: u64 = 20_000;
/// Writes between two looks at the clock.
const WRITES_AT_ONCE: u64 = 20;

/// Gets of all records by one thread; a writer beside it overwrites records at random. The writes are a part of their own: what pace they kept.
pub(super) fn read_while_writing<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let order = Order::new(job.data.records, job.seed(3));
    let seed = job.seed(6);
    let written = job.time("", "gets", |data, recorder| {
        let is_over = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            let beside = recorder.beside();
            let writer = scope.spawn(move || write(engine, data, beside, seed, is_over));
            with_readers(engine, 0..data.records, recorder, |reader, index| {
                let key = data.key(order.at(index), Kind::Loaded);
                let version = E::get_by(reader, &key, |value| data.check(&key, value));
                assert!(
                    version.is_some_and(|version| version <= 1),
                    "a record that is there"
                );
            });
            is_over.store(true, Ordering::Relaxed);
            writer.join().unwrap()
        })
    });
    job.note("/writes", "puts", &written);
}

fn write<E: Engine>(
    engine: &E,
    data: &Data,
    recorder: Recorder,
    seed: u64,
    is_over: &AtomicBool,
) -> Recorder {
    let mut recorder = recorder.on_this_thread();
    let mut random = Random::new(seed);
    let mut buffer = Vec::new();
    let begin = Instant::now();
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let due = Duration::from_nanos(count * 1_000_000_000 / WRITES_A_SECOND);
        let early = due.saturating_sub(begin.elapsed());
        if !early.is_zero() {
            std::thread::sleep(early);
        }
        for _ in 0..WRITES_AT_ONCE {
            let key = data.key(random.below(data.records), Kind::Loaded);
            engine.put(&key, data.value(&key, 1, &mut buffer));
            recorder.done(1);
        }
        count += WRITES_AT_ONCE;
    }
    recorder.stop()
}
