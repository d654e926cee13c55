//! Crashes at every call that changes the disk, also during recovery: what comes back is a state the database went through, and
//! never one before the last acknowledged durable one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DIR, Rng, assert_sound, contents, manual};
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Rule};
use crate::{Db, Durability, KeyspaceOptions, Options, Result};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Batch(Vec<(Vec<u8>, Option<Vec<u8>>)>, Durability),
    /// A delete of the keys from the one up to the other.
    DeleteRange(u8, u8, Durability),
    Flush,
    Compact,
    Background,
    /// Looks pending deletes up, whatever else is due.
    Settle,
}

fn history(seed: u64) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    let mut steps = Vec::new();
    for number in 0..40u32 {
        steps.push(match rng.below(12) {
            0 => Step::Flush,
            1 => Step::Compact,
            2 => Step::Background,
            3 => Step::Settle,
            4 => {
                let from = b'a' + u8::try_from(rng.below(12)).expect("small");
                let to = from + u8::try_from(rng.below(6)).expect("small");
                let durability = match rng.below(2) {
                    0 => Durability::Sync,
                    _ => Durability::Process,
                };
                Step::DeleteRange(from, to, durability)
            }
            _ => {
                let ops = (0..1 + rng.below(4)).map(|_| {
                    let key = vec![b'a' + u8::try_from(rng.below(12)).expect("small")];
                    let value = (rng.below(3) > 0).then(|| format!("{number:0>60}").into_bytes());
                    (key, value)
                });
                let ops = ops.collect();
                Step::Batch(
                    ops,
                    if rng.below(3) == 0 {
                        Durability::Sync
                    } else {
                        Durability::Process
                    },
                )
            }
        });
    }
    steps
}

fn options() -> Options {
    manual()
        .memtable_bytes(900)
        .target_table_bytes(400)
        .l0_compaction_trigger(2)
        .manifest_bytes(700)
}

/// What was promised by the time a history broke off.
#[derive(Debug, Default)]
struct Progress {
    /// The states after each batch, the empty one first.
    states: Vec<State>,
    /// Index of the last acknowledged state.
    acknowledged: usize,
    /// Index of the last state that must survive a power cut.
    durable: usize,
}

fn apply(db: &Db, step: &Step, progress: &mut Progress) -> Result<()> {
    match step {
        Step::Batch(ops, durability) => {
            let mut state = progress.states[progress.acknowledged].clone();
            let mut batch = db.batch();
            for (key, value) in ops {
                match value {
                    Some(value) => {
                        batch.put(db, key, value);
                        state.insert(key.clone(), value.clone());
                    }
                    None => {
                        batch.delete(db, key);
                        state.remove(key);
                    }
                }
            }
            progress.states.push(state);
            batch.commit(*durability)?;
            progress.acknowledged += 1;
            if *durability == Durability::Sync {
                progress.durable = progress.acknowledged;
            }
        }
        Step::DeleteRange(from, to, durability) => {
            let mut state = progress.states[progress.acknowledged].clone();
            state.retain(|key, _| !(*from..*to).contains(&key[0]));
            let is_empty = from == to;
            if !is_empty {
                progress.states.push(state);
            }
            let mut batch = db.batch();
            batch.delete_range(db, [*from]..[*to]);
            batch.commit(*durability)?;
            progress.acknowledged += usize::from(!is_empty);
            if *durability == Durability::Sync && !is_empty {
                progress.durable = progress.acknowledged;
            }
        }
        Step::Settle => drop(
            db.default_keyspace()
                .handle()
                .engine()
                .step(crate::background::Job::Resolve)?,
        ),
        Step::Flush | Step::Compact => {
            if matches!(step, Step::Flush) {
                db.flush()?
            } else {
                db.compact()?
            }
            progress.durable = progress.acknowledged;
        }
        Step::Background => drop(db.run_background_step()?),
    }
    Ok(())
}

/// Runs a history on a machine until a call fails.
fn run(disk: &FaultFs, steps: &[Step]) -> Progress {
    let mut progress = Progress {
        states: vec![State::new()],
        ..Progress::default()
    };
    let Ok(db) = Db::open_with(Arc::new(disk.clone()), DIR, options()) else {
        return progress;
    };
    for step in steps {
        if apply(&db, step, &mut progress).is_err() {
            break;
        }
    }
    progress
}

/// Opens what a crash left and checks it: one of the states from `from` on, sound, and writable.
fn check(machine: MemFs, progress: &Progress, from: usize, what: &str) -> MemFs {
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options());
    let db = db.unwrap_or_else(|error| panic!("{what}: {error}"));
    let found: State = contents(&db).into_iter().collect();
    let matching = progress.states.iter().rposition(|state| *state == found);
    assert!(
        matching.is_some_and(|index| index >= from),
        "{what}: found state {matching:?} of {}, {from} was promised",
        progress.states.len()
    );
    assert_sound(&db);
    db.put("after", "the crash").expect("writable again");
    db.flush().expect("flushes");
    assert_eq!(db.get("after").expect("get").as_deref(), Some(&b"the crash"[..]));
    drop(db);
    machine
}

/// How many calls that change the disk a history makes.
fn call_count(steps: &[Step]) -> u64 {
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    let progress = run(&disk, steps);
    assert_eq!(
        progress.acknowledged + 1,
        progress.states.len(),
        "the history runs through on a healthy disk"
    );
    disk.call_count(Calls::Changing)
}

