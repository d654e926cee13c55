//! What is known of each table without reading it: for reports.

use crate::db::Engine;
use crate::dead_set;

/// One table of the current version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableFacts {
    /// Its file number.
    pub number: u64,
    /// Name of its keyspace.
    pub keyspace: String,
    /// Its level.
    pub level: u32,
    /// Length of its file in bytes.
    pub file_bytes: u64,
    /// Records in it.
    pub record_count: u64,
    /// Records in it that are marked dead.
    pub dead_record_count: u64,
    /// Bits of a unit: 8, or 1 in a keyspace of bit strings.
    pub unit_bits: u64,
    /// Blocks.
    pub block_count: u64,
    /// Records of a full block.
    pub records_per_block: u32,
    /// Length of all keys, in units.
    pub key_units: u64,
    /// What of them is stored, in units.
    pub literal_units: u64,
    /// Length of all values, in units.
    pub value_units: u64,
    /// Bytes of the frames.
    pub payload_bytes: u64,
    /// Bytes of the directory of blocks.
    pub directory_bytes: u64,
    /// Bytes of the separators.
    pub separators_bytes: u64,
    /// Bytes of the filter; 0 without one.
    pub filter_bytes: u64,
}

impl Engine {
    pub(crate) fn table_facts(&self) -> Vec<TableFacts> {
        let instant = self.instant();
        let cores = self.cores();
        let mut all = Vec::new();
        for (keyspace, view) in instant.version().keyspaces() {
            let name = cores
                .get(&keyspace)
                .map(|core| core.name.clone())
                .unwrap_or_default();
            for (level, table) in (0u32..)
                .zip(view.levels())
                .flat_map(|(level, tables)| tables.iter().map(move |table| (level, table)))
            {
                let mut facts = TableFacts {
                    number: table.file.number(),
                    keyspace: name.clone(),
                    level,
                    file_bytes: table.file.len_bytes(),
                    record_count: table.file.record_count(),
                    dead_record_count: dead_set::dead_count(&table.dead),
                    ..TableFacts::default()
                };
                table.file.table().read_into(&mut facts);
                all.push(facts);
            }
        }
        all
    }
}
