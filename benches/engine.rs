//! The database as its users call it: writes, reads, scans, a queue, and what deletes cost whoever reads afterwards.
//!
//! ```text
//! cargo bench --bench engine -- [--json] [--quick] [--filter TEXT] [--rounds N]
//!
//! put            one record a commit, and 1,000 a commit; beside them the log and the ordered map that they go through
//! get            hits and misses in one cached table; beside them the same table without the engine
//! scan           forward and backward over one table, eight overlapping tables, and a memtable
//! seek           the next ten entries from random keys on, by a range each and by one range that is sent around
//! snapshot       taking one, and letting it go
//! reopen         an open that replays the log of a full memtable, by entry
//! queue          push at the tail, pop at the head by scan and delete: the pop's time by tenths of the run
//! deleted run    a seek to the front of 100,000 adjacent keys, before and after they are deleted; nothing is compacted
//! range deletes  look-ups and scans beside 10,000 range deletes, waiting in the memtable and flushed
//! ```
//!
//! Databases lie under the system's place for temporary files (`TMPDIR`). 16-byte keys and 100-byte values unless said.
//! What is compared is timed in turn within one run, and every answer is checked outside the timer.

#![expect(clippy::unwrap_used, reason = "a benchmark stops where something is missing")]

mod support;

use std::hint::black_box;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::Args;
use support::report::{Report, Row};
use support::timing::{Spread, Variant, alternate, calibrate_add_ns};
use tempfile::TempDir;
use tephra_sstable::{FilterPolicy, Policy, Table, TableOptions, TableWriter};
use tephradb::clock::{Clock, SystemClock};
use tephradb::{Background, Db, Durability, Options};

const KEY_BYTES: usize = 16;
const VALUE_BYTES: usize = 100;
/// Look-ups of a round.
const LOOKUPS: usize = 20_000;

struct Bench {
    args: Args,
    clock: SystemClock,
    report: Report,
}

fn main() {
    let args = Args::from_env();
    let report = Report::new(args.json, calibrate_add_ns());
    let mut bench = Bench {
        args,
        clock: SystemClock::new(),
        report,
    };
    type Section = (&'static str, fn(&mut Bench));
    let sections: [Section; 9] = [
        ("put", Bench::put),
        ("get", Bench::get),
        ("scan", Bench::scan),
        ("seek", Bench::seek),
        ("snapshot", Bench::snapshot),
        ("reopen", Bench::reopen),
        ("queue", Bench::queue),
        ("deleted run", Bench::deleted_run),
        ("range deletes", Bench::range_deletes),
    ];
    for (name, run) in sections {
        if bench.args.wants(name) {
            run(&mut bench);
        }
    }
}

/// A database in a directory that goes with it.
struct Scratch {
    db: Db,
    dir: TempDir,
}

impl Scratch {
    fn new(options: Options) -> Scratch {
        let dir = TempDir::with_prefix("tephra-bench-").unwrap();
        let db = Db::open(dir.path(), options).unwrap();
        Scratch { db, dir }
    }

    /// Bytes that the directory's files take on the disk.
    fn disk_bytes(&self) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        #[expect(clippy::disallowed_methods, reason = "a benchmark looks at its own files")]
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().metadata().map_or(0, |file| file.blocks() * 512))
            .sum()
    }
}

/// Options under which nothing is flushed or compacted unless the benchmark says so.
fn manual(record_count: usize) -> Options {
    // The log is reserved as large as the memtable: reserve no more than the records need.
    Options::default()
        .memtable_bytes(record_count * 2 * (KEY_BYTES + VALUE_BYTES))
        .background(Background::Manual)
}

/// Distinct random keys, sorted, each with a value that depends on its place.
fn records(count: usize) -> Vec<([u8; KEY_BYTES], [u8; VALUE_BYTES])> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(count as u64);
    let mut keys: Vec<[u8; KEY_BYTES]> = (0..count).map(|_| random.random()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count, "random keys of 16 bytes are distinct");
    let value = |_| {
        let mut value = [0; VALUE_BYTES];
        random.fill_bytes(&mut value);
        value
    };
    let values: Vec<_> = (0..count).map(value).collect();
    keys.into_iter().zip(values).collect()
}

