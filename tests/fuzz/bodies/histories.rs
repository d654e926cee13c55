//! Small histories of a database on a machine that loses its process, its power and its disk's good will, against a map.
//!
//! What must hold: an acknowledged write is seen at once; a call that fails and says that the database is usable changed nothing; after a
//! crash the database opens, is sound, and holds a state of its history that is no older than the last durable one.

use std::collections::BTreeMap;
use std::sync::Arc;

use tephradb::vfs::{Calls, Fault, FaultFs, MemFs, Rule};
use tephradb::{Background, Db, Durability, Options};

use super::choices::Choices;

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn options(choices: &mut Choices<'_>) -> Options {
    Options::default()
        .background(Background::Manual)
        .memtable_bytes(300 + choices.below(2_000))
        .target_table_bytes(200 + choices.below(800) as u64)
        .l0_compaction_trigger(2 + choices.below(3))
        .manifest_bytes(choices.below(2_000) as u64)
}

fn state_of(db: &Db) -> tephradb::Result<State> {
    db.iter()
        .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec())))
        .collect()
}

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let options = options(&mut choices);
    let mut machine = MemFs::new();
    let mut disk = FaultFs::new(Arc::new(machine.clone()));
    let mut db = Db::open_with(Arc::new(disk.clone()), "/db", options.clone()).expect("a good disk");
    // What may be found after a crash: from the last durable state on.
    let mut history = vec![State::new()];
    for _ in 0..200 {
        if choices.is_empty() {
            break;
        }
        let now = history.last().expect("never empty").clone();
        let mut next = now.clone();
        let key = vec![b'a' + choices.next() % 12];
        let (outcome, is_durable) = match choices.next() % 16 {
            0..=5 => {
                let value = vec![choices.next(); choices.below(200)];
                next.insert(key.clone(), value.clone());
                (db.put(&key, &value), false)
            }
            6..=8 => {
                next.remove(&key);
                (db.delete(&key), false)
            }
            9 => {
                let end = vec![key[0] + choices.next() % 5];
                next.retain(|other, _| *other < key || *other >= end);
                (db.delete_range(key.clone()..end), false)
            }
            10 => {
                let mut batch = db.batch();
                for _ in 0..choices.next() % 4 {
                    let (key, value) = (vec![b'a' + choices.next() % 12], vec![choices.next(); 30]);
                    batch.put(&db, &key, &value);
                    next.insert(key, value);
                }
                let is_empty = batch.is_empty();
                (batch.commit(Durability::Sync), !is_empty)
            }
            11 => (db.flush(), true),
            12 => (db.compact(), false),
            13 => (db.run_background_step().map(drop), false),
            14 => {
                let fault = match choices.next() % 3 {
                    0 => Fault::DeviceError,
                    1 => Fault::StorageFull,
                    _ => Fault::ShortWrite,
                };
                let calls = if choices.one_in(2) {
                    Calls::Any
                } else {
                    Calls::Changing
                };
                disk.add(Rule::once(calls, fault).after(choices.below(12) as u64));
                continue;
            }
            _ => {
                let is_power_cut = choices.one_in(2);
                machine = match is_power_cut {
                    true => machine.after_power_cut(choices.number()),
                    false => machine.after_kill(),
                };
                drop(db);
                disk = FaultFs::new(Arc::new(machine.clone()));
                db = Db::open_with(Arc::new(disk.clone()), "/db", options.clone())
                    .expect("a crash is no damage");
                let found = state_of(&db).expect("a good disk");
                let allowed = if is_power_cut {
                    &history[..]
                } else {
                    std::slice::from_ref(&now)
                };
                assert!(allowed.contains(&found), "{found:?} is none of {allowed:?}");
                assert!(db.verify().is_ok_and(|report| report.is_sound()));
                history = vec![found];
                continue;
            }
        };
        match outcome {
            Ok(()) if is_durable => history = vec![next],
            Ok(()) => history.push(next),
            Err(error) => {
                disk.heal();
                let found = state_of(&db).expect("a good disk");
                assert!(found == now || found == next, "{error}: {found:?}");
                if error.usability() != tephradb::Usability::Usable {
                    // The write may be there after a restart, or not.
                    drop(db);
                    machine = machine.after_kill();
                    disk = FaultFs::new(Arc::new(machine.clone()));
                    db = Db::open_with(Arc::new(disk.clone()), "/db", options.clone())
                        .expect("a crash is no damage");
                    let found = state_of(&db).expect("a good disk");
                    assert!(found == now || found == next, "{found:?} after {error}");
                    history.extend([next, found]);
                } else {
                    assert!(found == now, "a usable database changed nothing: {error}");
                }
            }
        }
        disk.heal();
    }
    disk.heal();
    let found = state_of(&db).expect("a good disk");
    assert_eq!(Some(&found), history.last());
}
