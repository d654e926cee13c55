//! Standard output that is full or closed, files over a size limit, pipes in the place of files, and bytes that a terminal would obey.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use super::support::{CLOSED, Place, REFUSED, USAGE, answer};

fn command(place: &Place, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tephra"));
    command.current_dir(place.path("")).args(line.split_whitespace());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Commands that print something, one of each kind.
const PRINTING: &[&str] = &[
    "--help",
    "--version",
    "help load",
    "scan --help",
    "completions bash",
    "scan --db db",
    "get --db db alpha",
    "get --db db alpha --raw",
    "count --db db --json",
    "keyspaces list --db db",
    "stats --db db",
    "verify --db db",
    "compact --db db --json",
    "report db --json",
    "dump --db db -",
    "simulate --help",
    "load in.tsv --db db",
    "bench fillseq --records 100",
];

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let place = Place::with_database();
    for line in PRINTING {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&place, line).stdout(full).output().unwrap();
        let answer = answer(output);
        assert_eq!(answer.code, REFUSED, "{line}: {}", answer.err);
        assert!(
            answer
                .err
                .contains("cannot write to standard output: No space left"),
            "{line}: {}",
            answer.err
        );
    }
}

#[test]
fn a_reader_that_has_gone_ends_every_command_quietly() {
    let place = Place::with_database();
    for line in PRINTING {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let answer = answer(command(&place, line).stdout(writer).output().unwrap());
        assert_eq!((answer.code, answer.err.as_str()), (CLOSED, ""), "{line}");
    }
}

/// The signal of such a limit once killed the command.
#[test]
fn a_file_over_the_size_limit_is_an_error_that_names_it() {
    let place = Place::with_database();
    let lines: String = (0..20_000).map(|n| format!("key {n:05}\t{n}\n")).collect();
    place.file("big.tsv", lines);
    for (line, word) in [
        ("load big.tsv --db new", "new/"),
        ("dump --db db small.dump", ""),
        ("put --db db k v", "db/"),
    ] {
        let limited = format!("ulimit -f 8; exec \"$0\" {line}");
        let output = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_tephra")])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        let answer = answer(output);
        if word.is_empty() {
            assert_eq!(answer.code, 0, "{line}: {}", answer.err);
            continue;
        }
        assert_eq!(answer.code, REFUSED, "{line}: {}", answer.err);
        for word in [word, "File too large"] {
            assert!(answer.err.contains(word), "{line}: {}", answer.err);
        }
    }
    assert_eq!(place.run("count --db db").good(), "4\n");
    place.run("verify --db db").good();
}

