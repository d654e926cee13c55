//! Against a sorted vector: the block of every key, what it agrees in, and each separator read back.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Separators, SeparatorsBuilder};
use crate::bits::{BitStr, BitString};
use crate::unit::{Bit, Byte, Unit};

/// Checks the tree of sorted, distinct `separators` against all `keys`.
fn check<'a, U: Unit>(separators: &[U::Str<'a>], keys: &[U::Str<'a>], context: &str) {
    let mut builder = SeparatorsBuilder::<U>::default();
    separators.iter().for_each(|&separator| builder.push(separator));
    let section = builder.encode().unwrap();
    let view = Separators::<U>::new(&section, separators.len() as u64).unwrap();
    for (index, &separator) in separators.iter().enumerate() {
        let block = index as u64 + 1;
        assert_eq!(view.len_units(block), Some(U::len(separator)), "{context}");
        for (from, to) in [
            (0, U::len(separator)),
            (U::len(separator) / 3, U::len(separator).saturating_sub(1)),
        ] {
            let mut out = U::Owned::default();
            if from > to {
                continue;
            }
            view.append(block, from, to, &mut out)
                .unwrap_or_else(|| panic!("{context}: block {block}"));
            let expected = U::slice(separator, from, to);
            let out = U::as_str(&out);
            assert!(
                U::len(out) == to - from && U::lcp(out, expected) == to - from,
                "{context}: {separator:?}"
            );
        }
        let mut out = U::Owned::default();
        assert_eq!(view.append(block, 0, U::len(separator) + 1, &mut out), None);
    }
    for &key in keys.iter().chain(separators) {
        let not_above = |separator: &U::Str<'_>| {
            let same = U::lcp(*separator, key);
            U::get(*separator, same) <= U::get(key, same)
        };
        let block = separators.partition_point(not_above);
        let found = view.find(key, &[]).unwrap();
        assert_eq!(
            view.find(key, &view.root_sample()),
            Some(found),
            "{context}: {key:?}"
        );
        assert_eq!(found.block, block as u64, "{context}: {key:?}");
        if let Some(before) = block.checked_sub(1) {
            // A block's first record retains at most all but one unit of the separator.
            let retained_max = U::len(separators[before]).saturating_sub(1);
            let agreed = U::lcp(separators[before], key);
            assert_eq!(
                found.agreed_units.min(retained_max),
                agreed.min(retained_max),
                "{context}: {key:?}"
            );
        }
    }
}

fn random_strings(random: &mut Xoshiro256PlusPlus, count: usize) -> Vec<Vec<u8>> {
    let letters: &[u8] = [&[0, 1][..], &[0, 7, 255], &[97, 98, 99, 100]][random.random_range(0..3)];
    let mut strings: Vec<Vec<u8>> = vec![];
    for _ in 0..count {
        let mut string = match strings.len() {
            0 => vec![5; random.random_range(0..20)],
            len => strings[random.random_range(0..len)].clone(),
        };
        if random.random_range(0..3) == 0 {
            string.truncate(random.random_range(0..=string.len()));
        }
        for _ in 0..random.random_range(0..12) {
            string.push(letters[random.random_range(0..letters.len())]);
        }
        strings.push(string);
    }
    strings
}

#[test]
fn finds_the_block_of_byte_strings() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = [0, 1, 2, 9, 200][random.random_range(0..5)];
        let mut strings = random_strings(&mut random, count);
        let keys = random_strings(&mut random, 100);
        strings.sort();
        strings.dedup();
        let near = strings.iter().map(|string| [string, &[0][..]].concat());
        let keys: Vec<Vec<u8>> = keys.into_iter().chain(near).collect();
        let separators: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        check::<Byte>(&separators, &keys, &format!("seed {seed}"));
    }
}

#[test]
fn finds_the_block_of_bit_strings() {
    for seed in 1000..1300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = [0, 1, 2, 9, 200][random.random_range(0..5)];
        let mut bits = |count| -> Vec<BitString> {
            let strings = random_strings(&mut random, count);
            let cut = |string: &Vec<u8>| {
                let len = (string.len() as u64 * 8).saturating_sub(random.random_range(0..30));
                let mut owned = BitString::new();
                owned.push_str(BitStr::new(string, 0, len).unwrap());
                owned
            };
            strings.iter().map(cut).collect()
        };
        let (mut strings, keys) = (bits(count), bits(100));
        strings.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        strings.dedup();
        let separators: Vec<BitStr<'_>> = strings.iter().map(BitString::as_str).collect();
        let keys: Vec<BitStr<'_>> = keys.iter().map(BitString::as_str).collect();
        check::<Bit>(&separators, &keys, &format!("seed {seed}"));
    }
}

/// Each separator a prefix of the next: one node for each, and no recursion to overflow.
#[test]
fn chains_of_prefixes_are_deep_but_right() {
    let longest = vec![b'a'; 9000];
    let separators: Vec<&[u8]> = (1..1800).map(|count| &longest[..count * 5]).collect();
    let keys: Vec<&[u8]> = (0..9000).step_by(7).map(|len| &longest[..len]).collect();
    check::<Byte>(&separators, &keys, "chain");
}
