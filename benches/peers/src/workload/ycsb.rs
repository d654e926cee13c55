//! The six workloads of the Yahoo Cloud Serving Benchmark, by one thread.
//!
//! | | what | which records |
//! |---|---|---|
//! | A | 50 % get, 50 % put over a record | Zipfian |
//! | B | 95 % get, 5 % put over a record | Zipfian |
//! | C | get | Zipfian |
//! | D | 95 % get, 5 % insert | Zipfian from the latest backwards |
//! | E | 95 % seek + 1 to 100 records, 5 % insert | Zipfian |
//! | F | 50 % get, 50 % get and put of the same record | Zipfian |

use super::Job;
use super::read::warm_up;
use crate::engine::Engine;
use crate::random::{Order, Random, Zipfian};
use crate::shape::{Data, Key, Kind};

const SCAN_LEN_MAX: u64 = 100;

/// Runs the workload of a letter. Each get is of the newest state, so that it sees what was just put.
pub(super) fn run<E: Engine>(engine: &E, job: &mut Job, letter: &str) {
    warm_up(engine, &job.data);
    let records = job.data.records;
    let mut session = Session {
        zipfian: Zipfian::new(records),
        order: Order::new(records, job.seed(7)),
        random: Random::new(job.seed(8)),
        inserted: 0,
        buffer: Vec::new(),
    };
    let operation = match letter {
        "a" => Session::a,
        "b" => Session::b,
        "c" => Session::c,
        "d" => Session::d,
        "e" => Session::e,
        "f" => Session::f,
        other => panic!("no YCSB workload {other}"),
    };
    let operations = if letter == "e" { records / 10 } else { records };
    job.time("", "operations", |data, recorder| {
        for _ in 0..operations {
            operation(&mut session, engine, data);
            if !recorder.done(1) {
                break;
            }
        }
    });
}

struct Session {
    zipfian: Zipfian,
    /// Which record has which rank, and which key is inserted next.
    order: Order,
    random: Random,
    inserted: u64,
    buffer: Vec<u8>,
}

impl Session {
    fn percent(&mut self) -> u64 {
        self.random.below(100)
    }

    fn skewed(&mut self, data: &Data) -> Key {
        let rank = self.zipfian.rank(&mut self.random);
        data.key(self.order.at(rank), Kind::Loaded)
    }

    fn get<E: Engine>(&self, engine: &E, data: &Data, key: &Key) -> u8 {
        engine
            .get(key, |value| data.check(key, value))
            .expect("a record that is there")
    }

    fn put<E: Engine>(&mut self, engine: &E, data: &Data, key: &Key, version: u8) {
        engine.put(key, data.value(key, version, &mut self.buffer));
    }

    fn insert<E: Engine>(&mut self, engine: &E, data: &Data) {
        let key = data.key(self.order.at(self.inserted), Kind::Inserted);
        self.put(engine, data, &key, 0);
        self.inserted += 1;
    }

    fn a<E: Engine>(&mut self, engine: &E, data: &Data) {
        let key = self.skewed(data);
        if self.percent() < 50 {
            self.get(engine, data, &key);
        } else {
            self.put(engine, data, &key, 1);
        }
    }

    fn b<E: Engine>(&mut self, engine: &E, data: &Data) {
        let key = self.skewed(data);
        if self.percent() < 95 {
            self.get(engine, data, &key);
        } else {
            self.put(engine, data, &key, 1);
        }
    }

    fn c<E: Engine>(&mut self, engine: &E, data: &Data) {
        let key = self.skewed(data);
        self.get(engine, data, &key);
    }

    fn d<E: Engine>(&mut self, engine: &E, data: &Data) {
        if self.percent() >= 95 {
            return self.insert(engine, data);
        }
        let age = self.zipfian.rank(&mut self.random);
        let key = match self.inserted.checked_sub(age + 1) {
            Some(index) => data.key(self.order.at(index), Kind::Inserted),
            None => data.key(self.order.at(age - self.inserted), Kind::Loaded),
        };
        self.get(engine, data, &key);
    }

    fn e<E: Engine>(&mut self, engine: &E, data: &Data) {
        if self.percent() >= 95 {
            return self.insert(engine, data);
        }
        let from = self.skewed(data);
        let len = 1 + self.random.below(SCAN_LEN_MAX);
        let (mut is_first, mut seen) = (false, 0);
        engine.scan(&from, len, |key, value| {
            data.check(key, value);
            is_first |= seen == 0 && *key == *from;
            seen += 1;
        });
        assert!(is_first && seen <= len, "a seek to a record reads on from it");
    }

    fn f<E: Engine>(&mut self, engine: &E, data: &Data) {
        let key = self.skewed(data);
        let version = self.get(engine, data, &key);
        if self.percent() < 50 {
            self.put(engine, data, &key, version.wrapping_add(1));
        }
    }
}
