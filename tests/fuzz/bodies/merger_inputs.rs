//! Merging what anybody may have written: one body for the fuzzer and for the seeded loop of the tests.
//!
//! The bytes choose a policy, one to five sets of records, and then mutations of the encodings: of payload bytes, of
//! counts and widths in the metadata, of directory words; then a law, dead records, ranges and cuts. What must hold:
//!
//! * A strict cursor decides what an input is. If it accepts all inputs, a validating merge gives the batch
//!   encoding of their union, by every strategy; if it refuses one, the merge fails, names an input that the
//!   cursor refuses too, stays failed, and gives no output.
//! * If all inputs are valid, a merge of what is alive in their ranges, under a law, cut wherever the bytes say, gives
//!   outputs that are the batch encodings of their records, by every strategy.
//! * A certified merge of anything, and a partial one, ends, without a panic and without reading what it may not.

use std::collections::BTreeMap;

use std::ops::Range;

use tephra_compaction::{
    ComposeWithKey, Composed, Law, LawFailure, MergeError, MergeInput, MergeUnit, Merger, Replace, Strategy,
    Trust, WithKey,
};
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Bit, Byte, EncodedStream, KeyCursor, Policy, Unit, encode_batch};

/// Bytes as choices; zeros behind their end.
struct Choices<'b> {
    bytes: &'b [u8],
}

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        first
    }

    fn below(&mut self, end: u8) -> u8 {
        self.next() % end
    }
}

/// Keys as packed bytes with their length in units, values likewise: what every strict decoding gives.
type Records = BTreeMap<(Vec<bool>, u64), Vec<bool>>;

fn bits_of<U: Unit>(string: U::Str<'_>) -> Vec<bool> {
    let mut bits = Vec::new();
    for at in 0..U::len(string) {
        let unit = U::get(string, at).expect("a unit below the length");
        bits.extend((0..U::BITS).rev().map(|bit| unit >> bit & 1 == 1));
    }
    bits
}

fn string_of<U: Unit>(bits: &[bool]) -> U::Owned {
    let mut bytes = vec![0_u8; bits.len().div_ceil(8)];
    for (at, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        bytes[at / 8] |= 0x80 >> (at % 8);
    }
    let mut owned = U::Owned::default();
    let string = U::string_at(&bytes, 0, bits.len() as u64 / U::BITS).expect("the bytes hold the bits");
    U::push(&mut owned, string);
    owned
}

/// Everything a strict cursor reads, or none if it refuses anything.
fn decode<U: Unit>(stream: &EncodedStream) -> Option<Records> {
    let mut cursor = KeyCursor::<U>::new(stream.view()).ok()?;
    let mut records = Records::new();
    while cursor.next().ok()? {
        let key = bits_of::<U>(cursor.key());
        let units = key.len() as u64;
        records.insert((key, units), bits_of::<U>(cursor.value()));
    }
    Some(records)
}

fn encode<U: Unit>(policy: Policy, records: &Records) -> EncodedStream {
    let owned: Vec<_> = records
        .iter()
        .map(|((key, _), value)| (string_of::<U>(key), string_of::<U>(value)))
        .collect();
    let strings: Vec<_> = owned
        .iter()
        .map(|(key, value)| (U::as_str(key), U::as_str(value)))
        .collect();
    encode_batch::<U>(policy, &strings).expect("a map's records are sorted")
}

fn random_records<U: Unit>(choices: &mut Choices<'_>, width: Option<u64>) -> Records {
    let mut records = Records::new();
    let mut key: Vec<bool> = Vec::new();
    for _ in 0..choices.below(40) {
        let how = choices.next();
        let unit_bits = usize::try_from(U::BITS).expect("1 or 8");
        let keep = key.len() / unit_bits * usize::from(how >> 5) / 7 * unit_bits;
        key.truncate(keep);
        for _ in 0..how & 7 {
            let byte = choices.next();
            key.extend((0..unit_bits).rev().map(|bit| byte >> bit & 1 == 1));
        }
        let width = width.unwrap_or_else(|| u64::from(choices.below(20)));
        let value_byte = choices.next();
        let value = (0..width * U::BITS)
            .map(|bit| value_byte >> (bit % 8) & 1 == 1)
            .collect();
        records.insert((key.clone(), key.len() as u64), value);
    }
    records
}

