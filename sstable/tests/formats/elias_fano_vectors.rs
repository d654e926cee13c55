//! The directories of the golden encodings: their entries, built again, give every field.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use std::path::Path;

use serde_json::Value;
use tephra_sstable::elias_fano::{DENSE, EliasFano, EliasFanoBuilder, Sample};

fn words(value: &Value) -> Vec<u64> {
    let hex = value
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap());
    hex.map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number of 64 bits"))
}

fn golden(value: &Value) -> EliasFano {
    let samples = value["samples"].as_array().unwrap();
    EliasFano {
        entries: number(&value["entries"]),
        universe: number(&value["universe"]),
        low_width: u32::try_from(number(&value["low_width"])).unwrap(),
        low: words(&value["low"]),
        high: words(&value["high"]),
        samples: samples
            .iter()
            .map(|s| Sample {
                first: number(&s[0]),
                sparse: number(&s[1]),
            })
            .collect(),
        sparse: value["sparse"].as_array().unwrap().iter().map(number).collect(),
    }
}

/// Entry by entry and bit by bit, without anything of the crate.
fn decode(sequence: &EliasFano) -> Vec<u64> {
    let bit = |words: &[u64], at: usize| words[at / 64] >> (at % 64) & 1;
    let ones = (0..sequence.high.len() * 64).filter(|&at| bit(&sequence.high, at) == 1);
    let width = sequence.low_width as usize;
    let low = |index: usize| {
        (0..width)
            .map(|b| bit(&sequence.low, index * width + b) << b)
            .sum::<u64>()
    };
    ones.enumerate()
        .map(|(index, at)| ((at - index) as u64) << width | low(index))
        .collect()
}

#[test]
fn directories_are_built_byte_for_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let (mut cases, mut sparse_cases) = (0, 0);
    for file in ["byte", "bit", "redundant", "writer", "big"] {
        let path = folder.join(format!("{file}.jsonl"));
        let text = read(&path);
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let name = case["name"].as_str().unwrap();
            let golden = golden(&case["ef"]);
            let entries = decode(&golden);
            assert_eq!(entries.len() as u64, golden.entries, "{name}");
            let mut builder = EliasFanoBuilder::new();
            entries.iter().for_each(|&entry| builder.push(entry).unwrap());
            let built = builder.finish().unwrap();
            assert_eq!(built, golden, "{name}");
            golden
                .view()
                .validate()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            for (index, &entry) in entries.iter().enumerate() {
                assert_eq!(golden.view().select(index as u64), Ok(entry), "{name}");
            }
            cases += 1;
            sparse_cases += usize::from(built.samples.iter().any(|sample| sample.sparse != DENSE));
        }
    }
    assert!(cases >= 170, "{cases} cases");
    assert!(sparse_cases > 0);
}

#[expect(clippy::disallowed_methods, reason = "the test's own data")]
fn read(path: &Path) -> String {
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}
