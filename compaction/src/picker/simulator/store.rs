//! The store in miniature: a memtable, tables with dead sets, and what is done to them.

use std::collections::{BTreeMap, HashMap};

use super::super::{Job, JobKind, LevelView, PickerOptions, TableShape};
use super::workload::Operation;

/// A grain in a table: its key, and the number of the operation that put it.
type Grain = (u32, u32);

#[derive(Clone, Debug, Default)]
struct Table {
    grains: Vec<Grain>,
    is_dead: Vec<bool>,
    dead_count: u64,
}

/// What has been done, in bytes and jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) user_bytes: u64,
    pub(super) flush_bytes: u64,
    pub(super) flushes: u64,
    pub(super) level_write_bytes: Vec<u64>,
    pub(super) merges: u64,
    pub(super) moves: u64,
    pub(super) drops: u64,
    pub(super) largest_job_bytes: u64,
}

/// See the head of the file.
#[derive(Debug)]
pub(super) struct Store {
    grain_bytes: u64,
    options: PickerOptions,
    /// `None` for a delete.
    memtable: BTreeMap<u32, Option<u32>>,
    tables: HashMap<u64, Table>,
    /// By number of the level.
    levels: Vec<LevelView>,
    next_file_number: u64,
    /// Version of each key as written, 0 for none: what readers must find.
    truth: Vec<u32>,
    live_count: u64,
    version: u32,
    pub(super) counts: Counts,
}

fn key_bytes(key: u32) -> Vec<u8> {
    key.to_be_bytes().to_vec()
}

impl Store {
    pub(super) fn new(grain_bytes: u64, options: PickerOptions) -> Self {
        let level = |level| LevelView {
            level,
            tables: Vec::new(),
        };
        Store {
            grain_bytes,
            levels: (0..=options.bottom_level).map(level).collect(),
            options,
            memtable: BTreeMap::new(),
            tables: HashMap::new(),
            next_file_number: 1,
            truth: Vec::new(),
            live_count: 0,
            version: 0,
            counts: Counts::default(),
        }
    }

    pub(super) fn levels(&self) -> &[LevelView] {
        &self.levels
    }

    pub(super) fn memtable_bytes(&self) -> u64 {
        self.memtable.len() as u64 * self.grain_bytes
    }

    pub(super) fn table_bytes(&self) -> u64 {
        self.levels.iter().map(LevelView::len_bytes).sum()
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.live_count * self.grain_bytes
    }

    pub(super) fn live_keys(&self) -> Vec<u32> {
        let keys = (0u32..).zip(&self.truth);
        keys.filter(|(_, version)| **version > 0)
            .map(|(key, _)| key)
            .collect()
    }

    /// Tables that a reader of a key has to ask if no filter helps.
    pub(super) fn tables_spanning(&self, key: u32) -> usize {
        let bytes = key_bytes(key);
        let spanning = |view: &LevelView| view.overlapping(&bytes, &bytes).count();
        self.levels.iter().map(spanning).sum()
    }

    pub(super) fn apply(&mut self, operation: Operation) {
        self.version += 1;
        let (key, version) = match operation {
            Operation::Put(key) => (key, Some(self.version)),
            Operation::Delete(key) => (key, None),
        };
        self.counts.user_bytes += self.grain_bytes;
        self.memtable.insert(key, version);
        let index = key as usize;
        if self.truth.len() <= index {
            self.truth.resize(index + 1, 0);
        }
        let was_live = self.truth[index] > 0;
        self.truth[index] = version.unwrap_or(0);
        self.live_count += u64::from(version.is_some());
        self.live_count -= u64::from(was_live);
    }

    /// Turns the memtable into a table of level 0, and its deletes into dead records. Returns the bytes written.
    pub(super) fn flush(&mut self) -> u64 {
        let mut grains = Vec::new();
        for (key, version) in std::mem::take(&mut self.memtable) {
            match version {
                Some(version) => grains.push((key, version)),
                None => self.kill(key),
            }
        }
        let bytes = grains.len() as u64 * self.grain_bytes;
        if !grains.is_empty() {
            self.counts.flushes += 1;
            self.counts.flush_bytes += bytes;
            self.add(0, grains);
        }
        bytes
    }

    /// Marks every record of a key dead, in every table.
    fn kill(&mut self, key: u32) {
        let bytes = key_bytes(key);
        for view in &mut self.levels {
            let numbers: Vec<u64> = view
                .overlapping(&bytes, &bytes)
                .map(|table| table.file_number)
                .collect();
            for number in numbers {
                let table = self.tables.get_mut(&number).expect("listed tables exist");
                let Ok(ordinal) = table.grains.binary_search_by_key(&key, |grain| grain.0) else {
                    continue;
                };
                if !std::mem::replace(&mut table.is_dead[ordinal], true) {
                    table.dead_count += 1;
                    let shape = view.tables.iter_mut().find(|shape| shape.file_number == number);
                    let shape = shape.expect("it was found there");
                    shape.live -= 1;
                    shape.dead += 1;
                }
            }
        }
    }