/// Something cheap that depends on a value's bytes.
fn digest(value: &[u8]) -> u64 {
    value.first().map_or(1, |&first| u64::from(first) + 1)
}

fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut items = items.to_vec();
    items.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    items
}

impl Bench {
    fn size(&self, full: usize, quick: usize) -> usize {
        if self.args.quick { quick } else { full }
    }

    fn row(
        &mut self,
        fixture: &str,
        records: usize,
        variant: &'static str,
        metric: &'static str,
        spread: Spread,
    ) {
        self.report.row(&Row {
            bench: "engine",
            fixture: fixture.to_owned(),
            policy: "byte_variable",
            records: records as u64,
            prefix: 0,
            tail: 0,
            variant,
            metric,
            spread,
            output_payload_bytes: None,
            output_payload_crc32: None,
            extra: Vec::new(),
        });
    }

    /// Times variants that give a sum in turn, checks every sum, and prints nanoseconds of one unit of work.
    fn compare(
        &mut self,
        fixture: &str,
        records: usize,
        units: usize,
        expected: &[u64],
        variants: &mut [Variant<'_, u64>],
    ) {
        let spreads = alternate(variants, self.args.rounds(), |index, sum| {
            assert_eq!(
                *sum, expected[index],
                "{fixture}: variant {index} read something else"
            );
        });
        for (variant, spread) in variants.iter().zip(spreads) {
            self.row(
                fixture,
                records,
                variant.name,
                "ns",
                spread.scaled(1.0 / units as f64),
            );
        }
    }

    fn put(&mut self) {
        let count = self.size(400_000, 40_000);
        let records = records(count);
        let random = shuffled(&records, 1);
        let single = |records: &[([u8; KEY_BYTES], [u8; VALUE_BYTES])]| {
            let scratch = Scratch::new(manual(count));
            for (key, value) in records {
                scratch.db.put(key, value).unwrap();
            }
            scratch
        };
        let batched = |records: &[([u8; KEY_BYTES], [u8; VALUE_BYTES])]| {
            let scratch = Scratch::new(manual(count));
            for chunk in records.chunks(1_000) {
                let mut batch = scratch.db.batch();
                for (key, value) in chunk {
                    batch.put(&scratch.db, key, value);
                }
                batch.commit(Durability::Process).unwrap();
            }
            scratch
        };
        // The two parts of a commit that cannot be saved, each alone.
        let map_alone = |records: &[([u8; KEY_BYTES], [u8; VALUE_BYTES])]| {
            let map: imbl::OrdMap<[u8; KEY_BYTES], [u8; VALUE_BYTES]> = records.iter().copied().collect();
            map.len()
        };
        let mut variants = [
            Variant::new("put_random", || Some(single(&random))),
            Variant::new("put_in_order", || Some(single(&records))),
            Variant::new("batch_1000_random", || Some(batched(&random))),
            Variant::new("ordered_map_alone", || {
                black_box(map_alone(&random));
                None
            }),
        ];
        let rounds = self.args.rounds().min(5);
        let spreads = alternate(&mut variants, rounds, |_, scratch| {
            if let Some(scratch) = scratch {
                let (key, value) = &records[count / 2];
                assert_eq!(scratch.db.get(key).unwrap().as_deref(), Some(&value[..]));
                assert_eq!(scratch.db.stats().memtable_entry_count, count);
            }
        });
        for (variant, spread) in variants.iter().zip(spreads) {
            self.row(
                "put",
                count,
                variant.name,
                "ns",
                spread.scaled(1.0 / count as f64),
            );
        }
    }

    fn get(&mut self) {
        let count = self.size(1_000_000, 50_000);
        let records = records(count);
        let scratch = Scratch::new(manual(count));
        for (key, value) in &records {
            scratch.db.put(key, value).unwrap();
        }
        scratch.db.flush().unwrap();
        scratch.db.compact().unwrap();
        let options = TableOptions {
            common_width: Some(VALUE_BYTES as u64),
            filter: FilterPolicy::default(),
            ..TableOptions::new(Policy::byte_variable(), 1)
        };
        let mut writer = TableWriter::<_>::new(Vec::new(), options).unwrap();
        for (key, value) in &records {
            writer.append(&key[..], &value[..]).unwrap();
        }
        let (bytes, _) = writer.finish().unwrap();
        let table = Table::<Vec<u8>>::open(bytes).unwrap();
        table.verify().unwrap();
        scratch.db.verify().unwrap();

        let hits: Vec<_> = shuffled(&records, 2).into_iter().take(LOOKUPS).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let misses: Vec<[u8; KEY_BYTES]> = (0..LOOKUPS).map(|_| random.random()).collect();
        let sum: u64 = hits.iter().map(|(_, value)| digest(value)).sum();
        let db = &scratch.db;
        let look_up = |key: &[u8]| db.get(key).unwrap().map_or(0, |value| digest(&value));
        let in_table = |key: &[u8]| {
            let located = table.get(key).unwrap();
            located.map_or(0, |located| digest(&table.bytes()[located.value_range]))
        };
        self.compare(
            "get",
            count,
            LOOKUPS,
            &[sum, sum, 0, 0],
            &mut [
                Variant::new("hit", || hits.iter().map(|(key, _)| look_up(key)).sum()),
                Variant::new("hit_table_alone", || {
                    hits.iter().map(|(key, _)| in_table(key)).sum()
                }),
                Variant::new("miss", || misses.iter().map(|key| look_up(key)).sum()),
                Variant::new("miss_table_alone", || {
                    misses.iter().map(|key| in_table(key)).sum()
                }),
            ],
        );
    }

    /// A database with every so manyth record in each of some tables, or all in the memtable.
    fn in_tables(records: &[([u8; KEY_BYTES], [u8; VALUE_BYTES])], tables: usize) -> Scratch {
        let scratch = Scratch::new(manual(records.len()));
        for table in 0..tables.max(1) {
            for (key, value) in records.iter().skip(table).step_by(tables.max(1)) {
                scratch.db.put(key, value).unwrap();
            }
            if tables > 0 {
                scratch.db.flush().unwrap();
            }
        }
        assert_eq!(scratch.db.stats().table_count, tables);
        scratch
    }

    fn seek(&mut self) {
        let count = self.size(400_000, 40_000);
        let records = records(count);
        let seeks = self.size(40_000, 4_000);
        let starts: Vec<usize> = shuffled(&(0..count - 10).collect::<Vec<_>>(), 3)
            .into_iter()
            .take(seeks)
            .collect();
        let sum: u64 = starts
            .iter()
            .flat_map(|&start| &records[start..start + 10])
            .map(|(_, value)| digest(value))
            .sum();
        let ten = |range: &mut tephradb::Range| {
            let mut sum = 0;
            for _ in 0..10 {
                sum += digest(range.lend_next().unwrap().unwrap().1);
            }
            sum
        };
        for (fixture, tables) in [("seek/1 table", 1), ("seek/8 tables", 8), ("seek/memtable", 0)] {
            let scratch = Self::in_tables(&records, tables);
            let starts = || starts.iter().map(|&start| &records[start].0);
            self.compare(
                fixture,
                count,
                seeks,
                &[sum, sum],
                &mut [
                    Variant::new("range_each", || {
                        starts().map(|key| ten(&mut scratch.db.range(&key[..]..))).sum()
                    }),
                    Variant::new("one_range", || {
                        let mut range = scratch.db.iter();
                        let mut from = |key: &[u8; KEY_BYTES]| {
                            range.seek(key);
                            ten(&mut range)
                        };
                        starts().map(&mut from).sum()
                    }),
                ],
            );
        }
    }

    fn scan(&mut self) {
        let count = self.size(400_000, 40_000);
        let records = records(count);
        let sum: u64 = records.iter().map(|(_, value)| digest(value)).sum();
        for (fixture, tables) in [("scan/1 table", 1), ("scan/8 tables", 8), ("scan/memtable", 0)] {
            let scratch = Self::in_tables(&records, tables);
            let read = |item: tephradb::Result<(tephradb::Key, tephradb::Value)>| digest(&item.unwrap().1);
            self.compare(
                fixture,
                count,
                count,
                &[sum; 4],
                &mut [
                    Variant::new("forward", || scratch.db.iter().map(read).sum()),
                    Variant::new("backward", || scratch.db.iter().rev().map(read).sum()),
                    Variant::new("forward_lent", || {
                        let (mut range, mut sum) = (scratch.db.iter(), 0);
                        while let Some((_, value)) = range.lend_next().unwrap() {
                            sum += digest(value);
                        }
                        sum
                    }),
                    Variant::new("backward_lent", || {
                        let (mut range, mut sum) = (scratch.db.iter(), 0);
                        while let Some((_, value)) = range.lend_next_back().unwrap() {
                            sum += digest(value);
                        }
                        sum
                    }),
                ],
            );
        }
    }

    fn snapshot(&mut self) {
        let count = self.size(100_000, 10_000);
        let scratch = Scratch::new(manual(count));
        for (key, value) in records(count) {
            scratch.db.put(key, value).unwrap();
        }
        let taken = 1_000;
        self.compare(
            "snapshot",
            count,
            taken,
            &[taken as u64],
            &mut [Variant::new("take_and_drop", || {
                (0..taken)
                    .map(|_| u64::from(black_box(scratch.db.snapshot()).contains(&scratch.db, "").is_ok()))
                    .sum()
            })],
        );
    }

    /// Threads of the database do their work beside the queue, as they would for a user.
    fn reopen(&mut self) {
        let count = self.size(400_000, 40_000);
        let random = shuffled(&records(count), 1);
        let scratch = Scratch::new(manual(count));
        for (key, value) in &random {
            scratch.db.put(key, value).unwrap();
        }
        let Scratch { db, dir } = scratch;
        drop(db);
        let open = || {
            let db = Db::open(dir.path(), manual(count)).unwrap();
            db.stats().memtable_entry_count as u64
        };
        self.compare(
            "reopen",
            count,
            count,
            &[count as u64],
            &mut [Variant::new("replay", open)],
        );
    }

    fn queue(&mut self) {
        const DEPTH: u64 = 1_000;
        let record_count = self.size(10_000_000, 200_000);
        let count = record_count as u64;
        let memtable_bytes = self.size(16 << 20, 1 << 20);
        let scratch = Scratch::new(Options::default().memtable_bytes(memtable_bytes));
        let db = &scratch.db;
        let value = [7; VALUE_BYTES];
        for number in 0..DEPTH {
            db.put(number.to_be_bytes(), value).unwrap();
        }
        let tenth = count / 10;
        let mut disk_bytes_max = 0;
        for window in 0..10 {
            let mut pops_ns = Vec::new();
            for head in window * tenth..(window + 1) * tenth {
                db.put((head + DEPTH).to_be_bytes(), value).unwrap();
                let began_ns = self.clock.now_ns();
                let (key, _) = db.iter().next().unwrap().unwrap();
                db.delete(&key).unwrap();
                pops_ns.push((self.clock.now_ns() - began_ns) as f64);
                assert_eq!(
                    &key[..],
                    head.to_be_bytes(),
                    "the queue gives what was pushed, in order"
                );
            }
            disk_bytes_max = disk_bytes_max.max(scratch.disk_bytes());
            let spread = Spread::of(pops_ns);
            self.row(
                &format!("queue/tenth {}", window + 1),
                record_count,
                "pop",
                "ns",
                spread,
            );
        }
        assert_eq!(db.iter().count() as u64, DEPTH);
        let spread = Spread::of(vec![disk_bytes_max as f64 / 1e6]);
        self.row("queue", record_count, "disk_most", "MB", spread);
    }

    fn deleted_run(&mut self) {
        let count = 300_000;
        let run = 100_000..200_000_u64;
        let build = || {
            let scratch = Scratch::new(manual(count));
            for number in 0..count as u64 {
                scratch.db.put(number.to_be_bytes(), [1; VALUE_BYTES]).unwrap();
            }
            scratch.db.flush().unwrap();
            scratch
        };
        let delete = |scratch: &Scratch| {
            for number in run.clone() {
                scratch.db.delete(number.to_be_bytes()).unwrap();
            }
        };
        let (before, flushed, pending) = (build(), build(), build());
        delete(&flushed);
        flushed.db.flush().unwrap();
        delete(&pending);
        while pending.db.run_background_step().unwrap() {}
        let front = run.start.to_be_bytes();
        let seek = |scratch: &Scratch| u64::from(scratch.db.range(front..).next().unwrap().unwrap().0[5]);
        let expected = |number: u64| u64::from(number.to_be_bytes()[5]);
        self.compare(
            "deleted run",
            count,
            1,
            &[expected(run.start), expected(run.end), expected(run.end)],
            &mut [
                Variant::new("seek_before", || seek(&before)),
                Variant::new("seek_after_flush", || seek(&flushed)),
                Variant::new("seek_before_flush", || seek(&pending)),
            ],
        );
    }

    /// The ranges lie between keys: nothing is deleted, so that the answers stay the same.
    fn range_deletes(&mut self) {
        let count = self.size(1_000_000, 100_000);
        let range_count = self.size(10_000, 1_000) as u64;
        let step = count as u64 / range_count;
        let build = |deletes: bool, flush: bool| {
            let scratch = Scratch::new(manual(count));
            for number in 0..count as u64 {
                scratch
                    .db
                    .put((number * 2).to_be_bytes(), [1; VALUE_BYTES])
                    .unwrap();
            }
            scratch.db.flush().unwrap();
            for range in 0..if deletes { range_count } else { 0 } {
                let gap = (range * step) * 2 + 1;
                scratch
                    .db
                    .delete_range(gap.to_be_bytes()..(gap + 1).to_be_bytes())
                    .unwrap();
            }
            if flush {
                scratch.db.flush().unwrap();
            }
            scratch
        };
        let (none, waiting, flushed) = (build(false, false), build(true, false), build(true, true));
        let keys: Vec<[u8; 8]> = (0..LOOKUPS as u64)
            .map(|look_up| (look_up * 7_919 % count as u64 * 2).to_be_bytes())
            .collect();
        let gets = |scratch: &Scratch| {
            let values = keys
                .iter()
                .map(|key| digest(&scratch.db.get(key).unwrap().unwrap()));
            values.sum::<u64>()
        };
        let scans = |scratch: &Scratch| {
            let starts = keys.iter().step_by(20);
            starts
                .map(|key| {
                    scratch
                        .db
                        .range(key..)
                        .take(10)
                        .map(|item| digest(&item.unwrap().1))
                        .sum::<u64>()
                })
                .sum()
        };
        let expected = gets(&none);
        self.compare(
            "range deletes/get",
            count,
            LOOKUPS,
            &[expected; 3],
            &mut [
                Variant::new("none", || gets(&none)),
                Variant::new("waiting", || gets(&waiting)),
                Variant::new("flushed", || gets(&flushed)),
            ],
        );
        let expected = scans(&none);
        self.compare(
            "range deletes/seek+10",
            count,
            LOOKUPS / 20,
            &[expected; 3],
            &mut [
                Variant::new("none", || scans(&none)),
                Variant::new("waiting", || scans(&waiting)),
                Variant::new("flushed", || scans(&flushed)),
            ],
        );
    }
}
