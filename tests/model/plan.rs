//! A history before it runs: random options and random operations.

use std::ops::Bound;

use tephradb::{Background, Options};

use crate::rng::Rng;

/// Operations of one history.
const OPS_MIN: usize = 150;
const OPS_MAX: usize = 450;
/// Keyspaces in use: the default one, a named one, and one that composes.
pub(crate) const KEYSPACES: usize = 3;
/// The keyspace whose law is to append. There a batch merges where elsewhere it puts.
pub(crate) const COMPOSING: usize = 2;

pub(crate) type Key = Vec<u8>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Put {
        keyspace: usize,
        key: Key,
        value: Vec<u8>,
    },
    /// Merges into the composing keyspace.
    Merge {
        key: Key,
        operand: Vec<u8>,
    },
    Delete {
        keyspace: usize,
        key: Key,
    },
    /// Puts (`Some`) and deletes (`None`), committed at once.
    Batch(Vec<(usize, Key, Option<Vec<u8>>)>),
    /// Deletes a range; inside a batch with a put behind it, if there is one.
    DeleteRange {
        keyspace: usize,
        from: Bound<Key>,
        to: Bound<Key>,
        then: Option<(Key, Vec<u8>)>,
    },
    Clear {
        keyspace: usize,
    },
    Get {
        keyspace: usize,
        key: Key,
    },
    /// Read with the steps of `ends`, again and again: true is the front, false the back.
    Range {
        keyspace: usize,
        from: Bound<Key>,
        to: Bound<Key>,
        ends: Vec<bool>,
    },
    Prefix {
        keyspace: usize,
        prefix: Key,
        ends: Vec<bool>,
    },
    /// Opens an iterator over everything and keeps it.
    OpenIterator {
        keyspace: usize,
    },
    /// Takes items from the oldest kept iterator.
    StepIterator {
        ends: Vec<bool>,
    },
    TakeSnapshot,
    /// Reads one key and everything in the oldest snapshot.
    ReadSnapshot {
        keyspace: usize,
        key: Key,
    },
    DropSnapshot,
    Flush,
    Compact,
    /// One range of one keyspace alone.
    CompactRange {
        keyspace: usize,
        from: Bound<Key>,
        to: Bound<Key>,
    },
    BackgroundStep,
    Verify,
    Reopen,
    /// Records in order, past the memtable.
    Ingest {
        keyspace: usize,
        records: Vec<(Key, Vec<u8>)>,
    },
    /// A copy, opened and compared.
    Checkpoint,
}

/// The options of a history, in a form that can be printed and compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RandomOptions {
    memtable_bytes: usize,
    target_table_bytes: u64,
    l0_compaction_trigger: usize,
    frozen_memtables_max: usize,
    pending_deletes_max: usize,
    manifest_bytes: u64,
    manual: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) options: RandomOptions,
    pub(crate) ops: Vec<Op>,
}

impl Plan {
    pub(crate) fn from_seed(seed: u64) -> Plan {
        let mut rng = Rng::new(seed);
        let options = RandomOptions::random(&mut rng);
        let count = OPS_MIN + rng.below(OPS_MAX - OPS_MIN);
        // Few keys make overwrites and deletes of what is there; many make tables with blocks.
        let key_len_max = *rng.pick(&[1, 2, 3, 4]);
        let ops = (0..count)
            .map(|number| random_op(&mut rng, number, key_len_max))
            .collect();
        Plan { options, ops }
    }
}

impl RandomOptions {
    fn random(rng: &mut Rng) -> RandomOptions {
        RandomOptions {
            memtable_bytes: *rng.pick(&[1, 300, 2_000, 2_000, 10_000, 1 << 20]),
            target_table_bytes: *rng.pick(&[1, 500, 3_000, 1 << 20]),
            l0_compaction_trigger: 1 + rng.below(6),
            frozen_memtables_max: 1 + rng.below(3),
            pending_deletes_max: *rng.pick(&[1, 3, 20, 32 << 10]),
            manifest_bytes: *rng.pick(&[1, 1_000, 4 << 20]),
            manual: rng.one_in(2),
        }
    }

    pub(crate) fn build(&self) -> Options {
        Options::default()
            .memtable_bytes(self.memtable_bytes)
            .target_table_bytes(self.target_table_bytes)
            .l0_compaction_trigger(self.l0_compaction_trigger)
            .l0_tables_max(self.l0_compaction_trigger + 8)
            .frozen_memtables_max(self.frozen_memtables_max)
            .pending_deletes_max(self.pending_deletes_max)
            .manifest_bytes(self.manifest_bytes)
            .background(if self.manual {
                Background::Manual
            } else {
                Background::Threads
            })
    }
}

