//! The `tephra` command as a user meets it: every command, with good and with bad input.
//!
//! Held to: answers on standard output and nothing else there; messages on standard error that name what they speak of;
//! the exit codes of `tephra --help`; no command but `load`, `put --create` and `demo` ever makes a database.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "makes input files and looks at what a command left"
)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The answer is no.
const NO: i32 = 1;
/// The command line is wrong.
const USAGE: i32 = 2;
/// A database or a file refused.
const REFUSED: i32 = 3;

struct Place {
    folder: tempfile::TempDir,
}

struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Answer {
    /// The output of a command that must succeed.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "nothing to say on standard error");
        self.out
    }

    /// Expects a failure whose message holds every one of `words`, and no answer.
    #[track_caller]
    fn bad(self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        assert_eq!(self.out, "", "a failure is no answer");
    }
}

impl Place {
    fn new() -> Place {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `tephra` in this place.
    fn tephra<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Answer {
        let output = Command::new(env!("CARGO_BIN_EXE_tephra"))
            .current_dir(self.folder.path())
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        answer(output)
    }

    /// A place with a database `db` of four records.
    fn with_database() -> Place {
        let place = Place::new();
        place.file("in.tsv", "beta\t2\nalpha\t1\ngamma\t3\nalpha two\t1b\n");
        place.tephra(["load", "in.tsv", "--db", "db"]).good();
        place
    }
}

fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Every file below a folder with its bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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

#[test]
fn load_get_scan_put_delete_verify_stats() {
    let place = Place::with_database();
    assert_eq!(place.tephra(["get", "--db", "db", "alpha"]).good(), "1\n");
    assert_eq!(
        place.tephra(["scan", "--db", "db"]).good(),
        "alpha\t1\nalpha two\t1b\nbeta\t2\ngamma\t3\n"
    );
    assert_eq!(place.tephra(["put", "--db", "db", "beta", "two"]).good(), "");
    assert_eq!(
        place.tephra(["put", "--db", "db", "", "the empty key"]).good(),
        ""
    );
    assert_eq!(place.tephra(["delete", "--db", "db", "gamma"]).good(), "");
    assert_eq!(place.tephra(["delete", "--db", "db", "never there"]).good(), "");
    let all = "\tthe empty key\nalpha\t1\nalpha two\t1b\nbeta\ttwo\n";
    assert_eq!(place.tephra(["scan", "--db", "db"]).good(), all);
    let report = place.tephra(["verify", "--db", "db"]).good();
    assert!(
        report.starts_with("sound: ") && report.contains("4 keys alive"),
        "{report}"
    );
    let stats = place.tephra(["stats", "--db", "db"]).good();
    assert!(
        stats.lines().count() >= 10 && stats.contains("table bytes"),
        "{stats}"
    );
}

#[test]
fn scan_takes_prefix_bounds_direction_and_limit() {
    let place = Place::with_database();
    for (args, expected) in [
        (&["--prefix", "alpha"][..], "alpha\t1\nalpha two\t1b\n"),
        (&["--prefix", "alpha", "--reverse"], "alpha two\t1b\nalpha\t1\n"),
        (&["--prefix", "zeta"], ""),
        (&["--prefix", ""], "alpha\t1\nalpha two\t1b\nbeta\t2\ngamma\t3\n"),
        (&["--reverse", "--limit", "1"], "gamma\t3\n"),
        (&["--limit", "0"], ""),
        (&["--limit", "2"], "alpha\t1\nalpha two\t1b\n"),
        (&["--from", "alpha two"], "alpha two\t1b\nbeta\t2\ngamma\t3\n"),
        (&["--from", "alpha", "--to", "beta"], "alpha\t1\nalpha two\t1b\n"),
        (&["--to", "alpha"], ""),
        (&["--from", "z", "--to", "a"], ""),
    ] {
        let found = place.tephra(["scan", "--db", "db"].iter().chain(args)).good();
        assert_eq!(found, expected, "{args:?}");
    }
}

#[test]
fn a_missing_key_is_exit_code_1_and_no_output() {
    let place = Place::with_database();
    place
        .tephra(["get", "--db", "db", "delta"])
        .bad(NO, &["not found", "delta"]);
    place
        .tephra(["get", "--db", "db", "alph"])
        .bad(NO, &["not found", "alph"]);
    place
        .tephra(["get", "--db", "db", "-e", "a\\x00"])
        .bad(NO, &["not found", "a\\x00"]);
}

#[test]
fn keys_and_values_are_binary_safe() {
    let place = Place::new();
    place
        .tephra([
            "put",
            "--create",
            "--db",
            "db",
            "-e",
            r"k\x00\xff\t\n\\",
            r"v\x00\x1b\xe2\x98\x83\r",
        ])
        .good();
    assert_eq!(
        place.tephra(["scan", "--db", "db"]).good(),
        "k\\x00\\xff\\t\\n\\\\\tv\\x00\\x1b\u{2603}\\r\n"
    );
    assert_eq!(
        place
            .tephra(["get", "--db", "db", "-e", r"k\x00\xff\t\n\\"])
            .good(),
        "v\\x00\\x1b\u{2603}\\r\n"
    );
    let raw = place
        .tephra(["get", "--raw", "--db", "db", "-e", r"k\x00\xff\t\n\\"])
        .good();
    assert_eq!(raw.as_bytes(), b"v\x00\x1b\xe2\x98\x83\r");
    // Without -e a backslash is a backslash.
    place.tephra(["put", "--db", "db", r"a\tb", "plain"]).good();
    assert_eq!(place.tephra(["get", "--db", "db", r"a\tb"]).good(), "plain\n");
    for (args, word) in [
        (["get", "--db", "db", "-e", r"\q"], "key"),
        (["scan", "--db", "db", "-e", r"--prefix=\x0"], "prefix"),
    ] {
        place.tephra(args).bad(USAGE, &[word, "broken escape"]);
    }
}

#[test]
fn what_scan_prints_can_be_loaded_again() {
    let place = Place::new();
    let every_byte: Vec<u8> = (0..=255).filter(|&b| b != b'\t' && b != b'\n').collect();
    let mut file = every_byte.clone();
    file.push(b'\t');
    file.extend(&every_byte);
    file.extend(b"\nnext\t\n\tempty key");
    place.file("in.tsv", &file);
    place.tephra(["load", "in.tsv", "--db", "one"]).good();
    let scanned = place.tephra(["scan", "--db", "one"]).good();
    assert_eq!(scanned.lines().count(), 3);
    place.file("scanned.tsv", &scanned);
    place
        .tephra(["load", "--escaped", "scanned.tsv", "--db", "two"])
        .good();
    assert_eq!(place.tephra(["scan", "--db", "two"]).good(), scanned);
}

#[test]
fn load_takes_real_data_in_small_memtables() {
    let place = Place::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data/unicode-names.tsv");
    let said = place
        .tephra(["load", data, "--db", "db", "--memtable-kib", "256"])
        .good();
    assert!(said.starts_with("34,823 records"), "{said}");
    let mut expected: Vec<_> = fs::read_to_string(data)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    expected.sort();
    let scanned = place.tephra(["scan", "--db", "db"]).good();
    assert!(
        scanned.lines().eq(expected.iter().map(String::as_str)),
        "the sorted file comes out"
    );
    let backwards = place.tephra(["scan", "--reverse", "--db", "db"]).good();
    assert!(backwards.lines().eq(expected.iter().rev().map(String::as_str)));
    place.tephra(["verify", "--db", "db"]).good();
}

#[test]
fn load_adds_to_a_database_and_the_last_line_of_a_key_wins() {
    let place = Place::with_database();
    place.file("more.tsv", "beta\tfirst\ndelta\t4\nbeta\tlast\twith a TAB\n");
    let said = place.tephra(["load", "more.tsv", "--db", "db"]).good();
    assert!(said.starts_with("3 records from more.tsv in "), "{said}");
    assert_eq!(
        place.tephra(["get", "--db", "db", "beta"]).good(),
        "last\\twith a TAB\n"
    );
    assert_eq!(place.tephra(["scan", "--db", "db"]).good().lines().count(), 5);
}

#[test]
fn load_names_file_and_line_and_writes_nothing() {
    let place = Place::new();
    place.file("bad.tsv", "a\t1\nb\t2\nno tab here\nc\t3\n");
    place
        .tephra(["load", "bad.tsv", "--db", "db"])
        .bad(REFUSED, &["bad.tsv:3:", "TAB"]);
    place.file("empty_line.tsv", "a\t1\n\nb\t2\n");
    place
        .tephra(["load", "empty_line.tsv", "--db", "db"])
        .bad(REFUSED, &["empty_line.tsv:2:", "TAB"]);
    place.file("escape.tsv", "a\t1\nb\\\t2\n");
    place
        .tephra(["load", "-e", "escape.tsv", "--db", "db"])
        .bad(REFUSED, &["escape.tsv:2:", "key", "byte 1"]);
    place
        .tephra(["load", "none.tsv", "--db", "db"])
        .bad(REFUSED, &["none.tsv", "No such file"]);
    place
        .tephra(["load", ".", "--db", "db"])
        .bad(REFUSED, &["not a regular file"]);
    let key_too_long = format!("a\t1\n{}\t2\n", "k".repeat((16 << 20) + 1));
    place.file("long.tsv", &key_too_long);
    place
        .tephra(["load", "long.tsv", "--db", "db"])
        .bad(REFUSED, &["long.tsv:2:", "key", "16777216", "16777217"]);
    assert!(
        !place.path("db").exists(),
        "no database was made: {:?}",
        place.names()
    );

    let place = Place::with_database();
    let before = contents(&place.path("db"));
    place.file("bad.tsv", "alpha\tchanged\nbad\n");
    place
        .tephra(["load", "bad.tsv", "--db", "db"])
        .bad(REFUSED, &["bad.tsv:2:"]);
    assert_eq!(contents(&place.path("db")), before);
}

#[test]
fn an_empty_file_loads_nothing() {
    let place = Place::new();
    place.file("empty.tsv", "");
    assert!(
        place
            .tephra(["load", "empty.tsv", "--db", "db"])
            .good()
            .starts_with("0 records")
    );
    assert_eq!(place.tephra(["scan", "--db", "db"]).good(), "");
    place.tephra(["verify", "--db", "db"]).good();
}

/// Each command with what it needs, for a database that may not be there.
fn commands_that_create_nothing(db: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["get", "--db", db, "k"],
        vec!["scan", "--db", db],
        vec!["put", "--db", db, "k", "v"],
        vec!["delete", "--db", db, "k"],
        vec!["verify", "--db", db],
        vec!["stats", "--db", db],
    ]
}

