//! `tephra repair`: what can be read of a damaged database, as a new one.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use tephradb::{RepairOptions, RepairReport, repair as repair_into};

use crate::failure::{Failure, Result};
use crate::figures::grouped;

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
}

pub(crate) fn repair(args: &Repair, out: &mut dyn Write) -> Result<()> {
    let options = RepairOptions::default().accept_undeleted(args.accept_undeleted);
    let report = repair_into(&args.dir, &args.into, options)?;
    print(&report, out).map_err(Failure::Output)?;
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
        writeln!(out, "note: {note}")?;
    }
    for loss in &report.lost {
        writeln!(out, "lost: {loss}")?;
    }
    for table in &report.set_aside {
        writeln!(out, "set aside: {table}")?;
    }
    for problem in &report.problems {
        writeln!(out, "doubtful: {problem}")?;
    }
    writeln!(
        out,
        "taken: {} tables ({} of them made anew) with {} records, {} records of the log; {} keyspaces, {} keys alive",
        grouped(report.table_count as u64),
        grouped(report.rebuilt_table_count as u64),
        grouped(report.table_record_count),
        grouped(report.log_record_count),
        grouped(report.keyspace_count as u64),
        grouped(report.live_key_count),
    )
}
