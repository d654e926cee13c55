//! Against plain vectors, against a second implementation, and over damaged bytes.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::scan::{scan, scan_portable};
use super::select_in_word::select_in_word;
use super::{DENSE, EliasFano, EliasFanoBuilder, EliasFanoError, EliasFanoView};

fn build(entries: &[u64]) -> EliasFano {
    let mut builder = EliasFanoBuilder::new();
    for &entry in entries {
        builder.push(entry).unwrap();
    }
    builder.finish().unwrap()
}

fn serialised(sequence: &EliasFano) -> Vec<u8> {
    let mut bytes = Vec::new();
    sequence.write_to(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, sequence.encoded_len_bytes());
    bytes
}

/// Sequences of every kind: dense, sparse, with runs of equal entries, with jumps up to the largest entry.
fn random_entries(random: &mut Xoshiro256PlusPlus) -> Vec<u64> {
    let len = match random.random_range(0..5) {
        0 => random.random_range(1..4),
        1 => random.random_range(250..260),
        2 => random.random_range(2500..5000),
        _ => random.random_range(1..1500),
    };
    let largest_step_bits = random.random_range(0..54u32);
    let (mut entry, jumps) = (0u64, random.random_range(0..3) == 0);
    let mut entries: Vec<u64> = (0..len)
        .map(|_| {
            let bits = if random.random_range(0..8) == 0 {
                largest_step_bits
            } else {
                largest_step_bits / 4
            };
            entry = entry.saturating_add(random.next_u64() & ((1 << bits) - 1));
            entry
        })
        .collect();
    if jumps {
        entries.push(u64::MAX - random.random_range(0..3));
    }
    entries
}

#[test]
fn selects_and_iterates_as_a_vector_does() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let entries = random_entries(&mut random);
        let sequence = build(&entries);
        // Bytes at every alignment.
        let mut bytes = vec![0; random.random_range(0..9)];
        let offset = bytes.len();
        bytes.extend(serialised(&sequence));
        for view in [sequence.view(), EliasFanoView::parse(&bytes[offset..]).unwrap()] {
            view.validate()
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(view.entries(), entries.len() as u64);
            for (index, &entry) in entries.iter().enumerate() {
                assert_eq!(view.select(index as u64), Ok(entry), "seed {seed}, entry {index}");
                let pair = entries.get(index + 1).map(|&next| (entry, next));
                assert_eq!(
                    view.select_pair(index as u64).ok(),
                    pair,
                    "seed {seed}, entry {index}"
                );
            }
            for start in [0, random.random_range(0..=entries.len()), entries.len()] {
                let all: Result<Vec<u64>, _> = view.iter_from(start as u64).unwrap().collect();
                assert_eq!(all.unwrap(), entries[start..], "seed {seed}, from {start}");
            }
            let count = entries.len() as u64;
            let error = EliasFanoError::OutOfRange {
                index: count,
                entries: count,
            };
            assert_eq!(view.select(count), Err(error));
        }
    }
}

#[test]
fn agrees_with_another_implementation() {
    for seed in 1000..1060 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let entries = random_entries(&mut random);
        let last = entries[entries.len() - 1];
        if last > u64::MAX / 4 {
            continue;
        }
        let mut other = sucds::mii_sequences::EliasFanoBuilder::new(last + 1, entries.len()).unwrap();
        other.extend(entries.iter().copied()).unwrap();
        let (other, sequence) = (other.build(), build(&entries));
        for index in 0..entries.len() {
            assert_eq!(
                sequence.view().select(index as u64),
                Ok(other.select(index).unwrap()),
                "seed {seed}, {index}"
            );
        }
    }
}

#[test]
fn decreasing_and_missing_entries_are_refused() {
    let mut builder = EliasFanoBuilder::new();
    assert_eq!(builder.finish(), Err(EliasFanoError::NoEntries));
    builder.push(7).unwrap();
    assert_eq!(
        builder.push(6),
        Err(EliasFanoError::Decreasing {
            index: 1,
            previous: 7,
            found: 6
        })
    );
    assert_eq!((builder.len(), builder.last()), (1, Some(7)));
    builder.push(7).unwrap();
    builder.truncate(1);
    assert_eq!(builder.finish().unwrap().entries, 1);
}

