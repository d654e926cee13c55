//! What can go wrong, and the exit code it means.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::escape::{escape, shown};
use crate::form::{BadForm, NUMBER_LEN_BYTES};
use crate::interrupt::INTERRUPTED;
use crate::output::counted;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("not found: {}", escape(key))]
    NotFound { key: Vec<u8> },

    #[error(
        "the database is not sound: {}, listed above{}", counted(*problem_count as u64, "problem"), repair_hint(db)
    )]
    Unsound { problem_count: usize, db: PathBuf },

    #[error("{} is not sound: {}, listed above", shown(path), counted(*problem_count as u64, "problem"))]
    UnsoundTable { path: PathBuf, problem_count: usize },

    #[error("{}: {source}", shown(path))]
    Table {
        path: PathBuf,
        source: tephradb::tables::TableError,
    },

    #[error("{}: there is no block {block}: it has {block_count}", shown(path))]
    NoBlock {
        path: PathBuf,
        block: u64,
        block_count: u64,
    },

    #[error("{} lies in the database's directory: choose another place", shown(path))]
    IntoTheDatabase { path: PathBuf },

    #[error(
        "{} holds what could be read, not all of the old database: {what}; see above",
        shown(into)
    )]
    NotAllRepaired { into: PathBuf, what: String },

    #[error("a claim does not hold: {claim}")]
    Wrong { claim: String },

    #[error("a promise was broken: {broken}")]
    Broken { broken: String },

    #[error("the {what} {text:?}: {source}")]
    Argument {
        what: &'static str,
        text: String,
        source: BadForm,
    },

    /// What the command line asks for, whatever files and databases hold.
    #[error("{reason}")]
    Usage { reason: String },

    /// What a database or an input is not made for.
    #[error("{reason}")]
    Unfit { reason: String },

    #[error("{}: no {what}: {source}", shown(path))]
    Content {
        path: PathBuf,
        what: &'static str,
        source: BadForm,
    },

    #[error(
        "the {what} of key {} has {}, a number has {NUMBER_LEN_BYTES}: print it in another form than --{what}-form number",
        escape(key), counted(*len_bytes as u64, "byte")
    )]
    NoNumber {
        what: &'static str,
        key: Vec<u8>,
        len_bytes: usize,
    },

    #[error("{}{}", .0, hint(.0))]
    Database(#[from] tephradb::Error),

    #[error("there is no keyspace {name:?}; there {}", listed(known, *known_count))]
    NoKeyspace {
        name: String,
        known: Vec<String>,
        known_count: usize,
    },

    #[error(
        "{} left out, without a value that a law could compose. The first: {first}{}", counted(*key_count, "key"), hint(first)
    )]
    LeftOut { key_count: u64, first: tephradb::Error },

    #[error("interrupted; what was finished stays")]
    Interrupted,

    #[error(
        "interrupted: the first {} of {} are in, and durable; the other {} of {} are not", counted(*loaded, "record"), shown(path),
        crate::figures::grouped(record_count - loaded), crate::figures::grouped(*record_count)
    )]
    LoadInterrupted {
        path: PathBuf,
        loaded: u64,
        record_count: u64,
    },

    #[error("{name} is no whole dump: {reason}")]
    Dump { name: String, reason: String },

    #[error("cannot {operation} {}: {source}", shown(path))]
    File {
        operation: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("{} is a directory, not a regular file", shown(path))]
    NotAFile { path: PathBuf },

    #[error("{}:{line}: {reason}", shown(path))]
    Line {
        path: PathBuf,
        line: u64,
        reason: String,
    },

    #[error("{} changed while it was read: {}, then {after}", shown(path), counted(*before, "record"))]
    Changed { path: PathBuf, before: u64, after: u64 },

    #[error(
        "{} is in the way: {what} wants a directory that does not exist or is empty",
        shown(path)
    )]
    InTheWay { what: &'static str, path: PathBuf },

    #[error("{} is there already, and nothing is written over", shown(path))]
    Exists { path: PathBuf },

    #[error("no data: {}; name the file with --data", reason)]
    NoData { reason: String },

    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// What helps against an error of the database, where the library's own words are for programs.
fn hint(error: &tephradb::Error) -> String {
    match error {
        tephradb::Error::LawUnknown { .. } | tephradb::Error::LawHoldsUp { .. } => {
            "\n  This command knows the laws add-u64, max-u64 and append-bytes. In a keyspace of another law it puts, deletes and \
             reads what has one record a key;\n  the program that owns the law composes the rest, for good where it compacts."
                .to_owned()
        }
        damage if damage.is_damage() => {
            let file = damaged_file(damage);
            repair_hint(file.and_then(Path::parent).unwrap_or(Path::new("DIR")))
        }
        _ => String::new(),
    }
}

/// What comes after damage. The command can be given to a shell as it is.
fn repair_hint(db: &Path) -> String {
    let shown = shown(db);
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,:=~".contains(c);
    let db = match shown.chars().all(is_plain) {
        true => shown,
        false => format!("'{}'", shown.replace('\'', r"'\''")),
    };
    format!(
        "\n  `tephra repair {db} --into NEWDIR` makes a new database of what can be read, and says what is lost"
    )
}

/// The file in which the damage lies, if one is known.
fn damaged_file(error: &tephradb::Error) -> Option<&Path> {
    match error {
        tephradb::Error::Damaged { path, .. }
        | tephradb::Error::Inconsistent { path, .. }
        | tephradb::Error::Table { path, .. } => Some(path),
        tephradb::Error::DeletesUnresolved { cause }
        | tephradb::Error::BackgroundFailing { cause }
        | tephradb::Error::WriterStopped { cause } => damaged_file(cause),
        _ => None,
    }
}

/// The keyspaces there are, in words.
fn listed(known: &[String], known_count: usize) -> String {
    let verb = if known_count == 1 { "is" } else { "are" };
    let more = match known_count - known.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{verb} {}{more}", known.join(", "))
}

impl Failure {
    /// The exit codes that `tephra --help` lists.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::NotFound { .. }
            | Failure::Unsound { .. }
            | Failure::UnsoundTable { .. }
            | Failure::NotAllRepaired { .. }
            | Failure::Wrong { .. }
            | Failure::Broken { .. } => 1,
            Failure::Argument { .. }
            | Failure::Usage { .. }
            | Failure::Database(tephradb::Error::InvalidOption { .. }) => 2,
            Failure::Interrupted | Failure::LoadInterrupted { .. } => INTERRUPTED,
            // What a shell says of a command that SIGPIPE has ended.
            failure if failure.is_closed_pipe() => 141,
            Failure::Database(_)
            | Failure::Table { .. }
            | Failure::IntoTheDatabase { .. }
            | Failure::NoBlock { .. }
            | Failure::Unfit { .. }
            | Failure::Content { .. }
            | Failure::NoNumber { .. }
            | Failure::NoKeyspace { .. }
            | Failure::LeftOut { .. }
            | Failure::Dump { .. }
            | Failure::Exists { .. }
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
