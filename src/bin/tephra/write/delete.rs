//! `tephra delete` and `tephra delete-range`: remove keys.

use std::ffi::OsString;

use clap::Args as ClapArgs;

use crate::database::{Place, close_written};
use crate::failure::{Failure, Result};
use crate::form::Forms;
use crate::span::SpanArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct Delete {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    forms: Forms,
    /// The key
    key: OsString,
}

pub(crate) fn delete(args: Delete) -> Result<()> {
    let key = args.forms.read_key("key", args.key)?;
    let (db, space) = args.place.open_to_write()?;
    space.check_forms(&args.forms)?;
    space.delete(&key)?;
    close_written(db)
}

const EXAMPLES: &str = "\
Examples:
  tephra delete-range --db events --to 2024-01-01        everything before that day
  tephra delete-range --db users --prefix tenant/17/
  tephra delete-range --db events --keyspace old --all   the whole keyspace, which stays, empty";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DeleteRange {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    span: SpanArgs,
    /// All keys of the keyspace; needed where no bound is given
    #[arg(long, conflicts_with_all = ["prefix", "from", "to"])]
    all: bool,
    #[command(flatten)]
    forms: Forms,
}

pub(crate) fn delete_range(args: DeleteRange) -> Result<()> {
    if !args.all && !args.span.bounds_anything() {
        return Err(Failure::Usage {
            reason: "name a range by --prefix, --from or --to, or say --all".into(),
        });
    }
    let span = args.span.read(&args.forms)?;
    let (db, space) = args.place.open_to_write()?;
    space.check_forms(&args.forms)?;
    space.delete_range(&span)?;
    close_written(db)
}
