//! The shape of a keyspace's levels, as the picker wants to see it.

use tephra_compaction::picker::{LevelView, PickerOptions, TableShape};

use crate::dead_set;
use crate::options::Options;
use crate::settings::KeyspaceSettings;
use crate::version::{KeyspaceView, TableView};

fn shape_of(table: &TableView) -> TableShape {
    TableShape {
        file_number: table.file.number(),
        first_key: table.file.first_key().to_vec(),
        last_key: table.file.last_key().to_vec(),
        len_bytes: table.file.len_bytes(),
        live: table.live_count(),
        dead: dead_set::dead_count(&table.dead),
    }
}

/// The levels of a keyspace. The picker lists level 0 oldest first, a version newest first.
pub(super) fn levels_of(view: &KeyspaceView) -> Vec<LevelView> {
    let numbered = (0u32..).zip(view.levels());
    let levels = numbered.map(|(level, tables)| {
        let mut tables: Vec<_> = tables.iter().map(shape_of).collect();
        if level == 0 {
            tables.reverse();
        }
        LevelView { level, tables }
    });
    levels.collect()
}

/// What the picker is told of the options and of a keyspace's settings.
pub(super) fn picker_options(options: &Options, settings: &KeyspaceSettings) -> PickerOptions {
    let target_table_bytes = settings.target_table_bytes.unwrap_or(options.target_table_bytes);
    PickerOptions {
        level_zero_trigger: options.l0_compaction_trigger,
        base_level_bytes: target_table_bytes.saturating_mul(4),
        target_table_bytes,
        manual_job_bytes: target_table_bytes.saturating_mul(16),
        ..PickerOptions::default()
    }
}
