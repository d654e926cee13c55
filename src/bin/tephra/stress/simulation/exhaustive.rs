//! Small histories in which every call of the file system that changes something is crashed, and fails, in turn.
//!
//! ```text
//! script    a few steps, then one of: first creation, flush, compaction, manifest rollover, log rotation, drop of a keyspace
//! for every call of the script:    killed there | power cut there | fails once
//!   for every call of the recovery:    the same again, down to the recovery from that
//! ```
//!
//! What must hold is what holds for random histories; the machinery is the same.

use tephradb::Durability;

use super::generate::Plan;
use super::plan::{Change, Commit, Crash, Down, Failing, Setback, Step, Target, Trouble, Value, Write};
use super::settings::Settings;
use super::shrink::{Failure, run_plan};
use super::{Counts, Planted};

/// Calls of a recovery that are crashed in turn; more than any of them makes.
const RECOVERY_CALLS: u64 = 32;
/// Of so many calls of a recovery one is tried with each call of the script and each way to go down.
const RECOVERY_STEP: u64 = 9;
/// The same, as the step of a range.
const RECOVERY_STEP_LEN: usize = 9;
/// Calls of a script that are tried; more than any of them makes.
const CALLS_MAX: u64 = 100;
/// Ways to go down that are tried at each call.
const DOWNS: u64 = 3;

/// One small history: its name, its steps.
pub(crate) type Script = (&'static str, Vec<Step>);

fn commit(number: u32, durability: Durability) -> Step {
    let key = |salt: u32| format!("key{:02}", (number * 5 + salt) % 12).into_bytes();
    let value = Value {
        number,
        len_bytes: 60,
    };
    let writes = vec![
        Write {
            keyspace: 0,
            change: Change::Put(key(0), value),
        },
        Write {
            keyspace: 1,
            change: Change::Put(key(1), value),
        },
        Write {
            keyspace: 0,
            change: Change::Delete(key(2)),
        },
    ];
    Step::Commit {
        client: 0,
        commit: Commit { writes, durability },
    }
}

fn commits(numbers: std::ops::Range<u32>) -> impl Iterator<Item = Step> {
    numbers.map(|number| {
        let durability = if number % 3 == 0 {
            Durability::Sync
        } else {
            Durability::Process
        };
        commit(number, durability)
    })
}

/// The scripts.
pub(crate) fn scripts() -> Vec<Script> {
    let begun = || -> Vec<Step> {
        std::iter::once(Step::CreateKeyspace(1))
            .chain(commits(1..4))
            .collect()
    };
    let with = |steps: Vec<Step>| begun().into_iter().chain(steps).collect::<Vec<_>>();
    vec![
        (
            "creation of keyspaces",
            vec![Step::CreateKeyspace(1), Step::CreateKeyspace(3)],
        ),
        ("flush", with(vec![Step::Flush])),
        (
            "compaction",
            with(vec![Step::Flush, commit(7, Durability::Process), Step::Compact]),
        ),
        ("log rotation", with(commits(4..12).collect())),
        (
            "drop of a keyspace",
            with(vec![
                Step::Flush,
                Step::DropKeyspace(1),
                commit(5, Durability::Process),
            ]),
        ),
        ("close", with(vec![Step::Reopen])),
    ]
}

fn settings() -> Settings {
    Settings {
        memtable_bytes: 500,
        target_table_bytes: 400,
        value_len_bytes_max: 48,
        l0_compaction_trigger: 2,
        l0_tables_max: 8,
        frozen_memtables_max: 2,
        // Every edit rolls the manifest over.
        manifest_bytes: 1,
        is_roomy: false,
        // Its calls are tried by the engine's own tests.
        event_log_bytes: 0,
    }
}

/// Tries every call of a script, `depth` recoveries deep.
pub(crate) fn run_script(script: &Script, depth: u64, counts: &mut Counts) -> Result<(), Box<Failure>> {
    let call_count = run_calls(script, 0, CALLS_MAX, counts)?;
    if depth > 0 {
        run_calls(script, depth, call_count, counts)?;
    }
    Ok(())
}

/// The same up to some call; returns how many calls the script makes.
fn run_calls(script: &Script, depth: u64, calls_max: u64, counts: &mut Counts) -> Result<u64, Box<Failure>> {
    for calls in 0..calls_max {
        let faults_before = counts.faults;
        for number in 0..DOWNS {
            // Between them the calls and the ways to go down try every call of the recovery.
            let first = (number * 3 + calls) % RECOVERY_STEP;
            let recovery_calls = if depth == 0 { 0..1 } else { first..RECOVERY_CALLS };
            for second in recovery_calls.step_by(RECOVERY_STEP_LEN) {
                let setbacks = (0..depth).map(|deep| {
                    let how = down(number + second + deep, second);
                    Setback::Crash((second + deep * 11) % RECOVERY_CALLS, how)
                });
                let crash = Crash {
                    after_calls: calls,
                    steps_max: script.1.len() + 1,
                    down: down(number, calls),
                    setbacks: setbacks.collect(),
                };
                run(script, Vec::new(), Some(Step::Crash(crash)), counts)?;
            }
        }
        let trouble = Trouble {
            target: Target::Changing,
            failing: if calls % 2 == 0 {
                Failing::Device
            } else {
                Failing::Full
            },
            skip_count: calls,
            lasts: false,
        };
        run(script, Vec::new(), Some(Step::Trouble(trouble)), counts)?;
        if depth == 0 && counts.faults == faults_before {
            // The script makes no more calls.
            return Ok(calls);
        }
    }
    Ok(calls_max)
}

/// Tries every call of the first creation of a database, and of the second try after it.
pub(crate) fn run_creation(counts: &mut Counts) -> Result<(), Box<Failure>> {
    let script = ("creation", vec![Step::CreateKeyspace(1)]);
    for first in 0..RECOVERY_CALLS {
        for second in 0..RECOVERY_CALLS {
            let crashes = vec![
                Setback::Crash(first, down(first + second, first)),
                Setback::Crash(second, down(second, second)),
            ];
            run(&script, crashes, None, counts)?;
        }
        let trouble = Trouble {
            target: Target::Changing,
            failing: Failing::Device,
            skip_count: first,
            lasts: false,
        };
        run(&script, vec![Setback::Fault(trouble)], None, counts)?;
    }
    Ok(())
}

/// A way to go down: of three, one is a kill.
fn down(number: u64, seed: u64) -> Down {
    if number.is_multiple_of(DOWNS) {
        Down::Kill
    } else {
        Down::PowerCut(seed * DOWNS + number)
    }
}

fn run(
    script: &Script,
    creation: Vec<Setback>,
    first: Option<Step>,
    counts: &mut Counts,
) -> Result<(), Box<Failure>> {
    let plan = Plan {
        settings: settings(),
        creation,
        steps: first.into_iter().chain(script.1.iter().cloned()).collect(),
    };
    run_plan(plan, Planted::None, counts)
}
