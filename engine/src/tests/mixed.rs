//! Everything at once: seeded histories that mix all operations on plain, composing and bit keyspaces, with other operations in the
//! middle of compactions, against a sorted map; and what a crash at any moment and a checkpoint give, opened twice.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tephra_sstable::{BitStr, BitString};

use super::{DIR, Rng, assert_sound, manual};
use crate::background::Job;
use crate::bit_keyspace::BitKeyspace;
use crate::vfs::{Calls, Fault, FaultFs, Interlude, MemFs, Operation, Rule};
use crate::{
    AppendBytes, Background, Cancel, Db, Durability, Keyspace, KeyspaceOptions, Options, Result, Snapshot,
};

/// Keys and values of bits are one byte a bit here: the order is the same.
type Map = BTreeMap<Vec<u8>, Vec<u8>>;
type Maps = [Map; KINDS.len()];
type KeyBounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    Appending,
    Bits,
}

const KINDS: [Kind; 4] = [Kind::Plain, Kind::Plain, Kind::Appending, Kind::Bits];

#[derive(Clone)]
enum Space {
    Bytes(Keyspace),
    Bits(BitKeyspace),
}

fn string(bits: &[u8]) -> BitString {
    let mut string = BitString::new();
    bits.iter().for_each(|&bit| string.push_bits(u64::from(bit), 1));
    string
}

fn bits_of(string: BitStr<'_>) -> Vec<u8> {
    (0..string.len())
        .map(|at| u8::from(string.get(at).expect("within")))
        .collect()
}

fn bits_of_bound(bound: &Bound<Vec<u8>>) -> Bound<BitString> {
    bound.as_ref().map(|bits| string(bits))
}

fn borrowed(bound: &Bound<BitString>) -> Bound<BitStr<'_>> {
    bound.as_ref().map(BitString::as_str)
}

/// Records in the order in which they come, from the front where the pattern says so.
fn drain<I: DoubleEndedIterator>(mut items: I, fronts: &[bool]) -> Vec<I::Item> {
    let mut all = Vec::new();
    for &front in fronts.iter().cycle() {
        match if front { items.next() } else { items.next_back() } {
            Some(item) => all.push(item),
            None => return all,
        }
    }
    all
}

impl Space {
    fn open(db: &Db, number: usize) -> Space {
        let name = format!("keyspace {number}");
        let options = KeyspaceOptions::default();
        let bytes = |options| Space::Bytes(db.keyspace(&name, options).expect("opens"));
        match KINDS[number] {
            Kind::Plain if number == 0 => Space::Bytes(db.default_keyspace().clone()),
            Kind::Plain => bytes(options),
            Kind::Appending => bytes(options.compose(AppendBytes::NAME, AppendBytes)),
            Kind::Bits => Space::Bits(db.bit_keyspace(&name, options).expect("opens")),
        }
    }

    fn inner(&self) -> &Keyspace {
        match self {
            Space::Bytes(space) => space,
            Space::Bits(space) => space.inner(),
        }
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        match self {
            Space::Bytes(space) => space.put(key, value),
            Space::Bits(space) => space.put(string(key).as_str(), string(value).as_str()),
        }
    }

    fn ingest(&self, records: &Map) -> Result<()> {
        match self {
            Space::Bytes(space) => {
                let mut ingest = space.ingest()?;
                for (key, value) in records {
                    ingest.put(key, value)?;
                }
                ingest.finish()
            }
            Space::Bits(space) => {
                let mut ingest = space.ingest()?;
                for (key, value) in records {
                    ingest.put(string(key).as_str(), string(value).as_str())?;
                }
                ingest.finish()
            }
        }
    }

    fn delete(&self, key: &[u8]) -> Result<()> {
        match self {
            Space::Bytes(space) => space.delete(key),
            Space::Bits(space) => space.delete(string(key).as_str()),
        }
    }

    fn delete_range(&self, (from, to): &KeyBounds) -> Result<()> {
        match self {
            Space::Bytes(space) => space.delete_range((from.clone(), to.clone())),
            Space::Bits(space) => {
                let (from, to) = (bits_of_bound(from), bits_of_bound(to));
                space.delete_range((borrowed(&from), borrowed(&to)))
            }
        }
    }

