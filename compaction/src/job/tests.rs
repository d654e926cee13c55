//! Jobs over tables in memory.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::{Byte, Policy, Table, TableOptions, TableSummary, TableWriter};

use super::*;
use crate::merge::Progress;
use crate::merge::tests::support::{encode, encode_redundantly, union};
use crate::test_rng::TestRng;
use crate::{MergeError, MergeInput, Replace};

type MemoryTable = Table<Vec<u8>, Byte>;
type Pairs = std::collections::BTreeMap<Vec<u8>, Vec<u8>>;

/// A sink that keeps tables in memory and may refuse the nth of them.
#[derive(Debug, Default)]
struct MemorySink {
    tables: Vec<(Vec<u8>, TableSummary)>,
    created: u64,
    abandoned: Vec<u64>,
    fails_at_write: Option<u64>,
}

#[derive(Debug)]
struct Out {
    bytes: Vec<u8>,
    fails: bool,
}

impl io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.fails {
            return Err(io::Error::other("the disk is full"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputSink for MemorySink {
    type Write = Out;

    fn create(&mut self) -> io::Result<(u64, Out)> {
        self.created += 1;
        Ok((
            self.created,
            Out {
                bytes: Vec::new(),
                fails: self.fails_at_write == Some(self.created),
            },
        ))
    }

    fn finish(&mut self, out: Out, summary: TableSummary) -> io::Result<()> {
        self.tables.push((out.bytes, summary));
        Ok(())
    }

    fn abandon(&mut self, table_id: u64) {
        self.abandoned.push(table_id);
    }
}

impl MemorySink {
    /// All records of all tables, which must follow each other in key order.
    fn records(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut records: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (bytes, summary) in &self.tables {
            let table = Table::<&[u8], Byte>::open(bytes.as_slice()).unwrap();
            table.verify().unwrap();
            assert_eq!(table.record_count(), summary.record_count);
            let mut cursor = table.cursor();
            let mut is_valid = cursor.seek_to_first().unwrap();
            while is_valid {
                records.push((cursor.key().to_vec(), cursor.value().to_vec()));
                is_valid = cursor.next().unwrap();
            }
        }
        assert!(
            records.is_sorted_by(|left, right| left.0 < right.0),
            "tables follow each other in key order"
        );
        records
    }
}

fn table(pairs: &Pairs) -> Table<Vec<u8>, Byte> {
    let mut writer =
        TableWriter::<_, Byte>::new(Vec::new(), TableOptions::new(Policy::byte_variable(), 7)).unwrap();
    for (key, value) in pairs {
        writer.append(key, value).unwrap();
    }
    Table::open(writer.finish().unwrap().0).unwrap()
}

fn random_pairs(rng: &mut TestRng, count: u64) -> Pairs {
    let key = |number: u64| format!("user:{:05}/{}", number / 3, number % 3).into_bytes();
    (0..count)
        .map(|_| {
            (
                key(rng.below(3000)),
                rng.next().to_le_bytes()[..usize::try_from(rng.below(9)).unwrap()].to_vec(),
            )
        })
        .collect()
}

fn options() -> TableOptions {
    TableOptions::new(Policy::byte_variable(), 0)
}

/// Three tables, a dead set for each, and what is alive in their union.
fn three_tables(seed: u64) -> (Vec<MemoryTable>, Vec<OrdinalBitmap>, Pairs) {
    let mut rng = TestRng::new(seed);
    let (mut tables, mut dead_sets, mut union) = (Vec::new(), Vec::new(), Pairs::new());
    for _ in 0..3 {
        let pairs = random_pairs(&mut rng, 1500);
        let mut dead = OrdinalBitmap::new(pairs.len() as u64);
        let start = rng.below(pairs.len() as u64);
        dead.insert_range(start..(start + rng.below(200)).min(pairs.len() as u64));
        let live = (0_u64..)
            .zip(&pairs)
            .filter(|(ordinal, _)| !dead.contains(*ordinal));
        union.extend(live.map(|(_, (key, value))| (key.clone(), value.clone())));
        tables.push(table(&pairs));
        dead_sets.push(dead);
    }
    (tables, dead_sets, union)
}

#[test]
fn outputs_are_cut_at_the_target_size() {
    for seed in 0..10 {
        let (tables, dead, union) = three_tables(seed);
        let inputs: Vec<_> = tables
            .iter()
            .zip(&dead)
            .map(|(table, dead)| table_input(table, Some(dead)).unwrap())
            .collect();
        let mut sink = MemorySink::default();
        let report = merge_tables(&inputs, Replace, 2000, &options(), &mut sink, &Unobserved).unwrap();
        assert_eq!(report.keys, union.len() as u64, "seed {seed}");
        assert_eq!(report.tables, sink.tables.len() as u64, "seed {seed}");
        assert!(
            sink.records() == union.into_iter().collect::<Vec<_>>(),
            "seed {seed}"
        );
        let full = &sink.tables[..sink.tables.len() - 1];
        assert!(
            full.iter().all(|(_, summary)| summary.payload_len_bytes >= 2000),
            "seed {seed}"
        );
        let longest = full.iter().map(|(_, summary)| summary.payload_len_bytes).max();
        assert!(longest < Some(2300), "seed {seed}: {longest:?}");
    }
}

#[test]
fn subranges_together_are_the_whole_job() {
    for seed in 0..10 {
        let (tables, dead, union) = three_tables(seed);
        let references: Vec<_> = tables.iter().collect();
        let plan = plan_subranges(&references, 4).unwrap();
        assert_eq!(plan.len(), 4);
        let given: Vec<_> = tables
            .iter()
            .zip(&dead)
            .map(|(table, dead)| (table, Some(dead)))
            .collect();
        let outputs: Vec<MemorySink> = std::thread::scope(|scope| {
            let workers: Vec<_> = plan
                .iter()
                .map(|ranges| {
                    let inputs = select_subrange(&given, ranges).unwrap();
                    scope.spawn(move || {
                        let mut sink = MemorySink::default();
                        merge_tables(&inputs, Replace, u64::MAX, &options(), &mut sink, &Unobserved).unwrap();
                        sink
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let mut all = MemorySink::default();
        outputs
            .into_iter()
            .for_each(|sink| all.tables.extend(sink.tables));
        assert!(
            all.records() == union.into_iter().collect::<Vec<_>>(),
            "seed {seed}"
        );
    }
}

/// Keys that nest, as redundant frames need.
fn nested_pairs(rng: &mut TestRng, count: u64) -> Pairs {
    let mut key = Vec::new();
    let mut pairs = Pairs::new();
    for _ in 0..count {
        key.truncate(usize::try_from(rng.below(key.len() as u64 + 1)).unwrap());
        (0..=rng.below(3)).for_each(|_| key.push(b'a' + u8::try_from(rng.below(3)).unwrap()));
        pairs.insert(key.clone(), vec![b'v'; usize::try_from(rng.below(5)).unwrap()]);
    }
    pairs
}

/// Cause: a certified source keeps no key, so it cannot see every frame that retains less than it could. Loss: such an
/// input, certified, gave an output that was redundant itself or out of order. Now the pass over an output's keys
/// judges it before the table is finished, whatever the merger has seen.
#[test]
fn a_wrong_certificate_never_gives_a_table_that_is_not_the_union() {
    let (mut seen_by_merger, mut seen_by_writer, mut harmless) = (0, 0, 0);
    for seed in 0..2000 {
        let mut rng = TestRng::new(seed);
        let inputs_count = rng.range(1, 5);
        let sides: Vec<_> = (0..inputs_count).map(|_| nested_pairs(&mut rng, 40)).collect();
        let streams: Vec<_> = sides
            .iter()
            .map(|side| match rng.one_in(2) {
                true => encode::<Byte>(Policy::byte_variable(), side),
                false => encode_redundantly::<Byte>(&mut rng, Policy::byte_variable(), side),
            })
            .collect();
        let inputs: Vec<_> = streams
            .iter()
            .map(|stream| MergeInput::<Byte>::certified(stream.view()))
            .collect();
        let mut sink = MemorySink::default();
        let target_bytes = [u64::MAX, 100][usize::try_from(rng.below(2)).unwrap()];
        let result = merge_tables(&inputs, Replace, target_bytes, &options(), &mut sink, &Unobserved);
        match result {
            Ok(_) => {
                let found = sink.records();
                assert!(found.into_iter().eq(union(&sides)), "seed {seed}");
                let ordinary = sink
                    .tables
                    .iter()
                    .all(|(_, summary)| summary.ordinary_front_coding);
                assert!(ordinary, "seed {seed}");
                harmless += 1;
            }
            Err(CompactionError::WrongCertificate { table_id }) => {
                assert_eq!(sink.abandoned, [table_id], "seed {seed}");
                seen_by_writer += 1;
            }
            Err(CompactionError::Merge(MergeError::WrongCertificate { .. } | MergeError::Input { .. })) => {
                seen_by_merger += 1;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    let counts = (seen_by_merger, seen_by_writer, harmless);
    assert!(
        seen_by_merger > 100 && seen_by_writer > 20 && harmless > 100,
        "the cases are not all there: {counts:?}"
    );
}

#[test]
fn a_failed_write_abandons_its_table() {
    let (tables, ..) = three_tables(1);
    let inputs: Vec<_> = tables
        .iter()
        .map(|table| table_input(table, None).unwrap())
        .collect();
    let mut sink = MemorySink {
        fails_at_write: Some(2),
        ..MemorySink::default()
    };
    let error = merge_tables(&inputs, Replace, 2000, &options(), &mut sink, &Unobserved).unwrap_err();
    assert!(
        matches!(error, CompactionError::Write { table_id: 2, .. }),
        "{error}"
    );
    assert_eq!((sink.tables.len(), sink.abandoned), (1, vec![2]));
}

#[test]
fn nothing_alive_writes_no_table() {
    let pairs = random_pairs(&mut TestRng::new(3), 100);
    let table = table(&pairs);
    let mut dead = OrdinalBitmap::new(table.record_count());
    dead.insert_range(0..table.record_count());
    let inputs = [table_input(&table, Some(&dead)).unwrap()];
    let mut sink = MemorySink::default();
    let report = merge_tables(&inputs, Replace, 2000, &options(), &mut sink, &Unobserved).unwrap();
    assert_eq!((report, sink.created), (MergeReport::default(), 0));
}

#[derive(Default)]
struct CancelAfter {
    keys: AtomicU64,
}

impl Observer for CancelAfter {
    fn progress(&self, total: &Progress) {
        self.keys.store(total.keys, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.keys.load(Ordering::Relaxed) > 0
    }
}

#[test]
fn a_cancelled_job_stops_between_steps() {
    let pairs: Pairs = (0..10_000_u32)
        .map(|number| (number.to_be_bytes().to_vec(), Vec::new()))
        .collect();
    let table = table(&pairs);
    let inputs = [table_input(&table, None).unwrap()];
    let mut sink = MemorySink::default();
    let observer = CancelAfter::default();
    let error = merge_tables(&inputs, Replace, u64::MAX, &options(), &mut sink, &observer).unwrap_err();
    assert!(
        matches!(error, CompactionError::Cancelled { keys: 1..10_000 }),
        "{error}"
    );
    assert_eq!(sink.created, 0);
}