/// A pipe in the place of a database's file once made every command wait for ever.
#[test]
fn what_is_no_regular_file_is_named_and_not_waited_for() {
    let place = Place::with_database();
    place.run("put --db db only-in-the-log 1").good();
    let names = fs::read_dir(place.path("db")).unwrap();
    let names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let of = |ending: &str| names.iter().find(|name| name.ends_with(ending)).unwrap().clone();
    let manifest = fs::read_to_string(place.path("db/CURRENT")).unwrap();
    let manifest = manifest
        .split_whitespace()
        .find(|word| names.iter().any(|name| name == word))
        .unwrap()
        .to_owned();
    for name in [
        "CURRENT".to_owned(),
        "LOCK".to_owned(),
        manifest,
        of(".table"),
        of(".log"),
    ] {
        for kind in ["pipe", "directory", "socket"] {
            let folder = format!("{kind}-{name}");
            fs::create_dir(place.path(&folder)).unwrap();
            for name in &names {
                fs::copy(place.path("db").join(name), place.path(&folder).join(name)).unwrap();
            }
            let path = place.path(&folder).join(&name);
            fs::remove_file(&path).unwrap();
            let _listener = match kind {
                "pipe" => {
                    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
                    None
                }
                "directory" => {
                    fs::create_dir(&path).unwrap();
                    None
                }
                _ => Some(std::os::unix::net::UnixListener::bind(&path).unwrap()),
            };
            for command in ["scan", "stats", "verify", "put", "compact"] {
                let rest = if command == "put" { "k v" } else { "" };
                let answer = place.run(&format!("{command} --db {folder} {rest}"));
                assert!(
                    answer.code == REFUSED || answer.code == 1 && command == "verify",
                    "{command} {folder}: {} {}{}",
                    answer.code,
                    answer.out,
                    answer.err
                );
                let said = answer.out + &answer.err;
                assert!(said.contains(&name), "{command} {folder}: {said}");
            }
        }
    }
    place.run("checkpoint --db db events").good();
    let _ = fs::remove_file(place.path("events/EVENTS"));
    let pipe = Command::new("mkfifo").arg(place.path("events/EVENTS")).status();
    assert!(pipe.unwrap().success());
    // The event log is told apart from the database: it works without.
    for command in [
        "put --db events k v",
        "compact --db events",
        "stats --db events",
        "verify --db events",
    ] {
        place.run(command).good();
    }
    let report = place.run("report events --json").good();
    assert!(
        report.contains("cannot read events/EVENTS: expected a regular file"),
        "{report}"
    );
    place
        .run("table info events/EVENTS")
        .bad(REFUSED, &["events/EVENTS", "regular file"]);
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed_as_it_is() {
    let place = Place::new();
    let evil = "x\u{1b}[31m\u{9b}2J\u{7f}\r\u{202e}y";
    place.file(&format!("{evil}.csv"), format!("{evil},b{evil}\n{evil},1\n"));
    place.file(&format!("{evil}.tsv"), "no tab\n");
    let name = |ending: &str| format!("{evil}{ending}");
    let harmless = |text: &str| {
        !text
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}')
    };
    let mut commands: Vec<Vec<String>> = vec![
        vec!["load".into(), name(".csv"), "--db".into(), name("")],
        vec![
            "load".into(),
            name(".csv"),
            "--db".into(),
            name(""),
            "--json".into(),
        ],
        vec![
            "keyspaces".into(),
            "create".into(),
            "--db".into(),
            name(""),
            name(""),
        ],
        vec!["dump".into(), "--db".into(), name(""), name(".dump")],
        vec!["restore".into(), name(".dump"), "--db".into(), name("copy")],
        vec!["demo".into(), name("")],
        vec![name("")],
        vec![
            "load".into(),
            name(".csv"),
            "--db".into(),
            name(""),
            "--key".into(),
            name(""),
        ],
        vec![
            "load".into(),
            name(".csv"),
            "--db".into(),
            name(""),
            "--key".into(),
            "none".into(),
        ],
        vec!["load".into(), name(".tsv"), "--db".into(), name("")],
        vec!["load".into(), name("none.csv"), "--db".into(), name("")],
    ];
    for verb in [
        "scan",
        "stats",
        "verify",
        "count",
        "keyspaces list",
        "compact",
        "scan --json",
        "keyspaces list --json",
        "verify --json",
    ] {
        let words = verb.split(' ').map(str::to_owned);
        commands.push(words.clone().chain(["--db".to_owned(), name("")]).collect());
        commands.push(words.chain(["--db".to_owned(), name("none")]).collect());
    }
    for args in &commands {
        let answer = place.tephra(args);
        assert!(
            harmless(&answer.out) && harmless(&answer.err),
            "{args:?}: {:?} {:?}",
            answer.out,
            answer.err
        );
    }
    // What is damaged is named harmlessly too.
    fs::write(place.path(&name("")).join("CURRENT"), format!("MANIFEST-{evil}")).unwrap();
    for verb in ["scan", "verify", "stats"] {
        let answer = place.tephra([verb, "--db", evil]);
        assert_ne!(answer.code, 0);
        assert!(
            harmless(&answer.out) && harmless(&answer.err),
            "{verb}: {:?} {:?}",
            answer.out,
            answer.err
        );
    }
    // Names that are not UTF-8.
    let odd = OsStr::from_bytes(b"\xff\x1b");
    let answer = place.tephra([OsStr::new("scan"), OsStr::new("--db"), odd]);
    assert_eq!(answer.code, REFUSED);
    assert!(harmless(&answer.err), "{:?}", answer.err);
    place.tephra([OsStr::new("get"), odd]).bad(USAGE, &["--db"]);
}
