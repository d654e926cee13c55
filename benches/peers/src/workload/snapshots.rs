//! Many snapshots, held while records are overwritten.

use super::Job;
use super::read::warm_up;
use crate::engine::Engine;
use crate::random::{Order, Random};
use crate::shape::Kind;

const SNAPSHOTS: u64 = 100;
const GETS: u64 = 200_000;

/// Overwrites a tenth of the records and takes a snapshot at each hundredth of that; then reads through all of them.
pub(super) fn run<E: Engine>(engine: &E, job: &mut Job) {
    warm_up(engine, &job.data);
    let puts = (job.data.records / 10).max(SNAPSHOTS);
    let order = Order::new(job.data.records, job.seed(12));
    let step = puts / SNAPSHOTS;
    // A snapshot, and how many puts it has seen.
    let snapshots = job.time("/overwrite", "puts", |data, recorder| {
        let mut snapshots = Vec::new();
        let mut buffer = Vec::new();
        for index in 0..puts {
            if index % step == 0 {
                snapshots.push((engine.snapshot(), index));
            }
            let key = data.key(order.at(index), Kind::Loaded);
            engine.put(&key, data.value(&key, 1, &mut buffer));
            if !recorder.done(1) {
                break;
            }
        }
        snapshots
    });
    let mut random = Random::new(job.seed(13));
    job.time("/read", "gets", |data, recorder| {
        for _ in 0..GETS.min(data.records) {
            let (snapshot, seen) = &snapshots[random.below(snapshots.len() as u64) as usize];
            let index = random.below(puts);
            let key = data.key(order.at(index), Kind::Loaded);
            let version = E::get_at(snapshot, &key, |value| data.check(&key, value));
            assert_eq!(
                version,
                Some(u8::from(index < *seen)),
                "put {index} in a snapshot that has seen {seen}"
            );
            if !recorder.done(1) {
                break;
            }
        }
    });
}
