//! The story: load, merge, read, change, merge again, reopen, verify, measure.
//!
//! The clock of a step covers the store's own work; comparing it with the model comes after `stop`.

use std::collections::BTreeMap;

use tephradb::{Cancel, Db, Options, Range};

use super::page::{Page, Step};
use super::setting::{Setting, command_line};
use crate::escape::escape;
use crate::failure::Result;
use crate::figures::{grouped, ratio};
use crate::files::Input;
use crate::load::{Plan, Records, load_records};
use crate::stopwatch::Stopwatch;

/// The demo shows a merge of at least this many tables.
const FLUSHED_TABLES_MIN: u64 = 6;
/// Memtables are sized for this many by the raw bytes alone; the engine's overhead an entry makes it more.
const MEMTABLES_AIMED_AT: u64 = 8;
/// No compaction starts by itself: the demo merges when it says so.
const NO_COMPACTION: usize = 1_000;

const HITS: [&str; 3] = ["GREEK SMALL LETTER OMEGA", "SNOWMAN", "LATIN SMALL LETTER A"];
const MISS: &str = "GREEK SMALL LETTER OMEGALITH";
const PREFIX: &str = "GREEK SMALL LETTER";
const REVERSE_BELOW: &str = "SNOWMAN";
const OVERWRITTEN: &str = "SNOWMAN";
const OVERWRITTEN_VALUE: &str = "U+26C4 by another name";
const DELETED: &str = "PILE OF POO";

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) struct Story {
    setting: Setting,
    options: Options,
    db: Db,
    /// What the database must hold now.
    model: Model,
    record_count: u64,
    raw_bytes: u64,
    watch: Stopwatch,
}

impl Story {
    /// Reads the file into the model and opens the database.
    pub(crate) fn begin(setting: Setting, page: &mut Page<'_>) -> Result<Story> {
        let watch = Stopwatch::start();
        let mut step = Step::begin("Read the file");
        let record_count = setting.record_count;
        let mut model = Model::new();
        let mut input = Input::open(&setting.data)?;
        let mut records = Records::open(&mut input, &Plan::lines())?;
        while let Some((key, value)) = records.next()? {
            model.insert(key, value);
        }
        let raw_bytes = raw_bytes(&model);
        step.stop();
        step.line(format!(
            "{} records, {} bytes of keys and values",
            grouped(record_count),
            grouped(raw_bytes)
        ));
        step.check(record_count >= 100, || {
            format!("{record_count} records are enough for a demo")
        })?;
        page.show(step)?;

        let memtable_bytes = usize::try_from(raw_bytes / MEMTABLES_AIMED_AT).unwrap_or(usize::MAX);
        let options = Options::default()
            .memtable_bytes(memtable_bytes)
            .l0_compaction_trigger(NO_COMPACTION)
            .l0_tables_max(NO_COMPACTION);
        let db = Db::open(&setting.db, options.clone().error_if_exists(true))?;
        Ok(Story {
            setting,
            options,
            db,
            model,
            record_count,
            raw_bytes,
            watch,
        })
    }

    pub(crate) fn load(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Load it, in the file's order");
        let mut input = Input::open(&self.setting.data)?;
        let mut records = Records::open(&mut input, &Plan::lines())?;
        let loaded = load_records(
            &self.db,
            self.db.default_keyspace(),
            &mut records,
            self.record_count,
            false,
            &Cancel::new(),
        )?;
        self.db.flush()?;
        step.stop();
        let stats = self.db.stats();
        step.line(format!(
            "memtables of {} bytes: {} tables flushed, {} bytes",
            grouped(self.raw_bytes / MEMTABLES_AIMED_AT),
            stats.table_count,
            grouped(stats.table_bytes)
        ));
        step.check(loaded == self.record_count, || {
            format!("{loaded} of {} records loaded", self.record_count)
        })?;
        step.check(stats.table_count as u64 >= FLUSHED_TABLES_MIN, || {
            format!(
                "at least {FLUSHED_TABLES_MIN} tables were flushed, not {}",
                stats.table_count
            )
        })?;
        self.check_whole(&mut step)?;
        page.show(step)
    }

    pub(crate) fn merge(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Merge the tables, encoded as they are");
        self.merge_and_describe(&mut step)?;
        self.check_whole(&mut step)?;
        page.show(step)
    }

    fn merge_and_describe(&self, step: &mut Step) -> Result<()> {
        let before = self.db.stats();
        self.db.compact()?;
        step.stop();
        let after = self.db.stats();
        step.line(format!(
            "{} tables, {} bytes  ->  {}, {} bytes",
            before.table_count,
            grouped(before.table_bytes),
            if after.table_count == 1 {
                "1 table".to_owned()
            } else {
                format!("{} tables", after.table_count)
            },
            grouped(after.table_bytes)
        ));
        step.check(
            after.table_count >= 1 && after.live_record_count == self.model.len() as u64,
            || {
                format!(
                    "one record a key is left: {} records, {} keys",
                    after.live_record_count,
                    self.model.len()
                )
            },
        )?;
        step.check(after.dead_record_count == 0, || {
            format!("{} dead records were kept", after.dead_record_count)
        })
    }

