//! `tephra table` and `tephra report` as a user meets them: good and damaged tables, and the anatomy that the documents show.
//!
//! `docs/format-by-example.md` quotes the command's output: every quoted block must be what the command prints today.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "makes tables and looks at what a command printed"
)]

#[expect(
    dead_code,
    reason = "the example's main writes files; here its tables are enough"
)]
#[path = "../examples/format_by_example.rs"]
mod format_by_example;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tephradb::{Db, KeyspaceOptions, Options};

/// A folder with the example's tables.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("words.table"),
            format_by_example::words_table().unwrap(),
        )
        .unwrap();
        fs::write(
            folder.path().join("bits.table"),
            format_by_example::bits_table().unwrap(),
        )
        .unwrap();
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tephra(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tephra"))
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    #[track_caller]
    fn good(&self, args: &[&str]) -> String {
        let output = self.tephra(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && error.is_empty(), "{args:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn bad(&self, code: i32, args: &[&str], words: &[&str]) -> String {
        let output = self.tephra(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        for word in words {
            assert!(error.contains(word), "no {word:?}: {error}");
        }
        assert!(!error.contains("panicked"), "{error}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The commands of a document, each with the block that follows it.
fn quoted(document: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for block in document.split("```").skip(1).step_by(2) {
        let block = block.split_once('\n').unwrap().1;
        if let Some((command, output)) = block
            .strip_prefix("$ tephra ")
            .and_then(|rest| rest.split_once('\n'))
        {
            found.push((
                command.split_whitespace().map(str::to_owned).collect(),
                output.to_owned(),
            ));
        }
    }
    found
}

#[test]
fn the_document_shows_what_the_command_prints() {
    let place = Place::new();
    let document = include_str!("../docs/format-by-example.md");
    let quoted = quoted(document);
    assert!(quoted.len() >= 4, "{quoted:?}");
    for (command, expected) in quoted {
        let args: Vec<&str> = command.iter().map(String::as_str).collect();
        assert_eq!(place.good(&args), expected, "{command:?}");
    }
}

#[test]
fn every_block_fits_a_hundred_columns_and_holds_no_colours() {
    let place = Place::new();
    for table in ["words.table", "bits.table"] {
        for block in ["0", "1"] {
            let text = place.good(&["table", "anatomy", table, "--block", block]);
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        place.bad(
            3,
            &["table", "anatomy", table, "--block", "2"],
            &["there is no block 2", "it has 2"],
        );
    }
}

#[test]
fn the_json_of_an_anatomy_adds_up() {
    let place = Place::new();
    for table in ["words.table", "bits.table"] {
        let text = place.good(&["table", "anatomy", table, "--block", "1", "--json"]);
        let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (start, end) = (&facts["start"]["offset_units"], &facts["end"]["offset_units"]);
        let records = facts["records"].as_array().unwrap();
        assert_eq!(
            (&records[0]["start"], &records.last().unwrap()["end"]),
            (start, end)
        );
        for record in records {
            let mut at = record["start"].as_u64().unwrap();
            let mut key = String::new();
            for piece in record["pieces"].as_array().unwrap() {
                let units = piece["units"].as_str().unwrap();
                match piece["role"].as_str().unwrap() {
                    "retained" => key.push_str(units),
                    role => {
                        assert_eq!(piece["start"].as_u64().unwrap(), at, "{piece}");
                        // Bytes that cannot be printed are escaped, four characters each.
                        at += (units.len() - 3 * units.matches("\\x").count()) as u64
                            - u64::from(units == "\\t" || units == "\\n" || units == "\\r");
                        if role == "literal" {
                            key.push_str(units);
                        }
                    }
                }
            }
            assert_eq!(at, record["end"].as_u64().unwrap(), "{record}");
            assert_eq!(key, record["key"].as_str().unwrap());
        }
    }
}

#[test]
fn keys_are_listed_in_order_with_their_values_if_asked_for() {
    let place = Place::new();
    assert_eq!(
        place.good(&["table", "keys", "words.table"]),
        "lapilli\nlava\nlava dome\nlava tube\nmaar\nmagma\n"
    );
    assert_eq!(
        place.good(&["table", "keys", "bits.table", "--values"]),
        "0001\t1\n00010110\t01\n0010\t\n1\t1110\n"
    );
}

#[test]
fn info_says_where_the_bytes_go() {
    let place = Place::new();
    let text = place.good(&["table", "info", "words.table"]);
    for words in [
        "6 in 2 blocks of 3",
        "payload",
        "900",
        "front coding saves 34.2 %",
        "ordinary front coding",
    ] {
        assert!(text.contains(words), "no {words:?}: {text}");
    }
    let facts: serde_json::Value =
        serde_json::from_str(&place.good(&["table", "info", "bits.table", "--json"])).unwrap();
    assert_eq!((&facts["unit"], &facts["records"]), (&"bit".into(), &4.into()));
    let sections = facts["sections"].as_array().unwrap();
    let last = sections
        .iter()
        .rev()
        .find(|section| section["bytes"] != 0)
        .unwrap();
    let end = last["offset"].as_u64().unwrap() + last["bytes"].as_u64().unwrap();
    assert!(end < facts["file_bytes"].as_u64().unwrap(), "{facts}");
}

#[test]
fn verify_names_what_is_wrong_with_every_flipped_byte() {
    let place = Place::new();
    assert!(
        place
            .good(&["table", "verify", "words.table"])
            .starts_with("sound: 6 records")
    );
    let bytes = fs::read(place.path("words.table")).unwrap();
    // Some places of every section: each run is a process.
    for at in [3, 12, 20, 70, 100, 200, 260, 390, 460, 640, 660, 700, 899] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(place.path("damaged.table"), damaged).unwrap();
        let printed = place.bad(
            1,
            &["table", "verify", "damaged.table"],
            &["damaged.table is not sound"],
        );
        assert!(printed.starts_with("wrong: "), "byte {at}: {printed}");
        let json = place.bad(1, &["table", "verify", "damaged.table", "--json"], &["not sound"]);
        let facts: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(facts["sound"], false);
        assert!(!facts["problems"].as_array().unwrap().is_empty());
        let refused = place.bad(3, &["table", "anatomy", "damaged.table"], &["damaged.table"]);
        assert_eq!(refused, "", "byte {at}: a damaged table is not explained");
    }
    for (name, bytes) in [
        ("empty", &[][..]),
        ("short", &bytes[..300]),
        ("text", b"no table at all"),
    ] {
        fs::write(place.path(name), bytes).unwrap();
        place.bad(1, &["table", "verify", name], &[name]);
        place.bad(3, &["table", "info", name], &[name]);
        place.bad(3, &["table", "keys", name], &[name]);
    }
    place.bad(3, &["table", "verify", "nowhere"], &["nowhere"]);
}

#[test]
fn several_damaged_pages_are_all_named() {
    let place = Place::new();
    let directory = place.path("db");
    let db = Db::open(&directory, Options::default()).unwrap();
    for number in 0..5_000u32 {
        db.put(format!("key {number:06}"), [7; 20]).unwrap();
    }
    db.flush().unwrap();
    db.close().unwrap();
    let table = table_in(&directory);
    let mut bytes = fs::read(&table).unwrap();
    bytes[5_000] ^= 1;
    bytes[50_000] ^= 1;
    fs::write(&table, bytes).unwrap();
    let printed = place.bad(1, &["table", "verify", table.to_str().unwrap()], &["2 problems"]);
    assert_eq!(printed.lines().count(), 2, "{printed}");
    assert!(printed.contains("4096") && printed.contains("49152"), "{printed}");
}

fn table_in(directory: &Path) -> PathBuf {
    let mut entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .find(|path| path.extension().is_some_and(|ending| ending == "table"))
        .unwrap()
}

/// A database whose keyspace has a name that would be markup, with flushes and a compaction.
fn reported(place: &Place) -> PathBuf {
    let directory = place.path("ash");
    let db = Db::open(&directory, Options::default()).unwrap();
    let odd = db
        .keyspace("<script>alert(\"1\")</script>&'", KeyspaceOptions::default())
        .unwrap();
    for round in 0..3u8 {
        for number in 0..400u32 {
            odd.put(format!("key {number:06}"), [round; 20]).unwrap();
        }
        db.flush().unwrap();
    }
    db.compact().unwrap();
    db.close().unwrap();
    directory
}

#[test]
fn a_report_is_one_page_that_fetches_nothing_and_escapes_every_name() {
    let place = Place::new();
    let directory = reported(&place);
    let before = contents(&directory);
    place.good(&["report", "ash", "-o", "report.html"]);
    assert_eq!(
        contents(&directory),
        before,
        "a report writes nothing into the database"
    );
    let page = fs::read_to_string(place.path("report.html")).unwrap();
    assert!(
        page.contains("&lt;script&gt;alert(") && !page.contains("<script"),
        "the name is text"
    );
    for part in [
        "Shape of the levels",
        "Timeline",
        "Write amplification",
        "Key prefixes",
        "Block fill",
        "Filters",
        "Nothing looks bad",
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(part), "no {part:?}");
    }
    assert!(
        !page.contains("http") && !page.contains("url(") && !page.contains("NaN"),
        "{page}"
    );
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn the_json_of_a_report_agrees_with_the_database() {
    let place = Place::new();
    let directory = reported(&place);
    let facts: serde_json::Value = serde_json::from_str(&place.good(&["report", "ash", "--json"])).unwrap();
    let db = Db::open_read_only(&directory, Options::default()).unwrap();
    let stats = db.stats();
    assert_eq!(facts["all"]["bytes"], stats.table_bytes);
    assert_eq!(
        facts["all"]["records"],
        stats.live_record_count + stats.dead_record_count
    );
    assert_eq!(facts["all"]["filter_bytes"], stats.filter_bytes);
    assert_eq!(facts["events"]["flushes"], 3);
    assert!(facts["events"]["compactions"].as_u64().unwrap() >= 1);
    assert!(facts["write_amplification"].as_f64().unwrap() > 1.0);
    assert_eq!(facts["advice"], serde_json::json!([]));
}

#[test]
fn a_report_goes_anywhere_but_into_the_database_and_wants_one() {
    let place = Place::new();
    reported(&place);
    for output in ["ash/CURRENT", "ash/report.html", "./ash/../ash/x"] {
        place.bad(
            3,
            &["report", "ash", "-o", output],
            &["lies in the database's directory"],
        );
    }
    place.bad(2, &["report", "ash"], &["--output"]);
    place.bad(3, &["report", "nowhere", "-o", "x.html"], &["nowhere"]);
    assert!(!place.path("x.html").exists() && !place.path("nowhere").exists());
}

/// The files of a folder with what they hold. The lock is the reader's to touch.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}
