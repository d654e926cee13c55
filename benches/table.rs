//! Tables: building, looking up, scanning, and what a record costs on disk.
//!
//! ```text
//! cargo bench --bench table -- [--json] [--quick] [--filter TEXT] [--rounds N]
//!
//! fixtures   random16, shared70, short8, names: see support/tables.rs
//! records    10^4, 10^5, 10^6; 10^7 too when the filter names it ("random16/10000000")
//! ```
//!
//! All look-ups and scans of a fixture are variants of one run, timed in turn; each gives a sum over what it read,
//! which is compared with the same sum over the records. Look-ups are independent of each other and in random
//! order; their keys lie in a row in that order, because fetching a key is not part of looking it up (from among the
//! records of 10^6 it costs as much again as the look-up). Tables lie in huge pages, as hot ones should;
//! `point_hit_default_pages` shows what the others cost. `calibrated` is the median times 0.350 over the time of one addition.
//!
//! # What the figures are made of
//!
//! Processor time of one thread on a Zen 3 core (512 KiB of second-level cache), best of 9 to 25 rounds, with other work
//! on the machine; instructions and mispredictions by callgrind.
//!
//! | figure | ns | what takes the time, and what was tried |
//! |---|---|---|
//! | select, 3 x 10^4, 10^5, 3 x 10^5, 10^6 entries | 13, 14.5, 17.5, 27 | up to 10^5 entries the four dependent steps from sample to word; at 10^6 directory and samples take 1.3 MB, and half of the time is fetching. Stopping at the word costs a misprediction a selection (28 to 33 ns in the same runs); eight prefix sums compared at once became vector code, and slower |
//! | iterate, 10^6 entries | 2.1 | 30 instructions an entry, the sum among them, and a misprediction a word of 64 (3.0 while the iterator lived in memory) |
//! | hit, 10^4 records | 194 | 1,940 instructions, 2,150 and 220 ns before: filter and hash 161, separators 284, selection in the directory 117, the rest frames and checks |
//! | hit, 10^6 records | 540 to 590 | the same, and three fetches that need each other: filter 110, separators 50, payload 150 ns. 250 is not reached where each of them leaves the caches. Asking ahead for 8 or 16 of a block's 28 lines made it slower, as did four times as many sampled heads |
//! | hit, 10^6, default pages | 680 to 750 | the same and misses of the address cache |
//! | scan forward | 16 to 18 | 231 instructions a record with the page check as a call (inlined since), 47 of them this bench's sum |
//! | scan backward, 10^6 | 33 | 1.8 times forward; 51 while a block's memory was not asked for one block ahead |
//! | keys to restart points | 0.54 | shared prefixes; 0.63 with the index, which restart points need as well; 0.92 on random keys |
//!
//! Bytes: `key_bytes` is what the frames hold besides values; `index_bytes` directory and separators. Beside it the
//! same keys under restart-point front coding.

#![expect(clippy::unwrap_used, reason = "a benchmark stops where something is missing")]

mod support;

use std::hint::black_box;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use support::Args;
use support::report::{Report, Row, remark};
use support::tables::{FileBytes, PageSize, Records, build, generate, names, restart_point_len_bytes};
use support::timing::{Spread, Variant, alternate, calibrate_add_ns};
use tephra_sstable::elias_fano::EliasFanoBuilder;
use tephra_sstable::{FilterPolicy, Table, TableSummary};

/// Look-ups of a round.
const LOOKUPS: usize = 20_000;
/// Records read after a seek.
const SEEK_RECORDS: usize = 10;

/// The open tables of a fixture.
struct Tables<'f> {
    /// In huge pages.
    table: &'f Table<&'f FileBytes>,
    default_pages: &'f Table<&'f FileBytes>,
    /// Without a filter, in huge pages.
    unfiltered: &'f Table<&'f FileBytes>,
}

struct Bench {
    args: Args,
    add_ns: f64,
    report: Report,
}

fn main() {
    let args = Args::from_env();
    let add_ns = calibrate_add_ns();
    let mut bench = Bench {
        report: Report::new(args.json, add_ns),
        args,
        add_ns,
    };
    bench.elias_fano();
    for shape in ["random16", "shared70", "short8"] {
        for count in [10_000, 100_000, 1_000_000, 10_000_000] {
            let label = format!("{shape}/{count}");
            let asked = bench
                .args
                .filter
                .as_deref()
                .is_some_and(|text| text.contains("10000000"));
            let too_large = if bench.args.quick {
                count > 100_000
            } else {
                count > 1_000_000
            };
            if bench.args.wants(&label) && (!too_large || asked) {
                bench.table(shape, &generate(shape, count));
            }
        }
    }
    if bench.args.wants("names") {
        bench.table("names", &names());
    }
}

