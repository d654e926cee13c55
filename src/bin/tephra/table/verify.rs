//! `tephra table verify`: every page first, then everything that pages cannot tell.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use tephradb::tables::Unit;

use super::{AnyTable, OpenTable, map, try_open};
use crate::escape::printable;
use crate::failure::{Failure, Result};
use crate::output::{counted, page_of_facts};

/// What was found.
struct Findings {
    problems: Vec<String>,
    record_count: u64,
    checked_len_bytes: u64,
}

pub(super) fn run(path: &Path, as_json: bool, out: &mut dyn Write) -> Result<()> {
    let findings = match try_open(map(path)?) {
        Ok(AnyTable::Byte(table)) => check(&table),
        Ok(AnyTable::Bit(table)) => check(&table),
        Err(error) => Findings {
            problems: vec![error.to_string()],
            record_count: 0,
            checked_len_bytes: 0,
        },
    };
    let is_sound = findings.problems.is_empty();
    if as_json {
        let report = json!({
            "file": path.to_string_lossy(),
            "sound": is_sound,
            "problems": findings.problems,
            "records": findings.record_count,
            "checked_bytes": findings.checked_len_bytes,
        });
        write!(out, "{}", page_of_facts(&report)).map_err(Failure::Output)?;
    } else {
        for problem in &findings.problems {
            writeln!(out, "wrong: {}", printable(problem)).map_err(Failure::Output)?;
        }
        if is_sound {
            writeln!(
                out,
                "sound: {}, {} under checksums",
                counted(findings.record_count, "record"),
                counted(findings.checked_len_bytes, "byte")
            )
            .map_err(Failure::Output)?;
        }
    }
    if is_sound {
        return Ok(());
    }
    Err(Failure::UnsoundTable {
        path: path.to_path_buf(),
        problem_count: findings.problems.len(),
    })
}

fn check<U: Unit>(table: &OpenTable<U>) -> Findings {
    let mut findings = Findings {
        problems: table.damaged_pages().iter().map(ToString::to_string).collect(),
        record_count: table.record_count(),
        checked_len_bytes: 0,
    };
    if findings.problems.is_empty() {
        match table.verify() {
            Ok(report) => findings.checked_len_bytes = report.checked_len_bytes,
            Err(error) => findings.problems.push(error.to_string()),
        }
    }
    findings
}
