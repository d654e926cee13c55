//! `tephra put`: sets the value of a key.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use tephradb::{Db, KeyspaceOptions};

use crate::database::{Place, close_written, existing_keyspace, small_writes};
use crate::failure::Result;
use crate::form::Forms;
use crate::space::Space;

const EXAMPLES: &str = "\
Examples:
  tephra put --db names 'A KEY' 'a value'
  tephra put --db names --hex 00ff 68656c6c6f
  tephra put --db new --create first 1
  tephra put --db files photo --value-file photo.jpg
  date | tephra put --db names today --value-file -";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Put {
    #[command(flatten)]
    place: Place,
    /// Create database and keyspace, with default settings, if there are none
    #[arg(long)]
    create: bool,
    #[command(flatten)]
    forms: Forms,
    /// The key
    key: OsString,
    /// The value
    #[arg(required_unless_present = "value_file", conflicts_with = "value_file")]
    value: Option<OsString>,
    /// Take the value from a file, byte for byte in the plain form; - for standard input
    #[arg(long, value_name = "FILE")]
    value_file: Option<PathBuf>,
}

pub(crate) fn put(args: Put) -> Result<()> {
    let key = args.forms.read_key("key", args.key)?;
    let value = args
        .forms
        .read_value_from("value", args.value, args.value_file.as_deref())?;
    let (db, space) = if args.create {
        open_or_create(&args.place)?
    } else {
        args.place.open_to_write()?
    };
    space.check_forms(&args.forms)?;
    space.put(&key, &value)?;
    close_written(db)
}

fn open_or_create(place: &Place) -> Result<(Db, Space)> {
    let db = Db::open(&place.database.db, small_writes().create_if_missing(true))?;
    if existing_keyspace(&db, place.name())?.is_none() {
        db.keyspace(place.name(), KeyspaceOptions::default())?;
    }
    let space = Space::open(&db, place.name())?;
    Ok((db, space))
}
