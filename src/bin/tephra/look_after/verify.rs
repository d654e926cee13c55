//! `tephra verify`: reads and checks everything.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::database::{Database, open_to_read};
use crate::escape::escape;
use crate::failure::{Failure, Result};
use crate::figures::grouped;

#[derive(Debug, ClapArgs)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) database: Database,
}

pub(crate) fn verify(args: &Verify, out: &mut dyn Write) -> Result<()> {
    let report = match open_to_read(&args.database.db).and_then(|db| Ok(db.verify()?)) {
        Ok(report) => report,
        // Damage that keeps the database from being opened is what was looked for, not a refusal.
        Err(Failure::Database(damage)) if is_damage(&damage) => {
            writeln!(out, "wrong: {damage}").map_err(Failure::Output)?;
            return Err(Failure::Unsound { problem_count: 1 });
        }
        Err(failure) => return Err(failure),
    };
    for problem in &report.problems {
        writeln!(out, "wrong: {problem}").map_err(Failure::Output)?;
    }
    for file in &report.leftover_files {
        writeln!(
            out,
            "note: {file} is left of work that was cut short; the next open for writing removes it"
        )
        .map_err(Failure::Output)?;
    }
    for file in &report.foreign_files {
        writeln!(
            out,
            "note: {} is no part of the database",
            escape(file.as_bytes())
        )
        .map_err(Failure::Output)?;
    }
    if !report.is_sound() {
        return Err(Failure::Unsound {
            problem_count: report.problems.len(),
        });
    }
    writeln!(
        out,
        "sound: {} tables, {} records ({} of them dead), {} keys alive",
        grouped(report.table_count as u64),
        grouped(report.record_count),
        grouped(report.dead_record_count),
        grouped(report.live_key_count),
    )
    .map_err(Failure::Output)
}

/// Whether an error says that bytes of the database are wrong, rather than that they cannot be had.
fn is_damage(error: &tephradb::Error) -> bool {
    matches!(
        error,
        tephradb::Error::Damaged { .. }
            | tephradb::Error::Table { .. }
            | tephradb::Error::Inconsistent { .. }
    )
}
