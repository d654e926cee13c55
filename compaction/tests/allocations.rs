//! What mergers ask of the allocator: nothing a record, and never more than a buffer of the key.
//!
//! One test, since the counters are the process's.
#![expect(
    unsafe_code,
    reason = "a counting allocator is an implementation of an unsafe trait"
)]
#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tephra_compaction::job::table_input;
use tephra_compaction::{
    ComposeWithKey, Composed, Law, LawFailure, MergeInput, MergeUnit, Merger, Replace, Strategy, Trust,
    WithKey,
};
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{
    Bit, BitStr, Byte, EncodedStream, Policy, Table, TableOptions, TableWriter, Unit, encode_batch,
};

/// Counts requests and requested bytes, then asks the system.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn count_in(len_bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    PEAK.fetch_max(LIVE.fetch_add(len_bytes, Relaxed) + len_bytes, Relaxed);
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_in(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_len_bytes: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Relaxed);
        count_in(new_len_bytes);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, new_len_bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one merge asked for.
struct Asked {
    calls: usize,
    peak_bytes: usize,
}

fn merge<U: MergeUnit, L: Law<U>>(inputs: &[MergeInput<'_, U>], law: L, strategy: Strategy) -> Asked {
    let (calls, live) = (CALLS.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    let mut merger = Merger::with_strategy(inputs, law, strategy).unwrap();
    while !merger.step(64).unwrap().done {}
    let output = merger.finish().unwrap();
    drop(merger);
    let asked = Asked {
        calls: CALLS.load(Relaxed) - calls,
        peak_bytes: PEAK.load(Relaxed) - live,
    };
    drop(output);
    asked
}

/// A law that sees the key and answers with one of the values.
#[derive(Clone, Copy)]
struct Picks {
    newer: bool,
}

impl<U: Unit> ComposeWithKey<U> for Picks {
    fn name(&self) -> &str {
        "picks"
    }

    fn compose(
        &self,
        key: U::Str<'_>,
        _: U::Str<'_>,
        _: U::Str<'_>,
    ) -> Result<Composed<U::Owned>, LawFailure> {
        assert!(U::len(key) > 0);
        Ok(if self.newer {
            Composed::Newer
        } else {
            Composed::Older
        })
    }
}

fn encode_bytes(keys: &[Vec<u8>], value: &[u8]) -> EncodedStream {
    let records: Vec<_> = keys.iter().map(|key| (key.as_slice(), value)).collect();
    encode_batch::<Byte>(Policy::byte_variable(), &records).unwrap()
}

fn encode_bits(keys: &[Vec<u8>], value: &[u8]) -> EncodedStream {
    let bits =
        |bytes| BitStr::new(bytes, 0, 8 * std::convert::identity::<&[u8]>(bytes).len() as u64).unwrap();
    let records: Vec<_> = keys
        .iter()
        .map(|key| (bits(key.as_slice()), bits(value)))
        .collect();
    encode_batch::<Bit>(Policy::bit_variable(), &records).unwrap()
}

const STRATEGIES: [Strategy; 4] = [
    Strategy::Encoded,
    Strategy::Materialised,
    Strategy::Tree { materialised: false },
    Strategy::Tree { materialised: true },
];

/// More than the buffers of a merger and of a few keys that grow, far less than one for each of 3,000 records.
const CALLS_MAX: usize = 60;

/// Every record of 2 to 4 inputs in half of the others, every third record dead, whatever the law does not own.
fn nothing_a_record<U: MergeUnit>(encode: fn(&[Vec<u8>], &[u8]) -> EncodedStream) {
    for inputs_count in 1..=4_u32 {
        let streams: Vec<_> = (0..inputs_count)
            .map(|input| {
                let numbers = (0..3000_u32).filter(|number| (number + input) % 3 != 0);
                let keys: Vec<_> = numbers
                    .map(|number| format!("user/{number:06}/name").into_bytes())
                    .collect();
                encode(&keys, &[7; 11])
            })
            .collect();
        let dead: Vec<_> = streams
            .iter()
            .map(|stream| {
                let mut dead = OrdinalBitmap::new(stream.meta.record_count);
                (0..stream.meta.record_count).step_by(3).for_each(|ordinal| {
                    dead.insert(ordinal);
                });
                dead
            })
            .collect();
        for strategy in STRATEGIES {
            for trust in [Trust::Validating, Trust::Certified] {
                for with_dead in [false, true] {
                    let inputs: Vec<_> = streams
                        .iter()
                        .zip(&dead)
                        .map(|(stream, dead)| MergeInput::<U> {
                            trust,
                            dead: with_dead.then_some(dead),
                            ..MergeInput::validating(stream.view())
                        })
                        .collect();
                    let calls = [
                        merge(&inputs, Replace, strategy).calls,
                        merge(&inputs, WithKey(Picks { newer: true }), strategy).calls,
                        merge(&inputs, WithKey(Picks { newer: false }), strategy).calls,
                    ];
                    assert!(
                        calls.iter().all(|&calls| calls < CALLS_MAX),
                        "{inputs_count} inputs, {strategy:?}, {trust:?}, dead records: {with_dead}: {calls:?} calls"
                    );
                }
            }
        }
    }
}

/// Tables whose blocks die, so that sources jump.
fn nothing_a_skipped_block() {
    let tables = [2, 3].map(|step| {
        let mut writer =
            TableWriter::<_, Byte>::new(Vec::new(), TableOptions::new(Policy::byte_variable(), 1)).unwrap();
        (0..3000_u32).for_each(|number| {
            writer
                .append(format!("user/{:06}", step * number).as_bytes(), b"value")
                .unwrap()
        });
        Table::<_, Byte>::open(writer.finish().unwrap().0).unwrap()
    });
    let mut dead = OrdinalBitmap::new(3000);
    (0..3000).step_by(100).for_each(|start| {
        dead.insert_range(start..start + 50);
    });
    let inputs = tables
        .each_ref()
        .map(|table| table_input(table, Some(&dead)).unwrap());
    let calls = merge(&inputs, Replace, Strategy::Encoded).calls;
    // A cursor of the table rebuilds the prefix of the block behind each of the dead stretches.
    assert!(calls < CALLS_MAX + 2 * 30 * 8, "{calls} calls");
}

/// Keys in nested chains whose lengths stand just above powers of two, or just anywhere; many begin with a long one,
/// behind which a buffer of the key need not grow for a while.
fn chains(seed: u64) -> [Vec<Vec<u8>>; 2] {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 0xffff).unwrap() % end
    };
    std::array::from_fn(|_| {
        let mut keys = std::collections::BTreeSet::new();
        let mut key = Vec::new();
        let target = [33, 65, 129, 257, 300, 513, 1000][below(7)];
        if below(4) != 0 {
            key.resize(target / 2 + below(target / 2), b'0');
            keys.insert(key.clone());
        }
        while key.len() < target {
            let grow = match below(8) {
                0 => 1 + below(target),
                _ => 1,
            };
            key.resize((key.len() + grow).min(target), b'0');
            keys.insert(key.clone());
            if below(3) == 0 {
                let mut branch = key[..=below(key.len())].to_vec();
                branch.resize(branch.len() + below(40), b'1');
                keys.insert(branch);
            }
        }
        keys.into_iter().collect()
    })
}

