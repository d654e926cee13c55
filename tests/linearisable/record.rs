//! Real threads on one database, and what each saw when.
//!
//! Clients put, delete, merge, delete ranges, commit batches over both keyspaces, get, walk ranges in both directions, and hold
//! snapshots and walks over other work. One more thread flushes, compacts, ingests and makes checkpoints, whose contents count as a read
//! made during the call. Memtables and tables are so small that rotations, flushes and compactions never pause.
//!
//! Call and return times are taken from one counter, the first before and the second after the call: what really happened lies between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tephradb::vfs::MemFs;
use tephradb::{
    AppendBytes, Batch, Db, Durability, Keyspace, KeyspaceOptions, Options, Range, Snapshot, Stats, Value,
};

use super::checker::{Action, CELLS, Call, Effect, appended};
use super::rng::Rng;

/// Cells of a keyspace: the first half lies in a plain one, the second in one that appends.
const KEYS: usize = CELLS / 2;
/// Length of an operand: a value of the appending keyspace is a sequence of them.
const OPERAND_BYTES: usize = 40;
/// Snapshots and walks that a client holds at a time, at most.
const HELD_MAX: usize = 4;

/// How much is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) clients: usize,
    pub(crate) operations: usize,
}

struct Recorder {
    clock: AtomicU64,
    next_value: AtomicU64,
    machine: MemFs,
    db: Db,
    plain: Keyspace,
    appending: Keyspace,
}

/// One thread: its generator and what it recorded.
struct Thread<'a> {
    recorder: &'a Recorder,
    number: usize,
    rng: Rng,
    calls: Vec<Call>,
}

enum Source {
    Snapshot(Box<Snapshot>),
    /// A walk over a part of a keyspace: its first cell, the cells, backwards or not.
    Walk(Box<Range>, std::ops::Range<usize>, bool),
}

/// What shows one instant, with the times of the call that took it.
struct Held {
    source: Source,
    times: (u64, u64),
    seen: Vec<(usize, u64)>,
}

fn options() -> Options {
    Options::default()
        .memtable_bytes(4 << 10)
        .target_table_bytes(2 << 10)
        .l0_compaction_trigger(2)
        .manifest_bytes(4 << 10)
}

fn key_of(cell: usize) -> [u8; 2] {
    [b'k', b'a' + u8::try_from(cell % KEYS).unwrap()]
}

/// The bytes of a value: its number first, then as much as its keyspace and chance want.
fn bytes_of(cell: usize, value: u64) -> Vec<u8> {
    let mut bytes = value.to_be_bytes().to_vec();
    let len = if cell < KEYS {
        8 + usize::try_from(value * 37 % 300).unwrap()
    } else {
        OPERAND_BYTES
    };
    bytes.resize(len, b'.');
    bytes
}

/// The number that stands for what a cell holds.
fn cell_of(cell: usize, bytes: Option<&[u8]>) -> u64 {
    let Some(bytes) = bytes else { return 0 };
    let operand_len_bytes = if cell < KEYS { bytes.len() } else { OPERAND_BYTES };
    bytes.chunks(operand_len_bytes).fold(0, |before, operand| {
        let value = u64::from_be_bytes(operand[..8].try_into().unwrap());
        assert_eq!(operand, bytes_of(cell, value), "the bytes of value {value}");
        appended(before, value)
    })
}

