//! `demo`: the story and its checks.

use super::support::{Place, REFUSED};

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
        percent(include_str!("../../README.md"), "| about "),
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

#[test]
fn a_demo_in_a_temporary_directory_cleans_up_unless_told_to_keep_it() {
    let place = Place::new();
    let tephra = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tephra"))
            .args(args)
            .env("TMPDIR", place.path(""))
            .output()
            .unwrap();
        super::support::answer(output).good()
    };
    let out = tephra(&["demo"]);
    assert!(out.contains("--keep"), "{out}");
    assert_eq!(place.names(), [""; 0], "nothing is left");
    let out = tephra(&["demo", "--keep"]);
    assert!(out.contains("The database stays"), "{out}");
    assert_eq!(place.names().len(), 1);
    place.tephra(["verify", "--db", &place.names()[0]]).good();
}

#[test]
fn the_readme_states_the_bytes_that_the_demo_reads() {
    let out = Place::new().run("demo").good();
    let read = out
        .lines()
        .find(|line| line.contains("bytes of keys and values"))
        .unwrap();
    let figure = read
        .split(' ')
        .find(|word| word.len() > 7 && word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap();
    assert!(
        include_str!("../../README.md").contains(&format!("| {figure} bytes")),
        "{read}"
    );
}
