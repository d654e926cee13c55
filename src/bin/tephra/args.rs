//! The command line, as types. Comments on commands and options are their help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

const AFTER_HELP: &str = "\
Bytes as text: keys and values are printed as they are where they are printable UTF-8; a backslash, a control
character and every byte that is not UTF-8 is printed as \\\\, \\t, \\n, \\r or \\xNN. Arguments and files are taken byte
for byte; with --escaped they are read in the printed form, so that what `scan` prints can be loaded again.

Exit codes:
  0  done
  1  the answer is no: `get` found no such key, `verify` found damage, a claim of `demo` did not hold, `stress` found a promise
     broken
  2  the command line is wrong
  3  a database, a file or standard output refused: the message says which and why";

/// An embedded, ordered key-value store, from the command line.
#[derive(Debug, Parser)]
#[command(name = "tephra", version, after_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows the whole store at work on real data, and checks every answer
    Demo(Demo),
    /// Puts every line of a file, KEY TAB VALUE, creating the database if there is none
    ///
    /// The file is checked before anything is written: a line without a TAB is an error with its number. Only the first
    /// TAB of a line separates. Of lines with the same key the last one wins.
    Load(Load),
    /// Prints the value of a key
    Get(Get),
    /// Prints keys and values in key order, KEY TAB VALUE
    Scan(Scan),
    /// Sets the value of a key; durable when it returns
    Put(Put),
    /// Removes a key, whether it is there or not; durable when it returns
    Delete(Delete),
    /// Reads and checks everything: checksums, order, directories, filters, counts
    Verify(Verify),
    /// Prints numbers about the database
    Stats(Stats),
    /// Runs the store on machines that fail, and checks that nothing promised is lost
    Stress(Stress),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Directory of the demo's database; must not exist, or be empty [default: a fresh temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) db: Option<PathBuf>,
    /// File of names, KEY TAB VALUE [default: data/unicode-names.tsv here or in the source tree]
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
}

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

#[derive(Debug, ClapArgs)]
pub(crate) struct Load {
    /// File of lines, KEY TAB VALUE
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// Size of a memtable in KiB: smaller ones flush more and smaller tables
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memtable_kib: Option<u32>,
}

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

#[derive(Debug, ClapArgs)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) database: Database,
}

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("machine").required(true).args(["simulate", "every_call", "kill", "child"]))]
pub(crate) struct Stress {
    /// Random histories on simulated machines that lose power and fail; one seed is one history
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Small histories on such machines, in which every call of the file system crashes and fails in turn, two recoveries deep
    #[arg(long)]
    pub(crate) every_call: bool,
    /// Processes that write to a real directory and are killed
    #[arg(long)]
    pub(crate) kill: bool,
    /// Number of histories
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) seeds: u64,
    /// Seed of the first history, or of the moments to kill at
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) from: u64,
    /// Number of processes to kill
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: u64,
    /// Directory of the database that the processes write to; must not exist, or be empty [default: a temporary one]
    #[arg(conflicts_with_all = ["simulate", "every_call", "child"])]
    pub(crate) dir: Option<PathBuf>,
    /// A process that writes until it is killed
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) child: Option<PathBuf>,
    /// Plants a fault that must be found, to see the check at work: the file system lies about synced directories
    #[arg(long, hide = true)]
    pub(crate) skip_directory_syncs: bool,
}