impl Recorder {
    fn open() -> Recorder {
        let machine = MemFs::new();
        let db = Db::open_with(Arc::new(machine.clone()), "/db", options()).unwrap();
        let (plain, appending) = keyspaces(&db);
        Recorder {
            clock: AtomicU64::new(0),
            next_value: AtomicU64::new(0),
            machine,
            db,
            plain,
            appending,
        }
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn value(&self) -> u64 {
        1 + self.next_value.fetch_add(1, Ordering::SeqCst)
    }

    fn keyspace(&self, cell: usize) -> &Keyspace {
        if cell < KEYS { &self.plain } else { &self.appending }
    }
}

fn keyspaces(db: &Db) -> (Keyspace, Keyspace) {
    let appending = KeyspaceOptions::default().compose(AppendBytes::NAME, AppendBytes);
    (
        db.default_keyspace().clone(),
        db.keyspace("appending", appending).unwrap(),
    )
}

/// All cells, as two walks give them.
fn all_cells(walks: [Range; 2]) -> Vec<(usize, u64)> {
    let mut cells = [0; CELLS];
    for (walk, first) in walks.into_iter().zip([0, KEYS]) {
        for item in walk {
            let (key, value) = item.unwrap();
            let cell = first + usize::from(key[1] - b'a');
            cells[cell] = cell_of(cell, Some(&value));
        }
    }
    cells.into_iter().enumerate().collect()
}

impl Thread<'_> {
    fn record(&mut self, name: &'static str, (called, returned): (u64, u64), action: Action) {
        let thread = self.number;
        self.calls.push(Call {
            thread,
            name,
            called,
            returned,
            action,
        });
    }

    /// Makes a call between two looks at the clock.
    fn timed<T>(&mut self, call: impl FnOnce(&mut Self) -> T) -> (T, (u64, u64)) {
        let called = self.recorder.now();
        let outcome = call(self);
        (outcome, (called, self.recorder.now()))
    }

    fn durability(&mut self) -> Durability {
        if self.rng.one_in(12) {
            Durability::Sync
        } else {
            Durability::Process
        }
    }

    /// A random part of a keyspace, not empty.
    fn part(&mut self) -> std::ops::Range<usize> {
        let keyspace = self.rng.below(2) * KEYS;
        let first = self.rng.below(KEYS);
        let end = first + 1 + self.rng.below(KEYS - first);
        keyspace + first..keyspace + end
    }

    fn effect(&mut self, cell: usize) -> Effect {
        match self.rng.below(10) {
            0..2 => Effect::Delete,
            2..6 if cell >= KEYS => Effect::Append(self.recorder.value()),
            _ => Effect::Put(self.recorder.value()),
        }
    }

    /// A client's next operation.
    fn operation(&mut self, held: &mut Vec<Held>) {
        match self.rng.below(20) {
            0..6 => self.write_one(),
            6..8 => self.commit_batch(),
            8 if self.rng.one_in(3) => self.delete_range(),
            8..14 => self.get(),
            14..16 => {
                let walk = self.walk();
                self.finish(walk);
            }
            16..18 if held.len() < HELD_MAX => {
                let new = if self.rng.one_in(2) {
                    self.snapshot()
                } else {
                    self.walk()
                };
                held.push(new);
            }
            _ if held.is_empty() => self.get(),
            _ => {
                let mut chosen = held.swap_remove(self.rng.below(held.len()));
                if matches!(chosen.source, Source::Snapshot(_)) && !self.rng.one_in(3) {
                    self.look(&mut chosen);
                    held.push(chosen);
                } else {
                    self.finish(chosen);
                }
            }
        }
    }

    fn write_one(&mut self) {
        let cell = self.rng.below(CELLS);
        let (effect, durability) = (self.effect(cell), self.durability());
        let (name, outcome) = {
            let (keyspace, key) = (self.recorder.keyspace(cell), key_of(cell));
            match effect {
                Effect::Put(value) => ("put", {
                    let bytes = bytes_of(cell, value);
                    self.timed(|_| keyspace.put_with(key, bytes, durability))
                }),
                Effect::Delete => ("delete", self.timed(|_| keyspace.delete_with(key, durability))),
                Effect::Append(value) => ("merge", {
                    let bytes = bytes_of(cell, value);
                    self.timed(|_| keyspace.merge_with(key, bytes, durability))
                }),
            }
        };
        outcome.0.unwrap();
        self.record(name, outcome.1, Action::Write(vec![(cell, effect)]));
    }

