//! Many ordered maps in one store.

use super::Job;
use crate::engine::Engine;
use crate::shape::Kind;

const SPACES: u64 = 1_000;
const RECORDS_A_SPACE: u64 = 100;

/// Makes them, puts records to each in turn, reads them, and opens the store again.
pub(super) fn run<E: Engine>(job: &mut Job) -> E {
    let spaces = SPACES.min(job.data.records / 10);
    let names: Vec<String> = (0..spaces).map(|space| format!("space-{space:04}")).collect();
    let records = (spaces * RECORDS_A_SPACE).min(job.data.records);
    let mut engine = E::open(&job.dir);
    let maps = job.time("/create", "keyspaces", |_, recorder| {
        let maps = engine.spaces(&names);
        recorder.done(spaces);
        maps
    });
    let mut buffer = Vec::new();
    let done = job.time("/put", "puts", |data, recorder| {
        for number in 0..records {
            let key = data.key(number, Kind::Loaded);
            engine.put_in(
                &maps[(number % spaces) as usize],
                &key,
                data.value(&key, 0, &mut buffer),
            );
            if !recorder.done(1) {
                return number + 1;
            }
        }
        records
    });
    job.time("/get", "gets", |data, recorder| {
        for number in 0..done {
            let key = data.key(number, Kind::Loaded);
            let map = &maps[(number % spaces) as usize];
            assert!(
                engine
                    .get_in(map, &key, |value| data.check(&key, value))
                    .is_some()
            );
            if !recorder.done(1) {
                break;
            }
        }
    });
    drop(maps);
    engine.settle();
    drop(engine);
    let dir = job.dir.clone();
    job.time("/reopen", "opens", |_, recorder| {
        let mut engine = E::open(&dir);
        engine.spaces(&names);
        recorder.done(1);
        engine
    })
}
