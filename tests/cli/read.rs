//! `get`, `scan`, `count`.

use std::process::{Command, Stdio};

use super::support::{CLOSED, NO, Place, REFUSED, USAGE, answer};

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
    assert_eq!((answer.code, answer.err.as_str()), (CLOSED, ""));
}

#[test]
fn forms_of_keys_and_values_are_read_and_printed() {
    let place = Place::new();
    place.run("put --create --db db --hex 00ff 68690a").good();
    for (args, expected) in [
        ("get --db db --hex 00FF", "68690a\n"),
        ("get --db db --base64 AP8=", "aGkK\n"),
        ("get --db db -e \\x00\\xff", "hi\\n\n"),
        ("get --db db --key-form hex 00ff", "hi\\n\n"),
        ("scan --db db --hex", "00ff\t68690a\n"),
        ("scan --db db --key-form base64", "AP8=\thi\\n\n"),
        ("scan --db db --hex --prefix 00", "00ff\t68690a\n"),
        ("scan --db db --hex --from 01", ""),
    ] {
        assert_eq!(place.run(args).good(), expected, "{args}");
    }
    for (args, words) in [
        ("get --db db --hex 0", &["key", "hexadecimal"][..]),
        ("get --db db --base64 A", &["key", "base64"]),
        (
            "put --db db --value-form number k twelve",
            &["value", "decimal number"],
        ),
        ("get --db db --hex --escaped 00", &["--escaped"]),
        ("get --db db --key-form roman I", &["roman"]),
    ] {
        place.run(args).bad(USAGE, words);
    }
}

#[test]
fn json_is_one_object_a_record() {
    let place = Place::with_database();
    assert_eq!(
        place.run("get --db db alpha --json").fact(),
        serde_json::json!({ "key": "alpha", "value": "1" })
    );
    let records = place.run("scan --db db --json --reverse --limit 2").json();
    assert_eq!(
        records,
        [
            serde_json::json!({ "key": "gamma", "value": "3" }),
            serde_json::json!({ "key": "beta", "value": "2" })
        ]
    );
    let keys = place.run("scan --db db --json --keys-only --prefix alpha").json();
    assert_eq!(keys.len(), 2);
    assert!(keys[0].get("value").is_none());
    place.run("get --db db alpha --json --raw").bad(USAGE, &["--raw"]);
    place.run("get --db db nothing --json").bad(NO, &["not found"]);
}

#[test]
fn count_counts_ranges_exactly_and_estimates_the_whole() {
    let place = Place::with_database();
    for (args, expected) in [
        ("", "4\n"),
        ("--prefix alpha", "2\n"),
        ("--from b", "2\n"),
        ("--from b --to c", "1\n"),
        ("--estimate", "4\n"),
    ] {
        assert_eq!(
            place.run(&format!("count --db db {args}")).good(),
            expected,
            "{args}"
        );
    }
    let fact = place.run("count --db db --json").fact();
    assert_eq!(fact, serde_json::json!({ "count": 4, "is_estimate": false }));
    place
        .run("count --db db --estimate --prefix a")
        .bad(USAGE, &["--estimate"]);
    assert_eq!(place.run("scan --db db --keys-only --limit 1").good(), "alpha\n");
}

#[test]
fn keyspaces_are_read_by_name_and_bit_strings_as_digits() {
    let place = Place::with_keyspaces();
    assert_eq!(
        place
            .run("get --db db --keyspace counters --value-form number front")
            .good(),
        "11\n"
    );
    assert_eq!(place.run("get --db db --keyspace log events").good(), "ab\n");
    assert_eq!(
        place.run("scan --db db --keyspace routes").good(),
        "00001\t0011\n0000101\t1\n"
    );
    assert_eq!(
        place.run("scan --db db --keyspace routes --prefix 000010").good(),
        "0000101\t1\n"
    );
    assert_eq!(
        place
            .run("scan --db db --keyspace routes --prefix 00001 --reverse --limit 1")
            .good(),
        "0000101\t1\n"
    );
    assert_eq!(place.run("get --db db --keyspace routes 00001").good(), "0011\n");
    assert_eq!(
        place.run("count --db db --keyspace routes --to 0000101").good(),
        "1\n"
    );
    place
        .run("get --db db --keyspace routes 000010")
        .bad(NO, &["not found"]);
    place
        .run("get --db db --keyspace routes 012")
        .bad(REFUSED, &["0s and 1s", "012"]);
    place
        .run("scan --db db --keyspace routes --hex")
        .bad(REFUSED, &["bit strings"]);
    place.run("get --db db --keyspace nowhere k").bad(
        REFUSED,
        &["no keyspace \"nowhere\"", "(default), counters, log, routes"],
    );
}

