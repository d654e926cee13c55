//! `tephra report`: one page about a database, for whoever looks after it.
//!
//! ```text
//! Db (read only) ── facts ──> Facts ──> advice    what to change, rule by rule
//!                  history ──┘  │
//!                               ├──> page      one self-contained HTML file: no scripts, nothing fetched
//!                               └──> json      the same facts
//! ```
//!
//! The database is opened for reading only; the page is written anywhere but into it. Names of keyspaces are anybody's text: everything
//! that reaches the page goes through `page/text.rs`.

mod advice;
mod facts;
pub(crate) mod history;
mod json;
mod output;
mod page;

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::database::open_to_read;
use crate::escape::shown;
use crate::failure::{Failure, Result};
use crate::files::{check_outside, is_standard};

#[derive(Debug, ClapArgs)]
pub(crate) struct Report {
    /// Directory of the database
    dir: PathBuf,
    /// File to write the page to, which is replaced if it is there; - for standard output
    #[arg(long, short, value_name = "FILE", required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Print the facts as JSON instead, or write them to the file
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Report, out: &mut dyn Write) -> Result<()> {
    // A name for standard output is no file.
    let output = args.output.as_deref().filter(|path| !is_standard(path));
    if let Some(path) = output {
        check_outside(path, &args.dir)?;
    }
    let db = open_to_read(&args.dir)?;
    let facts = facts::Facts::gather(&db, &args.dir)?;
    let advice = advice::advise(&facts);
    let text = if args.json {
        json::render(&facts, &advice)
    } else {
        page::render(&facts, &advice)
    };
    match output {
        None => out.write_all(text.as_bytes()).map_err(Failure::Output),
        Some(path) => {
            output::write(path, text.as_bytes())?;
            writeln!(
                out,
                "{} bytes to {}",
                crate::figures::grouped(text.len() as u64),
                shown(path)
            )
            .map_err(Failure::Output)
        }
    }
}
