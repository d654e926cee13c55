//! What holds for all commands: what is not there is not made, readers write nothing, exit codes, help, completions.

use std::fs;

use super::support::{Place, REFUSED, USAGE, contents};

/// Each command with what it needs, for a database that may not be there.
fn commands_that_create_nothing(db: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["get", "--db", db, "k"],
        vec!["scan", "--db", db],
        vec!["put", "--db", db, "k", "v"],
        vec!["delete", "--db", db, "k"],
        vec!["verify", "--db", db],
        vec!["stats", "--db", db],
        vec!["count", "--db", db],
        vec!["delete-range", "--db", db, "--all"],
        vec!["merge", "--db", db, "k", "v"],
        vec!["keyspaces", "list", "--db", db],
        vec!["keyspaces", "drop", "--db", db, "k"],
        vec!["compact", "--db", db],
        vec!["checkpoint", "--db", db, "copy"],
        vec!["dump", "--db", db, "dump"],
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
    commands.push(vec!["bench", "--db", "file"]);
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
        &["count", "--db", "db"],
        &["keyspaces", "list", "--db", "db"],
        &["dump", "--db", "db", "all.dump"],
    ] {
        place.tephra(args).good();
    }
    assert_eq!(contents(&place.path("db")), before);
}

#[test]
fn a_database_in_use_is_refused_at_once() {
    let place = Place::with_database();
    let held = tephradb::Db::open(place.path("db"), tephradb::Options::default()).unwrap();
    for args in [
        &["put", "--db", "db", "k", "v"][..],
        &["delete", "--db", "db", "k"],
        &["load", "in.tsv", "--db", "db"],
        &["compact", "--db", "db"],
        &["scan", "--db", "db"],
    ] {
        place.tephra(args).bad(REFUSED, &["LOCK", "already open"]);
    }
    held.close().unwrap();
    place.tephra(["put", "--db", "db", "k", "v"]).good();
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
fn completions_are_there_for_each_shell() {
    let place = Place::new();
    for (shell, words) in [
        ("bash", &["_tephra", "delete-range", "--keyspace"][..]),
        ("zsh", &["#compdef tephra", "delete-range"]),
        ("fish", &["complete -c tephra", "delete-range"]),
    ] {
        let script = place.run(&format!("completions {shell}")).good();
        for word in words {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    place.run("completions tcsh").bad(USAGE, &["tcsh"]);
}

#[test]
fn help_has_examples_and_no_colours_without_a_terminal() {
    let place = Place::new();
    for command in [
        "load",
        "dump",
        "restore",
        "get",
        "scan",
        "count",
        "put",
        "delete-range",
        "merge",
        "keyspaces",
        "compact",
        "checkpoint",
        "verify",
        "bench",
        "simulate",
        "completions",
    ] {
        let help = place.run(&format!("{command} --help")).good();
        assert!(
            help.contains("Examples:\n  tephra ") && !help.contains('\x1b'),
            "{command}: {help}"
        );
    }
    let answer = Place::with_database().run("get --db db nothing");
    assert!(!answer.err.contains('\x1b'), "{}", answer.err);
}