    /// Does what a job says. Returns the bytes written.
    pub(super) fn run(&mut self, job: &Job) -> u64 {
        match job.kind {
            JobKind::Drop => {
                self.counts.drops += 1;
                for number in job.file_numbers() {
                    let (_, table) = self.remove(number);
                    assert_eq!(
                        table.dead_count,
                        table.grains.len() as u64,
                        "only the dead are dropped"
                    );
                }
                0
            }
            JobKind::Move => {
                self.counts.moves += 1;
                for number in job.file_numbers() {
                    let (shape, table) = self.remove(number);
                    self.tables.insert(number, table);
                    self.place(job.output_level, shape);
                }
                0
            }
            JobKind::Merge => self.merge(job),
        }
    }

    fn merge(&mut self, job: &Job) -> u64 {
        let mut merged: Vec<Grain> = Vec::new();
        let mut read_bytes = 0;
        for number in job.file_numbers() {
            let (shape, table) = self.remove(number);
            read_bytes += shape.len_bytes;
            let alive = table.grains.iter().zip(&table.is_dead);
            let alive = alive.filter(|(_, is_dead)| !**is_dead).map(|(grain, _)| *grain);
            merged = union(merged, alive.collect());
        }
        let per_table = usize::try_from(self.options.target_table_bytes / self.grain_bytes)
            .unwrap_or(usize::MAX)
            .max(1);
        let bytes = merged.len() as u64 * self.grain_bytes;
        for grains in merged.chunks(per_table) {
            self.add(job.output_level, grains.to_vec());
        }
        self.counts.merges += 1;
        self.counts.largest_job_bytes = self.counts.largest_job_bytes.max(read_bytes);
        let level = job.output_level as usize;
        if self.counts.level_write_bytes.len() <= level {
            self.counts.level_write_bytes.resize(level + 1, 0);
        }
        self.counts.level_write_bytes[level] += bytes;
        bytes
    }

    fn add(&mut self, level: u32, grains: Vec<Grain>) {
        let (Some(first), Some(last)) = (grains.first(), grains.last()) else {
            return;
        };
        let file_number = self.next_file_number;
        self.next_file_number += 1;
        let count = grains.len() as u64;
        let shape = TableShape {
            file_number,
            first_key: key_bytes(first.0),
            last_key: key_bytes(last.0),
            len_bytes: count * self.grain_bytes,
            live: count,
            dead: 0,
        };
        let table = Table {
            is_dead: vec![false; grains.len()],
            grains,
            dead_count: 0,
        };
        self.tables.insert(file_number, table);
        self.place(level, shape);
    }

    fn place(&mut self, level: u32, shape: TableShape) {
        let tables = &mut self.levels[level as usize].tables;
        let index = if level == 0 {
            tables.len()
        } else {
            tables.partition_point(|other| other.first_key < shape.first_key)
        };
        tables.insert(index, shape);
    }

    fn remove(&mut self, number: u64) -> (TableShape, Table) {
        let table = self
            .tables
            .remove(&number)
            .expect("a job names tables that exist");
        let shape = self.levels.iter_mut().find_map(|view| {
            let index = view.tables.iter().position(|shape| shape.file_number == number)?;
            Some(view.tables.remove(index))
        });
        (shape.expect("every table is on a level"), table)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for view in self.levels.iter().skip(1) {
            for pair in view.tables.windows(2) {
                if pair[0].last_key >= pair[1].first_key {
                    return Err(format!(
                        "level {}: {:?} overlaps {:?}",
                        view.level, pair[0], pair[1]
                    ));
                }
            }
        }
        for (key, &expected) in (0u32..).zip(&self.truth) {
            let found = self.read(key);
            if found != expected {
                return Err(format!("key {key}: version {expected} expected, {found} found"));
            }
        }
        Ok(())
    }

    /// The version a reader finds, 0 for none: the newest table that holds the key alive answers.
    fn read(&self, key: u32) -> u32 {
        if let Some(version) = self.memtable.get(&key) {
            return version.unwrap_or(0);
        }
        let bytes = key_bytes(key);
        for view in &self.levels {
            let mut holding: Vec<_> = view.overlapping(&bytes, &bytes).collect();
            // Level 0 is listed oldest first.
            holding.reverse();
            for shape in holding {
                let table = &self.tables[&shape.file_number];
                if let Ok(ordinal) = table.grains.binary_search_by_key(&key, |grain| grain.0)
                    && !table.is_dead[ordinal]
                {
                    return table.grains[ordinal].1;
                }
            }
        }
        0
    }
}

/// The union of two sorted lists; of two grains of one key the newer one stays, which must be the second list's.
fn union(older: Vec<Grain>, newer: Vec<Grain>) -> Vec<Grain> {
    if older
        .last()
        .is_none_or(|last| newer.first().is_none_or(|first| last.0 < first.0))
    {
        return [older, newer].concat();
    }
    let mut merged = Vec::with_capacity(older.len() + newer.len());
    let mut older = older.into_iter().peekable();
    for grain in newer {
        while let Some(before) = older.next_if(|old| old.0 < grain.0) {
            merged.push(before);
        }
        if let Some(old) = older.next_if(|old| old.0 == grain.0) {
            assert!(
                old.1 < grain.1,
                "key {}: an older record lies in a newer table",
                grain.0
            );
        }
        merged.push(grain);
    }
    merged.extend(older);
    merged
}
