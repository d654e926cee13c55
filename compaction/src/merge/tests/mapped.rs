//! Inputs over a mapping: nothing is read past what may be read, and the file may be gone.
#![expect(unsafe_code, reason = "mapping a file has no safe interface")]
#![expect(
    clippy::disallowed_methods,
    reason = "files with names, to take the names away"
)]

use std::io::Write;

use memmap2::{Mmap, MmapOptions};
use tephra_sstable::{Bit, Byte, EncodedStream, EncodedView, Policy};

use super::support::{RandomInputs, TestUnit, encode, random_records, union};
use super::union::{assert_same, run};
use crate::merge::MergeUnit;
use crate::test_rng::TestRng;
use crate::{MergeInput, Merger, Replace, Strategy, Trust};

const PAGE_BYTES: usize = 4096;

/// A payload at the very end of a file of whole pages, mapped together with the page behind it, which the file
/// does not have: one byte read there ends the process.
struct AtTheEdge {
    map: Mmap,
    start: usize,
    end: usize,
}

impl AtTheEdge {
    fn new(payload: &[u8]) -> Self {
        let pages_bytes = payload.len().next_multiple_of(PAGE_BYTES).max(PAGE_BYTES);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![0xa5; pages_bytes - payload.len()]).unwrap();
        file.write_all(payload).unwrap();
        // SAFETY: nobody else knows the file, which has no name; nothing writes to it any more.
        let map = unsafe { MmapOptions::new().len(pages_bytes + PAGE_BYTES).map(&file) }.unwrap();
        Self {
            map,
            start: pages_bytes - payload.len(),
            end: pages_bytes,
        }
    }

    fn view<'a>(&'a self, stream: &'a EncodedStream) -> EncodedView<'a> {
        let payload = &self.map[self.start..self.end];
        EncodedView {
            payload,
            readable: payload,
            ..stream.view()
        }
    }
}

fn check<U: TestUnit + MergeUnit>(seed: u64) {
    let mut rng = TestRng::new(seed);
    let inputs = 1 + rng.below(3);
    let random = RandomInputs::new::<U>(&mut rng, inputs);
    // The files have no names from here on: the mappings alone hold them.
    let mapped: Vec<_> = random
        .streams
        .iter()
        .map(|stream| AtTheEdge::new(&stream.payload))
        .collect();
    let expected = encode::<U>(random.policy, &union(&random.records));
    for strategy in [
        Strategy::Encoded,
        Strategy::Materialised,
        Strategy::Tree { materialised: false },
    ] {
        for trust in [Trust::Validating, Trust::Certified] {
            if trust == Trust::Certified && random.redundant {
                continue;
            }
            let given: Vec<_> = mapped
                .iter()
                .zip(&random.streams)
                .map(|(mapped, stream)| MergeInput::<U> {
                    trust,
                    ..MergeInput::validating(mapped.view(stream))
                })
                .collect();
            let place = format!("seed {seed}, {strategy:?}, {trust:?}");
            let (found, _) = run(&mut rng, &given, Replace, strategy, &place);
            assert_same(&found, &expected, &place);
        }
    }
}

/// A merge goes on over files that have lost their names between two steps, and over those names given to others.
#[test]
fn sources_stay_pinned_while_their_files_are_unlinked() {
    let mut rng = TestRng::new(5);
    let policy = Policy::byte_variable();
    let folder = tempfile::tempdir().unwrap();
    let sides: Vec<_> = (0..3)
        .map(|_| random_records::<Byte>(&mut rng, &policy, 4000))
        .collect();
    let streams: Vec<_> = sides.iter().map(|side| encode::<Byte>(policy, side)).collect();
    let paths: Vec<_> = (0..3)
        .map(|side| folder.path().join(format!("{side}.table")))
        .collect();
    let maps: Vec<_> = streams
        .iter()
        .zip(&paths)
        .map(|(stream, path)| {
            std::fs::write(path, &stream.payload).unwrap();
            let file = std::fs::File::open(path).unwrap();
            // SAFETY: nobody writes to the file; it is unlinked below, never truncated.
            unsafe { Mmap::map(&file) }.unwrap()
        })
        .collect();
    let inputs: Vec<_> = streams
        .iter()
        .zip(&maps)
        .map(|(stream, map)| {
            MergeInput::<Byte>::certified(EncodedView {
                payload: map,
                readable: map,
                ..stream.view()
            })
        })
        .collect();
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    for path in &paths {
        merger.step(500).unwrap();
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, b"another file of that name").unwrap();
    }
    while !merger.step(500).unwrap().done {}
    let expected = encode::<Byte>(policy, &union(&sides));
    assert_same(&merger.finish().unwrap(), &expected, "unlinked files");
}

#[test]
fn nothing_is_read_past_the_readable_bytes() {
    (0..150).for_each(check::<Byte>);
    (0..150).for_each(check::<Bit>);
}
