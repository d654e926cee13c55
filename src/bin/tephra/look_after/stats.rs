//! `tephra stats`: a database on one screen.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::database::{Database, open_to_read};
use crate::failure::Result;
use crate::output::{Json, facts, line};

const ABOUT: &str = "\
The levels of the database, live and dead records, memory, log; what was done (commits, flushes, compactions, stalls, snapshots)
counts from this open on, so it is nothing here: a program prints its own with Db::stats. What happened before stands in the
event log beside the tables, for `tephra report`.";

#[derive(Debug, ClapArgs)]
#[command(after_help = ABOUT)]
pub(crate) struct Stats {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn stats(args: &Stats, out: &mut dyn Write) -> Result<()> {
    let db = open_to_read(&args.database.db)?;
    let stats = db.stats();
    if args.json.json {
        return facts(out, &as_json(&stats));
    }
    line(out, &stats)?;
    if stats.recovery_dropped_bytes > 0 {
        line(
            out,
            format_args!(
                "recovery     {} B at the end of the log were never completed",
                stats.recovery_dropped_bytes
            ),
        )?;
    }
    Ok(())
}

/// All figures, by the names of [`tephradb::Stats`].
fn as_json(stats: &tephradb::Stats) -> Value {
    let levels: Vec<Value> = stats
        .levels
        .iter()
        .map(|level| {
            json!({
                "table_count": level.table_count, "table_bytes": level.table_bytes,
                "live_record_count": level.live_record_count, "dead_record_count": level.dead_record_count,
                "write_bytes": level.write_bytes,
            })
        })
        .collect();
    let mut all = json!({
        "keyspace_count": stats.keyspace_count,
        "levels": levels,
        "table_count": stats.table_count,
        "table_bytes": stats.table_bytes,
        "filter_bytes": stats.filter_bytes,
        "index_bytes": stats.index_bytes,
        "dead_set_bytes": stats.dead_set_bytes,
        "live_record_count": stats.live_record_count,
        "dead_record_count": stats.dead_record_count,
        "memtable_entry_count": stats.memtable_entry_count,
        "memtable_delete_count": stats.memtable_delete_count,
        "memtable_range_delete_count": stats.memtable_range_delete_count,
        "overlay_record_count": stats.overlay_record_count,
        "memtable_bytes": stats.memtable_bytes,
        "frozen_memtable_count": stats.frozen_memtable_count,
        "log_bytes": stats.log_bytes,
        "manifest_bytes": stats.manifest_bytes,
        "recovery_dropped_bytes": stats.recovery_dropped_bytes,
        "space_amplification": stats.space_amplification(),
    });
    let since_open = json!({
        "commit_count": stats.commit_count,
        "operation_count": stats.operation_count,
        "commit_bytes": stats.commit_bytes,
        "flush_count": stats.flush_count,
        "flush_bytes": stats.flush_bytes,
        "ingested_table_count": stats.ingested_table_count,
        "ingested_bytes": stats.ingested_bytes,
        "compaction_count": stats.compaction_count,
        "compaction_read_bytes": stats.compaction_read_bytes,
        "compaction_write_bytes": stats.compaction_write_bytes,
        "write_amplification": stats.write_amplification(),
        "killed_record_count": stats.killed_record_count,
        "emptied_table_count": stats.emptied_table_count,
        "filter_negative_count": stats.filter_negative_count,
        "filter_true_positive_count": stats.filter_true_positive_count,
        "filter_false_positive_count": stats.filter_false_positive_count,
        "stall_count": stats.stall_count,
        "stall_seconds": stats.stall_time.as_secs_f64(),
        "snapshot_count": stats.snapshot_count,
        "oldest_snapshot_seconds": stats.oldest_snapshot_age.map(|age| age.as_secs_f64()),
        "pinned_file_count": stats.pinned_file_count,
        "pinned_file_bytes": stats.pinned_file_bytes,
        "background_failure_count": stats.background_failure_count,
        "last_background_failure": stats.last_background_failure,
    });
    all["since_open"] = since_open;
    all
}
