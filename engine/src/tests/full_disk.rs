//! Full disks: what fails says so, what was acknowledged stays, and writing goes on when there is room.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DIR, Rng, assert_sound, contents, files_of, manual};
use crate::vfs::{Calls, Fault, FaultFs, MemFs, Operation, Rule};
use crate::{Background, Db, Durability, Error, KeyspaceOptions, Options, Result, Usability};

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(disk: &FaultFs, options: Options) -> Db {
    Db::open_with(Arc::new(disk.clone()), DIR, options).expect("opens")
}

fn healthy() -> (MemFs, FaultFs) {
    let machine = MemFs::new();
    let disk = FaultFs::new(Arc::new(machine.clone()));
    (machine, disk)
}

fn options() -> Options {
    manual()
        .memtable_bytes(700)
        .target_table_bytes(300)
        .l0_compaction_trigger(2)
        .manifest_bytes(900)
}

fn state_of(db: &Db) -> State {
    contents(db).into_iter().collect()
}

/// One random change of the default keyspace or of the shape of the database.
fn change(db: &Db, rng: &mut Rng, step: usize, state: &State) -> (State, Result<()>) {
    let key = vec![b'a' + u8::try_from(rng.below(10)).expect("small")];
    let mut after = state.clone();
    let outcome = match rng.below(12) {
        0 => db.flush(),
        1 => db.compact(),
        2 => db.run_background_step().map(drop),
        3 => db.keyspace("more", KeyspaceOptions::default()).map(drop),
        4 => db
            .keyspace("more", KeyspaceOptions::default())
            .and_then(|more| more.put("k", "v").and_then(|()| db.drop_keyspace(&more))),
        5..7 => {
            after.remove(&key);
            db.delete(&key)
        }
        _ => {
            let durability = [Durability::Process, Durability::Sync][rng.below(2)];
            after.insert(key.clone(), vec![b'v'; step]);
            db.default_keyspace().put_with(&key, vec![b'v'; step], durability)
        }
    };
    (after, outcome)
}

/// Changes until `count` were made. What fails may be done or not, and says why.
fn changes(db: &Db, rng: &mut Rng, count: usize, state: &mut State, what: &str) -> Option<Error> {
    let mut last = None;
    for step in 0..count {
        let (after, outcome) = change(db, rng, step, state);
        match outcome {
            Ok(()) => *state = after,
            Err(error) => {
                let found = state_of(db);
                assert!(found == *state || found == after, "{what}, step {step}: {error}");
                *state = found;
                last = Some(error);
            }
        }
    }
    last
}

#[test]
fn a_disk_that_is_full_from_any_call_on_loses_nothing_and_works_again_with_room() {
    for seed in 0..2 {
        for skipped in 0.. {
            let (machine, disk) = healthy();
            let what = format!("seed {seed}, full after {skipped} changing calls");
            disk.add(Rule::always(Calls::Changing, Fault::StorageFull).after(skipped));
            let Ok(db) = Db::open_with(Arc::new(disk.clone()), DIR, options()) else {
                disk.heal();
                open(&disk, options()).put("k", "v").expect("a later open works");
                continue;
            };
            let mut rng = Rng::new(seed);
            let mut state = State::new();
            let error = changes(&db, &mut rng, 40, &mut state, &what);
            if let Some(error) = &error {
                let text = error.to_string();
                assert!(
                    text.contains("full disk") || text.contains("takes no writes"),
                    "{what}: {text}"
                );
            }
            let killed = open(&FaultFs::new(Arc::new(machine.after_kill())), options());
            assert_eq!(state_of(&killed), state, "{what}, killed while full");
            assert_sound(&killed);
            disk.heal();
            match db.resume() {
                // A sync of the log that failed is final, for want of room too.
                Err(Error::WriterStopped { cause }) => {
                    assert!(cause.to_string().contains("sync"), "{what}: {cause}");
                    assert_eq!(state_of(&db), state, "{what}: reads go on");
                }
                outcome => {
                    outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let error = changes(&db, &mut rng, 20, &mut state, &what);
                    assert!(error.is_none(), "{what}: {error:?} with room again");
                    assert_sound(&db);
                }
            }
            drop(db);
            for machine in [machine.after_kill(), machine.after_power_cut(skipped)] {
                let db = open(&FaultFs::new(Arc::new(machine.clone())), options());
                assert_sound(&db);
                let tables = files_of(&machine)
                    .iter()
                    .filter(|name| name.ends_with(".table"))
                    .count();
                assert_eq!(tables, db.stats().table_count, "{what}: no orphan stays");
            }
            let db = open(&FaultFs::new(Arc::new(machine.after_kill())), options());
            assert_eq!(state_of(&db), state, "{what}, reopened");
            if error.is_none() {
                break;
            }
        }
    }
}

#[test]
fn any_one_call_without_room_does_not_stop_the_writer_unless_it_syncs_the_log() {
    for skipped in 0.. {
        let (machine, disk) = healthy();
        let db = open(&disk, options());
        let what = format!("no room at changing call {skipped}");
        disk.add(Rule::once(Calls::Changing, Fault::StorageFull).after(skipped));
        let mut rng = Rng::new(5);
        let mut state = State::new();
        changes(&db, &mut rng, 60, &mut state, &what);
        let was_hit = disk.fault_count() > 0;
        match db.resume() {
            Err(Error::WriterStopped { cause }) => {
                assert!(cause.to_string().contains("sync"), "{what}: {cause}")
            }
            outcome => outcome.unwrap_or_else(|error| panic!("{what}: {error}")),
        }
        drop(db);
        let db = open(&FaultFs::new(Arc::new(machine.after_kill())), options());
        assert_eq!(state_of(&db), state, "{what}");
        assert_sound(&db);
        if !was_hit {
            break;
        }
    }
}

