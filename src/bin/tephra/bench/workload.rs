//! The workloads.
//!
//! ```text
//! name               before it               an operation is                             checked
//! fillseq            nothing                 a put, keys rising                          all keys and values
//! fillrandom         nothing                 a put of a random key                       number of keys, values
//! overwrite          all records             a put of a random key                       number of keys, values
//! readrandom         all records             a get of a random key                       each value
//! readmissing        all records             a get of a key that is not there            each: nothing
//! seekrandom         all records             a seek and ten steps                        each key and value
//! readwhilewriting   all records             a get, while a thread overwrites            each value
//! queue              a twentieth             a look at the head, its delete, a put       each head, number of keys
//! deleterange        all records             a range delete of a hundred keys            which keys are left
//! ```

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::ValueEnum;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tephradb::{Db, Durability, Options};

use super::Setting;
use super::timing::Timing;
use crate::escape::escape;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;

/// Records read by one seek.
const SEEK_STEPS: u64 = 10;
/// Keys removed by one range delete.
const RANGE_KEYS: u64 = 100;
/// Of the records of a queue, as many wait at one time: one in so many.
const QUEUE_SHARE: u64 = 20;
/// Operations between two pictures of the progress.
const STEP_OPERATIONS: u64 = 1024;

/// A workload by its usual name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Workload {
    /// Puts, keys rising
    Fillseq,
    /// Puts of random keys into an empty database
    Fillrandom,
    /// Puts of random keys that are there
    Overwrite,
    /// Gets of random keys
    Readrandom,
    /// Gets of keys that are not there
    Readmissing,
    /// Seeks to random keys, ten steps each
    Seekrandom,
    /// Gets of random keys while another thread overwrites
    Readwhilewriting,
    /// The first key is looked up and deleted, one is put behind the last
    Queue,
    /// Range deletes of a hundred keys
    Deleterange,
}

impl Workload {
    pub(super) const ALL: &[Workload] = &[
        Workload::Fillseq,
        Workload::Fillrandom,
        Workload::Overwrite,
        Workload::Readrandom,
        Workload::Readmissing,
        Workload::Seekrandom,
        Workload::Readwhilewriting,
        Workload::Queue,
        Workload::Deleterange,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Workload::Fillseq => "fillseq",
            Workload::Fillrandom => "fillrandom",
            Workload::Overwrite => "overwrite",
            Workload::Readrandom => "readrandom",
            Workload::Readmissing => "readmissing",
            Workload::Seekrandom => "seekrandom",
            Workload::Readwhilewriting => "readwhilewriting",
            Workload::Queue => "queue",
            Workload::Deleterange => "deleterange",
        }
    }

    /// Runs it in a new database in `dir`, and checks what came of it.
    pub(super) fn run(self, setting: &Setting, dir: &Path) -> Result<Timing> {
        let durability = if setting.is_sync {
            Durability::Sync
        } else {
            Durability::Process
        };
        let options = Options::default().durability(durability).error_if_exists(true);
        let bench = Running {
            workload: self,
            setting,
            db: Db::open(dir, options)?,
        };
        let timing = match self {
            Workload::Fillseq => bench.fill_sequential(),
            Workload::Fillrandom => bench.fill_random(0),
            Workload::Overwrite => bench.prepare().and_then(|()| bench.fill_random(1)),
            Workload::Readrandom => bench.prepare().and_then(|()| bench.read_random()),
            Workload::Readmissing => bench.prepare().and_then(|()| bench.read_missing()),
            Workload::Seekrandom => bench.prepare().and_then(|()| bench.seek_random()),
            Workload::Readwhilewriting => bench.prepare().and_then(|()| bench.read_while_writing()),
            Workload::Queue => bench.queue(),
            Workload::Deleterange => bench.prepare().and_then(|()| bench.delete_ranges()),
        }?;
        bench.db.close()?;
        Ok(timing)
    }
}

/// A workload at work.
struct Running<'a> {
    workload: Workload,
    setting: &'a Setting,
    db: Db,
}

