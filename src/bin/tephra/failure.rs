//! What can go wrong, and the exit code it means.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::escape::{BadEscape, escape};

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("not found: {}", escape(key))]
    NotFound { key: Vec<u8> },

    #[error("the database is not sound: {problem_count} problem(s), listed above")]
    Unsound { problem_count: usize },

    #[error("{} holds what could be read: {count} thing(s) are lost or doubtful, listed above", into.display())]
    NotAllRepaired { into: PathBuf, count: usize },

    #[error("the demo's claim does not hold: {claim}")]
    Wrong { claim: String },

    #[error("a promise was broken: {broken}")]
    Broken { broken: String },

    #[error("the {what} {text:?} has a broken escape at {source}")]
    Argument {
        what: &'static str,
        text: String,
        source: BadEscape,
    },

    #[error(transparent)]
    Database(#[from] tephradb::Error),

    #[error("cannot {operation} {}: {source}", path.display())]
    File {
        operation: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("{} is not a regular file; a load reads its file twice", path.display())]
    NotAFile { path: PathBuf },

    #[error("{}:{line}: {reason}", path.display())]
    Line {
        path: PathBuf,
        line: u64,
        reason: String,
    },

    #[error("{} changed while it was read: {before} lines, then {after}", path.display())]
    Changed { path: PathBuf, before: u64, after: u64 },

    #[error("{} is in the way: the demo wants a directory that does not exist or is empty", path.display())]
    InTheWay { path: PathBuf },

    #[error("no data: {}; name the file with --data", reason)]
    NoData { reason: String },

    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

impl Failure {
    /// The exit codes that `tephra --help` lists.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::NotFound { .. }
            | Failure::Unsound { .. }
            | Failure::NotAllRepaired { .. }
            | Failure::Wrong { .. }
            | Failure::Broken { .. } => 1,
            Failure::Argument { .. } => 2,
            failure if failure.is_closed_pipe() => 0,
            Failure::Database(_)
            | Failure::File { .. }
            | Failure::NotAFile { .. }
            | Failure::Line { .. }
            | Failure::Changed { .. }
            | Failure::InTheWay { .. }
            | Failure::NoData { .. }
            | Failure::Output(_) => 3,
        })
    }

    /// Whether the reader of standard output has gone: it has what it wanted.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