#[test]
fn no_database_there_is_said_and_none_is_made() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    for args in commands_that_create_nothing("nowhere") {
        place.tephra(&args).bad(REFUSED, &["no database", "nowhere"]);
    }
    for args in commands_that_create_nothing("empty") {
        place.tephra(&args).bad(REFUSED, &["no database", "empty"]);
    }
    assert_eq!(place.names(), ["empty"]);
    assert_eq!(contents(&place.path("empty")), []);
}

#[test]
fn a_file_in_the_way_is_named_and_left_alone() {
    let place = Place::new();
    place.file("file", "precious");
    place.file("in.tsv", "a\t1\n");
    let mut commands = commands_that_create_nothing("file");
    commands.push(vec!["load", "in.tsv", "--db", "file"]);
    commands.push(vec!["put", "--create", "--db", "file", "k", "v"]);
    commands.push(vec!["demo", "--db", "file"]);
    for args in commands {
        place.tephra(&args).bad(REFUSED, &["file"]);
    }
    assert_eq!(fs::read(place.path("file")).unwrap(), b"precious");
}

#[test]
fn a_folder_of_other_things_is_not_taken_over() {
    let place = Place::new();
    fs::create_dir(place.path("photos")).unwrap();
    place.file("photos/holiday.jpg", "precious");
    place.file("in.tsv", "a\t1\n");
    place
        .tephra(["demo", "--db", "photos"])
        .bad(REFUSED, &["photos", "in the way"]);
    for args in commands_that_create_nothing("photos") {
        place.tephra(&args).bad(REFUSED, &["no database", "photos"]);
    }
    assert_eq!(contents(&place.path("photos")).len(), 1);
}

