//! `tephra`: the command line of tephradb.
//!
//! ```text
//! args ──> commands ──> a family of commands ──> tephradb       options stand beside the code that runs them
//!              │
//!              ├── load        files of records, one a line
//!              ├── read        get, scan: opened for reading only
//!              ├── write       put, delete
//!              ├── look_after  verify, repair, stats
//!              ├── demo        the whole store on real data, every claim checked
//!              ├── stress      the store on machines that fail, every promise checked
//!              │
//!              ├── database  what they share: which database, how arguments are read
//!              ├── escape    bytes as printable text, and back
//!              ├── progress  a bar on standard error, if that is a terminal
//!              └── failure   what went wrong, and the exit code it means
//! ```
//!
//! Answers go to standard output, everything else to standard error. A reader that stops reading (`| head`) ends the
//! command quietly.

mod args;
mod commands;
mod database;
mod demo;
mod escape;
mod failure;
mod figures;
mod load;
mod look_after;
mod progress;
mod read;
mod stopwatch;
mod stress;
mod write;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = commands::run(args, &mut out).and_then(|()| out.flush().map_err(failure::Failure::Output));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = out.flush();
            if !failure.is_closed_pipe() {
                // Nobody is left to tell if standard error is closed too.
                let _ = writeln!(io::stderr(), "tephra: {failure}");
            }
            failure.exit_code()
        }
    }
}
