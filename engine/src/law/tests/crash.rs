//! Crashes at every call that changes the disk: no operand is lost, none is applied twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::touchy;
use crate::tests::{DIR, Rng, assert_sound, manual};
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Rule};
use crate::{AppendBytes, Db, Durability, Keyspace, KeyspaceOptions, Options, Result};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> Options {
    manual()
        .memtable_bytes(700)
        .target_table_bytes(400)
        .l0_compaction_trigger(2)
        .manifest_bytes(700)
}

/// Appending under a name whose law may fail in the first life of the database.
fn keyspace(db: &Db, is_touchy: bool) -> Result<Keyspace> {
    let options = KeyspaceOptions::default();
    db.keyspace(
        "logs",
        if is_touchy {
            options.compose("mine", touchy)
        } else {
            options.compose("mine", AppendBytes)
        },
    )
}

/// The states after each commit, the empty one first, and how many were acknowledged.
struct Progress {
    states: Vec<State>,
    acknowledged: usize,
    durable: usize,
}

fn run(disk: &FaultFs, seed: u64, is_touchy: bool) -> Progress {
    let mut progress = Progress {
        states: vec![State::new()],
        acknowledged: 0,
        durable: 0,
    };
    let Ok(db) = Db::open_with(Arc::new(disk.clone()), DIR, options()) else {
        return progress;
    };
    if let Ok(logs) = keyspace(&db, is_touchy) {
        drop(run_on(&db, &logs, seed, is_touchy, &mut progress));
    }
    progress
}

fn run_on(db: &Db, logs: &Keyspace, seed: u64, is_touchy: bool, progress: &mut Progress) -> Result<()> {
    let mut rng = Rng::new(seed);
    for number in 0..45u32 {
        match rng.below(12) {
            0 => {
                db.flush()?;
                progress.durable = progress.acknowledged;
            }
            1 => {
                // A law that fails leaves the tables; everything else is an end of the run.
                match db.compact() {
                    Err(crate::Error::LawStopsCompaction { .. }) => {}
                    outcome => outcome?,
                }
            }
            2 => drop(db.run_background_step()?),
            _ => {
                let mut state = progress.states[progress.acknowledged].clone();
                let mut batch = db.batch();
                for part in 0..1 + rng.below(3) {
                    let key = vec![b'a' + u8::try_from(rng.below(4)).expect("small")];
                    let word = if is_touchy && rng.below(15) == 0 {
                        "fail"
                    } else {
                        "ok"
                    };
                    // Says which operand it is, so that a missing or repeated one shows.
                    let operand = format!("[{number}.{part} {word}]").into_bytes();
                    match rng.below(10) {
                        0 => {
                            batch.put(logs, &key, &operand);
                            state.insert(key, operand);
                        }
                        1 => {
                            batch.delete(logs, &key);
                            state.remove(&key);
                        }
                        _ => {
                            batch.merge(logs, &key, &operand);
                            state.entry(key).or_default().extend(operand);
                        }
                    }
                }
                let is_durable = rng.below(4) == 0;
                let durability = if is_durable {
                    Durability::Sync
                } else {
                    Durability::Process
                };
                progress.states.push(state);
                match batch.commit(durability) {
                    Err(crate::Error::LawFailed { .. } | crate::Error::LawHoldsUp { .. }) => {
                        progress.states.pop();
                    }
                    outcome => {
                        outcome?;
                        progress.acknowledged += 1;
                        if is_durable {
                            progress.durable = progress.acknowledged;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Opens what a crash left, with a law that takes everything.
fn check(machine: MemFs, progress: &Progress, from: usize, what: &str) {
    let db =
        Db::open_with(Arc::new(machine), DIR, options()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let logs = keyspace(&db, false).expect("opens");
    for round in 0..2 {
        let found: State = logs
            .iter()
            .map(|item| item.expect("an entry"))
            .map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect();
        let matching = progress.states.iter().rposition(|state| *state == found);
        assert!(
            matching.is_some_and(|index| index >= from),
            "{what}, round {round}: found state {matching:?} of {}, {from} was promised: {found:?}",
            progress.states.len()
        );
        assert_sound(&db);
        db.compact().expect("compacts");
    }
}

#[test]
fn a_crash_at_every_call_loses_and_repeats_no_operand() {
    for (seed, is_touchy) in [(1, false), (2, false), (3, true), (4, true)] {
        let healthy = FaultFs::new(Arc::new(MemFs::new()));
        let progress = run(&healthy, seed, is_touchy);
        assert_eq!(
            progress.acknowledged + 1,
            progress.states.len(),
            "seed {seed} runs through on a healthy disk"
        );
        for calls in 0..healthy.call_count(Calls::Changing) {
            let machine = MemFs::new();
            let disk = FaultFs::new(Arc::new(machine.clone()));
            disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(calls));
            let progress = run(&disk, seed, is_touchy);
            let what = format!("seed {seed}, call {calls}");
            check(machine.after_kill(), &progress, progress.acknowledged, &what);
            check(machine.after_power_cut(calls), &progress, progress.durable, &what);
        }
    }
}
