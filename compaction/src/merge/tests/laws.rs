//! Associativity: the result does not depend on which inputs were merged first.

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Bit, BitStr, BitString, Byte, EncodedStream, Unit};

use super::support::{Records, TestUnit, encode, random_records};
use super::union::{assert_same, check_cuts, run};
use crate::merge::MergeUnit;
use crate::test_rng::TestRng;
use crate::{
    ComposeValues, ComposeWithKey, Composed, Law, LawFailure, MergeInput, Strategy, Values, WithKey,
};

/// Concatenation: associative, and as far from commutative as a law can be.
#[derive(Clone, Copy)]
struct Concatenate;

impl ComposeValues<Byte> for Concatenate {
    fn name(&self) -> &str {
        "concatenate"
    }

    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed<Vec<u8>>, LawFailure> {
        Ok(match (older, newer) {
            (_, []) => Composed::Older,
            ([], _) => Composed::Newer,
            _ => Composed::Owned([older, newer].concat()),
        })
    }
}

impl ComposeValues<Bit> for Concatenate {
    fn name(&self) -> &str {
        "concatenate"
    }

    fn compose(&self, older: BitStr<'_>, newer: BitStr<'_>) -> Result<Composed<BitString>, LawFailure> {
        let mut both = BitString::from(older);
        both.push_str(newer);
        Ok(Composed::Owned(both))
    }
}

/// Keys of odd length concatenate, the others replace: a law that has to see the key.
#[derive(Clone, Copy)]
struct ByKey;

impl<U: Unit> ComposeWithKey<U> for ByKey
where
    Concatenate: ComposeValues<U>,
{
    fn name(&self) -> &str {
        "by-key"
    }

    fn compose(
        &self,
        key: U::Str<'_>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        let starts_with_zero = U::get(key, 0) == Some(0);
        if U::len(key) % 2 == 1 || starts_with_zero {
            Concatenate.compose(older, newer)
        } else {
            Ok(Composed::Newer)
        }
    }
}

/// Affine maps `x -> a x + b` modulo 251 as two bytes, applied oldest first.
#[derive(Clone, Copy)]
struct Affine;

impl ComposeValues<Byte> for Affine {
    fn name(&self) -> &str {
        "affine"
    }

    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed<Vec<u8>>, LawFailure> {
        let [older_factor, older_offset] = older else {
            return Err(LawFailure::new("not a map"));
        };
        let [factor, offset] = newer else {
            return Err(LawFailure::new("not a map"));
        };
        let modulo = |number: u32| u8::try_from(number % 251).expect("below 251");
        let product = |left: &u8, right: &u8| u32::from(*left) * u32::from(*right);
        let composed_offset = product(factor, older_offset) + u32::from(*offset);
        Ok(Composed::Owned(vec![
            modulo(product(factor, older_factor)),
            modulo(composed_offset),
        ]))
    }
}

fn merge<U: MergeUnit, L: Law<U>>(
    rng: &mut TestRng,
    streams: &[EncodedStream],
    law: L,
    strategy: Strategy,
    place: &str,
) -> EncodedStream {
    let inputs: Vec<_> = streams
        .iter()
        .map(|stream| MergeInput::<U>::certified(stream.view()))
        .collect();
    run(rng, &inputs, law, strategy, place).0
}

/// Merges streams under every parenthesisation; calls `check` with each result.
fn parenthesise<U: MergeUnit, L: Law<U> + Copy>(
    rng: &mut TestRng,
    streams: &[EncodedStream],
    law: L,
    place: &str,
) -> Vec<EncodedStream> {
    if let [only] = streams {
        return vec![only.clone()];
    }
    let mut results = Vec::new();
    for split in 1..streams.len() {
        let older = parenthesise::<U, L>(rng, &streams[..split], law, place);
        let newer = parenthesise::<U, L>(rng, &streams[split..], law, place);
        for older in &older {
            for newer in &newer {
                let pair = [older.clone(), newer.clone()];
                results.push(merge::<U, L>(rng, &pair, law, Strategy::Encoded, place));
            }
        }
    }
    results
}

/// What a law makes of records, oldest first.
fn folded<'r>(
    records: impl Iterator<Item = (&'r Vec<u8>, &'r Vec<u8>)>,
    fold: impl Fn(&[u8], &[u8], &[u8]) -> Vec<u8>,
) -> Records {
    let mut folded = Records::new();
    for (key, value) in records {
        let composed = folded
            .get(key)
            .map_or_else(|| value.clone(), |older| fold(key, older, value));
        folded.insert(key.clone(), composed);
    }
    folded
}