/// Changes one thing in an encoding.
fn mutate(choices: &mut Choices<'_>, stream: &mut EncodedStream) {
    let (place, how, by) = (choices.next(), choices.below(10), choices.next());
    let change = |word: &mut u64| {
        *word = word
            .wrapping_add(u64::from(by))
            .rotate_left(u32::from(how & 1) * 60)
    };
    let pick = |len: usize| (usize::from(place) * len.max(1)) >> 8;
    match how {
        0..=4 => {
            let at = pick(stream.payload.len());
            if let Some(byte) = stream.payload.get_mut(at) {
                *byte ^= by.max(1);
            }
        }
        5 => change(&mut stream.meta.record_count),
        6 => change(&mut stream.meta.extent_units),
        7 => change(&mut stream.meta.last_key_units),
        8 if stream.meta.policy.fixed_width().is_none() => {
            stream.meta.common_width = if by & 1 == 0 {
                None
            } else {
                Some(u64::from(by >> 1))
            };
        }
        _ => {
            let directory = &mut stream.directory;
            let words = if by & 1 == 0 {
                &mut directory.low
            } else {
                &mut directory.high
            };
            let at = pick(words.len());
            if let Some(word) = words.get_mut(at) {
                *word ^= 1 << (by >> 1 & 63);
            }
        }
    }
}

fn merge<U: MergeUnit>(
    streams: &[EncodedStream],
    trust: Trust,
    strategy: Strategy,
) -> Result<EncodedStream, MergeError> {
    let inputs: Vec<_> = streams
        .iter()
        .map(|stream| MergeInput::<U> {
            trust,
            ..MergeInput::validating(stream.view())
        })
        .collect();
    let mut merger = Merger::with_strategy(&inputs, Replace, strategy)?;
    loop {
        match merger.step(7) {
            Ok(progress) if progress.done => return merger.finish(),
            Ok(_) => {}
            Err(error) => {
                assert!(
                    matches!(merger.step(1), Err(MergeError::Poisoned { .. })),
                    "a failed merge stays failed"
                );
                assert!(
                    matches!(merger.finish(), Err(MergeError::Poisoned { .. })),
                    "a failed merge has no output"
                );
                return Err(error);
            }
        }
    }
}

const STRATEGIES: [Strategy; 4] = [
    Strategy::Encoded,
    Strategy::Materialised,
    Strategy::Tree { materialised: false },
    Strategy::Naive,
];

/// The older value, the newer one, or one behind the other, as the length of the key says.
#[derive(Clone, Copy)]
struct ByKey {
    concatenates: bool,
}

impl<U: Unit> ComposeWithKey<U> for ByKey {
    fn name(&self) -> &str {
        "by-key"
    }

    fn compose(
        &self,
        key: U::Str<'_>,
        older: U::Str<'_>,
        newer: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        Ok(match U::len(key) % 3 {
            0 => Composed::Older,
            2 if self.concatenates => {
                let mut both = U::Owned::default();
                U::push(&mut both, older);
                U::push(&mut both, newer);
                Composed::Owned(both)
            }
            _ => Composed::Newer,
        })
    }
}

/// Dead records and a range, for a stream of so many records.
fn part(choices: &mut Choices<'_>, record_count: u64) -> (OrdinalBitmap, Range<u64>) {
    let mut dead = OrdinalBitmap::new(record_count);
    let mut at = u64::from(choices.below(8));
    let (live, dying) = (1 + u64::from(choices.below(9)), u64::from(choices.below(9)));
    while dying > 0 && at < record_count {
        dead.insert_range(at..(at + dying).min(record_count));
        at += dying + live;
    }
    let place = |choice: u8| record_count * u64::from(choice) / 8;
    let start = place(choices.below(4));
    (dead, start..place(4 + choices.below(5)).max(start))
}

/// Merges parts of the inputs under a law, and cuts. `all` are the inputs' records, if all are valid.
fn check_partial<U: MergeUnit, L: Law<U> + Copy>(
    choices: &mut Choices<'_>,
    streams: &[EncodedStream],
    all: Option<&[Records]>,
    law: L,
    fold: impl Fn(u64, &[bool], &[bool]) -> Vec<bool>,
) {
    const RECORDS_MAX: u64 = 1000;
    if streams
        .iter()
        .any(|stream| stream.meta.record_count > RECORDS_MAX)
    {
        return; // a mutation; bitmaps of that size say nothing more
    }
    let parts: Vec<_> = streams
        .iter()
        .map(|stream| part(choices, stream.meta.record_count))
        .collect();
    let (keys_max, cuts) = (1 + u64::from(choices.below(20)), choices.below(2) == 1);
    let mut expected = Records::new();
    for (records, (dead, range)) in all.unwrap_or_default().iter().zip(&parts) {
        let numbered = (0_u64..).zip(records);
        for (_, (key, value)) in numbered.filter(|(at, _)| range.contains(at) && !dead.contains(*at)) {
            let composed = expected.get(key).map(|older| fold(key.1 / U::BITS, older, value));
            expected.insert(key.clone(), composed.unwrap_or_else(|| value.clone()));
        }
    }
    let trust = if choices.below(2) == 1 {
        Trust::Certified
    } else {
        Trust::Validating
    };
    let inputs: Vec<_> = streams
        .iter()
        .zip(&parts)
        .map(|(stream, (dead, range))| MergeInput::<U> {
            trust,
            dead: Some(dead),
            ordinals: Some(range.clone()),
            ..MergeInput::validating(stream.view())
        })
        .collect();
    for strategy in STRATEGIES {
        let Some(outputs) = merge_in_parts(&inputs, law, strategy, keys_max, cuts) else {
            assert!(all.is_none(), "{strategy:?}: refuses valid inputs");
            continue;
        };
        if all.is_none() {
            continue;
        }
        let mut left = expected.iter().map(|(key, value)| (key.clone(), value.clone()));
        for found in outputs {
            let records = usize::try_from(found.meta.record_count).expect("few records");
            let own: Records = left.by_ref().take(records).collect();
            assert!(
                found == encode::<U>(found.meta.policy, &own),
                "{strategy:?}: an output is not the encoding of its records"
            );
        }
        assert!(left.next().is_none(), "{strategy:?}: records are missing");
    }
}