/// What one thread is to do.
#[derive(Clone, Copy)]
struct Share {
    /// First operation, and the one behind the last.
    from: u64,
    to: u64,
    seed: u64,
}

impl Running<'_> {
    fn wrong(&self, what: impl Into<String>) -> Failure {
        Failure::Wrong {
            claim: format!("{}: {}", self.workload.name(), what.into()),
        }
    }

    /// All records, in tables, with their first version.
    fn prepare(&self) -> Result<()> {
        let progress = Progress::new("preparing", self.setting.record_count);
        let mut ingest = self.db.default_keyspace().ingest()?;
        for index in 0..self.setting.record_count {
            ingest.put(self.setting.shape.key(index), self.setting.shape.value(index, 0))?;
            if index.is_multiple_of(STEP_OPERATIONS) {
                progress.advance(STEP_OPERATIONS);
            }
        }
        Ok(ingest.finish()?)
    }

    /// Runs operations on all threads; each gets its share and times them itself.
    fn on_threads(
        &self,
        operation_count: u64,
        work: impl Fn(Share, &mut Timing, &dyn Fn()) -> Result<()> + Sync,
    ) -> Result<Timing> {
        let threads = self.setting.thread_count;
        let progress = Progress::new(self.workload.name(), operation_count);
        let watch = Stopwatch::start();
        let outcomes: Vec<Result<Timing>> = thread::scope(|scope| {
            let (work, progress) = (&work, &progress);
            let spawn = |number: u64| {
                let share = Share {
                    from: operation_count * number / threads,
                    to: operation_count * (number + 1) / threads,
                    seed: self.setting.seed.wrapping_mul(1_000).wrapping_add(number),
                };
                scope.spawn(move || {
                    let done = std::cell::Cell::new(0u64);
                    let step = || {
                        done.set(done.get() + 1);
                        if done.get().is_multiple_of(STEP_OPERATIONS) {
                            progress.advance(STEP_OPERATIONS);
                        }
                    };
                    let mut timing = Timing::new();
                    work(share, &mut timing, &step)?;
                    Ok(timing)
                })
            };
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            let joined = handles.into_iter().map(|handle| match handle.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
        let mut all = Timing::new();
        for outcome in outcomes {
            all.add(&outcome?);
        }
        all.seconds = watch.elapsed().as_secs_f64();
        Ok(all)
    }

    fn record_bytes(&self) -> u64 {
        (self.setting.shape.key_len_bytes + self.setting.shape.value_len_bytes) as u64
    }

    fn fill_sequential(&self) -> Result<Timing> {
        let shape = self.setting.shape;
        let timing = self.on_threads(self.setting.record_count, |share, timing, step| {
            for index in share.from..share.to {
                let (key, value) = (shape.key(index), shape.value(index, 0));
                timing.time(|| self.db.put(key, value))?;
                timing.bytes += self.record_bytes();
                step();
            }
            Ok(())
        })?;
        self.check_all(|_| true, 0)?;
        Ok(timing)
    }

    /// Puts of random keys. The database is empty, or holds all records with their first version.
    fn fill_random(&self, version: u8) -> Result<Timing> {
        let (shape, records) = (self.setting.shape, self.setting.record_count);
        let operations = if version == 0 {
            records
        } else {
            self.setting.operation_count
        };
        let timing = self.on_threads(operations, |share, timing, step| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(share.seed);
            for _ in share.from..share.to {
                let index = random.random_range(0..records);
                let (key, value) = (shape.key(index), shape.value(index, version));
                timing.time(|| self.db.put(key, value))?;
                timing.bytes += self.record_bytes();
                step();
            }
            Ok(())
        })?;
        // The same numbers again say which keys must be there.
        let mut written = Bits::new(records);
        for number in 0..self.setting.thread_count {
            let threads = self.setting.thread_count;
            let seed = self.setting.seed.wrapping_mul(1_000).wrapping_add(number);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in operations * number / threads..operations * (number + 1) / threads {
                written.set(random.random_range(0..records));
            }
        }
        if version == 0 {
            self.check_all(|index| written.get(index), 0)?;
        } else {
            self.check_versions(|index| u8::from(written.get(index)))?;
        }
        Ok(timing)
    }

    fn read_random(&self) -> Result<Timing> {
        let shape = self.setting.shape;
        self.reads(0, |index, timing| {
            let key = shape.key(index);
            let found = timing.time(|| self.db.get(&key))?;
            timing.bytes += self.record_bytes();
            match found {
                Some(value) if shape.is_value(index, 0, &value) => Ok(()),
                _ => Err(self.wrong(format!("a get of {} gives another value", escape(&key)))),
            }
        })
    }

    fn read_missing(&self) -> Result<Timing> {
        self.reads(0, |index, timing| {
            let key = self.setting.shape.missing_key(index);
            match timing.time(|| self.db.get(&key))? {
                None => Ok(()),
                Some(_) => Err(self.wrong(format!("a get of {} finds something", escape(&key)))),
            }
        })
    }

    fn seek_random(&self) -> Result<Timing> {
        let (shape, records) = (self.setting.shape, self.setting.record_count);
        self.reads(0, |index, timing| {
            let from = shape.key(index);
            let steps = usize::try_from(SEEK_STEPS.min(records - index)).unwrap_or(usize::MAX);
            let found = timing.time(|| {
                let range = self.db.range(&from[..]..).take(steps);
                range.collect::<tephradb::Result<Vec<_>>>()
            })?;
            timing.bytes += self.record_bytes() * found.len() as u64;
            let is_right = found.len() == steps
                && (index..).zip(&found).all(|(index, (key, value))| {
                    *key == shape.key(index)[..] && shape.is_value(index, 0, value)
                });
            if is_right {
                Ok(())
            } else {
                Err(self.wrong(format!("a seek to {} gives other records", escape(&from))))
            }
        })
    }

    fn read_while_writing(&self) -> Result<Timing> {
        let (shape, records) = (self.setting.shape, self.setting.record_count);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let writer = scope.spawn(|| -> Result<()> {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(!self.setting.seed);
                while !is_over.load(Ordering::Relaxed) {
                    let index = random.random_range(0..records);
                    self.db.put(shape.key(index), shape.value(index, 1))?;
                }
                Ok(())
            });
            let timing = self.reads(1, |index, timing| {
                let key = shape.key(index);
                let found = timing.time(|| self.db.get(&key))?;
                timing.bytes += self.record_bytes();
                match found {
                    Some(value) if shape.is_value(index, 1, &value) => Ok(()),
                    _ => Err(self.wrong(format!("a get of {} gives another value", escape(&key)))),
                }
            });
            is_over.store(true, Ordering::Relaxed);
            match writer.join() {
                Ok(outcome) => outcome?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
            timing
        })
    }

    /// Reads at random indexes on all threads.
    fn reads(&self, salt: u64, read: impl Fn(u64, &mut Timing) -> Result<()> + Sync) -> Result<Timing> {
        let records = self.setting.record_count;
        self.on_threads(self.setting.operation_count, |share, timing, step| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(share.seed ^ salt << 60);
            for _ in share.from..share.to {
                read(random.random_range(0..records), timing)?;
                step();
            }
            Ok(())
        })
    }

    /// One queue, one consumer: an operation takes the head and puts one behind the tail.
    fn queue(&self) -> Result<Timing> {
        let (shape, records) = (self.setting.shape, self.setting.record_count);
        let waiting = (records / QUEUE_SHARE).max(1);
        for index in 0..waiting {
            self.db.put(shape.key(index), shape.value(index, 0))?;
        }
        let progress = Progress::new(self.workload.name(), records - waiting);
        let mut timing = Timing::new();
        let watch = Stopwatch::start();
        for tail in waiting..records {
            let head = tail - waiting;
            let found = timing.time(|| -> Result<_> {
                let first = self.db.iter().next().transpose()?;
                if let Some((key, _)) = &first {
                    self.db.delete(key)?;
                }
                self.db.put(shape.key(tail), shape.value(tail, 0))?;
                Ok(first)
            })?;
            timing.bytes += 2 * self.record_bytes();
            let is_right = found
                .is_some_and(|(key, value)| key == shape.key(head)[..] && shape.is_value(head, 0, &value));
            if !is_right {
                return Err(self.wrong(format!("the head is not {}", escape(&shape.key(head)))));
            }
            if tail.is_multiple_of(STEP_OPERATIONS) {
                progress.advance(STEP_OPERATIONS);
            }
        }
        timing.seconds = watch.elapsed().as_secs_f64();
        self.check_all(|index| index >= records - waiting, 0)?;
        Ok(timing)
    }

    /// Deletes half of the records, in runs of a hundred at random places.
    fn delete_ranges(&self) -> Result<Timing> {
        let (shape, records) = (self.setting.shape, self.setting.record_count);
        let runs = records / RANGE_KEYS;
        let timing = self.on_threads((runs / 2).max(1), |share, timing, step| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(share.seed);
            for _ in share.from..share.to {
                let from = random.random_range(0..runs) * RANGE_KEYS;
                let (from, to) = (shape.key(from), shape.key(from + RANGE_KEYS));
                timing.time(|| self.db.delete_range(&from[..]..&to[..]))?;
                step();
            }
            Ok(())
        })?;
        let mut deleted = Bits::new(runs);
        let (operations, threads) = ((runs / 2).max(1), self.setting.thread_count);
        for number in 0..threads {
            let seed = self.setting.seed.wrapping_mul(1_000).wrapping_add(number);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            for _ in operations * number / threads..operations * (number + 1) / threads {
                deleted.set(random.random_range(0..runs));
            }
        }
        self.check_all(
            |index| index / RANGE_KEYS >= runs || !deleted.get(index / RANGE_KEYS),
            0,
        )?;
        Ok(timing)
    }

    /// The database holds exactly the indexes that `is_there` names, each with a version up to `last_version`.
    fn check_all(&self, is_there: impl Fn(u64) -> bool, last_version: u8) -> Result<()> {
        let shape = self.setting.shape;
        let mut found = self.db.iter();
        for index in (0..self.setting.record_count).filter(|&index| is_there(index)) {
            let (key, value) = match found.next().transpose()? {
                Some(record) => record,
                None => return Err(self.wrong(format!("{} is missing", escape(&shape.key(index))))),
            };
            if key != shape.key(index)[..] || !shape.is_value(index, last_version, &value) {
                return Err(self.wrong(format!(
                    "expected {} with its value, found {}",
                    escape(&shape.key(index)),
                    escape(&key)
                )));
            }
        }
        match found.next().transpose()? {
            None => Ok(()),
            Some((key, _)) => Err(self.wrong(format!("{} should not be there", escape(&key)))),
        }
    }

    /// The database holds all indexes, each with just this version.
    fn check_versions(&self, version_of: impl Fn(u64) -> u8) -> Result<()> {
        let shape = self.setting.shape;
        let mut count = 0;
        for (index, item) in (0..).zip(self.db.iter()) {
            let (key, value) = item?;
            if key != shape.key(index)[..] || value != shape.value(index, version_of(index))[..] {
                return Err(self.wrong(format!("{} has another value than was put last", escape(&key))));
            }
            count += 1;
        }
        if count != self.setting.record_count {
            return Err(self.wrong(format!(
                "{count} records are left of {}",
                self.setting.record_count
            )));
        }
        Ok(())
    }
}

/// A set of indexes.
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(count: u64) -> Bits {
        let words = usize::try_from(count.div_ceil(64)).unwrap_or(usize::MAX);
        Bits {
            words: vec![0; words],
        }
    }

    fn place(index: u64) -> (usize, u64) {
        (
            usize::try_from(index / 64).unwrap_or(usize::MAX),
            1 << (index % 64),
        )
    }

    fn set(&mut self, index: u64) {
        let (word, bit) = Bits::place(index);
        self.words[word] |= bit;
    }

    fn get(&self, index: u64) -> bool {
        let (word, bit) = Bits::place(index);
        self.words[word] & bit != 0
    }
}
