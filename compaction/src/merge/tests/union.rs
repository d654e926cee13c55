//! The output is the batch encoding of the union: payload, metadata, every word of the directory.

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Bit, Byte, EncodedStream};

use super::support::{KnownPrefixes, RandomInputs, Records, TestUnit, encode, union};
use crate::merge::{BlockPrefixes, MergeUnit};
use crate::test_rng::TestRng;
use crate::{Law, MergeInput, Merger, Replace, Strategy, Trust};

const STRATEGIES: [Strategy; 5] = [
    Strategy::Encoded,
    Strategy::Materialised,
    Strategy::Tree { materialised: false },
    Strategy::Tree { materialised: true },
    Strategy::Naive,
];

/// Merges with random budgets and checks what each step reports.
pub(super) fn run<U: MergeUnit, L: Law<U>>(
    rng: &mut TestRng,
    inputs: &[MergeInput<'_, U>],
    law: L,
    strategy: Strategy,
    place: &str,
) -> (EncodedStream, u64) {
    let mut merger =
        Merger::with_strategy(inputs, law, strategy).unwrap_or_else(|error| panic!("{place}: {error}"));
    let (mut keys, mut records) = (0, 0);
    loop {
        let budget = rng.below(40);
        let progress = merger
            .step(budget)
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(progress.keys <= budget, "{place}");
        keys += progress.keys;
        records += progress.records;
        if progress.done {
            break;
        }
    }
    let output = merger.finish().unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(keys, output.meta.record_count, "{place}");
    (output, records)
}

/// Merges with a cut behind every key or every few, and compares each output with the batch encoding of its records.
pub(super) fn check_cuts<U: TestUnit + MergeUnit, L: Law<U>>(
    rng: &mut TestRng,
    inputs: &[MergeInput<'_, U>],
    law: L,
    strategy: Strategy,
    expected: &Records,
    place: &str,
) {
    let policy = inputs[0].stream.meta.policy;
    let mut merger =
        Merger::with_strategy(inputs, law, strategy).unwrap_or_else(|error| panic!("{place}: {error}"));
    let keys_max = [1, 1, 2, 20][usize::try_from(rng.below(4)).unwrap()];
    let mut left = expected.iter().map(|(key, value)| (key.clone(), value.clone()));
    while !merger.is_done() {
        let budget = rng.range(1, keys_max + 1);
        let keys = merger
            .step(budget)
            .unwrap_or_else(|error| panic!("{place}: {error}"))
            .keys;
        let part: Records = left.by_ref().take(usize::try_from(keys).unwrap()).collect();
        let found = merger.cut().unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_same(&found, &encode::<U>(policy, &part), &format!("{place}, cut"));
    }
    assert_eq!(left.next(), None, "{place}: records are left");
}

pub(super) fn assert_same(found: &EncodedStream, expected: &EncodedStream, place: &str) {
    assert_eq!(found.meta, expected.meta, "{place}: metadata");
    let differs = found
        .payload
        .iter()
        .zip(&expected.payload)
        .position(|(left, right)| left != right);
    assert!(
        found.payload == expected.payload,
        "{place}: payload differs at byte {differs:?}"
    );
    assert_eq!(found.directory, expected.directory, "{place}: directory");
}

fn check_union<U: TestUnit + MergeUnit>(seed: u64) {
    let mut rng = TestRng::new(seed);
    let inputs_max = if rng.one_in(2) { 2 } else { 16 };
    let inputs = 1 + rng.below(inputs_max);
    let random = RandomInputs::new::<U>(&mut rng, inputs);
    let expected = encode::<U>(random.policy, &union(&random.records));
    let records: u64 = random.records.iter().map(|records| records.len() as u64).sum();
    for strategy in STRATEGIES {
        for trust in [Trust::Validating, Trust::Certified] {
            if trust == Trust::Certified && random.redundant {
                continue;
            }
            let place = format!("seed {seed}, {strategy:?}, {trust:?}");
            let given: Vec<_> = random
                .streams
                .iter()
                .map(|stream| MergeInput::<U> {
                    trust,
                    ..MergeInput::validating(stream.view())
                })
                .collect();
            let (found, consumed) = run(&mut rng, &given, Replace, strategy, &place);
            assert_same(&found, &expected, &place);
            assert_eq!(consumed, records, "{place}: records");
            if seed.is_multiple_of(4) {
                check_cuts(
                    &mut rng,
                    &given,
                    Replace,
                    strategy,
                    &union(&random.records),
                    &place,
                );
            }
        }
    }
}

#[test]
fn byte_outputs_are_the_batch_encoding_of_the_union() {
    (0..400).for_each(check_union::<Byte>);
}

#[test]
fn bit_outputs_are_the_batch_encoding_of_the_union() {
    (0..400).for_each(check_union::<Bit>);
}

/// A random dead set: single records, intervals, everything.
fn random_dead_set(rng: &mut TestRng, record_count: u64) -> OrdinalBitmap {
    let mut dead = OrdinalBitmap::new(record_count);
    if record_count == 0 {
        return dead;
    }
    match rng.below(4) {
        0 => {
            dead.insert_range(0..record_count);
        }
        1 => {
            for _ in 0..rng.below(record_count) {
                dead.insert(rng.below(record_count));
            }
        }
        _ => {
            for _ in 0..rng.below(4) {
                let start = rng.below(record_count);
                dead.insert_range(start..start + rng.below(record_count - start + 1));
            }
        }
    }
    dead
}

fn without_dead(records: &Records, dead: &OrdinalBitmap, range: &std::ops::Range<u64>) -> Records {
    let numbered = (0_u64..).zip(records);
    let live = numbered.filter(|(ordinal, _)| !dead.contains(*ordinal) && range.contains(ordinal));
    live.map(|(_, (key, value))| (key.clone(), value.clone()))
        .collect()
}

fn check_partial_inputs<U: TestUnit + MergeUnit>(seed: u64) {
    let mut rng = TestRng::new(seed);
    let inputs_max = if rng.one_in(2) { 2 } else { 6 };
    let inputs = 1 + rng.below(inputs_max);
    let random = RandomInputs::new::<U>(&mut rng, inputs);
    let dead: Vec<_> = random
        .records
        .iter()
        .map(|records| random_dead_set(&mut rng, records.len() as u64))
        .collect();
    let with_ranges = rng.one_in(2);
    let ranges: Vec<_> = random
        .records
        .iter()
        .map(|records| {
            let count = records.len() as u64;
            let start = if with_ranges { rng.below(count + 1) } else { 0 };
            start..if with_ranges {
                rng.range(start, count + 1)
            } else {
                count
            }
        })
        .collect();
    let prefixes: Vec<_> = random
        .records
        .iter()
        .map(|records| KnownPrefixes::new(&random.policy, records))
        .collect();
    let with_prefixes = rng.one_in(2);
    let live: Vec<_> = random
        .records
        .iter()
        .zip(dead.iter().zip(&ranges))
        .map(|(records, (dead, range))| without_dead(records, dead, range))
        .collect();
    let given: Vec<_> = (0..random.streams.len())
        .map(|index| MergeInput::<U> {
            stream: random.streams[index].view(),
            trust: if random.redundant {
                Trust::Validating
            } else {
                Trust::Certified
            },
            dead: Some(&dead[index]),
            ordinals: with_ranges.then(|| ranges[index].clone()),
            prefixes: with_prefixes.then_some(&prefixes[index] as &dyn BlockPrefixes<U>),
        })
        .collect();
    let expected = encode::<U>(random.policy, &union(&live));
    for strategy in STRATEGIES {
        let place = format!("seed {seed}, {strategy:?}");
        let (found, _) = run(&mut rng, &given, Replace, strategy, &place);
        assert_same(&found, &expected, &place);
        check_cuts(&mut rng, &given, Replace, strategy, &union(&live), &place);
    }
}

#[test]
fn dead_records_and_ranges_of_byte_inputs() {
    (0..400).for_each(check_partial_inputs::<Byte>);
}

#[test]
fn dead_records_and_ranges_of_bit_inputs() {
    (0..400).for_each(check_partial_inputs::<Bit>);
}
