//! `tephra stress` as a user runs it: what it prints, and the exit codes.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

use std::process::{Command, Output};

fn stress(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tephra"));
    command.arg("stress").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_simulation_that_finds_nothing_says_what_it_did_in_one_line() {
    let output = stress(&["--simulate", "--seeds", "10", "--from", "100"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
    assert_eq!(out.lines().count(), 1, "{out}");
    for words in [
        "10 histories",
        "operations",
        "crashes",
        "recoveries",
        "faults injected",
    ] {
        assert!(out.contains(words), "no {words:?} in {out}");
    }
}

#[test]
fn a_broken_promise_ends_with_1_and_the_seed_the_options_and_a_small_history() {
    let output = stress(&["--simulate", "--seeds", "20", "--plant", "skipped-directory-sync"]);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    for words in [
        "a promise was broken: seed ",
        "Settings {",
        "steps are enough for: ",
        "Commit {",
        "again: tephra stress --simulate --seeds 1 --from ",
    ] {
        assert!(err.contains(words), "no {words:?} in {err}");
    }
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn killed_processes_lose_nothing_and_a_database_that_is_there_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("db");
    let dir = dir.to_str().unwrap();
    let output = stress(&["--kill", "--rounds", "6", dir]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
    assert!(out.contains("6 rounds") && out.contains("all there"), "{out}");
    let output = stress(&["--kill", "--rounds", "1", dir]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("already exists"));
}

#[test]
fn one_kind_of_stress_has_to_be_chosen() {
    for args in [&[][..], &["--simulate", "--kill"], &["--simulate", "dir"]] {
        assert_eq!(stress(args).status.code(), Some(2), "{args:?}");
    }
}
