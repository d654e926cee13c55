//! The published instant: readers against commits, rotations and flushes.
//!
//! ```text
//! state      RwLock   active map, layers (frozen maps, version)     readers take it once
//! writer     Mutex    commits and rotations
//! versions   Mutex    flushes: the oldest frozen map becomes part of the version
//! ```
//!
//! Two keys are always written together, with rising numbers. Each reader sees both keys of one commit, and never an older commit
//! than before; a snapshot stays what it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use shuttle::sync::{Mutex, RwLock};
use shuttle::thread;

type Map = BTreeMap<&'static str, u64>;

const KEYS: [&str; 2] = ["a", "b"];
const COMMITS: u64 = 4;

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    /// A publication replaces layers that it looked at before it had the lock.
    StaleLayers,
    /// A rotation empties the active map in one step and freezes it in the next.
    RotationInTwoSteps,
    /// A flush takes the frozen map away before its version is published.
    FlushInTwoSteps,
    /// A reader asks the layers first and the active map then, each at its own time.
    ReaderOfTwoInstants,
    /// A batch is applied key by key.
    TornBatch,
}

#[derive(Clone, Debug)]
struct Frozen {
    map: Arc<Map>,
    segment: u64,
}

#[derive(Clone, Debug, Default)]
struct Layers {
    /// Newest first.
    frozen: Vec<Frozen>,
    version: Arc<Map>,
}

#[derive(Clone, Debug, Default)]
struct Instant {
    active: Arc<Map>,
    layers: Arc<Layers>,
}

impl Layers {
    fn get(&self, key: &str) -> Option<u64> {
        let mut frozen = self.frozen.iter().filter_map(|frozen| frozen.map.get(key));
        frozen.next().or_else(|| self.version.get(key)).copied()
    }
}

impl Instant {
    fn get(&self, key: &str) -> Option<u64> {
        self.active.get(key).copied().or_else(|| self.layers.get(key))
    }
}

struct Store {
    planted: Planted,
    state: RwLock<Instant>,
    writer: Mutex<u64>,
    versions: Mutex<()>,
}

impl Store {
    fn new(planted: Planted) -> Arc<Store> {
        Arc::new(Store {
            planted,
            state: RwLock::default(),
            writer: Mutex::new(1),
            versions: Mutex::default(),
        })
    }

    fn instant(&self) -> Instant {
        self.state.read().unwrap().clone()
    }

    fn commit(&self, number: u64) {
        let _writer = self.writer.lock().unwrap();
        if self.planted == Planted::TornBatch {
            for key in KEYS {
                Arc::make_mut(&mut self.state.write().unwrap().active).insert(key, number);
            }
            return;
        }
        let mut state = self.state.write().unwrap();
        let active = Arc::make_mut(&mut state.active);
        active.extend(KEYS.map(|key| (key, number)));
    }

    fn rotate(&self) {
        let mut segment = self.writer.lock().unwrap();
        let mut state = self.state.write().unwrap();
        let map = std::mem::take(&mut state.active);
        if self.planted == Planted::RotationInTwoSteps {
            drop(state);
            state = self.state.write().unwrap();
        }
        let mut frozen = vec![Frozen {
            map,
            segment: *segment,
        }];
        frozen.extend(state.layers.frozen.iter().cloned());
        let version = Arc::clone(&state.layers.version);
        state.layers = Arc::new(Layers { frozen, version });
        *segment += 1;
    }

    /// Flushes the oldest frozen map.
    fn flush(&self) {
        let _versions = self.versions.lock().unwrap();
        let layers = Arc::clone(&self.state.read().unwrap().layers);
        let Some(oldest) = layers.frozen.last() else {
            return;
        };
        let mut version = Map::clone(&layers.version);
        version.extend(oldest.map.iter().map(|(&key, &number)| (key, number)));
        thread::yield_now();
        if self.planted == Planted::FlushInTwoSteps {
            self.publish(&layers, Arc::clone(&layers.version), oldest.segment);
        }
        self.publish(&layers, Arc::new(version), oldest.segment);
    }

    fn publish(&self, looked_at: &Layers, version: Arc<Map>, flushed: u64) {
        let mut state = self.state.write().unwrap();
        let mut frozen = match self.planted {
            Planted::StaleLayers => looked_at.frozen.clone(),
            _ => state.layers.frozen.clone(),
        };
        frozen.retain(|frozen| frozen.segment != flushed);
        state.layers = Arc::new(Layers { frozen, version });
    }

    fn get(&self, key: &str) -> Option<u64> {
        let (active, layers) = {
            if self.planted == Planted::ReaderOfTwoInstants {
                let layers = self.instant().layers;
                (self.instant().active, layers)
            } else {
                let Instant { active, layers } = self.instant();
                (active, layers)
            }
        };
        active.get(key).copied().or_else(|| layers.get(key))
    }

    fn read(&self) {
        let mut last = None;
        for _ in 0..3 {
            let snapshot = self.instant();
            let [a, b] = KEYS.map(|key| snapshot.get(key));
            assert_eq!(a, b, "a batch is whole");
            let gets = KEYS.map(|key| self.get(key));
            assert!(
                last <= a && gets.iter().all(|got| a <= *got),
                "{last:?}, {a:?}, {gets:?}"
            );
            assert_eq!([a, b], KEYS.map(|key| snapshot.get(key)), "a snapshot stays");
            last = gets[1];
        }
    }
}

fn model(planted: Planted) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let store = Store::new(planted);
        let spawn = |work: fn(&Store)| {
            let store = Arc::clone(&store);
            thread::spawn(move || work(&store))
        };
        let threads = [
            spawn(|store| (1..=COMMITS).for_each(|number| store.commit(number))),
            spawn(|store| (0..2).for_each(|_| store.rotate())),
            spawn(|store| (0..2).for_each(|_| store.flush())),
            spawn(Store::read),
            spawn(Store::read),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(
            KEYS.map(|key| store.get(key)),
            [Some(COMMITS); 2],
            "the last commit is there"
        );
    }
}

#[test]
fn readers_see_one_instant_whatever_is_rotated_and_flushed() {
    crate::explore("the published view", model(Planted::Nothing));
}

#[test]
fn canary_faults_in_the_published_view_are_found() {
    for planted in [
        Planted::StaleLayers,
        Planted::RotationInTwoSteps,
        Planted::FlushInTwoSteps,
        Planted::ReaderOfTwoInstants,
        Planted::TornBatch,
    ] {
        crate::must_find(&format!("{planted:?}"), model(planted));
    }
}