/// A database of a program with a law of its own, one key of which needs it.
fn with_a_law_of_its_own(place: &Place) {
    use tephradb::{Composed, Db, KeyspaceOptions, LawFailure, Options};
    fn longest(older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        Ok(if newer.len() > older.len() {
            Composed::Newer
        } else {
            Composed::Older
        })
    }
    let db = Db::open(place.path("db"), Options::default()).unwrap();
    let names = db
        .keyspace("names", KeyspaceOptions::default().compose("longest", longest))
        .unwrap();
    names.put("a", "one record").unwrap();
    names.put("b", "1").unwrap();
    db.flush().unwrap();
    names.merge("b", "22").unwrap();
    names.put("c", "3").unwrap();
    db.flush().unwrap();
    db.close().unwrap();
}

#[test]
fn without_a_law_what_is_possible_is_done_and_the_rest_is_said() {
    let place = Place::new();
    with_a_law_of_its_own(&place);
    assert_eq!(place.run("get --db db --keyspace names a").good(), "one record\n");
    place
        .run("get --db db --keyspace names b")
        .bad(REFUSED, &["names", "longest", "add-u64"]);
    let scanned = place.run("scan --db db --keyspace names");
    assert_eq!(
        (scanned.code, scanned.out.as_str()),
        (REFUSED, "a\tone record\nc\t3\n")
    );
    assert!(scanned.err.contains("1 key left out"), "{}", scanned.err);
    assert_eq!(place.run("count --db db --keyspace names").good(), "3\n");
    let listed = place.run("keyspaces list --db db").good();
    assert!(listed.contains("law longest, not known here"), "{listed}");
    let verified = place.run("verify --db db").good();
    assert!(
        verified.contains("1 key whose value a law must compose"),
        "{verified}"
    );
    assert_eq!(place.run("verify --db db --json").fact()["uncomposed_keys"], 1);
    // A dump would not be whole: it says so, makes no file, and what helps.
    place
        .run("dump --db db all.dump")
        .bad(REFUSED, &["names", "longest", "Compact"]);
    assert!(!place.path("all.dump").exists());
    place
        .run("merge --db db --keyspace names a x")
        .bad(REFUSED, &["longest"]);
    place
        .run("compact --db db --keyspace names")
        .bad(REFUSED, &["longest"]);
    // Puts and deletes end histories: they need no law.
    place.run("put --db db --keyspace names b now").good();
    place.run("delete --db db --keyspace names a").good();
    assert_eq!(
        place.run("scan --db db --keyspace names").good(),
        "b\tnow\nc\t3\n"
    );
    place.run("dump --db db all.dump").good();
    place.run("restore all.dump --db copy").good();
    let listed = place.run("keyspaces list --db copy").good();
    assert!(listed.contains("law longest"), "{listed}");
    assert_eq!(place.run("get --db copy --keyspace names b").good(), "now\n");
}

/// What is no number of 8 bytes was once printed as text among numbers, with exit code 0.
#[test]
fn what_is_no_number_is_an_error_that_names_key_and_width() {
    let place = Place::with_keyspaces();
    place.run("put --db db --value-form number zeta 7").good();
    place
        .run("put --db db --value-form number aardvark 18446744073709551615")
        .good();
    let scanned = place.run("scan --db db --value-form number");
    assert_eq!(
        (scanned.code, scanned.out.as_str()),
        (REFUSED, "aardvark\t18446744073709551615\n")
    );
    for word in ["value of key alpha", "has 1 byte,", "--value-form"] {
        assert!(scanned.err.contains(word), "{word}: {}", scanned.err);
    }
    for json in ["", "--json"] {
        place
            .run(&format!("get --db db {json} --value-form number alpha"))
            .bad(REFUSED, &["value of key alpha", "1 byte"]);
        place
            .run(&format!("scan --db db {json} --prefix beta --key-form number"))
            .bad(USAGE, &["prefix", "beta"]);
        place
            .run(&format!(
                "scan --db db {json} --limit 1 --key-form number --reverse"
            ))
            .bad(REFUSED, &["key zeta", "4 bytes", "--key-form"]);
    }
    // Bytes as they are need no form.
    assert_eq!(
        place.run("get --db db --raw --value-form number alpha").good(),
        "1"
    );
    assert_eq!(
        place
            .run("scan --db db --keys-only --value-form number")
            .good()
            .lines()
            .count(),
        6
    );
    assert_eq!(
        place.run("get --db db --value-form number zeta --json").fact()["value"],
        "7"
    );
}
