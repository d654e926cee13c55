//! Everything the report tells, as numbers.

use std::collections::BTreeMap;
use std::path::Path;

use tephradb::{Db, Stats, TableFacts};

use super::history::History;
use crate::failure::Result;
use crate::table::false_positive_rate;

/// Tables taken together: a level, a keyspace, or all.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) tables: u64,
    pub(super) bytes: u64,
    pub(super) records: u64,
    pub(super) dead_records: u64,
    /// The share of the files that dead records take, by their number.
    pub(super) dead_bytes: u64,
    pub(super) blocks: u64,
    /// Records if all blocks were full.
    pub(super) block_room: u64,
    pub(super) key_bytes: u64,
    pub(super) literal_bytes: u64,
    pub(super) value_bytes: u64,
    pub(super) payload_bytes: u64,
    pub(super) directory_bytes: u64,
    pub(super) separators_bytes: u64,
    pub(super) filter_bytes: u64,
    /// Records in tables with a filter, and look-ups of absent keys expected to pass it, of one in each of those records' tables.
    pub(super) filtered_records: u64,
    expected_rate_sum: f64,
}

impl Group {
    fn add(&mut self, table: &TableFacts) {
        let units = |count: u64| count.saturating_mul(table.unit_bits).div_ceil(8);
        self.tables += 1;
        self.bytes += table.file_bytes;
        self.records += table.record_count;
        self.dead_records += table.dead_record_count;
        self.dead_bytes += part_of(table.file_bytes, table.dead_record_count, table.record_count);
        self.blocks += table.block_count;
        self.block_room += table
            .block_count
            .saturating_mul(u64::from(table.records_per_block));
        self.key_bytes += units(table.key_units);
        self.literal_bytes += units(table.literal_units);
        self.value_bytes += units(table.value_units);
        self.payload_bytes += table.payload_bytes;
        self.directory_bytes += table.directory_bytes;
        self.separators_bytes += table.separators_bytes;
        self.filter_bytes += table.filter_bytes;
        if let Some(rate) = false_positive_rate(table.filter_bytes, table.record_count) {
            self.filtered_records += table.record_count;
            self.expected_rate_sum += rate * as_float(table.record_count);
        }
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.bytes - self.dead_bytes.min(self.bytes)
    }

    /// Expected share of look-ups of absent keys that a filter lets pass, weighed by records; `None` without filters.
    pub(super) fn expected_rate(&self) -> Option<f64> {
        (self.filtered_records > 0).then(|| self.expected_rate_sum / as_float(self.filtered_records))
    }

    /// What controls, and padding, take of the payload.
    pub(super) fn control_bytes(&self) -> u64 {
        self.payload_bytes
            .saturating_sub(self.literal_bytes + self.value_bytes)
    }

    /// Properties, checksums, header and footer, padding.
    pub(super) fn other_bytes(&self) -> u64 {
        let told = self.payload_bytes + self.directory_bytes + self.separators_bytes + self.filter_bytes;
        self.bytes.saturating_sub(told)
    }
}

/// See the head of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) path: String,
    pub(super) stats: Stats,
    pub(super) tables: Vec<TableFacts>,
    pub(super) all: Group,
    pub(super) levels: BTreeMap<u32, Group>,
    /// Keyspaces by name; those without tables too.
    pub(super) keyspaces: BTreeMap<String, Group>,
    pub(super) history: History,
}

impl Facts {
    pub(super) fn gather(db: &Db, path: &Path) -> Result<Facts> {
        let history = History::of(&db.event_history()?);
        let mut facts = Facts::of_tables(db.tables());
        facts.path = path.to_string_lossy().into_owned();
        facts.stats = db.stats();
        facts.history = history;
        for name in db.keyspace_names() {
            facts.keyspaces.entry(name).or_default();
        }
        Ok(facts)
    }

    pub(super) fn of_tables(tables: Vec<TableFacts>) -> Facts {
        let mut facts = Facts::default();
        for table in &tables {
            facts.all.add(table);
            facts.levels.entry(table.level).or_default().add(table);
            facts
                .keyspaces
                .entry(table.keyspace.clone())
                .or_default()
                .add(table);
        }
        facts.tables = tables;
        facts
    }

    /// Bytes of tables written for each byte that came in; `None` where the log tells of none.
    pub(super) fn write_amplification(&self) -> Option<f64> {
        self.history.write_amplification()
    }

    /// Bytes written to each level for each byte that came in.
    pub(super) fn write_amplification_by_level(&self) -> BTreeMap<u64, f64> {
        let came_in = self.history.bytes_in();
        let mut by_level = self.history.compaction_bytes.clone();
        *by_level.entry(0).or_default() += came_in;
        by_level.retain(|_, bytes| *bytes > 0);
        by_level
            .into_iter()
            .map(|(level, bytes)| (level, ratio(bytes, came_in)))
            .collect()
    }

    /// Share of measured look-ups of absent keys that the filters let pass in vain; `None` where too few were counted.
    pub(super) fn measured_rate(&self) -> Option<f64> {
        let probes = self.history.probes;
        let absent = probes.filtered + probes.in_vain;
        (absent >= 1_000).then(|| ratio(probes.in_vain, absent))
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub(super) fn as_float(number: u64) -> f64 {
    number as f64
}

/// A part of something; 0 of nothing.
pub(super) fn ratio(part: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        as_float(part) / as_float(of)
    }
}

/// `whole * part / of`, in whole numbers.
fn part_of(whole: u64, part: u64, of: u64) -> u64 {
    let share = u128::from(whole) * u128::from(part) / u128::from(of.max(1));
    u64::try_from(share).unwrap_or(whole)
}