#[test]
fn what_fails_on_a_full_disk_names_file_and_operation_and_deletes_make_room() {
    let machine = MemFs::new();
    machine.set_capacity(600 << 10);
    let options = || {
        manual()
            .memtable_bytes(64 << 10)
            .target_table_bytes(32 << 10)
            .frozen_memtables_max(2)
    };
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect("opens");
    let mut rng = Rng::new(3);
    let mut state = State::new();
    let error = loop {
        let key = format!("{:06}", rng.below(1_000_000)).into_bytes();
        // Values that no table makes smaller.
        let value: Vec<u8> = (0..100)
            .map(|_| u8::try_from(rng.below(256)).expect("a byte"))
            .collect();
        match db.put(&key, &value) {
            Ok(()) => drop(state.insert(key, value)),
            Err(error) => break error,
        }
    };
    let text = error.to_string();
    assert_eq!(error.usability(), Usability::Usable, "{text}");
    assert!(
        text.contains("/db/") && text.contains("no storage space"),
        "{text}"
    );
    assert!(
        ["write", "create the log segment"]
            .iter()
            .any(|operation| text.contains(operation)),
        "{text}"
    );
    assert_eq!(state_of(&db), state, "reads go on");

    // Deletes go on while the log's segment has room for them.
    let mut accepted = 0;
    for key in state.keys().cloned().collect::<Vec<_>>() {
        if db.delete(&key).is_ok() {
            state.remove(&key);
            accepted += 1;
        }
    }
    assert!(accepted > 100, "{accepted} deletes");
    assert_eq!(state_of(&db), state);

    // With room for one flush everything goes on, and deletes give back the rest.
    machine.set_capacity(700 << 10);
    db.resume().expect("there is room for a flush");
    for key in state.keys().cloned().collect::<Vec<_>>() {
        db.delete(&key).expect("deletes");
    }
    db.compact().expect("there is room");
    assert_eq!(contents(&db), []);
    assert!(
        machine.used_bytes() < 200 << 10,
        "{} bytes used",
        machine.used_bytes()
    );
    db.put("again", [b'v'; 100]).expect("there is room");
    assert_sound(&db);
}

#[test]
fn a_disk_full_while_threads_work_is_told_to_writers_and_they_go_on_by_themselves() {
    let (machine, disk) = healthy();
    let options = || options().background(Background::Threads).frozen_memtables_max(2);
    let db = open(&disk, options());
    disk.add(Rule::always(Calls::Only(Operation::Write), Fault::StorageFull));
    let mut state = State::new();
    let error = (0..)
        .find_map(|number: u32| {
            let (key, value) = (number.to_be_bytes().to_vec(), vec![b'v'; 60]);
            let outcome = db.put(&key, &value);
            if outcome.is_ok() {
                state.insert(key, value);
            }
            outcome.err()
        })
        .expect("refused in the end");
    assert!(matches!(error, Error::BackgroundFailing { .. }), "{error}");
    assert!(error.to_string().contains("injected full disk"), "{error}");
    disk.heal();
    // Nobody calls `resume`: the flush thread tries again after a pause.
    while db.put("again", "v").is_err() {
        std::thread::yield_now();
    }
    state.insert(b"again".to_vec(), b"v".to_vec());
    db.flush().expect("flushes");
    assert_eq!(state_of(&db), state);
    assert_sound(&db);
    drop(db);
    let db = open(&FaultFs::new(Arc::new(machine.after_kill())), options());
    assert_eq!(state_of(&db), state);
}

#[test]
fn a_keyspace_whose_drop_failed_half_way_takes_no_writes_until_that_is_settled() {
    for write in 0..2 {
        let (machine, disk) = healthy();
        let db = open(&disk, manual());
        let other = db.keyspace("other", KeyspaceOptions::default()).expect("creates");
        other.put("k", "v").expect("put");
        disk.add(Rule::always(Calls::Only(Operation::Write), Fault::StorageFull).on("MANIFEST"));
        let error = db.drop_keyspace(&other).expect_err("no room");
        assert_eq!(error.usability(), Usability::Usable, "{error}");
        assert!(matches!(other.put("k", "lost?"), Err(Error::DropInDoubt { .. })));
        assert_eq!(other.get("k").expect("reads go on").as_deref(), Some(&b"v"[..]));
        db.put("k", "v").expect("other keyspaces take writes");
        assert!(db.resume().is_err(), "there is still no room");
        disk.heal();
        if write == 0 {
            db.flush().expect("settles it");
        } else {
            db.resume().expect("settles it");
        }
        other.put("k", "kept").expect("it was not dropped");
        drop((other, db));
        let db = open(&FaultFs::new(Arc::new(machine.after_kill())), manual());
        let other = db.keyspace("other", KeyspaceOptions::default()).expect("there");
        assert_eq!(other.get("k").expect("get").as_deref(), Some(&b"kept"[..]));
        assert_sound(&db);
    }
}

#[test]
fn a_segment_is_made_smaller_where_the_usual_one_does_not_fit() {
    let machine = MemFs::new();
    machine.set_capacity(200 << 10);
    let options = manual().memtable_bytes(1 << 20);
    let db = Db::open_with(Arc::new(machine.clone()), DIR, options.clone()).expect("opens");
    db.put("k", "v").expect("put");
    drop(db);
    let db = Db::open_with(Arc::new(machine.after_kill()), DIR, options).expect("reopens");
    assert_eq!(db.get("k").expect("get").as_deref(), Some(&b"v"[..]));
}
