//! Histories of real threads, each checked: is there an order of all operations that explains what everybody saw?
//!
//! | file | what it does |
//! |---|---|
//! | `record.rs` | runs threads on a database with flushes, compactions, ingests and checkpoints beside, and notes who saw what when |
//! | `checker.rs` | looks for the order: gets, walks and snapshots linearisable, batches whole, each snapshot one instant |
//! | `planted.rs` | puts wrong answers into right histories: the check must object to every one |
//!
//! `TEPHRA_HISTORIES=1000 cargo test --profile ci --test linearisable -- --nocapture` records more; `TEPHRA_HISTORIES_FROM=7` begins
//! elsewhere. A seed says what the threads do, not when: a failure is printed whole, and need not come back.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

mod checker;
mod planted;
mod record;
#[path = "../support/rng.rs"]
mod rng;

use std::collections::BTreeMap;

use checker::{Checked, Unexplained, check};
use record::{Size, record};
use rng::Rng;

/// Histories of a run that nobody asked to be longer.
const HISTORIES: u64 = 12;
/// How often a history is recorded again that had too many orders to try: the next time the threads meet otherwise.
const RECORDINGS: usize = 4;
/// Wrong answers of each kind that are planted.
const PLANTED: usize = 20;
/// So many planted answers of a kind may stay undecided in a history; then the next history is taken.
const UNDECIDED_MAX: usize = 3;
const SIZE: Size = Size {
    clients: 6,
    operations: 400,
};

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

#[test]
fn histories_of_real_threads_have_an_order_that_explains_every_answer() {
    let first = number_from_environment("TEPHRA_HISTORIES_FROM").unwrap_or(0);
    let count = number_from_environment("TEPHRA_HISTORIES").unwrap_or(HISTORIES);
    let mut all = Checked::default();
    let (mut flushes, mut compactions, mut undecided) = (0, 0, 0);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in first..first + count {
        let decided = (0..RECORDINGS).find_map(|_| {
            let (history, stats) = record(seed, SIZE);
            match check(&history) {
                Ok(checked) => Some((history, stats, checked)),
                Err(Unexplained::NoOrder(wrong)) => panic!("seed {seed}: {wrong}"),
                Err(Unexplained::Undecided) => None,
            }
        });
        let Some((history, stats, checked)) = decided else {
            undecided += 1;
            continue;
        };
        all.operations += checked.operations;
        all.overlapping += checked.overlapping;
        all.states_max = all.states_max.max(checked.states_max);
        flushes += stats.flush_count;
        history
            .iter()
            .for_each(|call| *kinds.entry(call.name).or_default() += 1);
        compactions += stats.compaction_count;
    }
    println!(
        "{count} histories, {} operations, {} of them called while another was pending, at most {} explanations at a time, \
         {flushes} flushes, {compactions} compactions",
        all.operations, all.overlapping, all.states_max
    );
    println!("{kinds:?}");
    println!("{undecided} histories had too many orders to try, each of {RECORDINGS} times");
    assert!(undecided * 4 <= count, "{undecided} of {count} undecided");
    assert!(
        count == 0 || (all.overlapping > 0 && flushes > 0 && compactions > 0),
        "threads met"
    );
}

#[test]
fn canary_wrong_answers_in_right_histories_are_seen() {
    const HISTORIES: u64 = 20;
    const SEEDS_OF_A_HISTORY: u64 = 100;
    // Those that threads made which stood still in the middle of calls are passed over: they leave too much open.
    let histories: Vec<_> = (0..HISTORIES)
        .map(|seed| record(seed, SIZE).0)
        .filter(|history| check(history).is_ok())
        .collect();
    for (name, plant) in planted::PLANTS {
        let mut planted_count = 0;
        for history in &histories {
            let mut undecided = 0;
            for seed in 0..SEEDS_OF_A_HISTORY {
                if planted_count == PLANTED || undecided == UNDECIDED_MAX {
                    break;
                }
                let Some(planted) = plant(history, &mut Rng::new(seed)) else {
                    continue;
                };
                match check(&planted) {
                    Ok(_) => panic!("{name}, planted with seed {seed}, is not seen"),
                    Err(Unexplained::NoOrder(_)) => planted_count += 1,
                    // A wrong answer can leave open what no later one tells.
                    Err(Unexplained::Undecided) => undecided += 1,
                }
            }
        }
        assert_eq!(planted_count, PLANTED, "the histories have places for {name}");
        println!("{name}: {planted_count} planted, all seen");
    }
}
