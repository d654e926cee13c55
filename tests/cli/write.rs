//! `put`, `delete`, `delete-range`, `merge`.

use super::support::{Place, REFUSED, USAGE};

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
        stats.lines().count() >= 10 && stats.contains("tables "),
        "{stats}"
    );
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
fn delete_range_removes_what_it_names_and_wants_a_range() {
    let place = Place::with_database();
    place
        .run("delete-range --db db")
        .bad(USAGE, &["--prefix", "--all"]);
    place
        .run("delete-range --db db --all --prefix a")
        .bad(USAGE, &["--all"]);
    // An unset variable of a script names everything, and does not mean it.
    for bound in ["--prefix", "--from"] {
        place
            .tephra(["delete-range", "--db", "db", bound, ""])
            .bad(USAGE, &["--all"]);
    }
    assert_eq!(place.run("count --db db").good(), "4\n");
    place.run("delete-range --db db --prefix alpha").good();
    assert_eq!(place.run("scan --db db --keys-only").good(), "beta\ngamma\n");
    place.run("delete-range --db db --from c --to g").good();
    assert_eq!(
        place.run("count --db db").good(),
        "2\n",
        "the end is not in the range"
    );
    place.run("delete-range --db db --from g").good();
    assert_eq!(place.run("scan --db db --keys-only").good(), "beta\n");
    place.run("delete-range --db db --all").good();
    assert_eq!(place.run("count --db db").good(), "0\n");
    let place = Place::with_keyspaces();
    place
        .run("delete-range --db db --keyspace routes --prefix 000010")
        .good();
    assert_eq!(
        place.run("scan --db db --keyspace routes").good(),
        "00001\t0011\n"
    );
    assert_eq!(place.run("count --db db").good(), "4\n", "of its keyspace alone");
}

#[test]
fn merge_composes_by_the_law_and_says_where_there_is_none() {
    let place = Place::with_keyspaces();
    place.run("merge --db db --keyspace log events c").good();
    assert_eq!(place.run("get --db db --keyspace log events").good(), "abc\n");
    place
        .run("merge --db db --keyspace counters front 1")
        .bad(REFUSED, &["counters", "8 bytes", "nothing was written"]);
    place
        .run("merge --db db alpha 1")
        .bad(REFUSED, &["the default keyspace", "no composition law"]);
    place
        .run("merge --db db --keyspace routes 0 1")
        .bad(REFUSED, &["routes", "bit strings"]);
    place.run("merge --db nowhere k 1").bad(REFUSED, &["no database"]);
}

#[test]
fn puts_and_deletes_go_to_the_keyspace_named() {
    let place = Place::with_keyspaces();
    place.run("put --db db --keyspace log alpha elsewhere").good();
    assert_eq!(place.run("get --db db alpha").good(), "1\n");
    place.run("delete --db db --keyspace log alpha").good();
    assert_eq!(place.run("get --db db alpha").good(), "1\n");
    place.run("delete --db db --keyspace routes 00001").good();
    assert_eq!(place.run("count --db db --keyspace routes").good(), "1\n");
    for args in [
        "put --db db --keyspace nowhere k v",
        "delete --db db --keyspace nowhere k",
    ] {
        place.run(args).bad(REFUSED, &["no keyspace", "nowhere"]);
    }
    place.run("put --db db --create --keyspace made k v").good();
    assert_eq!(place.run("get --db db --keyspace made k").good(), "v\n");
}

#[test]
fn a_key_over_its_limit_is_refused_with_the_limit() {
    // The command line is not long enough for such a key; a file is.
    let place = Place::with_database();
    let long = "k".repeat((16 << 20) + 1);
    place.file("long.tsv", format!("{long}\tv\n"));
    place
        .run("load long.tsv --db db")
        .bad(REFUSED, &["long.tsv:1:", "16777216", "16777217"]);
    assert_eq!(place.run("count --db db").good(), "4\n");
}

#[test]
fn values_and_operands_come_from_files_and_standard_input() {
    let place = Place::with_keyspaces();
    let every_byte: Vec<u8> = (0..=255).collect();
    place.file("bytes", &every_byte);
    place.run("put --db db photo --value-file bytes").good();
    let raw = place.piped("get --db db photo --raw", b"");
    assert_eq!(raw.stdout, every_byte);
    // In the plain form every byte counts, also a line end; in others the text is a line.
    for (args, input, expected) in [
        (
            "put --db db k --value-file -",
            &b"two\nlines\n"[..],
            "two\\nlines\\n\n",
        ),
        ("put --db db k --value-file -", b"", "\n"),
        (
            "put --db db k --value-file - --hex --key-form plain",
            b"00FF\r\n",
            "\\x00\\xff\n",
        ),
        (
            "put --db db k --value-file - --value-form escaped",
            b"a\\tb\n",
            "a\\tb\n",
        ),
        ("put --db db k -", b"unread", "-\n"),
    ] {
        let output = place.piped(args, input);
        assert_eq!(output.status.code(), Some(0), "{args}: {output:?}");
        assert_eq!(place.run("get --db db k").good(), expected, "{args}");
    }
    place.file("five", "5\n");
    place
        .run("merge --db db --keyspace counters --value-form number front --value-file five")
        .good();
    let merged = place
        .run("get --db db --keyspace counters --value-form number front")
        .good();
    assert_eq!(merged, "16\n");
    for (args, code, words) in [
        ("put --db db k", USAGE, &["VALUE"][..]),
        ("put --db db k v --value-file bytes", USAGE, &["--value-file"]),
        (
            "merge --db db --keyspace log k v --value-file bytes",
            USAGE,
            &["--value-file"],
        ),
        (
            "put --db db k --value-file none",
            REFUSED,
            &["none", "No such file"],
        ),
        ("put --db db k --value-file db", REFUSED, &["db is a directory"]),
        (
            "put --db db k --value-file five --hex --key-form plain",
            REFUSED,
            &["five", "value", "hexadecimal"],
        ),
        (
            "merge --db db --keyspace log k --value-file bytes --value-form number",
            REFUSED,
            &["bytes", "operand", "number"],
        ),
    ] {
        place.run(args).bad(code, words);
    }
    assert_eq!(place.run("get --db db k").good(), "-\n");
}