/// A law over inputs some of whose records are dead, cut behind every few keys.
fn check_dead_and_cut<U: TestUnit + MergeUnit, L: Law<U> + Copy>(
    rng: &mut TestRng,
    inputs: &[Records],
    streams: &[EncodedStream],
    law: L,
    fold: impl Fn(&[u8], &[u8], &[u8]) -> Vec<u8>,
    strategy: Strategy,
    place: &str,
) {
    let dead: Vec<_> = inputs
        .iter()
        .map(|records| {
            let mut dead = OrdinalBitmap::new(records.len() as u64);
            for ordinal in 0..records.len() as u64 {
                if rng.one_in(3) {
                    dead.insert(ordinal);
                }
            }
            dead
        })
        .collect();
    let live = inputs.iter().zip(&dead).flat_map(|(records, dead)| {
        let numbered = (0_u64..).zip(records);
        numbered.filter_map(|(ordinal, record)| (!dead.contains(ordinal)).then_some(record))
    });
    let given: Vec<_> = streams
        .iter()
        .zip(&dead)
        .map(|(stream, dead)| MergeInput::<U> {
            dead: Some(dead),
            ..MergeInput::certified(stream.view())
        })
        .collect();
    let expected = folded(live, fold);
    check_cuts(
        rng,
        &given,
        law,
        strategy,
        &expected,
        &format!("{place}, {strategy:?}, dead"),
    );
}

fn check_associativity<U: TestUnit + MergeUnit, L: Law<U> + Copy>(
    seed: u64,
    law: L,
    width: Option<usize>,
    fold: impl Fn(&[u8], &[u8], &[u8]) -> Vec<u8>,
) {
    let mut rng = TestRng::new(seed);
    let policy = U::policies(2)[usize::from(width.is_some())];
    // Four inputs that share most of their keys.
    let pool = random_records::<U>(&mut rng, &policy, 60);
    let mut inputs = vec![Records::new(); 4];
    for key in pool.keys() {
        for records in &mut inputs {
            if !rng.one_in(3) {
                let units = width.unwrap_or_else(|| usize::try_from(rng.below(6)).unwrap());
                let unit =
                    |rng: &mut TestRng| u8::try_from(rng.below(if U::BITS == 1 { 2 } else { 251 })).unwrap();
                records.insert(key.clone(), (0..units).map(|_| unit(&mut rng)).collect());
            }
        }
    }
    let expected = encode::<U>(policy, &folded(inputs.iter().flatten(), &fold));
    let streams: Vec<_> = inputs
        .iter()
        .map(|records| encode::<U>(policy, records))
        .collect();
    let place = format!("seed {seed}, {}", law.name());
    for strategy in [Strategy::Encoded, Strategy::Materialised, Strategy::Naive] {
        let at_once = merge::<U, L>(&mut rng, &streams, law, strategy, &place);
        assert_same(
            &at_once,
            &expected,
            &format!("{place}, {strategy:?}, all at once"),
        );
        check_dead_and_cut::<U, L>(&mut rng, &inputs, &streams, law, &fold, strategy, &place);
    }
    let results = parenthesise::<U, L>(&mut rng, &streams, law, &place);
    assert_eq!(results.len(), 5, "four inputs have five parenthesisations");
    for (index, result) in results.iter().enumerate() {
        assert_same(result, &expected, &format!("{place}, parenthesisation {index}"));
    }
}

fn concatenated(older: &[u8], newer: &[u8]) -> Vec<u8> {
    [older, newer].concat()
}

fn by_key(key: &[u8], older: &[u8], newer: &[u8]) -> Vec<u8> {
    let concatenates = key.len() % 2 == 1 || key.first() == Some(&0);
    if concatenates {
        concatenated(older, newer)
    } else {
        newer.to_vec()
    }
}

#[test]
fn concatenation_is_associative() {
    for seed in 0..40 {
        check_associativity::<Byte, _>(seed, Values(Concatenate), None, |_, older, newer| {
            concatenated(older, newer)
        });
        check_associativity::<Bit, _>(seed, Values(Concatenate), None, |_, older, newer| {
            concatenated(older, newer)
        });
    }
}

#[test]
fn a_law_that_sees_the_key_is_associative() {
    for seed in 0..40 {
        check_associativity::<Byte, _>(seed, WithKey(ByKey), None, by_key);
        check_associativity::<Bit, _>(seed, WithKey(ByKey), None, by_key);
    }
}

#[test]
fn affine_maps_compose_in_chronological_order() {
    for seed in 0..40 {
        check_associativity::<Byte, _>(seed, Values(Affine), Some(2), |_, older, newer| {
            let Ok(Composed::Owned(composed)) = Affine.compose(older, newer) else {
                panic!("two maps")
            };
            composed
        });
    }
}