#[test]
fn reading_commands_change_no_byte() {
    let place = Place::with_database();
    place.tephra(["put", "--db", "db", "only in the log", "1"]).good();
    let before = contents(&place.path("db"));
    for args in [
        &["get", "--db", "db", "alpha"][..],
        &["scan", "--db", "db"],
        &["scan", "--reverse", "--db", "db"],
        &["verify", "--db", "db"],
        &["stats", "--db", "db"],
    ] {
        place.tephra(args).good();
    }
    assert_eq!(contents(&place.path("db")), before);
}

#[test]
fn put_makes_a_database_only_if_told() {
    let place = Place::new();
    place
        .tephra(["put", "--db", "db", "k", "v"])
        .bad(REFUSED, &["no database", "db"]);
    place.tephra(["put", "--create", "--db", "db", "k", "v"]).good();
    place.tephra(["put", "--create", "--db", "db", "l", "w"]).good();
    assert_eq!(place.tephra(["scan", "--db", "db"]).good(), "k\tv\nl\tw\n");
}

#[test]
fn a_database_in_use_is_refused_at_once() {
    let place = Place::with_database();
    let held = tephradb::Db::open(place.path("db"), tephradb::Options::default()).unwrap();
    for args in [
        &["put", "--db", "db", "k", "v"][..],
        &["delete", "--db", "db", "k"],
        &["load", "in.tsv", "--db", "db"],
    ] {
        place.tephra(args).bad(REFUSED, &["LOCK", "already open"]);
    }
    held.close().unwrap();
    place.tephra(["put", "--db", "db", "k", "v"]).good();
}

