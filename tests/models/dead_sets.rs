//! Dead sets: deletes against compactions of the tables they kill records in.
//!
//! ```text
//! delete        finds the record in the published tables          no lock
//!               under `versions`: looks again at new tables, publishes a new dead set
//! compaction    copies the live records of its inputs             no lock
//!               under `versions`: kills in the output what died in the inputs meanwhile, publishes the output instead of them
//! ```
//!
//! In every published version each key that nobody deleted lives once, and none lives whose delete had returned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roaring::RoaringTreemap;
use shuttle::sync::{Mutex, RwLock};
use shuttle::thread;

use crate::dead_set::{DeadSet, added_since, is_dead, live_runs, with_added};

/// Three tables of so many keys each.
const TABLE_KEYS: u64 = 4;
const TABLES: u64 = 3;
/// What each deleter deletes.
const DELETED: [&[u64]; 2] = [&[1, 6], &[5, 10, 2]];

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    /// A compaction forgets the deletes that were flushed while it ran.
    LostLateKills,
    /// It looks for them before it has the lock.
    EarlyLateKills,
    /// A delete does not look again at the tables that came while it looked.
    NoSecondLook,
    /// A delete's ordinals take the place of the set, instead of joining it.
    AssignedKills,
    /// A compaction takes what its inputs are today for what they were when it read them.
    StartForgotten,
}

#[derive(Clone, Debug)]
struct Table {
    keys: Arc<Vec<u64>>,
    dead: DeadSet,
}

type Version = BTreeMap<u64, Table>;

impl Table {
    fn new(keys: Vec<u64>) -> Table {
        Table {
            keys: Arc::new(keys),
            dead: None,
        }
    }

    fn find(&self, key: u64) -> Option<u64> {
        self.keys.binary_search(&key).ok().map(|at| at as u64)
    }

    fn kill(&mut self, ordinals: &RoaringTreemap, planted: Planted) {
        let before = match planted {
            Planted::AssignedKills => &None,
            _ => &self.dead,
        };
        self.dead = with_added(before, self.keys.len() as u64, ordinals);
    }

    fn live(&self) -> Vec<u64> {
        let count = self.keys.len() as u64;
        let ordinals = live_runs(&self.dead, 0..count).flatten();
        ordinals
            .map(|ordinal| self.keys[usize::try_from(ordinal).unwrap()])
            .collect()
    }
}

struct Store {
    planted: Planted,
    published: RwLock<Arc<Version>>,
    /// The next table's number.
    versions: Mutex<u64>,
    /// Keys whose delete has returned.
    deleted: Mutex<BTreeSet<u64>>,
}

/// Where a key lives in a version.
fn places(version: &Version, key: u64) -> Vec<(u64, u64)> {
    let found = version
        .iter()
        .filter_map(|(&number, table)| Some((number, table.find(key)?)));
    found
        .filter(|(number, ordinal)| !is_dead(&version[number].dead, *ordinal))
        .collect()
}

impl Store {
    fn new(planted: Planted) -> Arc<Store> {
        let table = |number| Table::new((0..TABLE_KEYS).map(|at| at * TABLES + number).collect());
        let version: Version = (0..TABLES).map(|number| (number, table(number))).collect();
        Arc::new(Store {
            planted,
            published: RwLock::new(Arc::new(version)),
            versions: Mutex::new(TABLES),
            deleted: Mutex::default(),
        })
    }

    fn version(&self) -> Arc<Version> {
        Arc::clone(&self.published.read().unwrap())
    }

    fn publish(&self, version: Version) {
        *self.published.write().unwrap() = Arc::new(version);
    }

    fn delete(&self, key: u64) {
        let looked_at = self.version();
        let mut found = places(&looked_at, key);
        thread::yield_now();
        let versions = self.versions.lock().unwrap();
        let mut version = Version::clone(&self.version());
        if self.planted != Planted::NoSecondLook {
            let is_new = |number: &u64| !looked_at.contains_key(number);
            found.extend(
                places(&version, key)
                    .into_iter()
                    .filter(|(number, _)| is_new(number)),
            );
        }
        for (number, ordinal) in found {
            if let Some(table) = version.get_mut(&number) {
                table.kill(&std::iter::once(ordinal).collect(), self.planted);
            }
        }
        self.publish(version);
        drop(versions);
        self.deleted.lock().unwrap().insert(key);
    }

    /// Merges tables into one.
    fn compact(&self, inputs: &[u64]) {
        let start = self.version();
        let mut keys = Vec::new();
        for number in inputs {
            keys.extend(start[number].live());
            thread::yield_now();
        }
        keys.sort_unstable();
        let mut output = Table::new(keys);
        let early =
            (self.planted == Planted::EarlyLateKills).then(|| self.late_kills(&start, inputs, &output));
        let mut next_number = self.versions.lock().unwrap();
        let kills = match self.planted {
            Planted::LostLateKills => RoaringTreemap::new(),
            _ => early.unwrap_or_else(|| self.late_kills(&start, inputs, &output)),
        };
        if !kills.is_empty() {
            output.kill(&kills, Planted::Nothing);
        }
        let mut version = Version::clone(&self.version());
        for number in inputs {
            version.remove(number);
        }
        version.insert(*next_number, output);
        *next_number += 1;
        self.publish(version);
    }

    /// The ordinals in the output of what died in the inputs since the start.
    fn late_kills(&self, start: &Version, inputs: &[u64], output: &Table) -> RoaringTreemap {
        let now = self.version();
        let mut kills = RoaringTreemap::new();
        for number in inputs {
            let (before, today) = match self.planted {
                Planted::StartForgotten => (&now[number].dead, &now[number].dead),
                _ => (&start[number].dead, &now[number].dead),
            };
            let keys = &start[number].keys;
            for ordinal in added_since(before, today, 0..keys.len() as u64) {
                kills.extend(output.find(keys[usize::try_from(ordinal).unwrap()]));
            }
        }
        kills
    }

    fn check(&self) {
        let deleted: BTreeSet<u64> = self.deleted.lock().unwrap().clone();
        let version = self.version();
        for key in 0..TABLE_KEYS * TABLES {
            let count = places(&version, key).len();
            let is_never_deleted = DELETED.iter().all(|keys| !keys.contains(&key));
            assert!(count <= 1, "key {key} lives {count} times");
            assert!(!deleted.contains(&key) || count == 0, "key {key} is back");
            assert!(!is_never_deleted || count == 1, "key {key} is lost");
        }
    }
}

fn model(planted: Planted) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let store = Store::new(planted);
        let mut threads = Vec::new();
        for keys in DELETED {
            let store = Arc::clone(&store);
            threads.push(thread::spawn(move || {
                keys.iter().for_each(|&key| store.delete(key))
            }));
        }
        let compactor = Arc::clone(&store);
        threads.push(thread::spawn(move || {
            compactor.compact(&[0, 1]);
            compactor.compact(&[2, TABLES]);
        }));
        let reader = Arc::clone(&store);
        threads.push(thread::spawn(move || (0..3).for_each(|_| reader.check())));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        store.check();
        assert_eq!(store.version().len(), 1);
    }
}

#[test]
fn a_deleted_key_stays_dead_through_compactions_of_its_table() {
    crate::explore("dead sets", model(Planted::Nothing));
}

#[test]
fn canary_faults_in_the_replacement_of_dead_sets_are_found() {
    for planted in [
        Planted::LostLateKills,
        Planted::EarlyLateKills,
        Planted::NoSecondLook,
        Planted::AssignedKills,
        Planted::StartForgotten,
    ] {
        crate::must_find(&format!("{planted:?}"), model(planted));
    }
}
