//! What most commands share: which database, how arguments are read, and opening without the right to change.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use tephradb::{Db, Options};

use crate::escape::unescape;
use crate::failure::{Failure, Result};

/// The database of a command.
#[derive(Debug, ClapArgs)]
pub(crate) struct Database {
    /// Directory of the database
    #[arg(long, value_name = "DIR")]
    pub(crate) db: PathBuf,
}

/// How arguments are read.
#[derive(Debug, ClapArgs)]
pub(crate) struct Escaped {
    /// Read backslash escapes in keys and values: \\, \t, \n, \r, \xNN
    #[arg(long, short = 'e')]
    pub(crate) escaped: bool,
}

/// Opens a database that must exist, without the right to change it.
pub(crate) fn open_to_read(path: &Path) -> Result<Db> {
    Ok(Db::open(
        path,
        Options::default().create_if_missing(false).read_only(true),
    )?)
}

/// The bytes an argument stands for.
pub(crate) fn bytes_of(what: &'static str, argument: OsString, escaped: &Escaped) -> Result<Vec<u8>> {
    let bytes = argument.into_encoded_bytes();
    if !escaped.escaped {
        return Ok(bytes);
    }
    unescape(&bytes).map_err(|source| Failure::Argument {
        what,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        source,
    })
}