    fn commit_batch(&mut self) {
        let mut effects = Vec::new();
        let mut batch = self.recorder.db.batch();
        for _ in 0..2 + self.rng.below(8) {
            let cell = self.rng.below(CELLS);
            if self.rng.one_in(12) {
                let cells = self.part();
                add_range_delete(&mut batch, self.recorder, cells.clone());
                effects.extend(cells.map(|cell| (cell, Effect::Delete)));
                continue;
            }
            let effect = self.effect(cell);
            let (keyspace, key) = (self.recorder.keyspace(cell), key_of(cell));
            match effect {
                Effect::Put(value) => batch.put(keyspace, key, bytes_of(cell, value)),
                Effect::Delete => batch.delete(keyspace, key),
                Effect::Append(value) => batch.merge(keyspace, key, bytes_of(cell, value)),
            };
            effects.push((cell, effect));
        }
        let durability = self.durability();
        let (outcome, times) = self.timed(|_| batch.commit(durability));
        outcome.unwrap();
        self.record("batch", times, Action::Write(effects));
    }

    fn delete_range(&mut self) {
        let cells = self.part();
        let mut batch = self.recorder.db.batch();
        add_range_delete(&mut batch, self.recorder, cells.clone());
        let durability = self.durability();
        let (outcome, times) = self.timed(|_| batch.commit(durability));
        outcome.unwrap();
        let effects = cells.map(|cell| (cell, Effect::Delete)).collect();
        self.record("delete_range", times, Action::Write(effects));
    }

    fn get(&mut self) {
        let cell = self.rng.below(CELLS);
        let keyspace = self.recorder.keyspace(cell);
        let (value, times) = self.timed(|_| keyspace.get(key_of(cell)));
        let value: Option<Value> = value.unwrap();
        self.record(
            "get",
            times,
            Action::Read(vec![(cell, cell_of(cell, value.as_deref()))]),
        );
    }

    fn walk(&mut self) -> Held {
        let cells = self.part();
        let keyspace = self.recorder.keyspace(cells.start);
        let bounds = key_of(cells.start)..=key_of(cells.end - 1);
        let (walk, times) = self.timed(|_| keyspace.range(bounds));
        let is_backward = self.rng.one_in(2);
        Held {
            source: Source::Walk(Box::new(walk), cells, is_backward),
            times,
            seen: Vec::new(),
        }
    }

    fn snapshot(&mut self) -> Held {
        let (snapshot, times) = self.timed(|thread| thread.recorder.db.snapshot());
        Held {
            source: Source::Snapshot(Box::new(snapshot)),
            times,
            seen: Vec::new(),
        }
    }

    /// Looks at a part of what a snapshot shows.
    fn look(&mut self, held: &mut Held) {
        let Source::Snapshot(snapshot) = &held.source else {
            return;
        };
        if self.rng.one_in(3) {
            let (plain, appending) = (&self.recorder.plain, &self.recorder.appending);
            held.seen
                .extend(all_cells([snapshot.iter(plain), snapshot.iter(appending)]));
        } else {
            let cell = self.rng.below(CELLS);
            let value = snapshot.get(self.recorder.keyspace(cell), key_of(cell)).unwrap();
            held.seen.push((cell, cell_of(cell, value.as_deref())));
        }
    }

    /// The rest of what it shows; records all.
    fn finish(&mut self, mut held: Held) {
        match held.source {
            Source::Snapshot(_) => {
                (0..3).for_each(|_| self.look(&mut held));
                self.record("snapshot", held.times, Action::Read(held.seen));
            }
            Source::Walk(walk, cells, is_backward) => {
                let first = cells.start / KEYS * KEYS;
                let mut seen = Vec::new();
                let mut take = |item: tephradb::Result<(tephradb::Key, Value)>| {
                    let (key, value) = item.unwrap();
                    let cell = first + usize::from(key[1] - b'a');
                    seen.push((cell, cell_of(cell, Some(&value))));
                    std::thread::yield_now();
                };
                if is_backward {
                    walk.rev().for_each(&mut take)
                } else {
                    walk.for_each(&mut take)
                }
                let is_in_order = |pair: &[(usize, u64)]| (pair[0].0 < pair[1].0) != is_backward;
                assert!(seen.windows(2).all(is_in_order), "{seen:?}");
                let absent = cells.filter(|cell| seen.iter().all(|(other, _)| other != cell));
                let absent: Vec<(usize, u64)> = absent.map(|cell| (cell, 0)).collect();
                seen.extend(absent);
                self.record("walk", held.times, Action::Read(seen));
            }
        }
    }