/// The outputs of a merge, cut behind every step or not at all; none if it fails.
fn merge_in_parts<U: MergeUnit, L: Law<U>>(
    inputs: &[MergeInput<'_, U>],
    law: L,
    strategy: Strategy,
    keys_max: u64,
    cuts: bool,
) -> Option<Vec<EncodedStream>> {
    let mut merger = Merger::with_strategy(inputs, law, strategy).ok()?;
    let mut outputs = Vec::new();
    loop {
        let done = merger.step(keys_max).ok()?.done;
        if done {
            outputs.push(merger.finish().ok()?);
            return Some(outputs);
        }
        if cuts {
            outputs.push(merger.cut().ok()?);
        }
    }
}

fn check_unit<U: MergeUnit>(choices: &mut Choices<'_>, mut policy: Policy) {
    let width = policy.fixed_width();
    policy.records_per_block =
        std::num::NonZeroU32::new(u32::from(choices.below(5)) * 4 + 1).expect("at least 1");
    let inputs = 1 + choices.below(5);
    let mut streams: Vec<EncodedStream> = (0..inputs)
        .map(|_| encode::<U>(policy, &random_records::<U>(choices, width)))
        .collect();
    for _ in 0..choices.below(4) {
        let input = usize::from(choices.below(inputs));
        mutate(choices, &mut streams[input]);
    }
    let decoded: Vec<Option<Records>> = streams.iter().map(decode::<U>).collect();
    let expected = decoded.iter().cloned().collect::<Option<Vec<_>>>().map(|inputs| {
        let mut union = Records::new();
        inputs.into_iter().for_each(|records| union.extend(records));
        encode::<U>(policy, &union)
    });
    for strategy in STRATEGIES {
        match (merge::<U>(&streams, Trust::Validating, strategy), &expected) {
            (Ok(found), Some(expected)) => assert!(
                found == *expected,
                "{strategy:?}: another output than the union's"
            ),
            (Err(error), None) => {
                let MergeError::Input { input, .. } = error else {
                    panic!("{strategy:?}: unexpected error {error}")
                };
                assert!(
                    decoded[input].is_none(),
                    "{strategy:?}: blames input {input}, which is valid: {error}"
                );
            }
            (Ok(_), None) => panic!("{strategy:?}: accepts an input that a strict cursor refuses"),
            (Err(error), Some(_)) => {
                panic!("{strategy:?}: refuses inputs that a strict cursor accepts: {error}")
            }
        }
    }
    let all: Option<Vec<Records>> = decoded.into_iter().collect();
    if choices.below(2) == 0 {
        check_partial::<U, _>(choices, &streams, all.as_deref(), Replace, |_, _, newer| {
            newer.to_vec()
        });
    } else {
        let concatenates = width.is_none();
        let fold = |key_units, older: &[bool], newer: &[bool]| match key_units % 3 {
            0 => older.to_vec(),
            2 if concatenates => [older, newer].concat(),
            _ => newer.to_vec(),
        };
        check_partial::<U, _>(
            choices,
            &streams,
            all.as_deref(),
            WithKey(ByKey { concatenates }),
            fold,
        );
    }
    for strategy in STRATEGIES {
        // Any end is right, as long as it is one.
        let _ = merge::<U>(&streams, Trust::Certified, strategy);
    }
}

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices { bytes };
    match choices.below(4) {
        0 => check_unit::<Byte>(&mut choices, Policy::byte_variable()),
        1 => check_unit::<Byte>(&mut choices, Policy::byte_fixed(3)),
        2 => check_unit::<Bit>(&mut choices, Policy::bit_variable()),
        _ => check_unit::<Bit>(&mut choices, Policy::bit_fixed(13)),
    }
}