    fn get(&self, key: &[u8], snapshot: Option<&Snapshot>) -> Option<Vec<u8>> {
        match (self, snapshot) {
            (Space::Bytes(space), None) => space.get(key).expect("readable").map(|value| value.to_vec()),
            (Space::Bytes(space), Some(snapshot)) => {
                let value = snapshot.get(space, key).expect("readable");
                value.map(|value| value.to_vec())
            }
            (Space::Bits(space), None) => {
                let value = space.get(string(key).as_str()).expect("readable");
                value.map(|value| bits_of(value.bits()))
            }
            (Space::Bits(space), Some(snapshot)) => {
                let value = snapshot.get_bits(space, string(key).as_str()).expect("readable");
                value.map(|value| bits_of(value.bits()))
            }
        }
    }

    fn read(
        &self,
        (from, to): &KeyBounds,
        snapshot: Option<&Snapshot>,
        fronts: &[bool],
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        match self {
            Space::Bytes(space) => {
                let bounds = (from.clone(), to.clone());
                let range = match snapshot {
                    Some(snapshot) => snapshot.range(space, bounds),
                    None => space.range(bounds),
                };
                let items = drain(range, fronts).into_iter();
                items
                    .map(|item| item.expect("readable"))
                    .map(|(key, value)| (key.into_vec(), value.to_vec()))
                    .collect()
            }
            Space::Bits(space) => {
                let (from, to) = (bits_of_bound(from), bits_of_bound(to));
                let bounds = (borrowed(&from), borrowed(&to));
                let range = match snapshot {
                    Some(snapshot) => snapshot.range_bits(space, bounds),
                    None => space.range(bounds),
                };
                let items = drain(range, fronts).into_iter();
                items
                    .map(|item| item.expect("readable"))
                    .map(|(key, value)| (bits_of(key.as_str()), bits_of(value.bits())))
                    .collect()
            }
        }
    }

    fn check(&self, map: &Map, bounds: &KeyBounds, snapshot: Option<&Snapshot>, fronts: &[bool]) {
        let inside = map.iter().filter(|(key, _)| contains(bounds, key));
        let inside: Vec<_> = inside.map(|(key, value)| (key.clone(), value.clone())).collect();
        let found = self.read(bounds, snapshot, fronts);
        assert_eq!(
            found,
            drain(inside.into_iter(), fronts),
            "{} {bounds:?} {fronts:?}",
            self.inner().name()
        );
    }
}

fn contains((from, to): &KeyBounds, key: &[u8]) -> bool {
    let starts = match from {
        Bound::Unbounded => true,
        Bound::Included(from) => key >= from.as_slice(),
        Bound::Excluded(from) => key > from.as_slice(),
    };
    let ends = match to {
        Bound::Unbounded => true,
        Bound::Included(to) => key <= to.as_slice(),
        Bound::Excluded(to) => key < to.as_slice(),
    };
    starts && ends
}

const EVERYTHING: KeyBounds = (Bound::Unbounded, Bound::Unbounded);

struct World {
    rng: Rng,
    number: u32,
    options: Options,
    machine: MemFs,
    faults: FaultFs,
    db: Option<Db>,
    spaces: Vec<Space>,
    maps: Maps,
    snapshots: Vec<(Snapshot, Vec<Space>, Maps)>,
    /// Something runs further down the stack.
    depth: usize,
    copies: u32,
    trace: bool,
}

fn options_of(rng: &mut Rng, background: Background) -> Options {
    manual()
        .background(background)
        .memtable_bytes([700, 2000, 6000][rng.below(3)])
        .target_table_bytes([150, 500, 3000][rng.below(3)])
        .l0_compaction_trigger(2)
        .pending_deletes_max([3, 40, 1000][rng.below(3)])
        .compaction_threads(1 + rng.below(3))
        .manifest_bytes([600, 100_000][rng.below(2)])
        .law(AppendBytes::NAME, AppendBytes)
}

impl World {
    fn new(seed: u64, background: Background) -> World {
        let mut rng = Rng::new(seed);
        let options = options_of(&mut rng, background);
        let machine = MemFs::new();
        let mut world = World {
            rng,
            number: 0,
            options,
            faults: FaultFs::new(Arc::new(machine.clone())),
            machine,
            db: None,
            spaces: Vec::new(),
            maps: Maps::default(),
            snapshots: Vec::new(),
            depth: 0,
            copies: 0,
            trace: std::env::var("TEPHRA_MIXED_TRACE").is_ok(),
        };
        world.open();
        world
    }

    fn open(&mut self) {
        let db = Db::open_with(Arc::new(self.faults.clone()), DIR, self.options.clone()).expect("opens");
        self.spaces = (0..KINDS.len()).map(|number| Space::open(&db, number)).collect();
        self.db = Some(db);
    }

