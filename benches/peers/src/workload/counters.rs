//! Counters: a number of eight bytes a key, to be added to.

use super::Job;
use crate::engine::{Engine, number};
use crate::random::{Random, mix};
use crate::shape::Kind;

const ADDS_A_COUNTER: u64 = 10;

/// Adds by reading and writing, then, where the engine can, by merging; then reads all counters and checks the sum.
pub(super) fn run<E: Engine>(job: &mut Job) -> E {
    let engine = E::open_counters(&job.dir);
    let counters = job.data.records / ADDS_A_COUNTER;
    let adds = job.data.records;
    let seed = job.seed(11);
    let mut total = 0_u64;
    let ways: &[(&str, bool)] = if E::MERGES {
        &[("/read and write", false), ("/merge", true)]
    } else {
        &[("/read and write", false)]
    };
    for &(name, merges) in ways {
        total += job.time(name, "adds", |data, recorder| {
            let mut random = Random::new(seed);
            let mut sum = 0;
            for index in 0..adds {
                let key = data.key(random.below(counters), Kind::Loaded);
                let amount = mix(index) & 0xff;
                if merges {
                    engine.merge(&key, amount);
                } else {
                    engine.add(&key, amount);
                }
                sum += amount;
                if !recorder.done(1) {
                    break;
                }
            }
            sum
        });
    }
    let counted = job.time("/read", "gets", |data, recorder| {
        let mut sum = 0;
        for counter in 0..counters {
            let key = data.key(counter, Kind::Loaded);
            sum += engine.get(&key, number).unwrap_or(0);
            if !recorder.done(1) {
                return None;
            }
        }
        Some(sum)
    });
    assert!(
        counted.is_none_or(|counted| counted == total),
        "the counters' sum is {counted:?} of {total}"
    );
    engine
}
