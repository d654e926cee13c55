//! `tephra`: the command line of tephradb.
//!
//! ```text
//! args ──> commands ──> a family of commands ──> tephradb       options stand beside the code that runs them
//!              │
//!              ├── load        records of TSV, CSV and JSON lines
//!              ├── dump        dump and restore: everything as one file
//!              ├── read        get, scan, count: opened for reading only
//!              ├── write       put, delete, delete-range, merge
//!              ├── look_after  keyspaces, stats, compact, checkpoint, verify, repair
//!              ├── bench       the usual workloads, timed and checked
//!              ├── simulate    compaction without files
//!              ├── report      one page about a database: HTML with drawings, or JSON
//!              ├── table       info, keys, verify, anatomy: one table file, no database
//!              ├── demo        the whole store on real data, every claim checked
//!              ├── stress      the store on machines that fail, every promise checked
//!              ├── completions for shells
//!              │
//!              ├── database    which database and keyspace, and opening them
//!              ├── space       a keyspace of bytes or bits;  span: which of its keys
//!              ├── form        bytes as text: plain, escaped, hex, base64, numbers;  escape: printable text
//!              ├── files       what is read and written beside databases;  interrupt: nothing half-made stays behind
//!              ├── output      lines and JSON;  colour, progress: on a terminal alone
//!              └── failure     what went wrong, and the exit code it means
//! ```
//!
//! Answers go to standard output, everything else to standard error. A reader that stops reading (`| head`) ends the
//! command quietly, as SIGPIPE would.

mod args;
mod bench;
mod colour;
mod commands;
mod completions;
mod database;
mod demo;
mod dump;
mod escape;
mod failure;
mod figures;
mod files;
mod form;
mod interrupt;
mod load;
mod look_after;
mod output;
mod progress;
mod read;
mod report;
mod simulate;
mod space;
mod span;
mod stopwatch;
mod stress;
mod table;
mod write;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    files::make_size_limits_errors();
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = match args::Args::try_parse() {
        Ok(args) => commands::run(args, &mut out),
        Err(said) if said.use_stderr() => return refuse(&said),
        Err(help) => write!(out, "{}", output::help(&help)).map_err(Failure::Output),
    };
    match outcome.and_then(|()| out.flush().map_err(Failure::Output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = out.flush();
            if !failure.is_closed_pipe() {
                // Nobody is left to tell if standard error is closed too.
                let name = colour::on_errors(colour::Colour::Red, "tephra:");
                let text = failure.to_string();
                let _ = writeln!(io::stderr(), "{name} {}", escape::printable(&text));
            }
            failure.exit_code()
        }
    }
}

/// Says what is wrong with the command line, without colours where an argument that is repeated could bring some of its own.
fn refuse(said: &clap::Error) -> ExitCode {
    let are_plain = said.context().all(|(_, value)| {
        let text = value.to_string();
        escape::printable(&text) == text
    });
    let text = said.render().to_string();
    let _ = if are_plain {
        said.print()
    } else {
        io::stderr().write_all(escape::printable(&text).as_bytes())
    };
    Failure::Usage { reason: text }.exit_code()
}
