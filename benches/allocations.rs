//! What a merge asks of the allocator: twenty fixtures, three variants.
//!
//! ```text
//! cargo bench --bench allocations -- [--json] [--filter TEXT]
//!
//! bytes_peak         most requested bytes alive at once, output included
//! scratch_peak       the same without the output's own payload and directory
//! bytes_total        all requested bytes
//! allocations        calls
//! bytes_live_end     alive when the merger is gone: the output
//! ```
//!
//! Counted are requested bytes of the building of the merger, its steps, its finish and its drop; inputs and expected
//! outputs exist before. Not counted: allocator headers, padding, and the merger itself, which is one value of fixed
//! size (`merger_bytes`) that its owner keeps where he likes; the spans of a validating source are part of it.
#![expect(
    unsafe_code,
    reason = "a counting allocator is an implementation of an unsafe trait"
)]

#[path = "support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use support::Args;
use support::digest::MergeStreams;
use support::fixtures::{Fixture, FixtureKind, FixtureUnit};
use support::report::{Report, Row};
use support::timing::Spread;
use tephra_compaction::{MergeInput, MergeUnit, Merger, Replace, Strategy, Trust};
use tephra_sstable::{Bit, Byte, EncodedStream};

/// Counts requested bytes, then asks the system.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn count_in(len_bytes: usize) {
    let live = LIVE.fetch_add(len_bytes, Relaxed) + len_bytes;
    PEAK.fetch_max(live, Relaxed);
    TOTAL.fetch_add(len_bytes, Relaxed);
    CALLS.fetch_add(1, Relaxed);
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
#[derive(Clone, Copy, Debug)]
struct Asked {
    peak: usize,
    scratch: usize,
    total: usize,
    calls: usize,
    live_end: usize,
    merger: usize,
}

fn measure<U: MergeUnit>(streams: &MergeStreams, trust: Trust, strategy: Strategy) -> Asked {
    let input = |stream| MergeInput::<U> {
        trust,
        ..MergeInput::validating(stream)
    };
    let inputs = [input(streams.older.view()), input(streams.newer.view())];
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    TOTAL.store(0, Relaxed);
    CALLS.store(0, Relaxed);
    let (output, merger) = {
        let mut merger = Merger::with_strategy(&inputs, Replace, strategy).expect("inputs are valid");
        while !merger.step(128).expect("inputs are valid").done {}
        (
            merger.finish().expect("all inputs have ended"),
            size_of_val(&merger),
        )
    };
    let (peak, total, calls) = (
        PEAK.load(Relaxed) - before,
        TOTAL.load(Relaxed),
        CALLS.load(Relaxed),
    );
    let live_end = LIVE.load(Relaxed) - before;
    assert!(output == streams.output, "wrong output");
    // The offsets that the directory is built from live as long as the output's payload.
    let offsets = reserved_offsets_bytes(&inputs.map(|input| input.stream.meta.record_count));
    Asked {
        peak,
        scratch: peak.saturating_sub(live_end + offsets),
        total,
        calls,
        live_end,
        merger,
    }
}

/// Bytes of the block offsets that the output reserves for: one of eight bytes a block, and the end.
fn reserved_offsets_bytes(record_counts: &[u64]) -> usize {
    let blocks = record_counts.iter().sum::<u64>().div_ceil(15) + 1;
    usize::try_from(8 * blocks).expect("fixtures are small")
}

fn run<U: FixtureUnit + MergeUnit>(fixture: &Fixture, report: &mut Report) {
    let streams = MergeStreams::reproduce::<U>(fixture);
    let variants = [
        ("materialised", Trust::Validating, Strategy::Materialised),
        ("validating", Trust::Validating, Strategy::Encoded),
        ("certified", Trust::Certified, Strategy::Encoded),
    ];
    let mut peaks = Vec::new();
    for (variant, trust, strategy) in variants {
        let asked = measure::<U>(&streams, trust, strategy);
        peaks.push(asked.peak);
        let metrics = [
            ("bytes_peak", asked.peak),
            ("scratch_peak", asked.scratch),
            ("bytes_total", asked.total),
            ("allocations", asked.calls),
            ("bytes_live_end", asked.live_end),
            ("merger_bytes", asked.merger),
        ];
        for (metric, value) in metrics {
            report.row(&row(fixture, &streams.output, variant, metric, value));
        }
    }
    assert!(
        peaks[1] <= peaks[0],
        "{}: spans ask for more than keys would",
        fixture.label()
    );
    assert!(
        peaks[2] <= peaks[1],
        "{}: a certified merge keeps nothing",
        fixture.label()
    );
}

fn row(
    fixture: &Fixture,
    output: &EncodedStream,
    variant: &'static str,
    metric: &'static str,
    value: usize,
) -> Row {
    Row {
        bench: "allocations",
        fixture: fixture.shape.clone(),
        policy: fixture.policy.name(),
        records: fixture.records,
        prefix: fixture.prefix,
        tail: fixture.tail,
        variant,
        metric,
        spread: Spread::of(vec![value as f64]),
        output_payload_bytes: Some(output.payload.len() as u64),
        output_payload_crc32: Some(crc32fast::hash(&output.payload)),
        extra: Vec::new(),
    }
}

fn main() {
    let args = Args::from_env();
    let mut report = Report::new(args.json, support::timing::calibrate_add_ns());
    let is_wanted = |fixture: &&Fixture| {
        fixture.kind == FixtureKind::Merge && fixture.records == 4096 && args.wants(&fixture.label())
    };
    for fixture in Fixture::all().iter().filter(is_wanted) {
        if fixture.policy.is_bit() {
            run::<Bit>(fixture, &mut report);
        } else {
            run::<Byte>(fixture, &mut report);
        }
    }
}
