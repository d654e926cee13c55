//! The step contract: budgets, pauses, threads, retries, poisoning.

use tephra_sstable::{Byte, Policy};

use super::support::{Records, encode};
use crate::{ComposeValues, Composed, LawFailure, MergeError, MergeInput, Merger, Replace, Values};

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
