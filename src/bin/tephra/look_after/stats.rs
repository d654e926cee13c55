//! `tephra stats`: a database on one screen.
//!
//! ```text
//! Db (read only) ── Stats ────> what is on the disk now: levels, live and dead records, log
//! EVENTS ────────── History ──> what programs did with it: flushes, compactions, waits, failures
//! ```
//!
//! What only a running process knows (commits, snapshots, memory that readers hold) is not here: it would be that of this command.

use std::fmt::Write as _;
use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::{Value, json};
use tephradb::Stats as Figures;

use crate::database::{Database, open_to_read};
use crate::escape::escape;
use crate::failure::Result;
use crate::figures::size;
use crate::output::{Json, counted, facts, line};
use crate::report::history::History;

/// Columns of the screen.
const COLUMNS: usize = 80;

const ABOUT: &str = "\
What is on the disk, and below it what the event log still tells of the work of all programs that had the database open: it is bounded, and
begins at the time shown. What only a running program knows, as commits and snapshots, it prints itself with Db::stats. `tephra report` draws
the same as a page, with what to change.";

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
    let history = History::of(&db.event_history()?);
    if args.json.json {
        return facts(out, &as_json(&stats, &history));
    }
    for text in on_disk(&stats).into_iter().chain(so_far(&history)) {
        line(out, text)?;
    }
    Ok(())
}

/// What is there now.
fn on_disk(stats: &Figures) -> Vec<String> {
    let mut lines = vec!["level    tables       bytes            alive             dead".to_owned()];
    for (number, level) in stats.levels.iter().enumerate() {
        if level.table_count > 0 {
            lines.push(format!(
                "{:<5} {:>9} {:>11} {:>16} {:>16}",
                format!("L{number}"),
                level.table_count,
                size(level.table_bytes),
                level.live_record_count,
                level.dead_record_count
            ));
        }
    }
    lines.push(format!(
        "tables       {} in {}, {}",
        stats.table_count,
        counted(stats.keyspace_count as u64, "keyspace"),
        size(stats.table_bytes)
    ));
    let times = stats
        .space_amplification()
        .map_or_else(String::new, |times| format!(": {times:.2} times those alive"));
    lines.push(format!(
        "records      {} alive, {} dead{times}",
        stats.live_record_count, stats.dead_record_count
    ));
    lines.push(format!(
        "of tables    filters {}, indexes {}; dead sets in memory {}",
        size(stats.filter_bytes),
        size(stats.index_bytes),
        size(stats.dead_set_bytes)
    ));
    lines.push(format!(
        "log          {}: entries {}, deletes {}, ranges {}",
        size(stats.log_bytes),
        stats.memtable_entry_count,
        stats.memtable_delete_count,
        stats.memtable_range_delete_count
    ));
    lines.push(format!(
        "manifest     {}, event log {}",
        size(stats.manifest_bytes),
        size(stats.event_log_bytes)
    ));
    if stats.recovery_dropped_bytes > 0 {
        lines.push(format!(
            "recovery     {} B at the end of the log were never completed",
            stats.recovery_dropped_bytes
        ));
    }
    lines
}

/// What the event log tells.
fn so_far(history: &History) -> Vec<String> {
    if let Some(reason) = history.unreadable_files.first() {
        return wrapped("event log    cannot be read: ", reason);
    }
    let Some(first) = &history.first_time else {
        return vec!["event log    none: nothing is known of what was done".to_owned()];
    };
    let mut lines = vec![format!(
        "since {first}, opened {}:",
        counted(history.open_count, "time")
    )];
    lines.push(format!(
        "flushes      {}, {}; ingests {}",
        history.flush_count,
        size(history.flush_bytes),
        size(history.ingest_bytes)
    ));
    lines.push(format!(
        "compactions  {}, wrote {}",
        history.compaction_count,
        size(history.compaction_bytes_total())
    ));
    let mut by_level = String::new();
    for (level, bytes) in &history.compaction_bytes {
        let _ = write!(by_level, " L{level} {}", size(*bytes));
    }
    if !by_level.is_empty() {
        lines.push(format!("  by level  {by_level}").chars().take(COLUMNS).collect());
    }
    let times = history.write_amplification().map_or_else(
        || "not known: nothing came into tables".to_owned(),
        |times| format!("{times:.2} times what came into tables"),
    );
    lines.push(format!("written      {times}"));
    lines.push(format!(
        "stalls       {} stopped, {:.3} s; slowed down {:.3} s",
        counted(history.stall_commits, "commit"),
        seconds(history.stall_us),
        seconds(history.slowdown_us)
    ));
    lines.push(format!("failures     {}", history.failures.len()));
    if let Some(last) = history.failures.last() {
        lines.extend(wrapped("  the last   ", last));
    }
    lines
}

/// A text on two lines of the screen at most.
fn wrapped(before: &str, text: &str) -> Vec<String> {
    let all: Vec<char> = before.chars().chain(escape(text.as_bytes()).chars()).collect();
    let mut lines: Vec<String> = all
        .chunks(COLUMNS)
        .take(2)
        .map(|line| line.iter().collect())
        .collect();
    if all.len() > 2 * COLUMNS
        && let Some(last) = lines.last_mut()
    {
        last.truncate(
            last.char_indices()
                .nth(COLUMNS - 3)
                .map_or(last.len(), |(at, _)| at),
        );
        last.push_str("...");
    }
    lines
}

fn seconds(us: u64) -> f64 {
    std::time::Duration::from_micros(us).as_secs_f64()
}

/// All figures, by the names of [`tephradb::Stats`] where it has them.
fn as_json(stats: &Figures, history: &History) -> Value {
    let levels: Vec<Value> = stats
        .levels
        .iter()
        .enumerate()
        .map(|(number, level)| {
            json!({
                "table_count": level.table_count, "table_bytes": level.table_bytes,
                "live_record_count": level.live_record_count, "dead_record_count": level.dead_record_count,
                "compaction_write_bytes": history.compaction_bytes.get(&(number as u64)),
            })
        })
        .collect();
    json!({
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
        "memtable_bytes": stats.memtable_bytes,
        "log_bytes": stats.log_bytes,
        "manifest_bytes": stats.manifest_bytes,
        "event_log_bytes": stats.event_log_bytes,
        "recovery_dropped_bytes": stats.recovery_dropped_bytes,
        "space_amplification": stats.space_amplification(),
        "event_log": {
            "first": history.first_time,
            "last": history.last_time,
            "unreadable_files": history.unreadable_files,
            "lost_event_count": history.lost_event_count,
            "open_count": history.open_count,
            "flush_count": history.flush_count,
            "flush_bytes": history.flush_bytes,
            "ingested_bytes": history.ingest_bytes,
            "compaction_count": history.compaction_count,
            "compaction_write_bytes": history.compaction_bytes_total(),
            "write_amplification": history.write_amplification(),
            "stall_count": history.stall_commits,
            "stall_seconds": seconds(history.stall_us),
            "slowdown_seconds": seconds(history.slowdown_us),
            "failure_count": history.failures.len(),
            "last_failure": history.failures.last(),
        },
    })
}