/// The machine on which everything fails from one call on.
fn broken_after(machine: &MemFs, calls: u64) -> FaultFs {
    let disk = FaultFs::new(Arc::new(machine.clone()));
    disk.add(Rule::always(Calls::Changing, Fault::DeviceError).after(calls));
    disk
}

#[test]
fn a_crash_at_every_call_loses_nothing_that_was_acknowledged() {
    for seed in 0..4 {
        let steps = history(seed);
        for calls in 0..call_count(&steps) {
            let machine = MemFs::new();
            let progress = run(&broken_after(&machine, calls), &steps);
            let what = format!("seed {seed}, call {calls}, killed");
            check(machine.after_kill(), &progress, progress.acknowledged, &what);
            for cut in 0..3 {
                let what = format!("seed {seed}, call {calls}, power cut {cut}");
                check(machine.after_power_cut(cut), &progress, progress.durable, &what);
            }
        }
    }
}

#[test]
fn a_crash_at_every_call_of_a_recovery_after_a_crash_recovers_the_same() {
    let steps = history(11);
    let total = call_count(&steps);
    for calls in (0..total).step_by(9) {
        let machine = MemFs::new();
        let progress = run(&broken_after(&machine, calls), &steps);
        let machine = machine.after_power_cut(calls);
        for second in 0..30 {
            // The recovery works on a copy of the machine; everything on it was on the disk when the power came back.
            let copy = machine.after_kill();
            let disk = broken_after(&copy, second);
            let opened = Db::open_with(Arc::new(disk), DIR, options()).map(|db| db.flush());
            let what = format!("call {calls}, then call {second} of the recovery");
            check(copy.after_power_cut(second), &progress, progress.durable, &what);
            if matches!(opened, Ok(Ok(()))) {
                break;
            }
        }
    }
}

#[test]
fn a_batch_over_keyspaces_is_recovered_whole_or_not_at_all() {
    for cut in 0..200 {
        let machine = MemFs::new();
        let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
        let names = ["a", "b", "c"];
        let keyspaces = names.map(|name| db.keyspace(name, KeyspaceOptions::default()).expect("creates"));
        let mut batch = db.batch();
        for number in 0..1000u32 {
            batch.put(&keyspaces[number as usize % 3], number.to_be_bytes(), "v");
        }
        batch.commit(Durability::Process).expect("commits");
        let after = machine.after_power_cut(cut);
        let db = Db::open_with(Arc::new(after), DIR, options()).expect("reopens");
        let count = |name| {
            db.keyspace(name, KeyspaceOptions::default())
                .expect("exists")
                .iter()
                .count()
        };
        let total: usize = names.into_iter().map(count).sum();
        assert!(total == 0 || total == 1000, "power cut {cut}: {total} of 1000");
    }
}

#[test]
fn a_crash_loop_does_not_make_the_log_grow() {
    let mut machine = MemFs::new();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, manual()).expect("opens");
    db.put("k", "v").expect("put");
    for _ in 0..50 {
        machine = machine.after_kill();
        let db = Db::open_with(Arc::new(machine.clone()), DIR, manual()).expect("reopens");
        assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"v"[..]));
        let segments = super::files_of(&machine)
            .into_iter()
            .filter(|name| name.ends_with(".log"))
            .count();
        assert!(segments <= 2, "{:?}", super::files_of(&machine));
        std::mem::forget(db);
    }
}

#[test]
fn several_segments_that_were_never_flushed_are_all_replayed() {
    let machine = MemFs::new();
    let options = || manual().memtable_bytes(2000).frozen_memtables_max(100);
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
    for number in 0..100u32 {
        db.put(number.to_be_bytes(), [b'v'; 50]).expect("put");
    }
    assert!(db.stats().frozen_memtable_count >= 5);
    let db = Db::open_with(Arc::new(machine.after_kill()), DIR, options()).expect("reopens");
    assert_eq!(contents(&db).len(), 100);
    assert_sound(&db);
}

/// A power cut may leave several segments whose records are all lost, each naming the one before it. The recovery removes them, and a
/// second power cut may undo the removals one by one: the newest came back without the one it names, and no plain open succeeded any more.
#[test]
fn segments_that_lost_their_records_never_keep_a_database_closed() {
    let machine = MemFs::new();
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options().frozen_memtables_max(9)).expect("opens");
    let put = |key, durability| db.default_keyspace().put_with(key, [b'v'; 500], durability);
    put("k", Durability::Sync).expect("put");
    for key in ["a", "b", "c", "d", "e", "f"] {
        put(key, Durability::Process).expect("put");
    }
    let segments_of = |machine: &MemFs| {
        let names = super::files_of(machine).into_iter();
        names.filter(|name| name.ends_with(".log")).count()
    };
    let mut tried = 0;
    for first in 0..12 {
        let machine = machine.after_power_cut(first);
        let before = segments_of(&machine);
        for calls in 20..40 {
            let machine = machine.after_kill();
            let disk = broken_after(&machine, calls);
            drop(Db::open_with(Arc::new(disk), DIR, options()).map(std::mem::forget));
            // One was made, and at least two are gone.
            if segments_of(&machine) + 1 > before {
                continue;
            }
            for second in 0..30 {
                let what = format!("power cut {first}, call {calls} of the recovery, power cut {second}");
                let machine = machine.after_power_cut(second);
                let db = Db::open_with(Arc::new(machine), DIR, options());
                let db = db.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(db.get("k").expect("get").is_some(), "{what}");
                tried += 1;
            }
            break;
        }
    }
    assert!(tried > 100, "{tried}");
}
