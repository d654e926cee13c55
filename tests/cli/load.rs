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

/// Quotes that are not closed once took the rest of the file into one value.
#[test]
fn csv_quotes_that_do_not_close_are_named_by_the_line_where_they_open() {
    let place = Place::new();
    for (text, words) in [
        (
            "id,name\n1,a\n2,\"b\n3,c\n4,d\n",
            &["q.csv:3:", "never closed"][..],
        ),
        ("id,name\n1,a\n2,\"", &["q.csv:3:", "never closed"]),
        (
            "id,name\n1,\"a\n2,\"b\"\n3,c\n",
            &["q.csv:2:", "closes on line 3", "goes on"],
        ),
        (
            "id,name\n1,\"a\"b\n",
            &["q.csv:2:", "closes on line 2", "doubled"],
        ),
        ("\"id,name\n1,a\n", &["q.csv:1:", "never closed"]),
    ] {
        place.file("q.csv", text);
        place.run("load q.csv --db db").bad(REFUSED, words);
        place.file("q.csv", text.replace('\n', "\r\n").replace(',', ";"));
        place.run("load q.csv --db db --delimiter ;").bad(REFUSED, words);
    }
    assert!(!place.path("db").exists());
    // What is really closed later is a value of several lines, and a quote in the middle of one is a quote.
    place.file("q.csv", "id,name\n1,\"a\n2,\"\"b\"\"\n\"\n3,5\" pipe\n");
    place.run("load q.csv --db db").good();
    assert_eq!(
        place.run("scan --db db").good(),
        "1\ta\\n2,\"b\"\\n\n3\t5\" pipe\n"
    );
}

#[test]
fn line_ends_of_either_kind_end_no_value_and_the_last_line_of_a_key_wins() {
    let place = Place::new();
    let lines = ["k,first", "other,x", "k,last"];
    for (number, end) in ["\n", "\r\n"].into_iter().enumerate() {
        for (format, separator) in [("csv", ","), ("tsv", "\t")] {
            let text = lines.map(|line| line.replace(',', separator)).join(end);
            for (last, text) in [("open", text.clone()), ("closed", text + end)] {
                let file = format!("{number}-{last}.{format}");
                place.file(&file, text);
                let header = if format == "csv" { "--no-header" } else { "" };
                let said = place.run(&format!("load {file} --db {file}.db {header}")).good();
                assert!(said.starts_with("3 records"), "{said}");
                let scanned = place.run(&format!("scan --db {file}.db")).good();
                assert_eq!(scanned, "k\tlast\nother\tx\n", "{file}");
            }
        }
    }
    place.file("named.tsv", "id\tv\r\n1\tx\r\n");
    place.run("load named.tsv --db named --header --key v").good();
    assert_eq!(place.run("scan --db named").good(), "x\t1\n");
    // A value that ends in a CR is written with an escape; one within a value is a byte like others.
    place.file("cr.tsv", "a\tx\\r\r\nb\tx\ry\n");
    place.run("load cr.tsv --db cr --escaped").good();
    assert_eq!(place.run("scan --db cr").good(), "a\tx\\r\nb\tx\\ry\n");
    let help = place.run("load --help").good();
    assert!(
        help.contains("last line of a key wins") && help.contains("CR LF"),
        "{help}"
    );
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
        ("--json", "out.jsonl", ""),
        ("--json --escaped", "out.jsonl", "--escaped"),
        ("", "out.tsv", "--escaped"),
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

/// Keys and values that JSON, escapes or both could garble come back from `scan --json | load --format jsonl` as they were.
#[test]
fn json_is_the_bytes_themselves_or_digits_and_is_loaded_as_it_was_printed() {
    let place = Place::new();
    for (key, value) in [
        (r"a\\b\t", r#"x\\"y"#),
        (r"\x00\xff", r"\xc3"),
        (r"text \xe2\x98\x83", r"\x1b[31m"),
        ("digits", r"\x80"),
    ] {
        place
            .tephra(["put", "--create", "--db", "db", "-e", key, value])
            .good();
    }
    let printed = place.run("scan --db db --json").good();
    assert_eq!(
        printed,
        "{\"key_hex\":\"00ff\",\"value_hex\":\"c3\"}\n\
         {\"key\":\"a\\\\b\\t\",\"value\":\"x\\\\\\\"y\"}\n\
         {\"key\":\"digits\",\"value_hex\":\"80\"}\n\
         {\"key\":\"text \u{2603}\",\"value\":\"\\u001b[31m\"}\n"
    );
    let output = place.piped("load - --format jsonl --db copy", printed.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(
        place.run("scan --db copy --hex").good(),
        place.run("scan --db db --hex").good()
    );
    assert_eq!(
        place.run("get --db db digits --json").good(),
        "{\"key\":\"digits\",\"value_hex\":\"80\"}\n"
    );
    assert!(
        place
            .run("scan --db db --json --keys-only")
            .good()
            .starts_with("{\"key_hex\":\"00ff\"}\n")
    );
    for (line, words) in [
        (
            "{\"key_hex\":\"0\",\"value\":\"\"}",
            &["bad.jsonl:1:", "key_hex", "hexadecimal"][..],
        ),
        (
            "{\"key\":\"k\",\"value_hex\":\"xy\"}",
            &["bad.jsonl:1:", "value_hex", "hexadecimal"],
        ),
        ("{\"value\":\"v\"}", &["bad.jsonl:1:", "no column \"key\""]),
    ] {
        place.file("bad.jsonl", line);
        place.run("load bad.jsonl --db bad").bad(REFUSED, words);
    }
    assert!(!place.path("bad").exists());
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
        .bad(
            REFUSED,
            &[
                "counters",
                "values of 8 bytes",
                "values of 1 byte;",
                "--value-form number",
            ],
        );
    // JSON is merged, not put; a whole row is no number.
    place.file(
        "hits.jsonl",
        "{\"key\":\"back\",\"value\":2}\n{\"key\":\"back\",\"value\":\"3\"}\n",
    );
    place
        .run("load hits.jsonl --db db --keyspace counters --merge --value-form number")
        .good();
    assert_eq!(
        place
            .run("get --db db --keyspace counters --value-form number back")
            .good(),
        "6\n"
    );
    place
        .run("load hits.jsonl --db db --keyspace counters --merge --value-form number --key key")
        .bad(REFUSED, &["counters", "values of 8 bytes"]);
    place.file(
        "log.jsonl",
        "{\"key\":\"rows\",\"n\":1}\n{\"key\":\"rows\",\"n\":2}\n",
    );
    place
        .run("load log.jsonl --db db --keyspace log --merge --key key")
        .good();
    assert_eq!(
        place.run("get --db db --keyspace log rows").good(),
        "{\"key\":\"rows\",\"n\":1}{\"key\":\"rows\",\"n\":2}\n"
    );
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
        .bad(REFUSED, &["routes", "bit strings"]);
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
            "load ok.csv --db db --delimiter \"",
            &["--delimiter", "neither a quote"],
        ),
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
    for end in ["\n", "\r", ""] {
        let args = ["load", "ok.csv", "--db", "db", "--delimiter", end];
        place.tephra(args).bad(USAGE, &["--delimiter", "nor a line end"]);
    }
    assert!(!place.path("db").exists(), "{:?}", place.names());
}
