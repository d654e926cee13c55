//! `load`: every format, columns, forms, pipes; and what is no record.

use std::fs;

use super::support::{Place, REFUSED, USAGE, contents};

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
        .tephra(["load", ".", "--db", "db", "--format", "tsv"])
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

const PEOPLE: &str = "id,name,email\n7,Ann,ann@x\n2,\"Bob, the \"\"B\"\"\",bob@x\n10,\"two\nlines\",c@x\n";

#[test]
fn csv_columns_are_named_or_numbered_and_the_row_is_the_default_value() {
    let place = Place::new();
    place.file("people.csv", PEOPLE);
    let said = place.run("load people.csv --db rows --key id").good();
    assert!(
        said.starts_with("3 records from people.csv in ") && said.contains("columns: id, name, email"),
        "{said}"
    );
    assert_eq!(
        place.run("get --db rows 2").good(),
        "{\"id\":\"2\",\"name\":\"Bob, the \\\\\"B\\\\\"\",\"email\":\"bob@x\"}\n"
    );
    place
        .run("load people.csv --db by_name --key name --value 3")
        .good();
    assert_eq!(
        place.run("scan --db by_name").good(),
        "Ann\tann@x\nBob, the \"B\"\tbob@x\ntwo\\nlines\tc@x\n"
    );
    let fact = place.run("load people.csv --db first --json").fact();
    assert_eq!((&fact["records"], &fact["format"]), (&3.into(), &"csv".into()));
    assert_eq!(fact["columns"], serde_json::json!(["id", "name", "email"]));
    assert_eq!(place.run("count --db first").good(), "3\n");
}

#[test]
fn csv_without_a_header_and_with_other_delimiters() {
    let place = Place::new();
    place.file("pairs.csv", "a;1\r\nb;2\r\n");
    place
        .run("load pairs.csv --db two --no-header --delimiter ;")
        .good();
    assert_eq!(place.run("scan --db two").good(), "a\t1\nb\t2\n");
    // With a header of two columns, the other one is the value.
    place.run("load pairs.csv --db one --delimiter ; --key 2").good();
    assert_eq!(place.run("scan --db one").good(), "2\tb\n");
    place.file("marked.csv", "\u{feff}id,v\n1,x\n");
    place.run("load marked.csv --db marked --key id").good();
    assert_eq!(place.run("get --db marked 1").good(), "x\n");
    place.file("wide.csv", "a,b,c\n");
    place.run("load wide.csv --db wide --no-header").good();
    assert_eq!(place.run("scan --db wide").good(), "a\t[\"a\",\"b\",\"c\"]\n");
}

#[test]
fn json_lines_are_objects_or_arrays() {
    let place = Place::new();
    place.file(
        "e.jsonl",
        "{\"time\": 17, \"kind\":\"flush\", \"x\": 1.10}\n\n{\"time\":\"18\",\"kind\":null}\n",
    );
    place.run("load e.jsonl --db whole --key time").good();
    assert_eq!(
        place.run("scan --db whole").good(),
        "17\t{\"time\": 17, \"kind\":\"flush\", \"x\": 1.10}\n18\t{\"time\":\"18\",\"kind\":null}\n"
    );
    place
        .run("load e.jsonl --db kinds --key time --value kind")
        .good();
    assert_eq!(place.run("scan --db kinds").good(), "17\tflush\n18\tnull\n");
    place.file("a.ndjson", "[\"k\\u2603\", {\"v\": [1]}]\n");
    place.run("load a.ndjson --db arrays --key 1 --value 2").good();
    assert_eq!(place.run("scan --db arrays").good(), "k\u{2603}\t{\"v\": [1]}\n");
}

#[test]
fn what_scan_prints_as_json_or_in_another_form_can_be_loaded_again() {
    let place = Place::new();
    let every_byte: Vec<u8> = (0..=255).filter(|&b| b != b'\t' && b != b'\n').collect();
    place.file("in.tsv", [&every_byte[..], b"\tvalue\n\tthe empty key"].concat());
    place.run("load in.tsv --db one").good();
    let expected = place.run("scan --db one").good();
    for (number, (print, file, read)) in [
        ("--json", "out.jsonl", "--escaped"),
        ("--hex", "out.tsv", "--hex"),
        ("--base64", "out.tsv", "--base64"),
        ("--json --hex", "out.jsonl", "--hex"),
    ]
    .into_iter()
    .enumerate()
    {
        let scanned = place.run(&format!("scan --db one {print}")).good();
        place.file(file, scanned);
        place.run(&format!("load {file} --db copy{number} {read}")).good();
        assert_eq!(
            place.run(&format!("scan --db copy{number}")).good(),
            expected,
            "{print}"
        );
    }
}

#[test]
fn tsv_with_columns_named_by_its_first_line() {
    let place = Place::new();
    place.file("t.tsv", "id\tname\tage\n1\tAnn\t30\n2\tBob\t40\n");
    place
        .run("load t.tsv --db named --header --key id --value age")
        .good();
    assert_eq!(place.run("scan --db named").good(), "1\t30\n2\t40\n");
    place.run("load t.tsv --db numbered --key 3 --value 2").good();
    assert_eq!(
        place.run("scan --db numbered").good(),
        "30\tAnn\n40\tBob\nage\tname\n"
    );
}