    fn db(&self) -> &Db {
        self.db.as_ref().expect("open")
    }

    fn key(&mut self, kind: Kind) -> Vec<u8> {
        let (alphabet, len_max) = if kind == Kind::Bits { (2, 7) } else { (3, 4) };
        let first = if kind == Kind::Bits { 0 } else { b'a' };
        let letter = |rng: &mut Rng| first + u8::try_from(rng.below(alphabet)).expect("small");
        let mut key = match self.rng.below(4) {
            0 => vec![first; [20, 70][self.rng.below(2)]],
            _ => Vec::new(),
        };
        for _ in 0..self.rng.below(len_max + 1) {
            key.push(letter(&mut self.rng));
        }
        key
    }

    fn value(&mut self, kind: Kind) -> Vec<u8> {
        self.number += 1;
        if kind == Kind::Bits {
            let number = self.number;
            return (0..self.rng.below(20))
                .map(|bit| u8::from(number >> bit & 1 == 1))
                .collect();
        }
        let mut value = format!("{}.", self.number).into_bytes();
        if kind == Kind::Plain {
            value.resize(value.len() + self.rng.below(40), b'v');
        }
        value
    }

    fn bounds(&mut self, kind: Kind) -> KeyBounds {
        let (one, other) = (self.key(kind), self.key(kind));
        // Sometimes upside down, which is empty.
        let (from, to) = if one <= other || self.rng.below(20) == 0 {
            (one, other)
        } else {
            (other, one)
        };
        let bound = |rng: &mut Rng, key| match rng.below(5) {
            0 => Bound::Unbounded,
            1 | 2 => Bound::Included(key),
            _ => Bound::Excluded(key),
        };
        (bound(&mut self.rng, from), bound(&mut self.rng, to))
    }

    fn fronts(&mut self) -> Vec<bool> {
        (0..1 + self.rng.below(5))
            .map(|_| self.rng.below(2) == 0)
            .collect()
    }

    fn batch(&mut self) {
        let mut batch = self.db().batch();
        let durability = [Durability::Process, Durability::Sync][self.rng.below(2)];
        for _ in 0..self.rng.below(8) {
            let number = self.rng.below(KINDS.len());
            let kind = KINDS[number];
            let space = self.spaces[number].clone();
            let (key, value) = (self.key(kind), self.value(kind));
            match (self.rng.below(5), &space) {
                (0, Space::Bytes(space)) => drop(batch.delete(space, &key)),
                (0, Space::Bits(space)) => drop(batch.delete_bits(space, string(&key).as_str())),
                (1, _) => {
                    let bounds = self.bounds(kind);
                    match &space {
                        Space::Bytes(space) => drop(batch.delete_range(space, bounds.clone())),
                        Space::Bits(space) => {
                            let (from, to) = (bits_of_bound(&bounds.0), bits_of_bound(&bounds.1));
                            batch.delete_range_bits(space, (borrowed(&from), borrowed(&to)));
                        }
                    }
                    self.maps[number].retain(|key, _| !contains(&bounds, key));
                    continue;
                }
                (2, Space::Bytes(space)) if kind == Kind::Appending => {
                    batch.merge(space, &key, &value);
                    self.maps[number]
                        .entry(key)
                        .or_default()
                        .extend_from_slice(&value);
                    continue;
                }
                (_, Space::Bytes(space)) => {
                    batch.put(space, &key, &value);
                    self.maps[number].insert(key, value);
                    continue;
                }
                (_, Space::Bits(space)) => {
                    batch.put_bits(space, string(&key).as_str(), string(&value).as_str());
                    self.maps[number].insert(key, value);
                    continue;
                }
            }
            self.maps[number].remove(&key);
        }
        batch.commit(durability).expect("commits");
    }

    fn ingest(&mut self) {
        let number = self.rng.below(KINDS.len());
        let kind = KINDS[number];
        let mut records = Map::new();
        for _ in 0..1 + self.rng.below(12) {
            let (key, value) = (self.key(kind), self.value(kind));
            records.insert(key, value);
        }
        self.spaces[number].ingest(&records).expect("in force");
        self.maps[number].extend(records);
    }

