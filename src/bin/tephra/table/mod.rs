//! `tephra table`: one table file, without a database.
//!
//! ```text
//! info      what it says of itself, and where its bytes go
//! keys      its keys in order, with a flag its values
//! verify    every page, every frame, every section; names what is wrong
//! anatomy   the bytes of one block, each with its meaning, and how the directory leads there
//! ```
//!
//! The file is mapped and read, never written. Nobody else need have let go of it.

mod anatomy;
mod info;
mod paint;
mod show;
mod verify;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};
use tephradb::tables::{Bit, Byte, KeyCursor, TableError, Unit};
use tephradb::vfs::{FileBytes, FileSystem as _, StdFs};

use crate::failure::{Failure, Result};
use show::{text_of, units};

pub(crate) use info::false_positive_rate;

#[derive(Debug, ClapArgs)]
pub(crate) struct Table {
    #[command(subcommand)]
    command: TableCommand,
}

#[derive(Debug, Subcommand)]
enum TableCommand {
    /// Prints what a table says of itself, and where its bytes go
    Info(Info),
    /// Prints all keys in order, one a line, escaped
    Keys(Keys),
    /// Checks every page, frame and section, and names what is wrong
    Verify(Verify),
    /// Explains the bytes of one block, and how the directory leads to it
    ///
    /// Every control, retained prefix, literal and value is marked. Offsets count units (bytes, or bits of a table of bit strings)
    /// from the start of the payload. The format is specified in sstable/FORMAT.md.
    Anatomy(Anatomy),
}

#[derive(Debug, ClapArgs)]
struct Info {
    /// The table file
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, ClapArgs)]
struct Keys {
    /// The table file
    file: PathBuf,
    /// Print values too, KEY TAB VALUE
    #[arg(long)]
    values: bool,
}

#[derive(Debug, ClapArgs)]
struct Verify {
    /// The table file
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, ClapArgs)]
struct Anatomy {
    /// The table file
    file: PathBuf,
    /// Number of the block, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    block: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Table, out: &mut dyn Write) -> Result<()> {
    match &args.command {
        TableCommand::Info(info) => match open(&info.file)? {
            AnyTable::Byte(table) => info::run(&table, info.json, out),
            AnyTable::Bit(table) => info::run(&table, info.json, out),
        },
        TableCommand::Keys(keys) => match open(&keys.file)? {
            AnyTable::Byte(table) => print_keys(&table, keys, out),
            AnyTable::Bit(table) => print_keys(&table, keys, out),
        },
        TableCommand::Verify(verify) => verify::run(&verify.file, verify.json, out),
        TableCommand::Anatomy(anatomy) => match open(&anatomy.file)? {
            AnyTable::Byte(table) => anatomy::run(&table, anatomy, out),
            AnyTable::Bit(table) => anatomy::run(&table, anatomy, out),
        },
    }
}

type OpenTable<U> = tephradb::tables::Table<FileBytes, U>;

/// A table of either unit.
enum AnyTable {
    Byte(OpenTable<Byte>),
    Bit(OpenTable<Bit>),
}

/// Where the header names the unit, and what it says of bits.
const UNIT_OFFSET: usize = 12;
const UNIT_BIT: u8 = 1;

fn map(path: &Path) -> Result<FileBytes> {
    let mapped = StdFs::new().open_map(path);
    mapped.map_err(|error| Failure::Database(tephradb::Error::from(error)))
}

fn try_open(bytes: FileBytes) -> std::result::Result<AnyTable, TableError> {
    if bytes.get(UNIT_OFFSET) == Some(&UNIT_BIT) {
        tephradb::tables::Table::open(bytes).map(AnyTable::Bit)
    } else {
        tephradb::tables::Table::open(bytes).map(AnyTable::Byte)
    }
}

fn open(path: &Path) -> Result<AnyTable> {
    try_open(map(path)?).map_err(|source| refused(path, source))
}

fn refused(path: &Path, source: TableError) -> Failure {
    Failure::Table {
        path: path.to_path_buf(),
        source,
    }
}

/// An error of the stream as one of the table.
fn stream_error(path: &Path, error: tephradb::tables::FormatError) -> Failure {
    refused(
        path,
        TableError::Stream {
            section: tephradb::tables::TableSection::Payload,
            offset: 0,
            error,
        },
    )
}

fn print_keys<U: Unit>(table: &OpenTable<U>, args: &Keys, out: &mut dyn Write) -> Result<()> {
    let view = table.encoded().map_err(|source| refused(&args.file, source))?;
    let mut cursor = KeyCursor::<U>::new(view).map_err(|error| stream_error(&args.file, error))?;
    while cursor.next().map_err(|error| stream_error(&args.file, error))? {
        let key = text_of::<U>(&units::<U>(cursor.key()));
        let printed = if args.values {
            writeln!(out, "{key}\t{}", text_of::<U>(&units::<U>(cursor.value())))
        } else {
            writeln!(out, "{key}")
        };
        printed.map_err(Failure::Output)?;
    }
    Ok(())
}
