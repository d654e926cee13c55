//! Properties of encoding and decoding over random records under random policies.
//!
//! ```text
//! batch encoder = native writer = draining writer = frames pushed again from what was read
//! decode(encode(x)) = x, for both cursors; redundant front coding gives the same keys
//! ```

use crate::records::{self, Text, string};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tephra_sstable::elias_fano::EliasFanoBuilder;
use tephra_sstable::writer::{DrainingWriter, NativeWriter};
use tephra_sstable::{
    Bit, Byte, EncodedCursor, EncodedStream, FrameWriter, KeyCursor, Policy, StreamMeta, Unit, encode_batch,
};

const CASES: u64 = 400;

fn encode<U: Unit>(policy: Policy, records: &[(Text, Text)]) -> EncodedStream {
    let strings: Vec<_> = records
        .iter()
        .map(|(key, value)| (string::<U>(key), string::<U>(value)))
        .collect();
    encode_batch::<U>(policy, &strings).expect("sorted records of the policy's width")
}

fn assert_decodes<U: Unit>(stream: &EncodedStream, records: &[(Text, Text)], seed: u64) {
    let mut cursor =
        KeyCursor::<U>::new(stream.view()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for (key, value) in records {
        assert_eq!(cursor.next(), Ok(true), "seed {seed}");
        assert!(
            U::compare(cursor.key(), string::<U>(key)).is_eq(),
            "seed {seed}: key"
        );
        assert!(
            U::compare(cursor.value(), string::<U>(value)).is_eq(),
            "seed {seed}: value"
        );
    }
    assert_eq!(cursor.next(), Ok(false), "seed {seed}");
}

fn for_all_cases<U: Unit>(check: impl Fn(u64, &mut Xoshiro256PlusPlus, Policy, Vec<(Text, Text)>)) {
    for seed in 0..CASES {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (policy, widths) = records::policy::<U>(&mut rng);
        let records = records::records::<U>(&mut rng, widths);
        check(seed, &mut rng, policy, records);
    }
}

fn streaming_is_batch<U: Unit>() {
    for_all_cases::<U>(|seed, rng, policy, records| {
        let batch = encode::<U>(policy, &records);
        assert_decodes::<U>(&batch, &records, seed);
        let width = batch.meta.common_width;
        let mut native = NativeWriter::<U>::new(policy, width).expect("a legal policy");
        let drain_len_bytes = [0, 1, 100, 1 << 20][rng.random_range(0..4)];
        let mut draining =
            DrainingWriter::<U, _>::new(policy, width, Vec::new(), drain_len_bytes).expect("a legal policy");
        for (key, value) in &records {
            let appended = native
                .append(string::<U>(key), string::<U>(value))
                .expect("sorted");
            assert_eq!(
                draining
                    .append(string::<U>(key), string::<U>(value))
                    .expect("sorted"),
                appended,
                "seed {seed}"
            );
        }
        assert!(
            native.finish().expect("memory") == batch,
            "seed {seed}: native writer under {policy:?}"
        );
        let (payload, meta, directory) = draining.finish().expect("a vector takes all");
        assert!(
            EncodedStream {
                meta,
                payload,
                directory
            } == batch,
            "seed {seed}: draining writer"
        );
    });
}

#[test]
fn streaming_is_batch_in_bytes() {
    streaming_is_batch::<Byte>();
}

#[test]
fn streaming_is_batch_in_bits() {
    streaming_is_batch::<Bit>();
}

/// A merge copies literal and value out of a payload in one piece, with whatever lies around them.
fn frames_pushed_again_are_the_same<U: Unit>() {
    for_all_cases::<U>(|seed, rng, policy, records| {
        let batch = encode::<U>(policy, &records);
        let slack: usize = rng.random_range(0..100);
        let mut readable = batch.payload.clone();
        readable.extend((0..slack).map(|_| rng.random::<u8>()));
        let mut joined = FrameWriter::<U>::new(policy, batch.meta.common_width).expect("a legal policy");
        let mut apart = joined.clone();
        let mut cursor = EncodedCursor::<U>::new(batch.view()).expect("just written");
        while let Some(frame) = cursor.next().expect("just written") {
            let span = |start, len| U::span_at(&readable, start, len).expect("in the payload");
            let (literal, value) = (frame.literal_units(), frame.value_units());
            let body = span(frame.literal_start, literal + value);
            joined
                .append_joined(frame.retained, literal, body)
                .expect("memory");
            let (literal, value) = (span(frame.literal_start, literal), span(frame.value_start, value));
            apart.append(frame.retained, literal, value).expect("memory");
        }
        assert!(joined.finish().expect("memory") == batch, "seed {seed}: joined");
        assert!(apart.finish().expect("memory") == batch, "seed {seed}: apart");
    });
}

#[test]
fn frames_pushed_again_are_the_same_in_bytes() {
    frames_pushed_again_are_the_same::<Byte>();
}

#[test]
fn frames_pushed_again_are_the_same_in_bits() {
    frames_pushed_again_are_the_same::<Bit>();
}

/// Encodes with retained lengths drawn at random below the common prefixes.
fn encode_redundantly<U: Unit>(
    rng: &mut Xoshiro256PlusPlus,
    policy: Policy,
    common_width: Option<u64>,
    records: &[(Text, Text)],
) -> EncodedStream {
    let (mut out, mut directory) = (U::Owned::default(), EliasFanoBuilder::new());
    let empty: Text = (Vec::new(), 0);
    let mut previous = string::<U>(&empty);
    for (ordinal, (key, value)) in (0u64..).zip(records) {
        let (key, value) = (string::<U>(key), string::<U>(value));
        let retained = rng.random_range(0..=U::lcp(previous, key));
        if ordinal.is_multiple_of(policy.records_per_block.get().into()) {
            let residual = U::owned_len(&out) - ordinal * common_width.unwrap_or(0);
            directory.push(residual).expect("residuals grow");
            U::push_count(&mut out, retained);
        } else {
            // A Golomb code of modulus 1 writes one bit a unit; the keys are short enough.
            U::push_backspace(&mut out, U::len(previous) - retained, policy.backspace);
        }
        U::push_count(&mut out, U::len(key) - retained);
        if common_width.is_none() {
            U::push_count(&mut out, U::len(value));
        }
        U::push(&mut out, U::slice(key, retained, U::len(key)));
        U::push(&mut out, value);
        previous = key;
    }
    let meta = StreamMeta {
        policy,
        common_width,
        record_count: records.len() as u64,
        extent_units: U::owned_len(&out),
        last_key_units: U::len(previous),
    };
    directory
        .push(meta.extent_units - meta.common_units_before(meta.record_count))
        .expect("residuals grow");
    EncodedStream {
        meta,
        payload: U::into_bytes(out),
        directory: directory.finish().expect("memory"),
    }
}

fn redundant_front_coding_gives_the_same_keys<U: Unit>() {
    for_all_cases::<U>(|seed, rng, policy, records| {
        let batch = encode::<U>(policy, &records);
        let redundant = encode_redundantly::<U>(rng, policy, batch.meta.common_width, &records);
        assert_decodes::<U>(&redundant, &records, seed);
        let mut cursor = KeyCursor::<U>::new(redundant.view()).expect("well-formed");
        let mut ordinary = NativeWriter::<U>::new(policy, batch.meta.common_width).expect("a legal policy");
        while cursor.next().expect("well-formed") {
            let appended = ordinary.append(cursor.key(), cursor.value()).expect("sorted");
            assert_eq!(appended.retained, cursor.lcp_with_previous(), "seed {seed}");
        }
        assert!(
            ordinary.finish().expect("memory") == batch,
            "seed {seed}: ordinary again"
        );
    });
}

#[test]
fn redundant_front_coding_gives_the_same_keys_in_bytes() {
    redundant_front_coding_gives_the_same_keys::<Byte>();
}

#[test]
fn redundant_front_coding_gives_the_same_keys_in_bits() {
    redundant_front_coding_gives_the_same_keys::<Bit>();
}

/// A streaming writer that was told nothing writes every length, and the records come back.
#[test]
fn without_a_declared_width_every_record_says_its_own() {
    for_all_cases::<Bit>(|seed, _, policy, records| {
        if policy.fixed_width().is_some() {
            return;
        }
        let mut native = NativeWriter::<Bit>::new(policy, None).expect("a legal policy");
        for (key, value) in &records {
            native
                .append(string::<Bit>(key), string::<Bit>(value))
                .expect("sorted");
        }
        let stream = native.finish().expect("memory");
        assert_eq!(stream.meta.common_width, None, "seed {seed}");
        assert_decodes::<Bit>(&stream, &records, seed);
    });
}

/// No damage panics or is read for ever, and what both cursors accept is what the encoder would have written.
fn damage_is_refused_or_decodes<U: Unit>() {
    for_all_cases::<U>(|seed, rng, policy, records| {
        let mut stream = encode::<U>(policy, &records);
        if stream.payload.is_empty() {
            return;
        }
        let at = rng.random_range(0..stream.payload.len());
        stream.payload[at] ^= 1 << rng.random_range(0..8);
        let Ok(mut cursor) = KeyCursor::<U>::new(stream.view()) else {
            return;
        };
        let mut count = 0;
        let ended = loop {
            match cursor.next() {
                Ok(true) => count += 1,
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        match ended {
            Ok(()) => assert_eq!(count, stream.meta.record_count, "seed {seed}"),
            Err(error) => assert_eq!(cursor.next(), Err(error), "seed {seed}: asked again"),
        }
    });
}

#[test]
fn damage_is_refused_or_decodes_in_bytes() {
    damage_is_refused_or_decodes::<Byte>();
}

#[test]
fn damage_is_refused_or_decodes_in_bits() {
    damage_is_refused_or_decodes::<Bit>();
}
