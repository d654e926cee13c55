//! `tephra merge`: adds an operand to a key of a keyspace that composes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::database::{Place, close_written};
use crate::failure::Result;
use crate::form::Forms;

const EXAMPLES: &str = "\
Examples:
  tephra keyspaces create --db visits counters --law add-u64 --value-width 8
  tephra merge --db visits --keyspace counters --value-form number front-page 1
  tephra get   --db visits --keyspace counters --value-form number front-page";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Merge {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    forms: Forms,
    /// The key
    key: OsString,
    /// What its keyspace's law composes with what is there: a number to add, bytes to append
    #[arg(required_unless_present = "value_file", conflicts_with = "value_file")]
    operand: Option<OsString>,
    /// Take the operand from a file, byte for byte in the plain form; - for standard input
    #[arg(long, value_name = "FILE")]
    value_file: Option<PathBuf>,
}

pub(crate) fn merge(args: Merge) -> Result<()> {
    let key = args.forms.read_key("key", args.key)?;
    let operand = args
        .forms
        .read_value_from("operand", args.operand, args.value_file.as_deref())?;
    let (db, space) = args.place.open_to_write()?;
    space.check_forms(&args.forms)?;
    space.merge(&key, &operand)?;
    close_written(db)
}