/// Something cheap that depends on a record's bytes.
fn digest(key: &[u8], value: &[u8]) -> u64 {
    let last = |bytes: &[u8]| u64::from(bytes.last().copied().unwrap_or(0));
    key.len() as u64 + last(key) + 3 * last(value)
}

impl Bench {
    fn table(&mut self, shape: &str, records: &Records) {
        remark(&format!("{shape}: {} records", records.len()));
        let (file, summary) = build(records, FilterPolicy::default());
        let default_pages = FileBytes::new(&file, PageSize::Default);
        let huge_pages = FileBytes::new(&file, PageSize::Huge);
        let unfiltered = FileBytes::new(&build(records, FilterPolicy::None).0, PageSize::Huge);
        drop(file);
        let tables = Tables {
            table: &Table::<_>::open(&huge_pages).unwrap(),
            default_pages: &Table::<_>::open(&default_pages).unwrap(),
            unfiltered: &Table::<_>::open(&unfiltered).unwrap(),
        };
        for table in [tables.table, tables.default_pages, tables.unfiltered] {
            table.verify().unwrap();
        }

        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let hits: Vec<usize> = (0..LOOKUPS)
            .map(|_| random.random_range(0..records.len()))
            .collect();
        // Copies in the order of their use: fetching a key is not part of looking it up.
        let hit_keys: Vec<Vec<u8>> = hits.iter().map(|&hit| records[hit].0.clone()).collect();
        // Absent keys between present ones: as long as they, alike in all but the end.
        let misses: Vec<Vec<u8>> = (0..LOOKUPS)
            .map(|_| {
                let mut key = records[random.random_range(0..records.len())].0.clone();
                if let Some(last) = key.last_mut() {
                    *last ^= 1;
                }
                key
            })
            .filter(|key| records.binary_search_by(|record| record.0.cmp(key)).is_err())
            .collect();
        self.read(shape, records, &tables, (&hits, &hit_keys), &misses);
        self.build(shape, records);
        self.bytes(shape, records, &summary);
    }

    fn read(
        &mut self,
        shape: &str,
        records: &Records,
        tables: &Tables<'_>,
        (hits, hit_keys): (&[usize], &[Vec<u8>]),
        misses: &[Vec<u8>],
    ) {
        let table = tables.table;
        let sum_of = |ordinals: &mut dyn Iterator<Item = usize>| -> u64 {
            ordinals
                .map(|ordinal| digest(&records[ordinal].0, &records[ordinal].1))
                .sum()
        };
        let all = sum_of(&mut (0..records.len()));
        let after_seek = |&hit: &usize| hit..records.len().min(hit + SEEK_RECORDS);
        let sought = sum_of(&mut hits.iter().flat_map(after_seek));
        let present = |table: &Table<&FileBytes>| -> u64 {
            let lookup = |key: &Vec<u8>| {
                let found = table.get(key).unwrap().expect("the key is there");
                digest(key, table.value(&found))
            };
            hit_keys.iter().map(lookup).sum()
        };
        let absent = |table: &Table<&FileBytes>| -> u64 {
            misses
                .iter()
                .map(|key| u64::from(table.get(key).unwrap().is_some()))
                .sum()
        };
        let forward = || {
            let (mut cursor, mut sum) = (table.cursor(), 0);
            while cursor.next().unwrap() {
                sum += digest(cursor.key(), cursor.value());
            }
            sum
        };
        let backward = || {
            let (mut cursor, mut sum) = (table.cursor(), 0);
            let mut valid = cursor.seek_to_last().unwrap();
            while valid {
                sum += digest(cursor.key(), cursor.value());
                valid = cursor.prev().unwrap();
            }
            sum
        };
        let seek = || {
            let (mut cursor, mut sum) = (table.cursor(), 0);
            for key in hit_keys {
                let mut valid = cursor.seek(key).unwrap();
                for _ in 0..SEEK_RECORDS {
                    if !valid {
                        break;
                    }
                    sum += digest(cursor.key(), cursor.value());
                    valid = cursor.next().unwrap();
                }
            }
            sum
        };
        let count = records.len() as f64;
        let (lookups, absents) = (hits.len() as f64, misses.len() as f64);
        let found = sum_of(&mut hits.iter().copied());
        let figures = [
            ("point_hit", lookups, found),
            ("point_hit_default_pages", lookups, found),
            ("point_miss_filter", absents, 0),
            ("point_miss_no_filter", absents, 0),
            ("seek_and_10", lookups, sought),
            ("scan_forward", count, all),
            ("scan_backward", count, all),
        ];
        let mut variants = [
            Variant::new("point_hit", || present(table)),
            Variant::new("point_hit_default_pages", || present(tables.default_pages)),
            Variant::new("point_miss_filter", || absent(table)),
            Variant::new("point_miss_no_filter", || absent(tables.unfiltered)),
            Variant::new("seek_and_10", seek),
            Variant::new("scan_forward", forward),
            Variant::new("scan_backward", backward),
        ];
        // A filter lets some absent keys pass: they are looked up, and are absent all the same.
        let spreads = alternate(&mut variants, self.args.rounds(), |index, sum: &u64| {
            assert_eq!(*sum, figures[index].2, "{}", figures[index].0);
        });
        for ((name, operations, _), spread) in figures.into_iter().zip(spreads) {
            self.row(shape, records, name, "ns_per_op", spread.scaled(1.0 / operations));
        }
    }

