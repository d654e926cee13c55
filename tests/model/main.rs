//! The database against a plain `BTreeMap`, over random histories of operations.
//!
//! ```text
//! seed ──> plan:    options and a list of operations, before anything runs
//! plan ──> machine: runs them on a database and on the model; the first difference ends it
//!      └─> failure: the plan is cut to the failing operation and thinned out while it still fails, then printed
//! ```
//!
//! Memtables and tables are tiny, so that a few hundred operations cross every border between memtable, flushed table,
//! merged table, log and manifest. Three keyspaces, one of which composes, share each batch and each reopening.
//!
//! The canaries run the same machine with a model that gives one kind of wrong answer: each must be noticed.
//!
//! `TEPHRA_MODEL_RUNS=1000 cargo test --release --test model` runs more histories; `TEPHRA_MODEL_SEED=7` runs one.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

mod machine;
mod plan;
#[path = "../support/rng.rs"]
mod rng;

use std::panic::{AssertUnwindSafe, catch_unwind};

use machine::{Fault, run};
use plan::Plan;

const RUNS: u64 = 24;
/// Tries to make a failing plan smaller.
const SHRINKING_RUNS_MAX: usize = 300;

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// Runs a plan; a failure is the number of the operation and what went wrong, panics included.
fn outcome(plan: &Plan, fault: Fault) -> Result<(), (usize, String)> {
    let mut at = 0;
    let result = catch_unwind(AssertUnwindSafe(|| run(plan, fault, &mut at)));
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(wrong)) => Err((at, wrong)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned()));
            Err((
                at,
                format!("panic: {}", text.unwrap_or_else(|| "without words".to_owned())),
            ))
        }
    }
}

/// Cuts the plan behind the failing operation, then leaves out ever smaller pieces while it still fails.
fn shrink(mut plan: Plan, fault: Fault, (at, mut wrong): (usize, String)) -> (Plan, String) {
    plan.ops.truncate(at + 1);
    let mut runs_left = SHRINKING_RUNS_MAX;
    let mut piece = plan.ops.len().div_ceil(2);
    while piece >= 1 {
        let mut from = 0;
        while from < plan.ops.len() && runs_left > 0 {
            let mut thinner = plan.clone();
            thinner.ops.drain(from..(from + piece).min(plan.ops.len()));
            runs_left -= 1;
            match outcome(&thinner, fault) {
                Err((at, still)) => {
                    thinner.ops.truncate(at + 1);
                    plan = thinner;
                    wrong = still;
                }
                Ok(()) => from += piece,
            }
        }
        piece /= 2;
    }
    (plan, wrong)
}

/// What to print about a plan that failed.
fn report(seed: u64, plan: &Plan, fault: Fault, failure: (usize, String)) -> String {
    let (first_at, first_wrong) = failure.clone();
    let (plan, wrong) = shrink(plan.clone(), fault, failure);
    let ops: Vec<String> = plan.ops.iter().map(|op| format!("    {op:?}")).collect();
    format!(
        "seed {seed} failed at operation {first_at}: {first_wrong}\n  {:?}\n  {} operations are enough for: {wrong}\n{}",
        plan.options,
        plan.ops.len(),
        ops.join("\n")
    )
}

#[test]
fn the_database_answers_as_a_sorted_map() {
    let seeds = match number_from_environment("TEPHRA_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number_from_environment("TEPHRA_MODEL_RUNS").unwrap_or(RUNS),
    };
    for seed in seeds {
        let plan = Plan::from_seed(seed);
        if let Err(failure) = outcome(&plan, Fault::None) {
            panic!("{}", report(seed, &plan, Fault::None, failure));
        }
    }
}

#[test]
fn a_seed_is_one_history() {
    assert_eq!(Plan::from_seed(3), Plan::from_seed(3));
    assert_ne!(Plan::from_seed(3), Plan::from_seed(4));
}

#[test]
fn canary_each_kind_of_wrong_answer_is_noticed() {
    for fault in Fault::PLANTED {
        let caught = (0..RUNS).find(|&seed| outcome(&Plan::from_seed(seed), fault).is_err());
        assert!(caught.is_some(), "{fault:?} went unnoticed in {RUNS} histories");
    }
}

#[test]
fn canary_a_failing_plan_shrinks_to_a_few_operations() {
    let fault = Fault::DeleteForgotten;
    let (plan, failure) = (0..RUNS)
        .map(Plan::from_seed)
        .find_map(|plan| outcome(&plan, fault).err().map(|failure| (plan, failure)))
        .unwrap();
    let (small, _) = shrink(plan, fault, failure);
    assert!(outcome(&small, fault).is_err(), "the smaller plan still fails");
    assert!(
        small.ops.len() <= 12,
        "{} operations are left: {:#?}",
        small.ops.len(),
        small.ops
    );
}
