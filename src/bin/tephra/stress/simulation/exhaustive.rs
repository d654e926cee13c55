//! Small histories in which every call of the file system that changes something is crashed, and fails, in turn.
//!
//! ```text
//! script    a few steps, then one of: first creation, flush, compaction, manifest rollover, log rotation, creation and drop of
//!           keyspaces, ingest, checkpoint, close
//! for every call of the script:    killed there | power cut there, twice | fails once
//!   for the calls of the recovery, all or one in so many:    the same again, down to the recovery from that   (tree.rs)
//! ```
//!
//! What must hold is what holds for random histories; the machinery is the same.

use tephradb::Durability;

use super::generate::Plan;
use super::plan::{Change, Commit, Crash, Down, Failing, Records, Step, Target, Trouble, Value, Write};
use super::settings::Settings;
use super::shrink::{Failure, run_plan};
use super::{Counts, Planted};

/// Calls of a script that are tried; more than any of them makes.
const CALLS_MAX: u64 = 300;

/// One call in so many is tried, by depth: of the script, of the recovery from that, of the recovery from that again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides(pub(crate) &'static [u64]);

/// One small history.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) name: &'static str,
    steps: Vec<Step>,
    /// The manifest is rolled over at this length.
    manifest_bytes: u64,
}

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

/// Records for an ingest, over keys that commits write and others.
fn records(keyspace: usize) -> Records {
    let records = (100..106u32).map(|number| {
        let key = format!("key{:02}", number % 100 * 3).into_bytes();
        let len_bytes = 60;
        (key, Value { number, len_bytes })
    });
    Records {
        keyspace,
        records: records.collect(),
    }
}

/// The scripts, but for the first creation, which [`run_creation`] tries.
pub(crate) fn scripts() -> Vec<Script> {
    let begun = || -> Vec<Step> {
        std::iter::once(Step::CreateKeyspace(1))
            .chain(commits(1..4))
            .collect()
    };
    let with = |name: &'static str, steps: Vec<Step>| Script {
        name,
        steps: begun().into_iter().chain(steps).collect(),
        manifest_bytes: 100_000,
    };
    vec![
        Script {
            name: "creation of keyspaces",
            steps: vec![
                Step::CreateKeyspace(1),
                Step::CreateKeyspace(3),
                Step::CreateKeyspace(4),
            ],
            manifest_bytes: 100_000,
        },
        with("flush", vec![Step::Flush]),
        with(
            "compaction",
            vec![Step::Flush, commit(7, Durability::Process), Step::Compact],
        ),
        Script {
            // Every edit rolls it over.
            manifest_bytes: 1,
            ..with(
                "manifest rollover",
                vec![
                    Step::Flush,
                    Step::CreateKeyspace(2),
                    commit(5, Durability::Process),
                ],
            )
        },
        with("log rotation", commits(4..12).collect()),
        with(
            "drop of a keyspace",
            vec![Step::Flush, Step::DropKeyspace(1), commit(5, Durability::Process)],
        ),
        with(
            "ingest",
            vec![
                Step::Ingest(records(0)),
                commit(5, Durability::Process),
                Step::Ingest(records(1)),
            ],
        ),
        with("checkpoint", vec![Step::Checkpoint(Vec::new())]),
        with("close", vec![Step::Reopen]),
    ]
}

fn settings(manifest_bytes: u64) -> Settings {
    Settings {
        memtable_bytes: 500,
        target_table_bytes: 400,
        value_len_bytes_max: 48,
        l0_compaction_trigger: 2,
        l0_tables_max: 8,
        frozen_memtables_max: 2,
        manifest_bytes,
        event_log_bytes: 0,
        is_roomy: false,
    }
}

/// Tries every call of a script: crashed in each way, with the recoveries that `strides` says, and failed.
pub(crate) fn run_script(script: &Script, strides: Strides, counts: &mut Counts) -> Result<(), Box<Failure>> {
    let Some((&stride, deeper)) = strides.0.split_first() else {
        return Ok(());
    };
    let mut calls = 0;
    while calls < CALLS_MAX {
        // With recoveries to try, they are tried after each way to go down.
        for number in 0..if deeper.is_empty() { DOWNS } else { 1 } {
            let crash = Crash {
                after_calls: calls,
                steps_max: script.steps.len() + 1,
                down: down(number, calls),
                strides: deeper.to_vec(),
                setbacks: Vec::new(),
            };
            run(script, Step::Crash(crash), counts)?;
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
        let before = counts.faults;
        run(script, Step::Trouble(trouble), counts)?;
        if counts.faults == before {
            // The script makes no more calls.
            return Ok(());
        }
        calls += stride;
    }
    panic!("{} makes more than {CALLS_MAX} calls", script.name);
}

/// Tries every call of the first creation of a database, and the recoveries from that.
pub(crate) fn run_creation(strides: Strides, counts: &mut Counts) -> Result<(), Box<Failure>> {
    let plan = Plan {
        settings: settings(1),
        creation: Vec::new(),
        creation_strides: strides.0.to_vec(),
        steps: vec![Step::CreateKeyspace(1)],
    };
    run_plan(plan, Planted::None, counts)
}

/// Ways to go down that are tried at each call.
const DOWNS: u64 = 3;

/// A way to go down: of three, one is a kill.
fn down(number: u64, seed: u64) -> Down {
    if number.is_multiple_of(DOWNS) {
        Down::Kill
    } else {
        Down::PowerCut(seed * DOWNS + number)
    }
}

fn run(script: &Script, first: Step, counts: &mut Counts) -> Result<(), Box<Failure>> {
    let plan = Plan {
        settings: settings(script.manifest_bytes),
        creation: Vec::new(),
        creation_strides: Vec::new(),
        steps: std::iter::once(first)
            .chain(script.steps.iter().cloned())
            .collect(),
    };
    run_plan(plan, Planted::None, counts)
}
