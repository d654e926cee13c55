//! Gathers the statistics.

use tephra_sstable::TableSection;

use super::engine::Engine;
use crate::dead_set;
use crate::file_name::FileName;
use crate::stats::{LevelStats, Stats};
use crate::version::manifest;
use crate::vfs::FileKind;

impl Engine {
    /// The figures of this moment. Reads the published instant and, shortly, the version lock.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let instant = self.instant();
        for (_, view) in instant.version().keyspaces() {
            stats.keyspace_count += 1;
            for (level, tables) in view.levels().iter().enumerate() {
                if stats.levels.len() <= level {
                    stats.levels.resize_with(level + 1, LevelStats::default);
                }
                let of_level = &mut stats.levels[level];
                for table in tables {
                    of_level.table_count += 1;
                    of_level.table_bytes += table.file.len_bytes();
                    of_level.live_record_count += table.live_count();
                    of_level.dead_record_count += dead_set::dead_count(&table.dead);
                    let section = |section| table.file.table().section_len_bytes(section);
                    stats.filter_bytes += section(TableSection::Filter);
                    stats.index_bytes += section(TableSection::Directory) + section(TableSection::Separators);
                    stats.dead_set_bytes += table
                        .dead
                        .as_ref()
                        .map_or(0, |dead| dead.words().len() as u64 * 8);
                }
            }
        }
        stats.level_table_counts = stats.levels.iter().map(|level| level.table_count).collect();
        for level in &stats.levels {
            stats.table_count += level.table_count;
            stats.table_bytes += level.table_bytes;
            stats.live_record_count += level.live_record_count;
            stats.dead_record_count += level.dead_record_count;
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
        stats.manifest_bytes = match self.log {
            Some(_) => self.versions.lock().manifest_len_bytes(),
            None => self.manifest_len_on_disk(),
        };
        stats.event_log_bytes = self.file_len(FileName::Events) + self.file_len(FileName::EventsOld);
        let pinned = self.directory.pinned_files();
        stats.pinned_file_count = pinned.len();
        stats.pinned_file_bytes = pinned.values().sum();
        let reads = self.directory.reads.sum();
        stats.filter_negative_count = reads.filtered;
        stats.filter_true_positive_count = reads.found;
        stats.filter_false_positive_count = reads.absent;
        stats.listener_panic_count = self.events().panic_count();
        stats.lost_event_count = self.events().log().lost_count();
        let held = self.snapshots.figures(&instant.layers, self.clock().now_ns());
        stats.snapshot_count = held.count;
        stats.oldest_snapshot_age = held.oldest_age;
        stats.snapshot_memtable_bytes = held.memtable_bytes;
        self.counters.read_into(&mut stats);
        stats.compaction = self.compactions.read();
        {
            let schedule = self.schedule.lock();
            stats.compaction.running_count = schedule.running_count();
            stats.compaction.look_count = schedule.look_count();
            stats.compaction.suspended_keyspace_count = schedule.suspended_count();
        }
        self.read_pace_into(&mut stats.compaction);
        stats
    }
    /// Where the database is open for reading only: nobody writes it meanwhile.
    fn manifest_len_on_disk(&self) -> u64 {
        let current = manifest::read_current(&self.directory).ok().flatten();
        current.map_or(0, |number| self.file_len(FileName::Manifest(number)))
    }

    /// Length of a file in bytes; 0 of one that is not there, or is no file.
    fn file_len(&self, name: FileName) -> u64 {
        let (files, path) = (&self.directory.file_system, self.directory.path_of(name));
        match files.kind(&path) {
            Ok(Some(FileKind::File)) => files.len_bytes(&path).unwrap_or(0),
            _ => 0,
        }
    }
}
