//! Commands that change records. They want a database that exists, unless told `--create`.

use std::ffi::OsString;

use clap::Args as ClapArgs;
use tephradb::{Db, Durability, Options};

use crate::database::{Database, Escaped, bytes_of};
use crate::failure::Result;

#[derive(Debug, ClapArgs)]
pub(crate) struct Put {
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// Create the database if there is none
    #[arg(long)]
    pub(crate) create: bool,
    /// The key
    pub(crate) key: OsString,
    /// The value
    pub(crate) value: OsString,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// The key
    pub(crate) key: OsString,
}

pub(crate) fn put(args: Put) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let value = bytes_of("value", args.value, &args.escaped)?;
    let options = Options::default()
        .create_if_missing(args.create)
        .durability(Durability::Sync);
    let db = Db::open(&args.database.db, options)?;
    db.put(key, value)?;
    Ok(db.close()?)
}

pub(crate) fn delete(args: Delete) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let options = Options::default()
        .create_if_missing(false)
        .durability(Durability::Sync);
    let db = Db::open(&args.database.db, options)?;
    db.delete(key)?;
    Ok(db.close()?)
}
