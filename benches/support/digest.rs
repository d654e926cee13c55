//! Reproduces the published facts of a fixture's streams before anything is timed.

use super::fixtures::{Fixture, FixtureKind, FixtureUnit, Record};
use tephra_sstable::{EncodedStream, encode_batch};

/// The encoded streams of a merge fixture, facts checked.
#[derive(Debug)]
pub struct MergeStreams {
    /// Older input.
    pub older: EncodedStream,
    /// Newer input.
    pub newer: EncodedStream,
    /// Expected output.
    pub output: EncodedStream,
}

impl MergeStreams {
    /// Encodes a fixture's inputs and output and checks every published fact; panics with the field
    /// that differs.
    pub fn reproduce<U: FixtureUnit>(fixture: &Fixture) -> Self {
        assert_eq!(fixture.kind, FixtureKind::Merge);
        let streams = Self {
            older: checked_stream::<U>(fixture, "older", &fixture.older()),
            newer: checked_stream::<U>(fixture, "newer", &fixture.newer()),
            output: checked_stream::<U>(fixture, "output", &fixture.output()),
        };
        let fact = |name: &str| fixture.facts[name].as_u64().expect("a literal total");
        let part = |name: &str| {
            fixture.facts[name]["literal_bits"]
                .as_u64()
                .expect("a literal total")
        };
        assert_eq!(
            fact("input_literal_bits"),
            part("older") + part("newer"),
            "{}",
            fixture.label()
        );
        assert_eq!(fact("output_literal_bits"), part("output"), "{}", fixture.label());
        streams
    }
}

/// Batch-encodes records with the fixture's policy and checks the facts published under `name`.
pub fn checked_stream<U: FixtureUnit>(fixture: &Fixture, name: &str, records: &[Record]) -> EncodedStream {
    let stream = encode::<U>(fixture, records);
    check_facts::<U>(fixture, name, records, &stream);
    stream
}

/// Batch-encodes records with the fixture's policy.
pub fn encode<U: FixtureUnit>(fixture: &Fixture, records: &[Record]) -> EncodedStream {
    let strings: Vec<_> = records.iter().map(Record::strings::<U>).collect();
    encode_batch::<U>(fixture.policy.policy(), &strings).expect("fixtures are valid input")
}

/// Compares a stream with the facts published under `name`.
fn check_facts<U: FixtureUnit>(fixture: &Fixture, name: &str, records: &[Record], stream: &EncodedStream) {
    let facts = fixture.facts[name].as_object().expect("facts of a stream");
    let number = |field: &str, found: u64| {
        assert_eq!(
            facts[field].as_u64(),
            Some(found),
            "{} {name}: {field}",
            fixture.label()
        );
    };
    let text = |field: &str, found: &str| {
        assert_eq!(
            facts[field].as_str(),
            Some(found),
            "{} {name}: {field}",
            fixture.label()
        );
    };
    let directory = &stream.directory;
    number("records", stream.meta.record_count);
    number("payload_bytes", stream.payload.len() as u64);
    number("extent", stream.meta.extent_units);
    number("terminal_key_units", stream.meta.last_key_units);
    assert_eq!(
        facts["common_value_width"].as_u64(),
        stream.meta.common_width,
        "{} {name}",
        fixture.label()
    );
    number("literal_bits", literal_units::<U>(records) * U::BITS);
    number("ef_entries", directory.entries);
    number("ef_universe", directory.universe);
    number("ef_low_width", u64::from(directory.low_width));
    number("ef_low_words", directory.low.len() as u64);
    number("ef_high_words", directory.high.len() as u64);
    number("ef_samples", directory.samples.len() as u64);
    number("ef_sparse", directory.sparse.len() as u64);
    text("payload_crc32", &hex32(crc32fast::hash(&stream.payload)));
    text("ef_low_crc32", &hex32(crc32_of_words(&directory.low)));
    text("ef_high_crc32", &hex32(crc32_of_words(&directory.high)));
    text("wire_digest", &format!("{:016x}", wire_digest(stream)));
}

/// Units stored for keys in ordinary front coding: what is not shared with the key before.
pub fn literal_units<U: FixtureUnit>(records: &[Record]) -> u64 {
    let mut total = 0;
    let mut previous: Option<&Record> = None;
    for record in records {
        let shared = previous.map_or(0, |previous| shared_units::<U>(previous, record));
        total += record.key_units - shared;
        previous = Some(record);
    }
    total
}

fn shared_units<U: FixtureUnit>(left: &Record, right: &Record) -> u64 {
    let equal_bytes = left
        .key
        .iter()
        .zip(&right.key)
        .take_while(|(left, right)| left == right)
        .count();
    let rest = match (left.key.get(equal_bytes), right.key.get(equal_bytes)) {
        (Some(left), Some(right)) => u64::from((left ^ right).leading_zeros()),
        _ => 0,
    };
    let equal_units = (8 * equal_bytes as u64 + rest) / U::BITS;
    equal_units.min(left.key_units).min(right.key_units)
}

fn crc32_of_words(words: &[u64]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for word in words {
        hasher.update(&word.to_le_bytes());
    }
    hasher.finalize()
}

fn hex32(value: u32) -> String {
    format!("{value:08x}")
}

/// The running hash over a whole encoding that the fixtures publish.
pub fn wire_digest(stream: &EncodedStream) -> u64 {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    let meta = &stream.meta;
    digest.integer(meta.record_count);
    digest.integer(meta.extent_units);
    digest.integer(meta.last_key_units);
    digest.integer(u64::from(meta.common_width.is_some()));
    digest.integer(meta.common_width.unwrap_or(0));
    digest.integer(stream.payload.len() as u64);
    stream.payload.iter().for_each(|&byte| digest.byte(byte));
    let directory = &stream.directory;
    digest.words(&directory.low);
    digest.words(&directory.high);
    digest.words(&directory.sparse);
    digest.integer(directory.entries);
    digest.integer(directory.universe);
    digest.integer(u64::from(directory.low_width));
    digest.integer(directory.samples.len() as u64);
    for sample in &directory.samples {
        digest.integer(sample.first);
        digest.integer(sample.sparse);
    }
    digest.0
}

struct Digest(u64);

impl Digest {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }

    fn integer(&mut self, value: u64) {
        value.to_le_bytes().iter().for_each(|&byte| self.byte(byte));
    }

    fn words(&mut self, words: &[u64]) {
        self.integer(words.len() as u64);
        words.iter().for_each(|&word| self.integer(word));
    }
}
