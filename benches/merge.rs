//! The merger against simpler mergers, and against copying its output.
//!
//! ```text
//! cargo bench --bench merge -- [--json] [--quick] [--filter TEXT] [--rounds N]
//!
//! encoded    20 fixtures of 4,096 records      materialised, validating, certified; a copy of the output
//! complete   12 fixtures of 16,384 records     naive, materialised, validating, certified
//! ways       2, 4, 8 and 16 inputs             without duplicates, and a third duplicated
//! overlap    1 record in 10, 1 in 100          100-byte values, in the cache and beyond it
//! random     random interleavings              what a branch predictor cannot learn
//! real       the names of Unicode in four      tables as flushes of an unsorted load would leave them
//! ```
//!
//! Timed: building the merger, every `step(128)`, `finish` with its directory, dropping the merger. Not timed:
//! inputs, checks, dropping the output. Every output is compared with the batch encoding of the union.

#[path = "support/mod.rs"]
mod support;

use support::Args;
use support::cases::{Case, low_overlap, random_interleaving, real_names, ways};
use support::digest::MergeStreams;
use support::fixtures::{Fixture, FixtureKind, FixtureUnit};
use support::report::{Report, Row, remark};
use support::timing::{Variant, alternate, calibrate_add_ns};

use tephra_compaction::{MergeInput, MergeUnit, Merger, Replace, Strategy, Trust};
use tephra_sstable::{Bit, Byte, EncodedStream};

/// Keys a step, as the experiments that this bench repeats have it.
const STEP_KEYS: u64 = 128;

fn main() {
    let args = Args::from_env();
    let mut report = Report::new(args.json, calibrate_add_ns());
    let fixtures = Fixture::all();
    for fixture in fixtures
        .iter()
        .filter(|fixture| fixture.kind == FixtureKind::Merge)
    {
        let experiment = if fixture.records == 4096 {
            "encoded"
        } else {
            "complete"
        };
        if !args.wants(&format!("{experiment} {}", fixture.label())) {
            continue;
        }
        if fixture.policy.is_bit() {
            run_fixture::<Bit>(fixture, &args, &mut report);
        } else {
            run_fixture::<Byte>(fixture, &args, &mut report);
        }
    }
    for case in random_interleaving::<Byte>()
        .into_iter()
        .chain(ways())
        .chain(low_overlap::<Byte>())
        .chain(real_names())
    {
        run_case::<Byte>(case, &args, &mut report);
    }
    for case in random_interleaving::<Bit>()
        .into_iter()
        .chain(low_overlap::<Bit>())
    {
        run_case::<Bit>(case, &args, &mut report);
    }
}

/// Merges once, timed as a whole.
fn merge<U: MergeUnit>(streams: &[EncodedStream], trust: Trust, strategy: Strategy) -> EncodedStream {
    let inputs: Vec<_> = streams
        .iter()
        .map(|stream| MergeInput::<U> {
            trust,
            ..MergeInput::validating(stream.view())
        })
        .collect();
    let mut merger = Merger::with_strategy(&inputs, Replace, strategy).expect("inputs are valid");
    while !merger.step(STEP_KEYS).expect("inputs are valid").done {}
    merger.finish().expect("all inputs have ended")
}

const MATERIALISED: (&str, Trust, Strategy) = ("materialised", Trust::Validating, Strategy::Materialised);
const VALIDATING: (&str, Trust, Strategy) = ("validating", Trust::Validating, Strategy::Encoded);
const CERTIFIED: (&str, Trust, Strategy) = ("certified", Trust::Certified, Strategy::Encoded);
const NAIVE: (&str, Trust, Strategy) = ("naive", Trust::Validating, Strategy::Naive);
const TREE: Strategy = Strategy::Tree { materialised: false };

fn run_fixture<U: FixtureUnit + MergeUnit>(fixture: &Fixture, args: &Args, report: &mut Report) {
    let streams = MergeStreams::reproduce::<U>(fixture);
    let mut variants = vec![MATERIALISED, VALIDATING, CERTIFIED];
    if fixture.records > 4096 {
        variants.insert(0, NAIVE);
    }
    let case = Case {
        name: fixture.shape.clone(),
        policy: fixture.policy.name(),
        prefix: fixture.prefix,
        tail: fixture.tail,
        inputs: vec![streams.older, streams.newer],
        expected: streams.output,
    };
    run_variants::<U>(&case, &variants, args, report);
}

fn run_case<U: MergeUnit>(case: Case, args: &Args, report: &mut Report) {
    if !args.wants(&format!("{} {}", case.name, case.policy)) {
        return;
    }
    let variants: &[_] = if case.name.starts_with("ways") {
        &[
            ("validating tree", Trust::Validating, TREE),
            ("certified tree", Trust::Certified, TREE),
        ]
    } else {
        &[MATERIALISED, VALIDATING, CERTIFIED]
    };
    run_variants::<U>(&case, variants, args, report);
}

fn run_variants<U: MergeUnit>(
    case: &Case,
    variants: &[(&'static str, Trust, Strategy)],
    args: &Args,
    report: &mut Report,
) {
    let keys = case.expected.meta.record_count as f64;
    let mut timed: Vec<Variant<'_, EncodedStream>> = variants
        .iter()
        .map(|&(name, trust, strategy)| Variant::new(name, move || merge::<U>(&case.inputs, trust, strategy)))
        .collect();
    let spreads = alternate(&mut timed, args.rounds(), |index, output| {
        assert!(
            *output == case.expected,
            "{} {}: wrong output",
            case.name,
            variants[index].0
        );
    });
    let copies = {
        let payload = &case.expected.payload;
        let mut copy = [Variant::new("memcpy", || payload.to_vec())];
        alternate(&mut copy, args.rounds(), |_, copy| {
            assert!(copy.len() == payload.len())
        })[0]
    };
    for (variant, spread) in variants
        .iter()
        .map(|variant| variant.0)
        .zip(&spreads)
        .chain([("memcpy", &copies)])
    {
        report.row(&Row {
            bench: "merge",
            fixture: case.name.clone(),
            policy: case.policy,
            records: case.expected.meta.record_count,
            prefix: case.prefix,
            tail: case.tail,
            variant,
            metric: "ns_per_key",
            spread: spread.scaled(1.0 / keys),
            output_payload_bytes: Some(case.expected.payload.len() as u64),
            output_payload_crc32: Some(crc32fast::hash(&case.expected.payload)),
            extra: vec![
                ("gb_per_s", case.expected.payload.len() as f64 / spread.median),
                ("of_memcpy", copies.median / spread.median),
            ],
        });
    }
    remark(&format!("done: {} {}", case.name, case.policy));
}
