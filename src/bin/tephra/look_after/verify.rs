//! `tephra verify`: reads and checks everything.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::VerifyReport;

use crate::colour::{Colour, on_output};
use crate::database::{Database, open_to_read};
use crate::escape::{escape, printable};
use crate::failure::{Failure, Result};
use crate::figures::grouped;
use crate::output::{Json, counted, facts, line};
use crate::progress::Spinner;

const EXAMPLES: &str = "\
Examples:
  tephra verify --db names && echo sound
  tephra verify --db names --json

Exit code 0: sound. 1: damaged; each problem names its file, and `tephra repair` is what comes next. 3: it could not be looked at.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn verify(args: &Verify, out: &mut dyn Write) -> Result<()> {
    let spinner = Spinner::new("reading and checking everything");
    let outcome = open_to_read(&args.database.db).and_then(|db| Ok(db.verify()?));
    spinner.end();
    let report = match outcome {
        Ok(report) => report,
        // Damage that keeps the database from being opened is what was looked for, not a refusal.
        Err(Failure::Database(damage)) if damage.is_damage() => {
            let mut report = VerifyReport::default();
            report.problems.push(damage.to_string());
            report
        }
        Err(failure) => return Err(failure),
    };
    if args.json.json {
        print_json(&report, out)?;
    } else {
        print(&report, out)?;
    }
    match report.problems.len() {
        0 => Ok(()),
        problem_count => Err(Failure::Unsound {
            problem_count,
            db: args.database.db.clone(),
        }),
    }
}

fn print(report: &VerifyReport, out: &mut dyn Write) -> Result<()> {
    for problem in &report.problems {
        line(
            out,
            format_args!("{} {}", on_output(Colour::Red, "wrong:"), printable(problem)),
        )?;
    }
    let note = on_output(Colour::Yellow, "note:");
    for file in &report.leftover_files {
        line(
            out,
            format_args!(
                "{note} {file} is left of work that was cut short; the next open for writing removes it"
            ),
        )?;
    }
    for file in &report.foreign_files {
        line(
            out,
            format_args!("{note} {} is no part of the database", escape(file.as_bytes())),
        )?;
    }
    if report.uncomposed_key_count > 0 {
        let keys = counted(report.uncomposed_key_count, "key");
        line(
            out,
            format_args!(
                "{note} {keys} whose value a law must compose that is not known here, or failed: records checked, values not"
            ),
        )?;
    }
    if !report.is_sound() {
        return Ok(());
    }
    line(
        out,
        format_args!(
            "{} {}, {} ({} of them dead), {} alive",
            on_output(Colour::Green, "sound:"),
            counted(report.table_count as u64, "table"),
            counted(report.record_count, "record"),
            grouped(report.dead_record_count),
            counted(report.live_key_count, "key"),
        ),
    )
}

fn print_json(report: &VerifyReport, out: &mut dyn Write) -> Result<()> {
    let foreign: Vec<String> = report
        .foreign_files
        .iter()
        .map(|file| escape(file.as_bytes()))
        .collect();
    facts(
        out,
        &json!({
            "is_sound": report.is_sound(),
            "problems": report.problems,
            "leftover_files": report.leftover_files,
            "foreign_files": foreign,
            "tables": report.table_count,
            "records": report.record_count,
            "dead_records": report.dead_record_count,
            "live_keys": report.live_key_count,
            "uncomposed_keys": report.uncomposed_key_count,
        }),
    )
}
