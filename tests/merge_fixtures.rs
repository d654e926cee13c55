//! The published fixtures: inputs and outputs have the published lengths, checksums, literal totals and digests, and
//! every way of merging gives that output.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

#[path = "../benches/support/digest.rs"]
#[expect(unreachable_pub, reason = "the benches share it")]
mod digest;
#[path = "../benches/support/fixtures.rs"]
#[expect(dead_code, unreachable_pub, reason = "the benches use the rest")]
mod fixtures;

use digest::MergeStreams;
use fixtures::{Fixture, FixtureKind, FixtureUnit};
use tephra_compaction::{MergeInput, MergeUnit, Merger, Replace, Strategy, Trust};
use tephra_sstable::{Bit, Byte};

/// Larger fixtures are left to the benches, which check them the same way.
const KEY_BYTES_MAX: u64 = 2_000_000;

fn check<U: FixtureUnit + MergeUnit>(fixture: &Fixture) {
    let streams = MergeStreams::reproduce::<U>(fixture);
    let strategies = [
        Strategy::Encoded,
        Strategy::Materialised,
        Strategy::Tree { materialised: false },
        Strategy::Naive,
    ];
    for trust in [Trust::Validating, Trust::Certified] {
        let input = |stream| MergeInput::<U> {
            trust,
            ..MergeInput::validating(stream)
        };
        let inputs = [input(streams.older.view()), input(streams.newer.view())];
        for strategy in strategies {
            let mut merger = Merger::with_strategy(&inputs, Replace, strategy).unwrap();
            while !merger.step(128).unwrap().done {}
            let output = merger.finish().unwrap();
            assert!(
                output == streams.output,
                "{} {trust:?} {strategy:?}",
                fixture.label()
            );
        }
    }
}

#[test]
fn every_way_of_merging_gives_the_published_outputs() {
    let is_small = |fixture: &&Fixture| {
        let key_bytes = fixture.records * (fixture.prefix + fixture.tail);
        fixture.kind == FixtureKind::Merge && key_bytes <= KEY_BYTES_MAX
    };
    let all = Fixture::all();
    let small: Vec<_> = all.iter().filter(is_small).collect();
    assert_eq!(small.len(), 20, "prefixes 0 and 64, and fragments");
    for fixture in small {
        if fixture.policy.is_bit() {
            check::<Bit>(fixture);
        } else {
            check::<Byte>(fixture);
        }
    }
}
