//! The step contract: budgets, pauses, threads, retries, poisoning.

use std::num::NonZeroU32;

use tephra_sstable::elias_fano::EliasFanoBuilder;
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Byte, EncodedStream, Policy, Rule, StreamMeta};

use super::support::{KnownPrefixes, Records, encode};
use crate::{
    BlockPrefixes, ComposeValues, Composed, LawFailure, MergeError, MergeInput, Merger, PrefixError, Replace,
    Values,
};

fn records(pairs: &[(&str, &str)]) -> Records {
    pairs
        .iter()
        .map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect()
}

fn two_inputs() -> [tephra_sstable::EncodedStream; 2] {
    let policy = Policy::byte_variable();
    [
        encode::<Byte>(policy, &records(&[("a", "1"), ("ab", "22"), ("b", "333")])),
        encode::<Byte>(policy, &records(&[("ab", "x"), ("c", "yy")])),
    ]
}

#[test]
fn a_zero_budget_does_nothing_and_finish_can_be_tried_again() {
    let [older, newer] = two_inputs();
    let inputs = [
        MergeInput::<Byte>::validating(older.view()),
        MergeInput::validating(newer.view()),
    ];
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    assert_eq!(merger.step(0).unwrap().keys, 0);
    assert!(matches!(merger.finish(), Err(MergeError::Unfinished)));
    assert_eq!(merger.step(2).unwrap().records, 3);
    assert!(matches!(merger.finish(), Err(MergeError::Unfinished)));
    let last = merger.step(100).unwrap();
    assert_eq!((last.keys, last.records, last.done), (2, 2, true));
    let output = merger.finish().unwrap();
    let policy = Policy::byte_variable();
    let expected = records(&[("a", "1"), ("ab", "x"), ("b", "333"), ("c", "yy")]);
    assert_eq!(output, encode::<Byte>(policy, &expected));
    assert!(matches!(merger.step(1), Err(MergeError::Finished)));
    assert!(matches!(merger.finish(), Err(MergeError::Finished)));
}

#[test]
fn a_paused_merger_moves_to_another_thread() {
    let [older, newer] = two_inputs();
    let inputs = [
        MergeInput::<Byte>::validating(older.view()),
        MergeInput::validating(newer.view()),
    ];
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    merger.step(1).unwrap();
    let output = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            merger.step(1).unwrap();
            merger.step(100).unwrap();
            merger.finish().unwrap()
        });
        worker.join().unwrap()
    });
    assert_eq!(output.meta.record_count, 4);
}

struct Failing {
    panics: bool,
}

impl ComposeValues<Byte> for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn compose(&self, _older: &[u8], _newer: &[u8]) -> Result<Composed<Vec<u8>>, LawFailure> {
        assert!(!self.panics, "the law gave up");
        Err(LawFailure::new("no value"))
    }
}

#[test]
fn a_failing_or_panicking_law_poisons_the_merge() {
    for panics in [false, true] {
        let [older, newer] = two_inputs();
        let inputs = [
            MergeInput::<Byte>::validating(older.view()),
            MergeInput::validating(newer.view()),
        ];
        let mut merger = Merger::new(&inputs, Values(Failing { panics })).unwrap();
        assert_eq!(merger.step(1).unwrap().keys, 1);
        let error = merger.step(10).unwrap_err();
        let MergeError::Law { law, record, failure } = &error else {
            panic!("{error}")
        };
        assert_eq!((law.as_str(), *record), ("failing", 1));
        assert_eq!(
            matches!(failure, LawFailure::Panicked(text) if text.contains("gave up")),
            panics
        );
        for result in [
            merger.finish().map(|_| ()),
            merger.step(1).map(|_| ()),
            merger.cut().map(|_| ()),
        ] {
            let Err(MergeError::Poisoned { cause }) = result else {
                panic!("expected a poisoned merger")
            };
            assert_eq!(cause, error.to_string());
        }
    }
}

#[test]
fn cuts_begin_with_whole_keys() {
    let [older, newer] = two_inputs();
    let inputs = [
        MergeInput::<Byte>::validating(older.view()),
        MergeInput::validating(newer.view()),
    ];
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    let policy = Policy::byte_variable();
    merger.step(1).unwrap();
    assert_eq!(
        merger.cut().unwrap(),
        encode::<Byte>(policy, &records(&[("a", "1")]))
    );
    merger.step(2).unwrap();
    assert_eq!(
        merger.cut().unwrap(),
        encode::<Byte>(policy, &records(&[("ab", "x"), ("b", "333")]))
    );
    merger.step(2).unwrap();
    assert_eq!(
        merger.finish().unwrap(),
        encode::<Byte>(policy, &records(&[("c", "yy")]))
    );
}

