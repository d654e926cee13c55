//! Whole histories on simulated machines that fail: see the module below for what is simulated and what must hold.
//!
//! `TEPHRA_SIMULATION_SEEDS=5000 cargo test --release --test simulation` runs more; `tephra stress --simulate` runs the same
//! histories on all processors and makes a failing one smaller.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

#[path = "../../src/bin/tephra/stress/simulation/mod.rs"]
mod simulation;

use simulation::{Counts, Failure, Planted, run_creation, run_script, run_seed, scripts};

/// Histories a plain `cargo test` runs.
const SEEDS: u64 = 60;
/// A planted fault must be noticed within so many histories.
const SEEDS_TO_NOTICE: u64 = 20;

fn seed_count() -> u64 {
    std::env::var("TEPHRA_SIMULATION_SEEDS").map_or(SEEDS, |text| text.parse().unwrap())
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_read_is_wrong() {
    let mut counts = Counts::default();
    for seed in 0..seed_count() {
        if let Err(failure) = run_seed(seed, Planted::None, &mut counts) {
            panic!("{failure}");
        }
    }
    println!("{counts:?}");
    assert!(counts.crashes > seed_count() && counts.faults > seed_count() && counts.interludes > 0);
}

#[test]
fn every_call_of_small_histories_crashes_and_fails_in_turn() {
    let mut counts = Counts::default();
    run_creation(&mut counts).unwrap_or_else(|failure| panic!("first creation: {failure}"));
    for script in scripts() {
        run_script(&script, 0, &mut counts).unwrap_or_else(|failure| panic!("{}: {failure}", script.0));
    }
    println!("{counts:?}");
    assert!(counts.crashes > 1000);
}

#[test]
fn a_seed_is_one_history() {
    let counts_of = |seed| {
        let mut counts = Counts::default();
        run_seed(seed, Planted::None, &mut counts).unwrap();
        counts
    };
    for seed in 0..10 {
        assert_eq!(counts_of(seed), counts_of(seed), "seed {seed}");
        assert_ne!(counts_of(seed), counts_of(seed + 1), "seed {seed}");
    }
}

#[test]
fn canary_a_directory_that_is_never_synced_is_noticed() {
    let noticed: Option<Box<Failure>> = (0..SEEDS_TO_NOTICE)
        .find_map(|seed| run_seed(seed, Planted::SkippedDirectorySync, &mut Counts::default()).err());
    let failure = noticed.unwrap_or_else(|| panic!("not noticed in {SEEDS_TO_NOTICE} histories"));
    println!("{failure}");
    let steps = failure.to_string().lines().count();
    assert!(steps <= 34, "small enough to be read: {failure}");
}