    pub(crate) fn look_up(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Look up single keys");
        let found = HITS.map(|key| self.db.get(key));
        let missed = self.db.get(MISS);
        step.stop();
        for (key, value) in HITS.iter().zip(found) {
            self.check_value(&mut step, key, value?.as_deref())?;
        }
        self.check_value(&mut step, MISS, missed?.as_deref())?;
        page.show(step)
    }

    pub(crate) fn prefix_range(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin(format!("Range over the prefix {PREFIX:?}"));
        let found = collect(self.db.prefix(PREFIX))?;
        step.stop();
        let expected = self.model.range(PREFIX.as_bytes().to_vec()..);
        let expected: Vec<_> = expected
            .take_while(|(key, _)| key.starts_with(PREFIX.as_bytes()))
            .collect();
        check_equal(&mut step, "the prefix range", &found, &expected)?;
        step.line(format!("{} records, from both ends:", found.len()));
        let last = found.len().saturating_sub(2).max(2);
        for (key, value) in found.iter().take(2).chain(found.iter().skip(last)) {
            step.line(shown(key, value));
        }
        page.show(step)
    }

    pub(crate) fn reverse_range(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin(format!("Range backwards from {REVERSE_BELOW:?}"));
        let mut found = Vec::new();
        for item in self.db.range(..=REVERSE_BELOW).rev().take(4) {
            let (key, value) = item?;
            found.push((key.to_vec(), value.to_vec()));
        }
        step.stop();
        let expected: Vec<_> = self
            .model
            .range(..=REVERSE_BELOW.as_bytes().to_vec())
            .rev()
            .take(4)
            .collect();
        check_equal(&mut step, "the reverse range", &found, &expected)?;
        for (key, value) in &found {
            step.line(shown(key, value));
        }
        page.show(step)
    }

    /// An overwrite and a delete, seen in memory and in flushed tables, and not seen by an older snapshot.
    pub(crate) fn change(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Overwrite one key, delete another");
        let snapshot = self.db.snapshot();
        self.db.put(OVERWRITTEN, OVERWRITTEN_VALUE)?;
        self.db.delete(DELETED)?;
        step.stop();
        let before = std::mem::take(&mut self.model);
        self.model.clone_from(&before);
        self.model.insert(OVERWRITTEN.into(), OVERWRITTEN_VALUE.into());
        self.model.remove(DELETED.as_bytes());
        step.line("at once:");
        self.check_changes(&mut step)?;
        step.line("in a snapshot taken before:");
        for key in [OVERWRITTEN, DELETED] {
            let value = snapshot.get(&self.db, key)?;
            check_value_in(&before, &mut step, key, value.as_deref())?;
        }
        self.db.flush()?;
        step.line("flushed, before the merge:");
        self.check_changes(&mut step)?;
        step.check(
            snapshot.get(&self.db, DELETED)?.as_deref() == before.get(DELETED.as_bytes()).map(Vec::as_slice),
            || format!("the snapshot still sees {DELETED:?} after the flush"),
        )?;
        page.show(step)
    }

    pub(crate) fn merge_changes(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Merge again");
        self.merge_and_describe(&mut step)?;
        self.check_changes(&mut step)?;
        page.show(step)
    }

    pub(crate) fn reopen(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Write once more, close, reopen from tables and log");
        // One key that only the log holds when the database is closed.
        let (key, value) = ("TEPHRA", "volcanic ash, dated by its layers");
        self.db.put(key, value)?;
        self.model.insert(key.into(), value.into());
        self.db.clone().close()?;
        self.db = Db::open(&self.setting.db, self.options.clone().create_if_missing(false))?;
        step.stop();
        let found = self.db.get(key)?;
        self.check_value(&mut step, key, found.as_deref())?;
        self.check_changes(&mut step)?;
        page.show(step)
    }

    pub(crate) fn verify(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Compare every record with the file; check every file");
        self.check_whole(&mut step)?;
        for (key, value) in &self.model {
            let found = self.db.get(key)?;
            step.check(found.as_deref() == Some(value), || {
                format!("get {:?} is {:?}", escape(key), escape(value))
            })?;
        }
        let report = self.db.verify()?;
        step.stop();
        step.check(report.is_sound(), || {
            format!("the files are sound: {:#?}", report.problems)
        })?;
        step.check(report.live_key_count == self.model.len() as u64, || {
            format!(
                "verify counts {} keys, the file {}",
                report.live_key_count,
                self.model.len()
            )
        })?;
        let count = grouped(self.model.len() as u64);
        step.line(format!(
            "{count} records: forwards, backwards and each by its key; checksums, order, filters"
        ));
        page.show(step)
    }