    /// A write, or a read that is compared.
    fn write(&mut self) {
        let number = self.rng.below(KINDS.len());
        let kind = KINDS[number];
        let space = self.spaces[number].clone();
        let key = self.key(kind);
        let what = self.rng.below(16);
        if self.trace {
            eprintln!("{}write {what} in {number} key {key:?}", "  ".repeat(self.depth));
        }
        match what {
            0..=2 => {
                space.delete(&key).expect("deletes");
                self.maps[number].remove(&key);
            }
            3 => {
                let bounds = self.bounds(kind);
                space.delete_range(&bounds).expect("deletes");
                self.maps[number].retain(|key, _| !contains(&bounds, key));
            }
            4 => self.batch(),
            5 if self.rng.below(3) == 0 => {
                space.inner().clear().expect("clears");
                self.maps[number].clear();
            }
            5..=8 if kind == Kind::Appending => {
                let value = self.value(kind);
                space.inner().merge(&key, &value).expect("merges");
                self.maps[number]
                    .entry(key)
                    .or_default()
                    .extend_from_slice(&value);
            }
            9 => {
                let (bounds, fronts) = (self.bounds(kind), self.fronts());
                space.check(&self.maps[number], &bounds, None, &fronts);
            }
            10 => assert_eq!(space.get(&key, None).as_ref(), self.maps[number].get(&key)),
            _ => {
                let value = self.value(kind);
                space.put(&key, &value).expect("puts");
                self.maps[number].insert(key, value);
            }
        }
    }

    /// What may happen at any moment, also in the middle of a compaction.
    fn other(&mut self) {
        let what = self.rng.below(24);
        if self.trace {
            eprintln!("{}other {what}", "  ".repeat(self.depth));
        }
        let engine = Arc::clone(self.db().default_keyspace().handle());
        let engine = engine.engine();
        match what {
            0..=3 => drop(engine.step(Job::Resolve).expect("settles")),
            4..=6 => self.db().flush().expect("flushes"),
            7 => {
                let log = engine.check_writable().expect("writable");
                engine.rotate(log, &mut engine.writer.lock(), 0).expect("freezes");
            }
            8 => drop(engine.step(Job::Flush).expect("flushes")),
            9..=11 => self.ingest(),
            12 => {
                let taken = (self.db().snapshot(), self.spaces.clone(), self.maps.clone());
                self.snapshots.push(taken);
                if self.snapshots.len() > 3 {
                    self.snapshots.remove(0);
                }
            }
            13 => self.read_snapshot(),
            14 => self.checkpoint(),
            15 => drop_and_recreate(self),
            16 => self.crash_copy(),
            17 => self.check(),
            18 if self.depth == 0 => assert_sound(self.db()),
            _ => self.write(),
        }
    }

    fn read_snapshot(&mut self) {
        if self.snapshots.is_empty() {
            return;
        }
        let at = self.rng.below(self.snapshots.len());
        let fronts = self.fronts();
        let (snapshot, spaces, maps) = &self.snapshots[at];
        for (space, map) in spaces.iter().zip(maps) {
            space.check(map, &EVERYTHING, Some(snapshot), &fronts);
            for (key, value) in map.iter().take(3) {
                assert_eq!(space.get(key, Some(snapshot)).as_ref(), Some(value));
            }
        }
    }

    fn check(&mut self) {
        for number in 0..KINDS.len() {
            let fronts = self.fronts();
            self.spaces[number].check(&self.maps[number], &EVERYTHING, None, &fronts);
        }
    }

    fn checkpoint(&mut self) {
        self.copies += 1;
        let target = format!("/copy{}", self.copies);
        self.db().checkpoint(&target).expect("made");
        check_copy(
            &self.machine.after_power_cut(7),
            &target,
            &self.options,
            &self.maps,
        );
    }

    /// Whatever the process was doing, all that it was told done is there.
    fn crash_copy(&mut self) {
        if self.rng.below(2) == 0 {
            let mut batch = self.db().batch();
            batch.delete(
                self.spaces[0].inner(),
                "a durable commit makes all before it durable",
            );
            batch.commit(Durability::Sync).expect("commits");
            let cut = self.machine.after_power_cut(self.rng.next());
            check_copy(&cut, DIR, &self.options, &self.maps);
        } else {
            check_copy(&self.machine.after_kill(), DIR, &self.options, &self.maps);
        }
    }

    fn restart(&mut self) {
        let (mut db, snapshots) = (self.db.take(), std::mem::take(&mut self.snapshots));
        self.spaces.clear();
        if self.rng.below(2) == 0 {
            drop(snapshots);
            db.take().expect("open").close().expect("closes");
        } else {
            self.machine = self.machine.after_kill();
            drop((snapshots, db));
        }
        self.faults = FaultFs::new(Arc::new(self.machine.clone()));
        self.open();
    }
}