    fn build(&mut self, shape: &str, records: &Records) {
        let expected = build(records, FilterPolicy::default()).1;
        let mut variants = [Variant::new("build", || {
            build(records, FilterPolicy::default()).1
        })];
        let rounds = self.args.rounds().min(5);
        let spread = alternate(&mut variants, rounds, |_, summary| assert_eq!(*summary, expected))[0];
        self.row(
            shape,
            records,
            "build",
            "ns_per_record",
            spread.scaled(1.0 / records.len() as f64),
        );
    }

    fn bytes(&mut self, shape: &str, records: &Records, summary: &TableSummary) {
        let count = records.len() as f64;
        let values: usize = records.iter().map(|(_, value)| value.len()).sum();
        let keys: usize = records.iter().map(|(key, _)| key.len()).sum();
        let frames = summary.payload_len_bytes as f64 - values as f64;
        let restart = restart_point_len_bytes(records) as f64;
        for (name, len_bytes) in [
            ("raw_record", (keys + values) as f64),
            ("file", summary.file_len_bytes as f64),
            ("raw_keys", keys as f64),
            ("key_bytes", frames),
            ("index_bytes", summary.index_len_bytes as f64),
            ("filter_bytes", summary.filter_len_bytes as f64),
            ("restart_point_16", restart),
        ] {
            self.row(
                shape,
                records,
                name,
                "bytes_per_record",
                Spread::of(vec![len_bytes / count]),
            );
        }
        self.row(
            shape,
            records,
            "key_bytes_to_restart",
            "ratio",
            Spread::of(vec![frames / restart]),
        );
        let with_index = (frames + summary.index_len_bytes as f64) / restart;
        self.row(
            shape,
            records,
            "keys_and_index_to_restart",
            "ratio",
            Spread::of(vec![with_index]),
        );
    }

    fn elias_fano(&mut self) {
        const ENTRIES: usize = 1_000_000;
        if !self.args.wants("elias_fano") {
            return;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut entries: Vec<u64> = (0..ENTRIES)
            .map(|_| random.random_range(0..ENTRIES as u64 * 300))
            .collect();
        entries.sort_unstable();
        let mut builder = EliasFanoBuilder::new();
        entries.iter().for_each(|&entry| builder.push(entry).unwrap());
        let sequence = builder.finish().unwrap();
        let view = sequence.view();
        view.validate().unwrap();
        let mut order: Vec<u64> = (0..ENTRIES as u64).collect();
        order.shuffle(&mut random);
        let expected = entries.iter().fold(0u64, |sum, entry| sum.wrapping_add(*entry));
        let mut variants = [
            Variant::new("select", || {
                order
                    .iter()
                    .fold(0u64, |sum, &index| sum.wrapping_add(view.select(index).unwrap()))
            }),
            Variant::new("iterate", || {
                view.iter()
                    .unwrap()
                    .fold(0u64, |sum, entry| sum.wrapping_add(entry.unwrap()))
            }),
        ];
        let spreads = alternate(&mut variants, self.args.rounds(), |_, sum| {
            assert_eq!(*sum, expected)
        });
        black_box(&entries);
        for (name, spread) in ["select", "iterate"].into_iter().zip(spreads) {
            self.figure(
                "elias_fano",
                ENTRIES as u64,
                0,
                name,
                "ns_per_entry",
                spread.scaled(1.0 / ENTRIES as f64),
            );
        }
    }

    fn row(
        &mut self,
        shape: &str,
        records: &Records,
        variant: &'static str,
        metric: &'static str,
        spread: Spread,
    ) {
        let prefix = if shape == "shared70" { 21 } else { 0 };
        self.figure(shape, records.len() as u64, prefix, variant, metric, spread);
    }

    fn figure(
        &mut self,
        fixture: &str,
        records: u64,
        prefix: u64,
        variant: &'static str,
        metric: &'static str,
        spread: Spread,
    ) {
        let timed = metric.starts_with("ns_");
        let calibrated = ("calibrated", spread.median * 0.350 / self.add_ns);
        self.report.row(&Row {
            bench: "table",
            fixture: fixture.to_owned(),
            policy: "byte_variable",
            records,
            prefix,
            tail: 0,
            variant,
            metric,
            spread,
            output_payload_bytes: None,
            output_payload_crc32: None,
            extra: if timed { vec![calibrated] } else { vec![] },
        });
    }
}
