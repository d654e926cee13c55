//! The command line as a type: every command by its name. The options of a command stand beside the code that runs it.
//!
//! Comments on commands and options are their help texts.

use clap::{Parser, Subcommand};

use crate::demo::Demo;
use crate::load::Load;
use crate::look_after::{Repair, Stats, Verify};
use crate::read::{Get, Scan};
use crate::stress::Stress;
use crate::write::{Delete, Put};

const AFTER_HELP: &str = "\
Bytes as text: keys and values are printed as they are where they are printable UTF-8; a backslash, a control
character and every byte that is not UTF-8 is printed as \\\\, \\t, \\n, \\r or \\xNN. Arguments and files are taken byte
for byte; with --escaped they are read in the printed form, so that what `scan` prints can be loaded again.

Exit codes:
  0  done
  1  the answer is no: `get` found no such key, `verify` found damage, `repair` lost something, a claim of `demo` did not hold, `stress` found a promise
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
    /// Makes a new database of what can be read of a damaged one, and says what is lost
    Repair(Repair),
    /// Prints numbers about the database
    Stats(Stats),
    /// Runs the store on machines that fail, and checks that nothing promised is lost
    Stress(Stress),
}