    /// What an operator does beside the clients.
    fn operate(&mut self, round: usize) {
        let db = &self.recorder.db;
        match self.rng.below(8) {
            0..3 => db.flush().unwrap(),
            3..5 => db.compact().unwrap(),
            5 => self.checkpoint(round),
            _ => self.ingest(),
        }
    }

    fn ingest(&mut self) {
        let cells = self.part();
        let mut ingest = self.recorder.keyspace(cells.start).ingest().unwrap();
        let mut effects = Vec::new();
        for cell in cells {
            let value = self.recorder.value();
            ingest.put(key_of(cell), bytes_of(cell, value)).unwrap();
            effects.push((cell, Effect::Put(value)));
        }
        let (outcome, times) = self.timed(|_| ingest.finish());
        outcome.unwrap();
        self.record("ingest", times, Action::Write(effects));
    }

    fn checkpoint(&mut self, round: usize) {
        let dir = format!("/checkpoint {round}");
        let (outcome, times) = self.timed(|thread| thread.recorder.db.checkpoint(&dir));
        outcome.unwrap();
        let db = Db::open_with(Arc::new(self.recorder.machine.clone()), &dir, options()).unwrap();
        let (plain, appending) = keyspaces(&db);
        let seen = all_cells([plain.iter(), appending.iter()]);
        db.close().unwrap();
        self.record("checkpoint", times, Action::Read(seen));
    }
}

fn add_range_delete(batch: &mut Batch, recorder: &Recorder, cells: std::ops::Range<usize>) {
    let bounds = key_of(cells.start)..=key_of(cells.end - 1);
    batch.delete_range(recorder.keyspace(cells.start), bounds);
}

/// Records a history. The seed says what each thread does, chance when.
pub(crate) fn record(seed: u64, size: Size) -> (Vec<Call>, Stats) {
    let recorder = Recorder::open();
    let thread = |number| Thread {
        recorder: &recorder,
        number,
        rng: Rng::new(seed << 8 | number as u64),
        calls: Vec::new(),
    };
    let at_work = AtomicUsize::new(size.clients);
    let failed = AtomicBool::new(false);
    let mut history = std::thread::scope(|scope| {
        let clients = (0..size.clients).map(|number| {
            let (mut client, at_work, failed) = (thread(number), &at_work, &failed);
            scope.spawn(move || {
                let _end = End { at_work, failed };
                let mut held = Vec::new();
                for _ in 0..size.operations {
                    client.operation(&mut held);
                    if client.rng.one_in(8) {
                        std::thread::yield_now();
                    }
                }
                held.into_iter().for_each(|held| client.finish(held));
                client.calls
            })
        });
        let clients: Vec<_> = clients.collect();
        let mut operator = thread(size.clients);
        for round in 0.. {
            if at_work.load(Ordering::SeqCst) == 0 || failed.load(Ordering::SeqCst) {
                break;
            }
            operator.operate(round);
        }
        let calls = clients.into_iter().flat_map(|client| client.join().unwrap());
        calls.chain(operator.calls).collect::<Vec<Call>>()
    });
    let report = recorder.db.verify().unwrap();
    assert!(report.is_sound(), "seed {seed}: {report:#?}");
    let mut last = thread(size.clients);
    let snapshot = last.snapshot();
    last.finish(Held {
        seen: all_cells([recorder.plain.iter(), recorder.appending.iter()]),
        ..snapshot
    });
    history.append(&mut last.calls);
    (history, recorder.db.stats())
}

/// Says that a client has ended, also where it panics.
struct End<'a> {
    at_work: &'a AtomicUsize,
    failed: &'a AtomicBool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.at_work.fetch_sub(1, Ordering::SeqCst);
        if std::thread::panicking() {
            self.failed.store(true, Ordering::SeqCst);
        }
    }
}
