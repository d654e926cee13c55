//! What most commands share: which database and keyspace, and opening them without the right to change or create.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use tephradb::{Db, Durability, ExistingKeyspace, Options};

use crate::colour::{Colour, on_errors};
use crate::failure::{Failure, Result};
use crate::space::Space;

/// The database of a command.
#[derive(Debug, ClapArgs)]
pub(crate) struct Database {
    /// Directory of the database
    #[arg(long, value_name = "DIR")]
    pub(crate) db: PathBuf,
}

/// The database of a command and a keyspace in it.
#[derive(Debug, ClapArgs)]
pub(crate) struct Place {
    #[command(flatten)]
    pub(crate) database: Database,
    /// A keyspace of it [default: the default keyspace, which is shown as (default)]
    #[arg(long, value_name = "NAME")]
    pub(crate) keyspace: Option<String>,
}

impl Place {
    /// The keyspace's name; the default one's is empty.
    pub(crate) fn name(&self) -> &str {
        self.keyspace.as_deref().unwrap_or("")
    }

    /// Opens database and keyspace, which must exist, for reading alone.
    pub(crate) fn open_to_read(&self) -> Result<(Db, Space)> {
        let db = open_to_read(&self.database.db)?;
        let space = Space::open(&db, self.name())?;
        Ok((db, space))
    }

    /// Opens database and keyspace, which must exist, for writes that are durable when they return.
    pub(crate) fn open_to_write(&self) -> Result<(Db, Space)> {
        let db = open_to_write(&self.database.db)?;
        let space = Space::open(&db, self.name())?;
        Ok((db, space))
    }
}

/// Opens a database that must exist, without the right to change it.
pub(crate) fn open_to_read(path: &Path) -> Result<Db> {
    Ok(Db::open(
        path,
        Options::default().create_if_missing(false).read_only(true),
    )?)
}

/// Bytes of a memtable of commands that write little: they need neither its memory nor room for a long log.
pub(crate) const SMALL_MEMTABLE_BYTES: usize = 1 << 20;

/// Options of a command that writes a few records, durable when it returns, into a database that must exist.
pub(crate) fn small_writes() -> Options {
    Options::default()
        .create_if_missing(false)
        .durability(Durability::Sync)
        .memtable_bytes(SMALL_MEMTABLE_BYTES)
}

/// Opens a database that must exist, for writes that are durable when they return.
pub(crate) fn open_to_write(path: &Path) -> Result<Db> {
    Ok(Db::open(path, small_writes())?)
}

/// Closes after writes that are durable. What failed in the background meanwhile is no failure of theirs, and is told: the next ones may
/// be refused for it.
pub(crate) fn close_written(db: Db) -> Result<()> {
    let closed = db.clone();
    db.close()?;
    if let Some(failure) = closed.stats().last_background_failure {
        let name = on_errors(Colour::Yellow, "tephra:");
        let _ = writeln!(
            io::stderr(),
            "{name} written and durable; but a flush or compaction failed, and writes are refused if that goes on: {failure}"
        );
    }
    Ok(())
}

/// The default keyspace has no name; this stands for it where people read, and is taken for it where they write.
const SHOWN_DEFAULT: &str = "(default)";

/// The keyspace of a name, if there is one. A program may have made one that is really called `(default)`; it comes first.
pub(crate) fn existing_keyspace(db: &Db, name: &str) -> Result<Option<ExistingKeyspace>> {
    Ok(match db.existing_keyspace(name)? {
        None if name == SHOWN_DEFAULT => db.existing_keyspace("")?,
        found => found,
    })
}

/// A keyspace's name for people.
pub(crate) fn shown_name(name: &str) -> String {
    if name.is_empty() {
        SHOWN_DEFAULT.to_owned()
    } else {
        crate::escape::escape(name.as_bytes())
    }
}

/// The failure for a keyspace that is not there.
pub(crate) fn no_keyspace(db: &Db, name: &str) -> Failure {
    let known = db.keyspace_names();
    Failure::NoKeyspace {
        name: name.to_owned(),
        known: known.iter().map(|name| shown_name(name)).take(10).collect(),
        known_count: known.len(),
    }
}
