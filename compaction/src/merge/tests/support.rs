//! Random streams, redundant encodings, and the union as a sorted map.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use tephra_sstable::elias_fano::EliasFanoBuilder;
use tephra_sstable::{
    BackspaceCode, Bit, BitString, Byte, EncodedStream, Policy, StreamMeta, Unit, encode_batch,
};

use crate::merge::{BlockPrefixes, PrefixError};
use crate::test_rng::TestRng;

/// A unit that tests can make strings of.
pub(crate) trait TestUnit: Unit {
    /// A string of these units (bytes, or zero and one).
    fn make(units: &[u8]) -> Self::Owned;
    /// Different units that random keys use.
    const ALPHABET: &'static [u8];
    /// The policy with variable values, and with fixed ones.
    fn policies(width: u64) -> [Policy; 2];
}

impl TestUnit for Byte {
    fn make(units: &[u8]) -> Vec<u8> {
        units.to_vec()
    }

    const ALPHABET: &'static [u8] = &[0, 1, b'a', b'b', 0x7f, 0x80, 0xff];

    fn policies(width: u64) -> [Policy; 2] {
        [Policy::byte_variable(), Policy::byte_fixed(width)]
    }
}

impl TestUnit for Bit {
    fn make(units: &[u8]) -> BitString {
        let mut string = BitString::new();
        units.iter().for_each(|&unit| string.push_bits(unit.into(), 1));
        string
    }

    const ALPHABET: &'static [u8] = &[0, 1];

    fn policies(width: u64) -> [Policy; 2] {
        [Policy::bit_variable(), Policy::bit_fixed(width)]
    }
}

/// Records by key; a key is its units.
pub(crate) type Records = BTreeMap<Vec<u8>, Vec<u8>>;

/// A random policy: small and large blocks, and in bits every kind of backspace code.
pub(crate) fn random_policy<U: TestUnit>(rng: &mut TestRng) -> Policy {
    let width = [0, 1, 3, 8, 13, 70][usize::try_from(rng.below(6)).unwrap()];
    let mut policy = U::policies(width)[usize::try_from(rng.below(2)).unwrap()];
    if rng.one_in(2) {
        let records = [1, 2, 3, 7, 16, 100][usize::try_from(rng.below(6)).unwrap()];
        policy.records_per_block = NonZeroU32::new(records).unwrap();
    }
    if U::BITS == 1 && rng.one_in(2) {
        policy.backspace = match rng.below(2) {
            0 => BackspaceCode::ExpGolomb {
                order: u8::try_from(rng.below(8)).unwrap(),
            },
            _ => BackspaceCode::Golomb {
                modulus: rng.range(1, 12),
            },
        };
    }
    policy
}

/// Random records whose keys crowd together: extensions and branches of each other.
pub(crate) fn random_records<U: TestUnit>(rng: &mut TestRng, policy: &Policy, count: u64) -> Records {
    let mut records = Records::new();
    let alphabet =
        |rng: &mut TestRng| U::ALPHABET[usize::try_from(rng.below(U::ALPHABET.len() as u64)).unwrap()];
    let mut key = Vec::new();
    let uniform = rng.one_in(3).then(|| rng.below(20));
    let long = rng.one_in(8);
    for _ in 0..count {
        let keep = usize::try_from(rng.below(key.len() as u64 + 1)).unwrap();
        key.truncate(if rng.one_in(3) { keep } else { key.len() });
        let grow = if rng.one_in(20) {
            rng.below(200)
        } else {
            rng.below(if U::BITS == 1 { 12 } else { 4 })
        };
        for _ in 0..grow {
            key.push(alphabet(rng));
        }
        if key.len() > 600 {
            key.truncate(3);
        }
        let width = policy
            .fixed_width()
            .or(uniform)
            .unwrap_or_else(|| rng.below(if long { 300 } else { 40 }));
        let value = (0..width).map(|_| alphabet(rng)).collect();
        records.insert(key.clone(), value);
    }
    records
}

/// The batch encoding.
pub(crate) fn encode<U: TestUnit>(policy: Policy, records: &Records) -> EncodedStream {
    let owned: Vec<_> = records
        .iter()
        .map(|(key, value)| (U::make(key), U::make(value)))
        .collect();
    let strings: Vec<_> = owned
        .iter()
        .map(|(key, value)| (U::as_str(key), U::as_str(value)))
        .collect();
    encode_batch::<U>(policy, &strings).expect("test records are valid")
}

