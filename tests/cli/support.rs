//! A folder of its own for each test, and the command run in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The answer is no.
pub(crate) const NO: i32 = 1;
/// The command line is wrong.
pub(crate) const USAGE: i32 = 2;
/// A database or a file refused.
pub(crate) const REFUSED: i32 = 3;
/// Nobody reads standard output any more.
pub(crate) const CLOSED: i32 = 141;

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    /// The output of a command that must succeed.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "nothing to say on standard error");
        self.out
    }

    /// The lines of JSON of a command that must succeed.
    #[track_caller]
    pub(crate) fn json(self) -> Vec<Value> {
        let parsed = self.good();
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        parsed.lines().map(parse).collect()
    }

    /// The one object of JSON of a command that must succeed.
    #[track_caller]
    pub(crate) fn fact(self) -> Value {
        let mut facts = self.json();
        assert_eq!(facts.len(), 1, "{facts:?}");
        facts.remove(0)
    }

    /// Expects a failure whose message holds every one of `words`, and no answer.
    #[track_caller]
    pub(crate) fn bad(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        assert_eq!(self.out, "", "a failure is no answer");
    }
}

impl Place {
    pub(crate) fn new() -> Place {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tephra"));
        command.current_dir(self.folder.path()).args(args);
        command
    }

    /// Runs `tephra` in this place.
    pub(crate) fn tephra<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Answer {
        answer(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs `tephra` with a line of arguments without spaces in them.
    pub(crate) fn run(&self, line: &str) -> Answer {
        self.tephra(line.split_whitespace())
    }

    /// Runs `tephra` with something on standard input; gives the bytes of its standard output.
    pub(crate) fn piped(&self, line: &str, input: &[u8]) -> Output {
        let mut child = self
            .command(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        output
    }

    /// A place with a database `db` of four records.
    pub(crate) fn with_database() -> Place {
        let place = Place::new();
        place.file("in.tsv", "beta\t2\nalpha\t1\ngamma\t3\nalpha two\t1b\n");
        place.run("load in.tsv --db db").good();
        place
    }

    /// A place with a database `db` of four records, and keyspaces of each kind with some records:
    /// `counters` (law add-u64), `log` (law append-bytes), `routes` (bits).
    pub(crate) fn with_keyspaces() -> Place {
        let place = Place::with_database();
        place
            .run("keyspaces create --db db counters --law add-u64 --value-width 8")
            .good();
        place
            .run("keyspaces create --db db log --law append-bytes --target-table-bytes 1048576")
            .good();
        place.run("keyspaces create --db db routes --bits").good();
        for n in ["5", "6"] {
            place
                .tephra([
                    "merge",
                    "--db",
                    "db",
                    "--keyspace",
                    "counters",
                    "--value-form",
                    "number",
                    "front",
                    n,
                ])
                .good();
        }
        place.run("merge --db db --keyspace log events a").good();
        place.run("merge --db db --keyspace log events b").good();
        place.run("put --db db --keyspace routes 0000101 1").good();
        place.run("put --db db --keyspace routes 00001 0011").good();
        place
    }
}

pub(crate) fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Every file below a folder with its bytes.
pub(crate) fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}