fn drop_and_recreate(world: &mut World) {
    let number = 1 + world.rng.below(KINDS.len() - 1);
    world
        .db()
        .drop_keyspace(world.spaces[number].inner())
        .expect("drops");
    world.spaces[number] = Space::open(world.db(), number);
    world.maps[number].clear();
}

/// Opens, compares, stops without closing, opens again, compacts, compares.
fn check_copy(machine: &MemFs, dir: &str, options: &Options, maps: &Maps) {
    let options = options.clone().background(Background::Manual);
    let machine = machine.clone();
    for round in 0..2 {
        let file_system = Arc::new(machine.clone());
        let db = Db::open_with(file_system, Path::new(dir), options.clone()).expect("the copy opens");
        for (number, map) in maps.iter().enumerate() {
            let space = Space::open(&db, number);
            space.check(map, &EVERYTHING, None, &[true]);
            if round == 1 {
                db.compact().expect("compacts");
                space.check(map, &EVERYTHING, None, &[false, true]);
            }
        }
        assert_sound(&db);
    }
}

/// Compacts, with other things in the middle.
fn compact(world: &Arc<Mutex<World>>) {
    let (db, faults, asked) = {
        let mut guard = world.lock();
        let asked = (guard.depth == 0 && guard.rng.below(3) == 0).then(|| {
            // Not in the compaction: a flush holds a lock that the interlude needs.
            guard.db().flush().expect("flushes");
            let number = guard.rng.below(KINDS.len());
            let bounds = match KINDS[number] {
                Kind::Bits => EVERYTHING,
                kind => guard.bounds(kind),
            };
            (guard.spaces[number].inner().clone(), bounds)
        });
        // A thread's flush would play it while somebody who holds the world waits for that flush.
        if guard.options.background == Background::Manual && guard.depth < 3 && guard.rng.below(4) > 0 {
            let calls = [Operation::Create, Operation::Sync, Operation::Map][guard.rng.below(3)];
            let inside = Arc::clone(world);
            let interlude = Interlude::new(move || in_between(&inside));
            let skipped = guard.rng.below(4) as u64;
            let rule = Rule::once(Calls::Only(calls), Fault::Interlude(interlude));
            guard.faults.add(rule.after(skipped).on(".table"));
        }
        guard.depth += 1;
        if guard.trace {
            eprintln!("{}compact {asked:?}", "  ".repeat(guard.depth));
        }
        (guard.db().clone(), guard.faults.clone(), asked)
    };
    match asked {
        Some((keyspace, bounds)) => match keyspace.compact_range(bounds, &Cancel::new()) {
            Ok(()) | Err(crate::Error::KeyspaceDropped { .. }) => {}
            Err(error) => panic!("{error}"),
        },
        None => drop(
            db.default_keyspace()
                .handle()
                .engine()
                .step(Job::Compact)
                .expect("compacts"),
        ),
    }
    faults.heal();
    world.lock().depth -= 1;
}

fn in_between(world: &Arc<Mutex<World>>) {
    let count = world.lock().rng.below(12);
    for _ in 0..count {
        let compacts = world.lock().rng.below(8) == 0;
        if compacts {
            compact(world);
        } else {
            world.lock().other();
        }
    }
}

fn run(seed: u64, background: Background, steps: usize) {
    let world = Arc::new(Mutex::new(World::new(seed, background)));
    for _ in 0..steps {
        let what = world.lock().rng.below(40);
        match what {
            0 => world.lock().restart(),
            1..=5 => compact(&world),
            6..=14 => world.lock().other(),
            _ => world.lock().write(),
        }
    }
    let mut world = world.lock();
    world.check();
    world.restart();
    world.check();
    assert_sound(world.db());
}

/// Other histories from a seed on, so many: `TEPHRA_MIXED=first,count`.
fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("TEPHRA_MIXED") else {
        return 0..6;
    };
    let (first, count) = text.split_once(',').expect("first,count");
    let first: u64 = first.parse().expect("a number");
    first..first + count.parse::<u64>().expect("a number")
}

#[test]
fn every_operation_amid_every_other_agrees_with_a_map() {
    for seed in seeds() {
        run_seed(seed, Background::Manual);
    }
}

#[test]
fn the_same_beside_threads() {
    for seed in seeds() {
        run_seed(seed, Background::Threads);
    }
}

fn run_seed(seed: u64, background: Background) {
    let outcome = std::panic::catch_unwind(|| run(seed, background, 250));
    if let Err(panic) = outcome {
        eprintln!("seed {seed}, {background:?}");
        std::panic::resume_unwind(panic);
    }
}