#[test]
fn standard_input_and_pipes_are_loaded_like_files() {
    let place = Place::new();
    let output = place.piped("load - --db db --format tsv", b"a\t1\nb\t2\n");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("2 records from standard input"), "{said}");
    assert_eq!(place.run("scan --db db").good(), "a\t1\nb\t2\n");
    // A broken line at the end of a pipe leaves nothing behind either.
    let output = place.piped("load - --db other --format tsv", b"a\t1\nbroken\n");
    assert_eq!(output.status.code(), Some(REFUSED));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input:2:"));
    assert!(!place.path("other").exists());
    place.run("load - --db db").bad(USAGE, &["--format"]);
}

#[test]
fn values_may_be_numbers_and_may_be_merged() {
    let place = Place::with_keyspaces();
    place.file("hits.csv", "page,hits\nfront,5\nback,1\nfront,4\n");
    let load = "load hits.csv --db db --keyspace counters --merge --value-form number";
    place.run(load).good();
    assert_eq!(
        place
            .run("scan --db db --keyspace counters --value-form number")
            .good(),
        "back\t1\nfront\t20\n"
    );
    // Without the form they are text, of another width than the keyspace's: nothing is written.
    place
        .run("load hits.csv --db db --keyspace counters --merge")
        .bad(USAGE, &["counters", "values of 8 bytes", "1 to 1 bytes"]);
    place
        .run("load hits.csv --db db --merge")
        .bad(REFUSED, &["default keyspace", "no composition law"]);
    place
        .run("load hits.csv --db db --keyspace nowhere --merge")
        .bad(REFUSED, &["no keyspace \"nowhere\"", "counters"]);
    place
        .run("load hits.csv --db nowhere --merge")
        .bad(REFUSED, &["no database", "nowhere"]);
    place
        .run("load hits.csv --db db --keyspace routes")
        .bad(USAGE, &["routes", "bit strings"]);
    place.run("load hits.csv --db db --keyspace made").good();
    assert_eq!(place.run("count --db db --keyspace made").good(), "2\n");
}

#[test]
fn what_is_no_record_is_named_by_line_and_nothing_is_made() {
    let place = Place::new();
    place.file("ok.csv", "id,name\n1,a\n");
    for (file, text, args, words) in [
        (
            "uneven.csv",
            "a,b\n1,2\n3\n",
            "",
            &["uneven.csv:3:", "expected 2 columns", "found 1"][..],
        ),
        (
            "nocol.csv",
            "a,b\n1,2\n",
            "--key c",
            &["nocol.csv:2:", "no column \"c\"", "a, b"],
        ),
        (
            "number.csv",
            "a,b\n1,2\n",
            "--value 3",
            &["number.csv:2:", "no column 3", "has 2"],
        ),
        (
            "named.csv",
            "1,2\n",
            "--no-header --key a",
            &["named.csv:1:", "there is no header"],
        ),
        (
            "hex.csv",
            "k,v\n00,ff\n0,ff\n",
            "--hex",
            &["hex.csv:3:", "key", "hexadecimal"],
        ),
        (
            "num.csv",
            "k,v\na,1\nb,-1\n",
            "--value-form number",
            &["num.csv:3:", "value", "decimal number"],
        ),
        (
            "bad.jsonl",
            "{\"key\":1,\"value\":2}\n{\"key\":\n",
            "",
            &["bad.jsonl:2:", "JSON"],
        ),
        (
            "null.jsonl",
            "{\"key\":null,\"value\":2}\n",
            "",
            &["null.jsonl:1:", "null"],
        ),
        (
            "field.jsonl",
            "{\"key\":1}\n",
            "",
            &["field.jsonl:1:", "no column \"value\""],
        ),
        ("array.jsonl", "[1,2]\n", "--key a", &["array.jsonl:1:", "array"]),
        ("text.jsonl", "\"text\"\n", "", &["text.jsonl:1:"]),
        (
            "uneven.tsv",
            "a\tb\n1\n",
            "--header",
            &["uneven.tsv:2:", "expected 2 columns"],
        ),
    ] {
        place.file(file, text);
        place
            .run(&format!("load {file} --db db {args}"))
            .bad(REFUSED, words);
    }
    place.file("latin.jsonl", b"{\"key\":\"\xff\",\"value\":1}\n");
    place
        .run("load latin.jsonl --db db")
        .bad(REFUSED, &["latin.jsonl:1:", "UTF-8"]);
    place.file("latin.csv", b"id,a,b\n1,\xff,c\n");
    place
        .run("load latin.csv --db db")
        .bad(REFUSED, &["latin.csv:2:", "UTF-8", "--value"]);
    for (args, words) in [
        ("load ok.bin --db db", &["ok.bin", "--format"][..]),
        ("load ok.csv --db db --key 0", &["numbered from 1"]),
        ("load ok.csv --db db --header --no-header", &["--no-header"]),
        ("load ok.csv --db db --delimiter ab", &["one ASCII character"]),
        (
            "load ok.csv --db db --format tsv --delimiter ;",
            &["--delimiter", "tsv"],
        ),
        (
            "load ok.csv --db db --format jsonl --header",
            &["--header", "jsonl"],
        ),
        ("load ok.csv --db db --hex --base64", &["--base64"]),
        ("load ok.csv --db db --format xml", &["xml"]),
    ] {
        place.run(args).bad(USAGE, words);
    }
    assert!(!place.path("db").exists(), "{:?}", place.names());
}
