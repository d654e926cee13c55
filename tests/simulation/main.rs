//! Whole histories on simulated machines that fail: see the module below for what is simulated and what must hold.
//!
//! `TEPHRA_SIMULATION_SEEDS=5000 cargo test --release --test simulation` runs more; `tephra stress --simulate` runs the same
//! histories on all processors and makes a failing one smaller.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

#[path = "../../src/bin/tephra/stress/simulation/mod.rs"]
mod simulation;

use simulation::{Counts, Failure, Planted, Strides, run_creation, run_script, run_seed, scripts};

/// Histories a plain `cargo test` runs.
const SEEDS: u64 = 60;

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

/// Rare ones, of a few ten thousand. While histories are drawn as they are now, these are the ones that failed.
#[test]
fn seeds_that_failed_once_pass() {
    let mut counts = Counts::default();
    for seed in [728, 800, 911, 1315, 5118, 5678, 12_318] {
        run_seed(seed, Planted::None, &mut counts).unwrap_or_else(|failure| panic!("{failure}"));
    }
    assert!(counts.crashes > 0);
}

#[test]
fn calls_of_small_histories_crash_and_fail_in_turn() {
    let mut counts = Counts::default();
    run_creation(Strides(&[6]), &mut counts).unwrap_or_else(|failure| panic!("first creation: {failure}"));
    for script in scripts() {
        run_script(&script, Strides(&[6]), &mut counts)
            .unwrap_or_else(|failure| panic!("{}: {failure}", script.name));
    }
    println!("{counts:?}");
    assert!(counts.crashes > 100);
}

#[test]
fn calls_of_recoveries_crash_and_fail_in_turn() {
    let mut counts = Counts::default();
    run_creation(Strides(&[8, 8, 8]), &mut counts)
        .unwrap_or_else(|failure| panic!("first creation: {failure}"));
    let scripts = scripts();
    let flush = scripts.iter().find(|script| script.name == "flush").unwrap();
    run_script(flush, Strides(&[16, 16, 16]), &mut counts).unwrap_or_else(|failure| panic!("{failure}"));
    println!("{counts:?}");
    assert!(counts.crashes > 50 && counts.recoveries > counts.crashes);
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

/// With the feature `planted-faults` also those inside the engine.
#[test]
fn canary_every_planted_fault_is_noticed_and_without_it_the_same_histories_are_right() {
    for &(name, planted, seeds_to_notice) in Planted::ALL {
        assert_eq!(Planted::named(name), Some(planted));
        let noticed: Option<Box<Failure>> =
            (0..seeds_to_notice).find_map(|seed| run_seed(seed, planted, &mut Counts::default()).err());
        let failure = noticed.unwrap_or_else(|| panic!("{name}: not noticed in {seeds_to_notice} histories"));
        let history_count = failure.seed.unwrap() + 1;
        println!(
            "{name}: noticed in history {history_count} of at most {seeds_to_notice}: {}",
            failure.first.1
        );
        let steps = failure.to_string().lines().count();
        assert!(steps <= 34, "small enough to be read: {failure}");
        for seed in 0..history_count {
            if let Err(failure) = run_seed(seed, Planted::None, &mut Counts::default()) {
                panic!("without {name}: {failure}");
            }
        }
    }
}
