//! The stored hash does not change, everything put in is found, and little else is.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{FILTER_HEADER_LEN_BYTES, Filter, build, planned_block_count};
use crate::bits::BitStr;
use crate::hash::{hash_bits, hash_bytes};
use crate::writer::FilterPolicy;

fn contains(section: &[u8], hash: u64) -> bool {
    let filter = Filter::read(section.first_chunk().unwrap(), section.len()).unwrap();
    Filter::block_may_contain(section[filter.block(hash)].try_into().unwrap(), hash)
}

#[test]
fn everything_put_in_is_found_and_little_else() {
    for (seed, count, bits, most_passing) in
        [(1, 100_000u64, 10, 0.018), (2, 3000, 10, 0.005), (3, 2, 10, 0.05)]
    {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let hashes: Vec<u64> = (0..count).map(|_| random.next_u64()).collect();
        let blocks = planned_block_count(FilterPolicy::BitsPerKey(bits), count, 2).unwrap();
        let section = build(&hashes, blocks).unwrap();
        assert!(hashes.iter().all(|&hash| contains(&section, hash)), "seed {seed}");
        let passing = (0..20_000)
            .filter(|_| contains(&section, random.next_u64()))
            .count();
        assert!(
            passing as f64 / 20_000.0 < most_passing,
            "seed {seed}: {passing} of 20,000 pass"
        );
    }
}

#[test]
fn small_tables_and_large_ones_are_decided_apart() {
    let ten = FilterPolicy::BitsPerKey(10);
    assert_eq!(planned_block_count(FilterPolicy::None, 1_000_000, 70_000), None);
    assert_eq!(
        planned_block_count(FilterPolicy::BitsPerKey(0), 1_000_000, 70_000),
        None
    );
    assert_eq!(planned_block_count(ten, 15, 1), None);
    assert_eq!(planned_block_count(ten, 16, 2), Some(1));
    assert_eq!(planned_block_count(ten, 4096, 274), Some(256));
    assert_eq!(planned_block_count(ten, 1_024_000, 68_267), Some(40_000));
    assert_eq!(planned_block_count(ten, u64::MAX, u64::MAX), None);
}

/// Filters on disk depend on these values.
#[test]
fn the_stored_hash_keeps_its_values() {
    assert_eq!(hash_bytes(b""), 0x2d06_8005_38d3_94c2);
    assert_eq!(hash_bytes(b"tephra"), GOLDEN_BYTES);
    assert_eq!(hash_bits(BitStr::from_bytes(b"")), hash_bytes(b""));
    assert_eq!(hash_bits(BitStr::new(b"tephra", 0, 13).unwrap()), GOLDEN_BITS);
}

const GOLDEN_BYTES: u64 = 0x741d_b12e_57e0_ef7e;
const GOLDEN_BITS: u64 = 0x8310_32eb_05e5_875d;

#[test]
fn bit_keys_hash_alike_wherever_they_start_and_unlike_when_they_differ() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let bytes: Vec<u8> = (0..2000).map(|_| random.random()).collect();
    for len in [0u64, 1, 63, 64, 65, 2047, 2048, 2049, 5000] {
        for shift in 1..8u64 {
            let mut shifted = crate::bits::BitString::new();
            shifted.push_zeros(shift);
            shifted.push_str(BitStr::new(&bytes, 0, len).unwrap());
            let key = shifted.as_str().slice(shift, shift + len);
            let hash = hash_bits(BitStr::new(&bytes, 0, len).unwrap());
            assert_eq!(hash_bits(key), hash, "{len} bits, shifted by {shift}");
            assert_ne!(
                hash_bits(BitStr::new(&bytes, 0, len + 1).unwrap()),
                hash,
                "{len} bits"
            );
        }
    }
}

#[test]
fn wrong_headers_are_refused() {
    let section = build(&[1, 2, 3], 3).unwrap();
    let header = *section.first_chunk::<FILTER_HEADER_LEN_BYTES>().unwrap();
    assert!(Filter::read(&header, section.len()).is_ok());
    assert!(Filter::read(&header, section.len() + 32).is_err());
    assert!(Filter::read(&header, section.len() - 1).is_err());
    for at in 0..FILTER_HEADER_LEN_BYTES {
        let mut damaged = header;
        damaged[at] ^= 1;
        assert!(Filter::read(&damaged, section.len()).is_err(), "byte {at}");
    }
}
