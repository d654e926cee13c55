//! Gathers the statistics.

use super::engine::Engine;
use crate::dead_set;
use crate::stats::Stats;

impl Engine {
    /// The figures of this moment. Reads the published instant and, shortly, the version lock.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let instant = self.instant();
        for (_, view) in instant.version().keyspaces() {
            stats.keyspace_count += 1;
            for (level, tables) in view.levels().iter().enumerate() {
                if stats.level_table_counts.len() <= level {
                    stats.level_table_counts.resize(level + 1, 0);
                }
                stats.level_table_counts[level] += tables.len();
            }
            for table in view.tables() {
                stats.table_count += 1;
                stats.table_bytes += table.file.len_bytes();
                stats.live_record_count += table.live_count();
                stats.dead_record_count += dead_set::dead_count(&table.dead);
            }
        }
        for memtable in instant.memtables() {
            stats.memtable_entry_count += memtable.len();
            stats.memtable_delete_count += memtable.delete_count();
            stats.memtable_range_delete_count += memtable.intervals().len();
            stats.overlay_record_count += memtable.overlay().ordinal_count();
            stats.overlay_run_count += memtable.overlay().run_count();
            stats.memtable_bytes += memtable.cost_bytes();
        }
        stats.frozen_memtable_count = instant.layers.frozen.len();
        let frozen_bytes: u64 = instant.layers.frozen.iter().map(|frozen| frozen.log_bytes).sum();
        stats.log_bytes = frozen_bytes + self.writer.lock().log_bytes;
        stats.manifest_bytes = self.versions.lock().manifest_len_bytes();
        stats.pinned_file_count = self.directory.pinned_files().len();
        self.counters.read_into(&mut stats);
        stats
    }
}
