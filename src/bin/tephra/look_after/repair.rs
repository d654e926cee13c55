//! `tephra repair`: what can be read of a damaged database, as a new one.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::{RepairOptions, RepairReport, repair as repair_into};

use crate::escape::printable;
use crate::failure::{Failure, Result};
use crate::figures::grouped;
use crate::output::{Json, counted, facts};

#[derive(Debug, ClapArgs)]
pub(crate) struct Repair {
    /// Directory of the damaged database; it is not changed
    pub(crate) dir: PathBuf,
    /// Directory of the new database; must not exist, or be empty
    #[arg(long, value_name = "NEWDIR")]
    pub(crate) into: PathBuf,
    /// Also take tables whose deleted records are not all known: keys deleted in them are alive again. Those that no manifest names become
    /// keyspaces of their own
    #[arg(long)]
    pub(crate) accept_undeleted: bool,
    #[command(flatten)]
    pub(crate) json: Json,
}

pub(crate) fn repair(args: &Repair, out: &mut dyn Write) -> Result<()> {
    let options = RepairOptions::default().accept_undeleted(args.accept_undeleted);
    let report = repair_into(&args.dir, &args.into, options)?;
    if args.json.json {
        print_json(&report, out)?;
    } else {
        print(&report, out).map_err(Failure::Output)?;
    }
    if report.is_complete() {
        return Ok(());
    }
    Err(Failure::NotAllRepaired {
        into: args.into.clone(),
        count: report.lost.len() + report.set_aside.len() + report.problems.len(),
    })
}

fn print(report: &RepairReport, out: &mut dyn Write) -> std::io::Result<()> {
    for note in &report.notes {
        writeln!(out, "note: {}", printable(&note.to_string()))?;
    }
    for loss in &report.lost {
        writeln!(out, "lost: {}", printable(&loss.to_string()))?;
    }
    for table in &report.set_aside {
        writeln!(out, "set aside: {}", printable(&table.to_string()))?;
    }
    for problem in &report.problems {
        writeln!(out, "doubtful: {}", printable(&problem.to_string()))?;
    }
    writeln!(
        out,
        "taken: {} ({} of them made anew) with {}, {} of the log; {}, {} alive",
        counted(report.table_count as u64, "table"),
        grouped(report.rebuilt_table_count as u64),
        counted(report.table_record_count, "record"),
        counted(report.log_record_count, "record"),
        counted(report.keyspace_count as u64, "keyspace"),
        counted(report.live_key_count, "key"),
    )
}

fn print_json(report: &RepairReport, out: &mut dyn Write) -> Result<()> {
    let texts = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
    facts(
        out,
        &json!({
            "is_complete": report.is_complete(),
            "may_undelete": report.may_undelete(),
            "keyspaces": report.keyspace_count,
            "tables": report.table_count,
            "rebuilt_tables": report.rebuilt_table_count,
            "table_records": report.table_record_count,
            "log_records": report.log_record_count,
            "live_keys": report.live_key_count,
            "lost": texts(&mut report.lost.iter().map(ToString::to_string)),
            "set_aside": texts(&mut report.set_aside.iter().map(ToString::to_string)),
            "notes": report.notes,
            "problems": report.problems,
        }),
    )
}
