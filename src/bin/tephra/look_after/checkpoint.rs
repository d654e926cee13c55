//! `tephra checkpoint`: this instant of a database as a database of its own.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::database::{Database, open_to_write};
use crate::failure::Result;
use crate::output::{Json, facts};
use crate::progress::Spinner;

const EXAMPLES: &str = "\
Examples:
  tephra checkpoint --db names /backup/names-monday

Tables are linked, not copied, where both directories are on one file system: a checkpoint takes hardly any room there, and is as
safe from a failing disk as its original. Copy it elsewhere for a backup, or write a dump.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Checkpoint {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
    /// Directory of the copy; must not exist, or be empty
    #[arg(value_name = "COPY")]
    target: PathBuf,
}

pub(crate) fn checkpoint(args: &Checkpoint, out: &mut dyn Write) -> Result<()> {
    let db = open_to_write(&args.database.db)?;
    let spinner = Spinner::new("making a checkpoint");
    let made = db.checkpoint(&args.target);
    spinner.end();
    made?;
    db.close()?;
    if args.json.json {
        facts(out, &json!({ "checkpoint": args.target.display().to_string() }))?;
    }
    Ok(())
}