fn spans_stay_below_buffers<U: MergeUnit>(encode: fn(&[Vec<u8>], &[u8]) -> EncodedStream) {
    for seed in 1..300 {
        let streams = chains(seed).map(|keys| encode(&keys, b"v"));
        let inputs = streams
            .each_ref()
            .map(|stream| MergeInput::<U>::validating(stream.view()));
        let spans = merge(&inputs, Replace, Strategy::Encoded).peak_bytes;
        let buffers = merge(&inputs, Replace, Strategy::Materialised).peak_bytes;
        assert!(
            spans <= buffers,
            "seed {seed}: spans ask for {spans} bytes, buffers for {buffers}"
        );
        let certified = streams
            .each_ref()
            .map(|stream| MergeInput::<U>::certified(stream.view()));
        let nothing = merge(&certified, Replace, Strategy::Encoded).peak_bytes;
        assert!(nothing <= spans, "seed {seed}: {nothing} bytes certified");
    }
}

#[test]
fn mergers_allocate_nothing_a_record_and_no_more_than_the_key() {
    nothing_a_record::<Byte>(encode_bytes);
    nothing_a_record::<Bit>(encode_bits);
    nothing_a_skipped_block();
    spans_stay_below_buffers::<Byte>(encode_bytes);
    spans_stay_below_buffers::<Bit>(encode_bits);
}