    /// Bytes raw and in tables, with the log's last key merged in.
    pub(crate) fn sizes(&mut self, page: &mut Page<'_>) -> Result<()> {
        let mut step = Step::begin("Measure");
        self.db.compact()?;
        step.stop();
        let stats = self.db.stats();
        let records = self.model.len() as u64;
        let raw = raw_bytes(&self.model);
        step.check(stats.live_record_count == records, || {
            format!(
                "the tables hold {} records, the model {records}",
                stats.live_record_count
            )
        })?;
        step.line(format!("{:<36}{:>12}{:>14}", "", "bytes", "a record"));
        for (what, bytes) in [
            ("keys and values, changed as above", raw),
            ("table files, all sections", stats.table_bytes),
        ] {
            step.line(format!(
                "{what:<36}{:>12}{:>14}",
                grouped(bytes),
                ratio(bytes, records)
            ));
        }
        step.check(stats.table_bytes < raw, || {
            format!("tables ({}) are smaller than raw ({raw})", stats.table_bytes)
        })?;
        step.line(format!(
            "the tables take {} % of the raw bytes",
            ratio(stats.table_bytes * 100, raw)
        ));
        page.show(step)
    }

    pub(crate) fn end(self, page: &mut Page<'_>) -> Result<()> {
        let time = crate::figures::duration(self.watch.elapsed());
        let db = self.setting.db.display().to_string();
        self.db.close()?;
        page.line("")?;
        let passed = format!("{} checks, all passed, in {time}.", grouped(page.check_count()));
        if !self.setting.is_kept() {
            return page.line(&format!(
                "{passed} The database is removed; --keep leaves it to look at."
            ));
        }
        page.line(&format!("{passed} The database stays. Try:"))?;
        let tephra = command_line();
        page.line(&format!(
            "  {tephra} scan --db {db} --prefix 'OGHAM LETTER' --limit 5"
        ))?;
        page.line(&format!("  {tephra} stats --db {db}"))?;
        self.setting.keep();
        Ok(())
    }

    /// The whole database, in both directions, against the model.
    fn check_whole(&self, step: &mut Step) -> Result<()> {
        let expected: Vec<_> = self.model.iter().collect();
        check_equal(step, "a scan of everything", &collect(self.db.iter())?, &expected)?;
        let mut count = 0;
        for (item, (key, value)) in self.db.iter().rev().zip(expected.iter().rev()) {
            let found = item?;
            count += 1;
            step.check(found.0 == key[..] && found.1 == value[..], || {
                format!("backwards: {:?}", escape(key))
            })?;
        }
        step.check(count == expected.len(), || {
            format!("backwards: {count} of {} records", expected.len())
        })
    }

    fn check_changes(&self, step: &mut Step) -> Result<()> {
        for key in [OVERWRITTEN, DELETED] {
            let found = self.db.get(key)?;
            self.check_value(step, key, found.as_deref())?;
            let ranged = collect(self.db.range(key..=key))?;
            let expected: Vec<_> = self.model.get_key_value(key.as_bytes()).into_iter().collect();
            check_equal(step, "a range of one key", &ranged, &expected)?;
        }
        Ok(())
    }

    fn check_value(&self, step: &mut Step, key: &str, found: Option<&[u8]>) -> Result<()> {
        check_value_in(&self.model, step, key, found)
    }
}

fn raw_bytes(model: &Model) -> u64 {
    model
        .iter()
        .map(|(key, value)| (key.len() + value.len()) as u64)
        .sum()
}

fn collect(range: Range) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut records = Vec::new();
    for item in range {
        let (key, value) = item?;
        records.push((key.into_vec(), value.to_vec()));
    }
    Ok(records)
}

/// One line of the page for a look-up, after holding it to the model.
fn check_value_in(model: &Model, step: &mut Step, key: &str, found: Option<&[u8]>) -> Result<()> {
    let expected = model.get(key.as_bytes()).map(Vec::as_slice);
    step.check(found == expected, || {
        let name = |value: Option<&[u8]>| value.map_or("nothing".to_owned(), escape);
        format!("{key:?} is {}, found {}", name(expected), name(found))
    })?;
    step.line(match found {
        Some(value) => shown(key.as_bytes(), value),
        None => format!("{key:<44} not there"),
    });
    Ok(())
}

fn check_equal(
    step: &mut Step,
    what: &str,
    found: &[(Vec<u8>, Vec<u8>)],
    expected: &[(&Vec<u8>, &Vec<u8>)],
) -> Result<()> {
    step.check(found.len() == expected.len(), || {
        format!("{what} has {} records, found {}", expected.len(), found.len())
    })?;
    for ((key, value), (expected_key, expected_value)) in found.iter().zip(expected) {
        step.check(key == *expected_key && value == *expected_value, || {
            format!(
                "{what} holds {:?} next, found {:?}",
                escape(expected_key),
                escape(key)
            )
        })?;
    }
    Ok(())
}

/// A record as a line: key, value, and the character itself if the value is a code point.
fn shown(key: &[u8], value: &[u8]) -> String {
    let (key, value) = (escape(key), escape(value));
    let digits = value.strip_prefix("U+").unwrap_or("");
    let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    match character.filter(|c| escape(c.encode_utf8(&mut [0; 4]).as_bytes()).starts_with(*c)) {
        Some(character) => format!("{key:<44} {value:<8} {character}"),
        None => format!("{key:<44} {value}"),
    }
}