#[test]
fn sparse_groups_list_their_positions() {
    let mut entries: Vec<u64> = (0..4000).collect();
    entries.extend((0..1000).map(|index| 1_000_000 + index));
    let sequence = build(&entries);
    let kinds: Vec<bool> = sequence
        .samples
        .iter()
        .map(|sample| sample.sparse == DENSE)
        .collect();
    assert!(kinds.contains(&true) && kinds.contains(&false), "{kinds:?}");
    let sparse_groups = kinds.iter().filter(|dense| !**dense).count();
    assert_eq!((sparse_groups, sequence.sparse.len()), (1, 256));
}

/// Every truncation is refused; every flipped bit is refused by `validate` or makes another right sequence, and
/// reading over it neither panics nor gives an entry past the universe.
#[test]
fn damage_is_found() {
    let mut sparse: Vec<u64> = (0..2100).collect();
    sparse.push(1 << 20);
    let short = [0, 5, 9, 20, 20, 21].to_vec();
    for entries in [vec![0], short, sparse, (0..600).map(|index| index * 77).collect()] {
        let bytes = serialised(&build(&entries));
        for len in 0..bytes.len() {
            assert!(
                EliasFanoView::parse(&bytes[..len]).is_err(),
                "{len} of {} bytes",
                bytes.len()
            );
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(view) = EliasFanoView::parse(&damaged) else {
                continue;
            };
            if view.validate().is_ok() {
                let entries: Result<Vec<u64>, _> = view.iter().unwrap().collect();
                assert_eq!(serialised(&build(&entries.unwrap())), damaged, "bit {bit}");
            }
            for index in (0..view.entries()).step_by(1 + entries.len() / 100) {
                assert!(view.select(index).map_or(true, |entry| entry <= view.universe()));
            }
            if let Ok(iter) = view.iter() {
                assert!(
                    iter.take(2000)
                        .filter_map(Result::ok)
                        .all(|entry| entry <= view.universe())
                );
            }
        }
    }
}

/// A wrong sample is called that, with what belongs there, although whoever trusts it reads wrong entries.
#[test]
fn a_wrong_sample_is_named() {
    let entries: Vec<u64> = (0..600).map(|index| index * 77).collect();
    for (sample, shift, part) in [(0, 0, 0), (0, 8, 1), (2, 0, 0)] {
        let sequence = build(&entries);
        let samples_at = EliasFano::HEADER_LEN_BYTES + 8 * (sequence.low.len() + sequence.high.len());
        let mut bytes = serialised(&sequence);
        bytes[samples_at + sample * 16 + shift] ^= 1;
        let right = sequence.samples[sample];
        let right = [right.first, right.sparse][part];
        let error = EliasFanoView::parse(&bytes).unwrap().validate().unwrap_err();
        let (expected, found) = (format!("expected {right}"), format!("found {}", right ^ 1));
        let message = error.to_string();
        assert!(message.starts_with(&format!("samples at {sample}")), "{message}");
        assert!(
            message.contains(&expected) && message.contains(&found),
            "{message}"
        );
    }
}

/// Numbers of the header at their extremes: no outsized allocation, no overflow.
#[test]
fn extreme_headers_are_refused() {
    let bytes = serialised(&build(&[3, 50, 1000]));
    for word in 0..4 {
        for value in [0, 1, 2, 4, 63, 64, 1 << 32, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            let mut damaged = bytes.clone();
            damaged[word * 8..word * 8 + 8].copy_from_slice(&u64::to_le_bytes(value));
            if damaged == bytes {
                continue;
            }
            let refused = EliasFanoView::parse(&damaged).and_then(|view| view.validate());
            assert!(refused.is_err(), "word {word} = {value}");
        }
    }
}

#[test]
fn finds_each_one_of_a_word() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for round in 0..2000u32 {
        let word = match round {
            0 => u64::MAX,
            1 => 1,
            2 => 1 << 63,
            _ => random.next_u64() & random.next_u64(),
        };
        let ones = (0..64).filter(|bit| word >> bit & 1 == 1);
        for (rank, bit) in (0..).zip(ones) {
            assert_eq!(select_in_word(word, rank), bit, "{word:#x}");
        }
    }
}

/// The scan for processors that count ones agrees with the portable one.
#[test]
fn both_scans_agree() {
    for seed in 0..200 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let words: Vec<[u8; 8]> = (0..random.random_range(0..90))
            .map(|_| (random.next_u64() & random.next_u64()).to_le_bytes())
            .collect();
        for rank in 0..300 {
            let first = random.random_range(0..64);
            assert_eq!(
                scan(&words, first, rank),
                scan_portable(&words, first, rank),
                "seed {seed}"
            );
        }
    }
}