#[test]
fn damage_is_found_by_verify_with_file_and_exit_code() {
    // In the page that opening reads, and in one that only reading reaches.
    for line_count in [4, 4_000] {
        let place = Place::new();
        place.file(
            "in.tsv",
            (0..line_count)
                .map(|n| format!("key {n:04}\tvalue {n:04}\n"))
                .collect::<String>(),
        );
        place.tephra(["load", "in.tsv", "--db", "db"]).good();
        let files = contents(&place.path("db"));
        let tables: Vec<_> = files
            .iter()
            .filter(|(path, _)| path.extension() == Some("table".as_ref()))
            .collect();
        let [(table, bytes)] = tables[..] else {
            panic!("one table: {:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>())
        };
        let value = format!("value {:04}", line_count / 2).into_bytes();
        let at = bytes
            .windows(value.len())
            .position(|w| w == value)
            .expect("values stand in tables as they are");
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        fs::write(table, damaged).unwrap();

        let name = table.file_name().unwrap().to_str().unwrap();
        let answer = place.tephra(["verify", "--db", "db"]);
        assert_eq!(answer.code, NO, "{}{}", answer.out, answer.err);
        assert!(
            answer.out.starts_with("wrong: ") && answer.out.contains(name),
            "{}",
            answer.out
        );
        assert!(answer.err.contains("not sound"), "{}", answer.err);
        let answer = place.tephra(["scan", "--db", "db"]);
        assert_eq!(answer.code, REFUSED, "{}{}", answer.out, answer.err);
        assert!(
            answer.err.contains(name) && answer.err.contains("checksum"),
            "{}",
            answer.err
        );
    }
}

#[test]
fn wrong_command_lines_are_exit_code_2() {
    let place = Place::with_database();
    let none: [&str; 0] = [];
    place.tephra(none).bad(USAGE, &["Usage"]);
    for (args, word) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["get", "alpha"], "--db"),
        (&["get", "--db", "db"], "KEY"),
        (&["scan", "--db", "db", "--limit", "many"], "many"),
        (&["scan", "--db", "db", "--limit", "-1"], "-1"),
        (
            &["scan", "--db", "db", "--prefix", "a", "--from", "b"],
            "--prefix",
        ),
        (&["load", "--db", "db"], "FILE"),
        (
            &["load", "in.tsv", "--db", "db", "--memtable-kib", "0"],
            "--memtable-kib",
        ),
        (&["demo", "extra"], "extra"),
    ] {
        place.tephra(args).bad(USAGE, &[word]);
    }
}

