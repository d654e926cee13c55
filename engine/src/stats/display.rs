//! The statistics on one screen: 24 lines of 80 columns at most, whatever the database holds.

use std::fmt;

use super::Stats;

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "level    tables      bytes          alive           dead     written"
        )?;
        for (number, level) in self.levels.iter().enumerate() {
            if level.table_count == 0 && level.write_bytes == 0 {
                continue;
            }
            writeln!(
                f,
                "{:<5} {:>9} {:>10} {:>14} {:>14} {:>11}",
                format!("L{number}"),
                level.table_count,
                Bytes(level.table_bytes),
                level.live_record_count,
                level.dead_record_count,
                Bytes(level.write_bytes)
            )?;
        }
        writeln!(
            f,
            "tables       {} in {}, {}",
            self.table_count,
            Count(self.keyspace_count as u64, "keyspace"),
            Bytes(self.table_bytes)
        )?;
        writeln!(
            f,
            "of memory    filters {}, indexes {}, dead sets {}",
            Bytes(self.filter_bytes),
            Bytes(self.index_bytes),
            Bytes(self.dead_set_bytes)
        )?;
        writeln!(
            f,
            "memtables    {} ({} frozen), entries {}, deletes {}, ranges {}",
            Bytes(self.memtable_bytes as u64),
            self.frozen_memtable_count,
            self.memtable_entry_count,
            self.memtable_delete_count,
            self.memtable_range_delete_count
        )?;
        writeln!(
            f,
            "log          {}, manifest {}",
            Bytes(self.log_bytes),
            Bytes(self.manifest_bytes)
        )?;
        writeln!(
            f,
            "commits      {}, {}, {}",
            self.commit_count,
            Count(self.operation_count, "operation"),
            Bytes(self.commit_bytes)
        )?;
        writeln!(
            f,
            "flushes      {}, {}; ingested {}, {}",
            self.flush_count,
            Bytes(self.flush_bytes),
            Count(self.ingested_table_count, "table"),
            Bytes(self.ingested_bytes)
        )?;
        writeln!(
            f,
            "compactions  {}, read {}, wrote {}, {} a second",
            self.compaction_count,
            Bytes(self.compaction_read_bytes),
            Bytes(self.compaction_write_bytes),
            Rate(self.compaction_bytes_per_second())
        )?;
        writeln!(
            f,
            "written      {} times what came in; records {} times those alive",
            Times(self.write_amplification()),
            Times(self.space_amplification())
        )?;
        writeln!(
            f,
            "deletes      {} killed, {} emptied",
            Count(self.killed_record_count, "record"),
            Count(self.emptied_table_count, "table")
        )?;
        writeln!(
            f,
            "filters      {}: {} turned away, {} found, {} in vain",
            Count(self.filter_probe_count(), "probe"),
            self.filter_negative_count,
            self.filter_true_positive_count,
            self.filter_false_positive_count
        )?;
        writeln!(
            f,
            "stalls       {}, {:.3} s",
            self.stall_count,
            self.stall_time.as_secs_f64()
        )?;
        let oldest = self.oldest_snapshot_age.unwrap_or_default();
        writeln!(
            f,
            "snapshots    {}, the oldest {:.1} s, memtables {}",
            self.snapshot_count,
            oldest.as_secs_f64(),
            Bytes(self.snapshot_memtable_bytes as u64)
        )?;
        writeln!(
            f,
            "pinned       {}, {}",
            Count(self.pinned_file_count as u64, "file"),
            Bytes(self.pinned_file_bytes)
        )?;
        write!(
            f,
            "failures     {} in the background",
            self.background_failure_count
        )?;
        if let Some(last) = &self.last_background_failure {
            // Three lines of the screen at most, whatever the text.
            let shown: Vec<char> = last.chars().filter(|c| !c.is_control()).take(67 * 2).collect();
            for line in shown.chunks(67) {
                let line: String = line.iter().collect();
                write!(f, "\n             {}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

/// `1 table`, `2 tables`.
struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// `1023 B`, `12.3 KiB`, `4.5 GiB`.
struct Bytes(u64);

impl fmt::Display for Bytes {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut scaled = self.0 as f64;
        let mut unit = "B";
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
            if scaled < 1024.0 {
                break;
            }
            scaled /= 1024.0;
            unit = next;
        }
        f.pad(&format!("{scaled:.1} {unit}"))
    }
}

/// Bytes a second, or nothing known.
struct Rate(Option<f64>);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("-"),
            Some(rate) => write!(f, "{:.1} MiB", rate / f64::from(1 << 20)),
        }
    }
}

/// A factor, or nothing known.
struct Times(Option<f64>);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("-"),
            Some(times) => write!(f, "{times:.2}"),
        }
    }
}