#[test]
fn certified_inputs_can_be_cut_at_every_key() {
    let mut policy = Policy::byte_variable();
    policy.records_per_block = NonZeroU32::new(3).unwrap();
    let older = (0..40_u32).map(|n| (format!("key {:03}", 3 * n).into_bytes(), vec![1; 3]));
    let newer = (0..40_u32).map(|n| (format!("key {:03}", 2 * n).into_bytes(), vec![2; 5]));
    let sides: [Records; 2] = [older.collect(), newer.collect()];
    let streams = sides.each_ref().map(|side| encode::<Byte>(policy, side));
    let prefixes = sides.each_ref().map(|side| KnownPrefixes::new(&policy, side));
    let inputs = [0, 1].map(|side| MergeInput::<Byte> {
        prefixes: Some(&prefixes[side]),
        ..MergeInput::certified(streams[side].view())
    });
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    for (key, value) in super::support::union(&sides) {
        merger.step(1).unwrap();
        let alone = Records::from([(key, value)]);
        assert_eq!(merger.cut().unwrap(), encode::<Byte>(policy, &alone), "{alone:?}");
    }
    assert!(merger.is_done());
}

#[test]
fn a_prefix_that_cannot_be_read_ends_the_merge_with_its_cause() {
    #[derive(Debug)]
    struct Unreadable;
    impl BlockPrefixes<Byte> for Unreadable {
        fn append_prefix(&self, _: u64, _: u64, _: &mut Vec<u8>) -> Result<(), PrefixError> {
            Err("page 7 is damaged".into())
        }
    }
    let mut policy = Policy::byte_variable();
    policy.records_per_block = NonZeroU32::MIN;
    let stream = encode::<Byte>(policy, &records(&[("a", "1"), ("ab", "22"), ("ac", "333")]));
    let mut dead = OrdinalBitmap::new(3);
    dead.insert(0);
    let input = MergeInput::<Byte> {
        dead: Some(&dead),
        prefixes: Some(&Unreadable),
        ..MergeInput::validating(stream.view())
    };
    let error = Merger::new(&[input], Replace).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input 0: reading the prefix of block 1: page 7 is damaged"
    );
}

/// Cause: a certified source without block prefixes decoded a key from the stream's first record at every cut. Loss:
/// a merge cut into n outputs read its inputs n times. Now it goes on where it stood.
#[test]
fn certified_inputs_without_prefixes_can_be_cut_at_every_key() {
    let policy = Policy::byte_variable();
    let side = |step: u32| -> Records {
        (0..100_u32)
            .map(|n| (format!("key {:03}", step * n).into_bytes(), vec![1; 3]))
            .collect()
    };
    let sides = [side(2), side(3), side(5)];
    let streams = sides.each_ref().map(|side| encode::<Byte>(policy, side));
    let inputs = streams
        .each_ref()
        .map(|stream| MergeInput::<Byte>::certified(stream.view()));
    let mut merger = Merger::new(&inputs, Replace).unwrap();
    for (key, value) in super::support::union(&sides) {
        merger.step(1).unwrap();
        let alone = Records::from([(key, value)]);
        assert_eq!(merger.cut().unwrap(), encode::<Byte>(policy, &alone), "{alone:?}");
    }
    assert!(merger.is_done());
}

/// Cause: a source that skips a dead block took the prefix of the block behind it without comparing it with the last
/// key before. Loss: an input out of order gave an output out of order. Now that prefix is compared too.
#[test]
fn an_input_out_of_order_behind_a_skipped_block_is_refused() {
    #[derive(Debug)]
    struct RetainsA;
    impl BlockPrefixes<Byte> for RetainsA {
        fn append_prefix(&self, block: u64, units: u64, prefix: &mut Vec<u8>) -> Result<(), PrefixError> {
            assert!(
                block < 2 && units == 0 || block == 2 && units == 1,
                "{block} {units}"
            );
            prefix.extend(std::iter::repeat_n(b'a', usize::try_from(units).unwrap()));
            Ok(())
        }
    }
    let mut policy = Policy::byte_variable();
    policy.records_per_block = NonZeroU32::MIN;
    // "bZ", then "aa", which is dead, then "ab", which retains the "a".
    let payload = b"\x00\x02\x01bZv\x00\x02\x01aav\x01\x01\x01bv".to_vec();
    let mut directory = EliasFanoBuilder::new();
    for entry in [0, 6, 12, 17] {
        directory.push(entry).unwrap();
    }
    let stream = EncodedStream {
        meta: StreamMeta {
            policy,
            common_width: None,
            record_count: 3,
            extent_units: 17,
            last_key_units: 2,
        },
        payload,
        directory: directory.finish().unwrap(),
    };
    let mut dead = OrdinalBitmap::new(3);
    dead.insert(1);
    let input = MergeInput::<Byte> {
        dead: Some(&dead),
        prefixes: Some(&RetainsA),
        ..MergeInput::validating(stream.view())
    };
    let mut merger = Merger::new(&[input], Replace).unwrap();
    let error = merger.step(10).unwrap_err();
    assert!(
        matches!(&error, MergeError::Input { error, .. } if error.rule == Rule::KeyOrder),
        "{error:?}"
    );
    assert!(matches!(merger.finish(), Err(MergeError::Poisoned { .. })));
}