/// An encoding that retains less than it could at random records, and may declare no common width.
pub(crate) fn encode_redundantly<U: TestUnit>(
    rng: &mut TestRng,
    policy: Policy,
    records: &Records,
) -> EncodedStream {
    let common_width = policy.fixed_width().or_else(|| {
        let mut widths = records.values().map(|value| value.len() as u64);
        let first = widths.next().unwrap_or(0);
        (widths.all(|width| width == first) && rng.one_in(2)).then_some(first)
    });
    let mut out = U::Owned::default();
    let mut directory = EliasFanoBuilder::new();
    let mut previous: &[u8] = &[];
    for (ordinal, (key, value)) in (0_u64..).zip(records) {
        let shared = key
            .iter()
            .zip(previous)
            .take_while(|(left, right)| left == right)
            .count();
        let retained = if rng.one_in(3) {
            usize::try_from(rng.below(shared as u64 + 1)).unwrap()
        } else {
            shared
        };
        if ordinal % u64::from(policy.records_per_block.get()) == 0 {
            directory
                .push(U::len(U::as_str(&out)) - ordinal * common_width.unwrap_or(0))
                .unwrap();
            U::push_count(&mut out, retained as u64);
        } else {
            U::push_backspace(&mut out, (previous.len() - retained) as u64, policy.backspace);
        }
        U::push_count(&mut out, (key.len() - retained) as u64);
        if common_width.is_none() {
            U::push_count(&mut out, value.len() as u64);
        }
        U::push(&mut out, U::as_str(&U::make(&key[retained..])));
        U::push(&mut out, U::as_str(&U::make(value)));
        previous = key;
    }
    let extent_units = U::len(U::as_str(&out));
    directory
        .push(extent_units - records.len() as u64 * common_width.unwrap_or(0))
        .unwrap();
    let meta = StreamMeta {
        policy,
        common_width,
        record_count: records.len() as u64,
        extent_units,
        last_key_units: previous.len() as u64,
    };
    EncodedStream {
        meta,
        payload: U::into_bytes(out),
        directory: directory.finish().unwrap(),
    }
}

/// Inputs of a random merge: their records, oldest first, and their encodings.
pub(crate) struct RandomInputs {
    pub(crate) policy: Policy,
    pub(crate) records: Vec<Records>,
    pub(crate) streams: Vec<EncodedStream>,
    /// The streams retain less than they could, here and there.
    pub(crate) redundant: bool,
}

impl RandomInputs {
    pub(crate) fn new<U: TestUnit>(rng: &mut TestRng, inputs: u64) -> Self {
        let policy = random_policy::<U>(rng);
        let redundant = rng.one_in(2);
        let mut records: Vec<Records> = Vec::new();
        let mut streams = Vec::new();
        for _ in 0..inputs {
            let count = if rng.one_in(10) { 0 } else { rng.below(120) };
            let mut own = random_records::<U>(rng, &policy, count);
            // Share keys with an earlier input.
            if let Some(other) = records.last().filter(|_| rng.one_in(2)) {
                for key in other.keys() {
                    if !rng.one_in(3) {
                        continue;
                    }
                    let width = policy.fixed_width().unwrap_or_else(|| rng.below(30));
                    own.insert(key.clone(), vec![U::ALPHABET[1]; usize::try_from(width).unwrap()]);
                }
            }
            streams.push(match redundant {
                true => encode_redundantly::<U>(rng, policy, &own),
                false => encode::<U>(policy, &own),
            });
            records.push(own);
        }
        Self {
            policy,
            records,
            streams,
            redundant,
        }
    }
}

/// The union of records given oldest first; the newest value of each key wins.
pub(crate) fn union(inputs: &[Records]) -> Records {
    let mut union = Records::new();
    for records in inputs {
        union.extend(records.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    union
}

/// Block prefixes from the records themselves, as a table's separators would give them.
#[derive(Debug)]
pub(crate) struct KnownPrefixes {
    first_keys: Vec<Vec<u8>>,
}

impl KnownPrefixes {
    pub(crate) fn new(policy: &Policy, records: &Records) -> Self {
        let per_block = usize::try_from(policy.records_per_block.get()).unwrap();
        Self {
            first_keys: records.keys().step_by(per_block).cloned().collect(),
        }
    }
}

impl<U: TestUnit> BlockPrefixes<U> for KnownPrefixes {
    fn append_prefix(&self, block: u64, units: u64, prefix: &mut U::Owned) -> Result<(), PrefixError> {
        let first_key = &self.first_keys[usize::try_from(block).unwrap()];
        let units = usize::try_from(units).unwrap().min(first_key.len());
        U::push(prefix, U::as_str(&U::make(&first_key[..units])));
        Ok(())
    }
}
