//! Tables to measure: keys of three shapes and of real data, their files, and what their keys take elsewhere.
//!
//! ```text
//! random16   16-byte random keys, 100-byte values
//! shared70   70-byte keys with long shared prefixes, 32-byte values
//! short8     8-byte random keys, 8-byte values
//! names      data/unicode-names.tsv: character names, their code points as values
//! ```

#![expect(clippy::unwrap_used, reason = "a benchmark stops where something is missing")]

use memmap2::{Advice, MmapMut};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tephra_sstable::{FilterPolicy, Policy, TableOptions, TableSummary, TableWriter};

/// Keys and values, sorted.
pub type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// Keys between two that restart-point front coding stores in full.
const RESTART_INTERVAL: usize = 16;

/// Sorted records of one of the three shapes.
pub fn generate(shape: &str, count: usize) -> Records {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(count as u64);
    let mut bytes = |len: usize| {
        let mut bytes = vec![0; len];
        random.fill_bytes(&mut bytes);
        bytes
    };
    let mut records: Records = match shape {
        "random16" => (0..count).map(|_| (bytes(16), bytes(100))).collect(),
        "short8" => (0..count).map(|_| (bytes(8), bytes(8))).collect(),
        _ => {
            let mut order = 0;
            let mut record = |index: usize| {
                // A few hundred orders for each customer, a few hundred customers for each tenant.
                let (tenant, customer) = (index / 40_000, index / 200);
                order += 1 + u64::from_le_bytes(bytes(8).try_into().unwrap()) % 5000;
                let key =
                    format!("tenants/eu-central-1/{tenant:08}/customers/{customer:010}/orders/{order:012}");
                (key.into_bytes(), bytes(32))
            };
            (0..count).map(&mut record).collect()
        }
    };
    records.sort();
    records.dedup_by(|a, b| a.0 == b.0);
    records
}

/// Names of characters and their code points, sorted by name.
pub fn names() -> Records {
    let text = include_str!("../../data/unicode-names.tsv");
    let pairs = text.lines().filter_map(|line| line.split_once('\t'));
    let mut records: Records = pairs.map(|(name, code)| (name.into(), code.into())).collect();
    records.sort();
    records.dedup_by(|a, b| a.0 == b.0);
    records
}

/// The file of a table of `records`, which says their values' width once where they have one.
pub fn build(records: &[(Vec<u8>, Vec<u8>)], filter: FilterPolicy) -> (Vec<u8>, TableSummary) {
    let width = records[0].1.len();
    let common = records
        .iter()
        .all(|(_, value)| value.len() == width)
        .then_some(width as u64);
    let options = TableOptions {
        common_width: common,
        filter,
        ..TableOptions::new(Policy::byte_variable(), 1)
    };
    let mut writer = TableWriter::<_>::new(Vec::new(), options).unwrap();
    for (key, value) in records {
        writer.append(key, value).unwrap();
    }
    writer.finish().unwrap()
}

/// Memory pages that a file's bytes lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Whatever the system gives without being asked, as a rule 4 KiB.
    Default,
    /// Two mebibytes, where the system grants them.
    Huge,
}

/// The bytes of a file in memory of its own.
#[derive(Debug)]
pub struct FileBytes {
    map: MmapMut,
    len: usize,
}

impl FileBytes {
    /// Copies `bytes` into pages of a size.
    pub fn new(bytes: &[u8], pages: PageSize) -> Self {
        const HUGE_PAGE_LEN_BYTES: usize = 2 << 20;
        let mut map = MmapMut::map_anon(bytes.len() + HUGE_PAGE_LEN_BYTES).unwrap();
        if pages == PageSize::Huge {
            // Advice: a system that knows no such pages gives others.
            let _ = map.advise(Advice::HugePage);
        }
        map[..bytes.len()].copy_from_slice(bytes);
        Self {
            map,
            len: bytes.len(),
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        &self.map[..self.len]
    }
}

/// What the keys of `records` take under restart-point front coding: every sixteenth key in full, three counts a record
/// (shared, rest, value length) and four bytes for each restart, with nothing for the index that finds a block.
pub fn restart_point_len_bytes(records: &[(Vec<u8>, Vec<u8>)]) -> usize {
    let varint = |n: usize| (64 - (n as u64 | 1).leading_zeros()).div_ceil(7) as usize;
    let mut len_bytes = 0;
    let mut previous: &[u8] = &[];
    for (index, (key, value)) in records.iter().enumerate() {
        let shared = match index % RESTART_INTERVAL {
            0 => {
                len_bytes += 4;
                0
            }
            _ => key.iter().zip(previous).take_while(|(a, b)| a == b).count(),
        };
        let rest = key.len() - shared;
        len_bytes += varint(shared) + varint(rest) + varint(value.len()) + rest;
        previous = key;
    }
    len_bytes
}
