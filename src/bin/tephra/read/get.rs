//! `tephra get`: the value of a key.

use std::ffi::OsString;
use std::io::Write;

use clap::Args as ClapArgs;

use crate::database::Place;
use crate::failure::{Failure, Result};
use crate::form::Forms;
use crate::output::{Json, facts, line};

const EXAMPLES: &str = "\
Examples:
  tephra get --db names SNOWMAN
  tephra get --db files --raw photo > photo.jpg
  tephra get --db visits --keyspace counters --value-form number front-page";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Get {
    #[command(flatten)]
    place: Place,
    /// Write the value's bytes as they are, without a line end
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    forms: Forms,
    /// The key
    key: OsString,
}

pub(crate) fn get(args: Get, out: &mut dyn Write) -> Result<()> {
    let key = args.forms.read_key("key", args.key)?;
    let (_db, space) = args.place.open_to_read()?;
    space.check_forms(&args.forms)?;
    let Some(value) = space.get(&key)? else {
        return Err(Failure::NotFound { key });
    };
    if args.raw {
        out.write_all(&value).map_err(Failure::Output)
    } else if args.json.json {
        facts(out, &args.forms.record_as_json(&key, Some(&value))?)
    } else {
        line(out, args.forms.show_value(&key, &value)?)
    }
}
