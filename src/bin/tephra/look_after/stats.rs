//! `tephra stats`: numbers about a database.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::database::{Database, open_to_read};
use crate::failure::{Failure, Result};
use crate::figures::{grouped, ratio};

#[derive(Debug, ClapArgs)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) database: Database,
}

pub(crate) fn stats(args: &Stats, out: &mut dyn Write) -> Result<()> {
    let db = open_to_read(&args.database.db)?;
    let stats = db.stats();
    let levels: Vec<String> = stats.level_table_counts.iter().map(ToString::to_string).collect();
    let levels = if levels.is_empty() {
        "-".to_owned()
    } else {
        levels.join(", ")
    };
    let record_count = stats.live_record_count + stats.dead_record_count;
    let rows = [
        ("keyspaces", grouped(stats.keyspace_count as u64)),
        ("tables", grouped(stats.table_count as u64)),
        ("tables by level", levels),
        ("table bytes", grouped(stats.table_bytes)),
        ("records in tables, alive", grouped(stats.live_record_count)),
        ("records in tables, dead", grouped(stats.dead_record_count)),
        ("table bytes a record", ratio(stats.table_bytes, record_count)),
        ("entries in memtables", grouped(stats.memtable_entry_count as u64)),
        ("deletes among them", grouped(stats.memtable_delete_count as u64)),
        ("log bytes", grouped(stats.log_bytes)),
        (
            "log bytes dropped as never completed",
            grouped(stats.recovery_dropped_bytes),
        ),
    ];
    for (name, figure) in rows {
        writeln!(out, "{name:<38} {figure:>16}").map_err(Failure::Output)?;
    }
    Ok(())
}
