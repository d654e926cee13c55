//! Commands that read records. They open a database for reading only: nothing is written, nothing is created.

use std::ffi::OsString;
use std::io::Write;
use std::ops::Bound;

use clap::Args as ClapArgs;

use crate::database::{Database, Escaped, bytes_of, open_to_read};
use crate::escape::escape;
use crate::failure::{Failure, Result};

#[derive(Debug, ClapArgs)]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// Write the value's bytes as they are, without a line end
    #[arg(long)]
    pub(crate) raw: bool,
    /// The key
    pub(crate) key: OsString,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// Only keys that start with this
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<OsString>,
    /// Only this key and those behind it
    #[arg(long, value_name = "KEY")]
    pub(crate) from: Option<OsString>,
    /// Only keys before this one
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<OsString>,
    /// From the last key to the first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

pub(crate) fn get(args: Get, out: &mut dyn Write) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let db = open_to_read(&args.database.db)?;
    let Some(value) = db.get(&key)? else {
        return Err(Failure::NotFound { key });
    };
    if args.raw {
        out.write_all(&value).map_err(Failure::Output)
    } else {
        writeln!(out, "{}", escape(&value)).map_err(Failure::Output)
    }
}

pub(crate) fn scan(args: Scan, out: &mut dyn Write) -> Result<()> {
    let bound =
        |what, argument: Option<OsString>| argument.map(|a| bytes_of(what, a, &args.escaped)).transpose();
    let prefix = bound("prefix", args.prefix)?;
    let from = bound("start", args.from)?;
    let to = bound("end", args.to)?;
    let db = open_to_read(&args.database.db)?;
    let range = match prefix {
        Some(prefix) => db.prefix(prefix),
        None => db.range((
            from.map_or(Bound::Unbounded, Bound::Included),
            to.map_or(Bound::Unbounded, Bound::Excluded),
        )),
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let items: Box<dyn Iterator<Item = _>> = if args.reverse {
        Box::new(range.rev())
    } else {
        Box::new(range)
    };
    for item in items.take(limit) {
        let (key, value) = item?;
        writeln!(out, "{}\t{}", escape(&key), escape(&value)).map_err(Failure::Output)?;
    }
    Ok(())
}
