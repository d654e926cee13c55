//! The command line as a type: every command by its name. The options of a command stand beside the code that runs it.
//!
//! Comments on commands and options are their help texts.

use clap::{Parser, Subcommand};

use crate::bench::Bench;
use crate::completions::Completions;
use crate::demo::Demo;
use crate::dump::{Dump, Restore};
use crate::load::Load;
use crate::look_after::{Checkpoint, Compact, Keyspaces, Repair, Stats, Verify};
use crate::read::{Count, Get, Scan};
use crate::report::Report;
use crate::simulate::Simulate;
use crate::stress::Stress;
use crate::table::Table;
use crate::write::{Delete, DeleteRange, Merge, Put};

const AFTER_HELP: &str = "\
A first walk:
  tephra demo                                        the store at work on real data, every answer checked
  tephra load people.csv --db people --key id        a CSV file becomes a database
  tephra scan --db people --limit 5
  tephra stats --db people
`tephra COMMAND --help` explains each command, with examples.

Bytes as text: keys and values are printed as they are where they are printable UTF-8; a backslash, a
control character and every byte that is not UTF-8 is printed as \\\\, \\t, \\n, \\r or \\xNN. Arguments and files are
taken byte for byte; with --escaped they are read in the printed form, so that what `scan` prints can be
loaded again. --hex and --base64 read and print those forms instead. Keyspaces of bit strings take and
print 0s and 1s.

With --json the strings are the bytes themselves where these are UTF-8; others stand in hexadecimal digits in
fields `key_hex` and `value_hex`, which `load --format jsonl` reads.

Nothing is written by surprise: `get`, `scan`, `count`, `dump`, `verify`, `stats` and `keyspaces list` open
a database for reading only; only `load`, `put --create`, `keyspaces create`, `checkpoint`, `restore`,
`repair`, `bench` and `demo` ever make one. Answers go to standard output, everything else to standard
error; colours and progress bars show on a terminal alone, and NO_COLOR turns colours off.

Exit codes:
  0    done
  1    the answer is no: `get` found no such key, `verify` found damage, `repair` lost something, a claim
       of `demo` or `bench` did not hold, `stress` found a promise broken
  2    the command line is wrong: an option, an argument or their combination
  3    a database, a file or standard output refused, or holds or lacks what the command needs: the message says
       which and why
  130  interrupted: nothing half-made is left; what `compact` and `load` had finished stays
  141  standard output was closed before everything was written (`| head`); nothing is said";

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
    /// Puts the records of a TSV, CSV or JSON-lines file, creating database and keyspace if there are none
    ///
    /// All of the input is checked before anything is written: a line that is no record is an error with its number. Of records with the
    /// same key the last one wins; with --merge they are merged, in order.
    Load(Load),
    /// Writes everything in a database to one file: exact, checked, with an end mark
    Dump(Dump),
    /// Makes a new database of a dump, whole or not at all
    Restore(Restore),
    /// Prints the value of a key
    Get(Get),
    /// Prints keys and values in key order, KEY TAB VALUE
    Scan(Scan),
    /// Counts keys
    Count(Count),
    /// Sets the value of a key; durable when it returns
    Put(Put),
    /// Removes a key, whether it is there or not; durable when it returns
    Delete(Delete),
    /// Removes all keys of a range, at the cost of one; durable when it returns
    DeleteRange(DeleteRange),
    /// Composes an operand with a key's value, by the law of its keyspace; durable when it returns
    Merge(Merge),
    /// Lists, creates and drops keyspaces
    Keyspaces(Keyspaces),
    /// Shows a database on one screen: levels, live and dead records, memory
    Stats(Stats),
    /// Merges tables now; Ctrl-C ends it cleanly
    Compact(Compact),
    /// Makes this instant of a database a database of its own
    Checkpoint(Checkpoint),
    /// Reads and checks everything: checksums, order, directories, filters, counts
    Verify(Verify),
    /// Makes a new database of what can be read of a damaged one, and says what is lost
    Repair(Repair),
    /// Writes one page about a database: levels, amplification, filters, timeline, and what to change
    ///
    /// The page holds everything it needs and runs no script. The database is opened for reading only.
    Report(Report),
    /// Looks into one table file: what is in it, whether it is sound, and its bytes explained
    Table(Table),
    /// Times the usual workloads, and checks their answers
    Bench(Bench),
    /// Shows what compaction costs, by the real picker over made-up data, without files
    Simulate(Simulate),
    /// Runs the store on machines that fail, and checks that nothing promised is lost
    Stress(Stress),
    /// Prints what a shell needs to complete this command's line
    Completions(Completions),
}
