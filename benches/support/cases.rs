//! Inputs of merges beyond the published fixtures.

use std::collections::BTreeMap;

use tephra_sstable::{Byte, EncodedStream, Policy, Unit, encode_batch};

use super::fixtures::FixtureUnit;

/// One merge with its expected output.
#[derive(Debug)]
pub struct Case {
    /// Name in reports.
    pub name: String,
    /// Policy in reports.
    pub policy: &'static str,
    /// Bytes of shared prefix.
    pub prefix: u64,
    /// Bytes of changing tail.
    pub tail: u64,
    /// Inputs, oldest first.
    pub inputs: Vec<EncodedStream>,
    /// The batch encoding of their union.
    pub expected: EncodedStream,
}

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// SplitMix64: the same inputs on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn encode<U: FixtureUnit>(policy: Policy, records: &Records) -> EncodedStream {
    let units = |bytes: &[u8]| bytes.len() as u64 * 8 / U::BITS;
    let strings: Vec<_> = records
        .iter()
        .map(|(key, value)| (U::string(key, units(key)), U::string(value, units(value))))
        .collect();
    encode_batch::<U>(policy, &strings).expect("records of a map are sorted")
}

fn case<U: FixtureUnit>(name: String, policy: Policy, inputs: &[Records]) -> Case {
    let mut union = Records::new();
    for records in inputs {
        union.extend(records.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Case {
        name,
        policy: if U::BITS == 1 {
            "bit_variable"
        } else {
            "byte_variable"
        },
        prefix: 0,
        tail: 0,
        inputs: inputs
            .iter()
            .map(|records| encode::<U>(policy, records))
            .collect(),
        expected: encode::<U>(policy, &union),
    }
}

fn variable_policy<U: Unit>() -> Policy {
    if U::BITS == 1 {
        Policy::bit_variable()
    } else {
        Policy::byte_variable()
    }
}

/// A value of 8 to 24 bytes (a third of that in bit policies would be more alike; here both have the same).
fn short_value(number: u64) -> Vec<u8> {
    let len = usize::try_from(8 + number % 17).expect("a small number");
    number.to_le_bytes().into_iter().cycle().take(len).collect()
}

/// Integer keys, each in a random one of two inputs; every eighth in both.
pub fn random_interleaving<U: FixtureUnit>() -> Vec<Case> {
    let mut random = Random(1);
    let mut inputs = [Records::new(), Records::new()];
    for number in 0..16_384_u64 {
        let key = number.to_be_bytes().to_vec();
        let draw = random.next();
        let side = usize::from(draw & 1 == 1);
        inputs[side].insert(key.clone(), short_value(number));
        if draw >> 1 & 7 == 0 {
            inputs[1 - side].insert(key, short_value(number + 1));
        }
    }
    vec![case::<U>("random".to_owned(), variable_policy::<U>(), &inputs)]
}

/// Integer keys spread over 2 to 16 inputs at random: each in one, or a third of them in two.
pub fn ways() -> Vec<Case> {
    let mut cases = Vec::new();
    for inputs_count in [2_u64, 4, 8, 16] {
        for duplicated in [false, true] {
            let mut random = Random(inputs_count);
            let mut inputs = vec![Records::new(); usize::try_from(inputs_count).expect("a small number")];
            for number in 0..16_384_u64 {
                let key = number.to_be_bytes().to_vec();
                let first = random.next() % inputs_count;
                let copies = if duplicated && number % 3 == 2 { 2 } else { 1 };
                for copy in 0..copies {
                    let input = usize::try_from((first + copy) % inputs_count).expect("a small number");
                    inputs[input].insert(key.clone(), short_value(number + copy));
                }
            }
            let suffix = if duplicated { " duplicated" } else { "" };
            cases.push(case::<Byte>(
                format!("ways {inputs_count}{suffix}"),
                Policy::byte_variable(),
                &inputs,
            ));
        }
    }
    cases
}

/// A large input, and a small one with 1 record in 10 or in 100, values of 100 bytes; the output once fits into a
/// second-level cache and once is 64 MB.
pub fn low_overlap<U: FixtureUnit>() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, records) in [("cache", 4_096_u64), ("memory", 600_000)] {
        for one_in in [10, 100] {
            let value =
                |number: u64| -> Vec<u8> { number.to_le_bytes().into_iter().cycle().take(100).collect() };
            let mut inputs = [Records::new(), Records::new()];
            for number in 0..records {
                let from_small = number % one_in == one_in / 2;
                inputs[usize::from(from_small)].insert(number.to_be_bytes().to_vec(), value(number));
            }
            cases.push(case::<U>(
                format!("overlap 1:{one_in} {place}"),
                variable_policy::<U>(),
                &inputs,
            ));
        }
    }
    cases
}

/// The names of Unicode, split in four by line number as four flushes of an unsorted load would, and merged.
pub fn real_names() -> Vec<Case> {
    let mut inputs = vec![Records::new(); 4];
    let text = include_str!("../../data/unicode-names.tsv");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for (number, line) in lines.iter().enumerate() {
        let (name, code_point) = line.split_once('\t').expect("a name, a tab, a code point");
        inputs[number * 4 / lines.len()].insert(name.as_bytes().to_vec(), code_point.as_bytes().to_vec());
    }
    vec![case::<Byte>(
        "real names".to_owned(),
        Policy::byte_variable(),
        &inputs,
    )]
}
