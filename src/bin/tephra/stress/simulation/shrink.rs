//! Runs one seed, and makes a history that fails smaller while it still fails.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::generate::Plan;
use super::machine::run;
use super::plan::Step;
use super::{Counts, Planted};

/// Tries to make a failing history smaller.
const SHRINKING_RUNS_MAX: usize = 600;

/// A history that went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `None` for a history that no seed made.
    pub(crate) seed: Option<u64>,
    /// The step at which it went wrong first, and how.
    pub(crate) first: (usize, String),
    /// The smaller history, and how it goes wrong.
    pub(crate) plan: Plan,
    pub(crate) wrong: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, wrong) = &self.first;
        match self.seed {
            Some(seed) => writeln!(f, "seed {seed} failed at step {at}: {wrong}")?,
            None => writeln!(f, "a small history failed at step {at}: {wrong}")?,
        }
        writeln!(f, "  {:?}", self.plan.settings)?;
        writeln!(
            f,
            "  {} steps are enough for: {}",
            self.plan.steps.len(),
            self.wrong
        )?;
        writeln!(f, "  while the database is made: {:?}", self.plan.creation)?;
        for (number, step) in self.plan.steps.iter().enumerate() {
            writeln!(f, "  {number:4}  {step:?}")?;
        }
        match self.seed {
            Some(seed) => write!(f, "  again: tephra stress --simulate --seeds 1 --from {seed}"),
            None => write!(f, "  again: tephra stress --every-call"),
        }
    }
}

/// Runs the history of a seed. `counts` grows by what was done.
pub(crate) fn run_seed(seed: u64, planted: Planted, counts: &mut Counts) -> Result<(), Box<Failure>> {
    run_plan(Plan::from_seed(seed), planted, counts).map_err(|mut failure| {
        failure.seed = Some(seed);
        failure
    })
}

/// Runs a history that no seed made.
pub(crate) fn run_plan(plan: Plan, planted: Planted, counts: &mut Counts) -> Result<(), Box<Failure>> {
    let Err(first) = outcome(&plan, planted, counts) else {
        return Ok(());
    };
    let (plan, wrong) = shrink(plan, planted, first.clone());
    Err(Box::new(Failure {
        seed: None,
        first,
        plan,
        wrong,
    }))
}

/// Runs a history; a failure is the number of the step and what went wrong, panics included.
fn outcome(plan: &Plan, planted: Planted, counts: &mut Counts) -> Result<(), (usize, String)> {
    let mut at = 0;
    let result = catch_unwind(AssertUnwindSafe(|| run(plan, planted, counts, &mut at)));
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(wrong)) => Err((at, wrong)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            let text = text.unwrap_or_else(|| "without words".to_owned());
            Err((at, format!("panic: {text}")))
        }
    }
}

/// Cuts the history behind the failing step, leaves out ever smaller pieces while it still fails, then setbacks.
fn shrink(mut plan: Plan, planted: Planted, (at, mut wrong): (usize, String)) -> (Plan, String) {
    plan.steps.truncate(at + 1);
    let mut runs_left = SHRINKING_RUNS_MAX;
    let mut fails = |candidate: &mut Plan| {
        if runs_left == 0 {
            return None;
        }
        runs_left -= 1;
        let (at, wrong) = outcome(candidate, planted, &mut Counts::default()).err()?;
        candidate.steps.truncate(at + 1);
        Some(wrong)
    };
    let mut piece = plan.steps.len().div_ceil(2);
    while piece >= 1 {
        let mut from = 0;
        while from < plan.steps.len() {
            let mut thinner = plan.clone();
            thinner.steps.drain(from..(from + piece).min(plan.steps.len()));
            match fails(&mut thinner) {
                Some(still) => (plan, wrong) = (thinner, still),
                None => from += piece,
            }
        }
        piece /= 2;
    }
    while !plan.creation.is_empty() {
        let mut thinner = plan.clone();
        thinner.creation.pop();
        match fails(&mut thinner) {
            Some(still) => (plan, wrong) = (thinner, still),
            None => break,
        }
    }
    for number in 0..plan.steps.len() {
        while let Some(mut thinner) = without_last_part(&plan, number) {
            match fails(&mut thinner) {
                Some(still) => (plan, wrong) = (thinner, still),
                None => break,
            }
        }
    }
    (plan, wrong)
}

/// The history with one setback, one operation of a batch or one operation in the middle less.
fn without_last_part(plan: &Plan, number: usize) -> Option<Plan> {
    let mut thinner = plan.clone();
    let is_thinner = match thinner.steps.get_mut(number)? {
        Step::Crash(crash) => crash.setbacks.pop().is_some(),
        Step::Commit { commit, .. } if commit.writes.len() > 1 => commit.writes.pop().is_some(),
        Step::FlushWhile(_, meanwhile)
        | Step::CompactWhile(_, _, meanwhile)
        | Step::Checkpoint(meanwhile) => meanwhile.pop().is_some(),
        Step::Ingest(records) if records.records.len() > 1 => records.records.pop().is_some(),
        _ => false,
    };
    is_thinner.then_some(thinner)
}
