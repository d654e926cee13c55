//! `tephra repair`: what can be read of a damaged database, as a new one.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::{RepairOptions, RepairReport, repair as repair_into};

use crate::escape::printable;
use crate::failure::{Failure, Result};
use crate::figures::grouped;
use crate::files::{check_fresh, check_outside, directory_beside, move_into_place};
use crate::output::{Json, counted, facts};
use crate::progress::Spinner;

const EXAMPLES: &str = "\
Examples:
  tephra repair names --into repaired
  tephra repair names --into all --accept-undeleted

The new database is made beside NEWDIR and gets its name at the end, so an interrupted repair leaves nothing in the way of the next. Exit code 0: all
was taken. 1: the new database is there, and something is lost, set aside or doubtful: each line says what. 3: there is no new database.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
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
    check_fresh("repair", &args.into)?;
    check_outside(&args.into, &args.dir)?;
    let options = RepairOptions::default().accept_undeleted(args.accept_undeleted);
    let made = directory_beside(&args.into)?;
    let spinner = Spinner::new("reading what can be read");
    let repaired = repair_into(&args.dir, made.path(), options);
    spinner.end();
    let report = repaired?;
    move_into_place(made, &args.into)?;
    if args.json.json {
        print_json(&report, out)?;
    } else {
        print(&report, out).map_err(Failure::Output)?;
    }
    if report.is_complete() {
        return Ok(());
    }
    let mut what = Vec::new();
    for (is_so, name) in [
        (!report.lost.is_empty(), "some of it is lost"),
        (!report.set_aside.is_empty(), "tables are set aside"),
        (report.may_undelete(), "deleted keys may be alive again"),
        (!report.problems.is_empty(), "it has traces of what is lost"),
    ] {
        if is_so {
            what.push(name);
        }
    }
    Err(Failure::NotAllRepaired {
        into: args.into.clone(),
        what: what.join(", "),
    })
}

fn print(report: &RepairReport, out: &mut dyn Write) -> std::io::Result<()> {
    for note in &report.notes {
        writeln!(out, "note: {}", printable(&note.to_string()))?;
    }
    for loss in &report.lost {
        writeln!(out, "lost: {}", printable(&loss.to_string()))?;
    }
    for table in &report.undeleted {
        writeln!(out, "undeleted: {table}")?;
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
    )?;
    match (report.lost.len(), report.lost_record_count()) {
        (0, _) => writeln!(out, "not taken: nothing is lost")?,
        (places, Some(records)) => writeln!(
            out,
            "not taken: {} in {}",
            counted(records, "record"),
            counted(places as u64, "place")
        )?,
        (places, None) => writeln!(
            out,
            "not taken: what stood in {}, nobody knows how many records",
            counted(places as u64, "place")
        )?,
    }
    if !report.undeleted.is_empty() {
        let records = report.undeleted.iter().map(|table| table.record_count).sum();
        writeln!(
            out,
            "taken though deletes are lost: {} with {} alive",
            counted(report.undeleted.len() as u64, "table"),
            counted(records, "record")
        )?;
    }
    if !report.set_aside.is_empty() {
        let records = report.set_aside.iter().map(|table| table.record_count).sum();
        writeln!(
            out,
            "left where it is: {} with {}, since deletes in them are lost. With --accept-undeleted they are taken too, and keys deleted in \
             them are alive again",
            counted(report.set_aside.len() as u64, "table"),
            counted(records, "record")
        )?;
    }
    Ok(())
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
            "lost_records": report.lost_record_count(),
            "undeleted": texts(&mut report.undeleted.iter().map(ToString::to_string)),
            "set_aside": texts(&mut report.set_aside.iter().map(ToString::to_string)),
            "notes": report.notes,
            "problems": report.problems,
        }),
    )
}