fn random_op(rng: &mut Rng, number: usize, key_len_max: usize) -> Op {
    let keyspace = *rng.pick(&[0, 0, 0, 0, 1, COMPOSING, COMPOSING]);
    let key = random_key(rng, key_len_max);
    match rng.below(106) {
        0..24 if keyspace == COMPOSING => Op::Merge {
            key,
            operand: random_value(rng, number),
        },
        0..34 => Op::Put {
            keyspace,
            key,
            value: random_value(rng, number),
        },
        34..48 => Op::Delete { keyspace, key },
        48..54 => Op::Batch(random_batch(rng, number, key_len_max)),
        54..57 => random_delete_range(rng, number, keyspace, key_len_max),
        57..66 => Op::Get { keyspace, key },
        66..74 => Op::Range {
            keyspace,
            from: random_bound(rng, key),
            to: {
                let key = random_key(rng, key_len_max);
                random_bound(rng, key)
            },
            ends: random_ends(rng),
        },
        74..78 => Op::Prefix {
            keyspace,
            prefix: random_prefix(rng, key),
            ends: random_ends(rng),
        },
        78..80 => Op::OpenIterator { keyspace },
        80..83 => Op::StepIterator {
            ends: random_ends(rng),
        },
        83..85 => Op::TakeSnapshot,
        85..88 => Op::ReadSnapshot { keyspace, key },
        88..89 => Op::DropSnapshot,
        89..92 => Op::Flush,
        92..94 => Op::Compact,
        94..97 => Op::BackgroundStep,
        97..98 => Op::Verify,
        98..100 => Op::Reopen,
        100..103 => Op::Ingest {
            keyspace,
            records: random_records(rng, number, key_len_max),
        },
        103..104 => Op::Checkpoint,
        _ => Op::CompactRange {
            keyspace,
            from: random_bound(rng, key),
            to: {
                let key = random_key(rng, key_len_max);
                random_bound(rng, key)
            },
        },
    }
}

/// Mostly between two keys near each other, so that something is left; sometimes everything.
fn random_delete_range(rng: &mut Rng, number: usize, keyspace: usize, key_len_max: usize) -> Op {
    if rng.one_in(12) {
        return Op::Clear { keyspace };
    }
    let key = random_key(rng, key_len_max);
    let mut other = random_key(rng, key_len_max);
    if !rng.one_in(3) {
        other = key.clone();
        other.push(*rng.pick(&[0x00, b'a', 0xff]));
    }
    let then = rng
        .one_in(3)
        .then(|| (random_key(rng, key_len_max), random_value(rng, number)));
    Op::DeleteRange {
        keyspace,
        from: random_bound(rng, key),
        to: random_bound(rng, other),
        then,
    }
}

fn random_batch(rng: &mut Rng, number: usize, key_len_max: usize) -> Vec<(usize, Key, Option<Vec<u8>>)> {
    let count = rng.below(30);
    (0..count)
        .map(|_| {
            let keyspace = rng.below(KEYSPACES);
            let value = (!rng.one_in(3)).then(|| random_value(rng, number));
            (keyspace, random_key(rng, key_len_max), value)
        })
        .collect()
}

/// Records in key order, each key once.
fn random_records(rng: &mut Rng, number: usize, key_len_max: usize) -> Vec<(Key, Vec<u8>)> {
    let mut records = std::collections::BTreeMap::new();
    for _ in 0..rng.below(40) {
        records.insert(random_key(rng, key_len_max), random_value(rng, number));
    }
    records.into_iter().collect()
}

/// Keys that are prefixes of each other, end in 0x00 and 0xFF, and often share a long beginning.
fn random_key(rng: &mut Rng, len_max: usize) -> Key {
    const UNITS: [u8; 6] = [0x00, 0x01, b'a', b'b', 0xfe, 0xff];
    const BEGINNINGS: [&[u8]; 5] = [
        b"",
        b"",
        b"shared/beginning/of/some/length/",
        b"shared/beginning/of/other/",
        &[0xff; 20],
    ];
    let mut key = rng.pick(&BEGINNINGS).to_vec();
    for _ in 0..rng.below(len_max + 1) {
        key.push(*rng.pick(&UNITS));
    }
    key
}

/// Values say which operation wrote them; some are empty, some are larger than a memtable.
fn random_value(rng: &mut Rng, number: usize) -> Vec<u8> {
    let len = match rng.below(40) {
        0..6 => return Vec::new(),
        39 => 5_000,
        34..39 => 300,
        _ => rng.below(24),
    };
    let mut value = number.to_string().into_bytes();
    value.resize(value.len() + len, 0xff);
    value
}

fn random_bound(rng: &mut Rng, key: Key) -> Bound<Key> {
    match rng.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Excluded(key),
        _ => Bound::Included(key),
    }
}

fn random_prefix(rng: &mut Rng, mut key: Key) -> Key {
    key.truncate(rng.below(key.len() + 1));
    key
}

fn random_ends(rng: &mut Rng) -> Vec<bool> {
    match rng.below(4) {
        0 => vec![true],
        1 => vec![false],
        2 => vec![true, false],
        _ => (0..1 + rng.below(8)).map(|_| rng.one_in(2)).collect(),
    }
}