#[test]
fn help_states_exit_codes_and_the_printed_form() {
    let place = Place::new();
    let help = place.tephra(["--help"]).good();
    for word in [
        "Exit codes",
        "\\xNN",
        "demo",
        "load",
        "get",
        "scan",
        "put",
        "delete",
        "verify",
        "stats",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    for command in ["demo", "load", "get", "scan", "put", "delete", "verify", "stats"] {
        assert!(
            place.tephra([command, "--help"]).good().contains("--db"),
            "{command}"
        );
    }
    assert_eq!(
        place.tephra(["--version"]).good(),
        concat!("tephra ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_reader_that_stops_ends_the_command_quietly() {
    let place = Place::new();
    let lines: String = (0..20_000).map(|n| format!("key {n:05}\t{n}\n")).collect();
    place.file("in.tsv", lines);
    place.tephra(["load", "in.tsv", "--db", "db"]).good();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tephra"))
        .args(["scan", "--db"])
        .arg(place.path("db"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let answer = answer(output);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
}

#[test]
fn the_demo_tells_its_story_and_checks_it() {
    let place = Place::new();
    let out = place.tephra(["demo", "--db", "new"]).good();
    for words in [
        "34,823 records",
        "tables flushed",
        "->  1 table",
        "GREEK SMALL LETTER OMEGA",
        "U+03C9",
        "not there",
        "Range over the prefix \"GREEK SMALL LETTER\"",
        "167 records",
        "Range backwards",
        "Overwrite one key, delete another",
        "before the merge",
        "Merge again",
        "reopen",
        "a record",
        "all passed",
        "new",
    ] {
        assert!(out.contains(words), "no {words:?} in:\n{out}");
    }
    assert_eq!(place.names(), ["new"]);
    place.tephra(["verify", "--db", "new"]).good();
    let percent = |text: &str, before: &str| -> f64 {
        let from = text
            .find(before)
            .unwrap_or_else(|| panic!("no {before:?} in {text}"))
            + before.len();
        text[from..].split_whitespace().next().unwrap().parse().unwrap()
    };
    let (measured, stated) = (
        percent(&out, "the tables take "),
        percent(include_str!("../README.md"), "| about "),
    );
    assert!(
        (measured - stated).abs() < 4.0,
        "the README says {stated} % of the raw bytes, the demo {measured} %"
    );
    place
        .tephra(["demo", "--db", "new"])
        .bad(REFUSED, &["new", "in the way"]);
}

#[test]
fn the_demo_says_what_is_wrong_with_its_data() {
    let place = Place::new();
    place
        .tephra(["demo", "--data", "none.tsv"])
        .bad(REFUSED, &["none.tsv"]);
    place.file("bad.tsv", "no tab\n");
    let answer = place.tephra(["demo", "--db", "new", "--data", "bad.tsv"]);
    assert_eq!(answer.code, REFUSED);
    assert!(answer.err.contains("bad.tsv:1:"), "{}", answer.err);
}
