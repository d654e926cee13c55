//! Damage: what each command says of it, and what `repair` says it did.

use std::fs;
use std::path::PathBuf;

use super::support::{Answer, NO, Place, REFUSED};

const KEYS: usize = 4_000;

/// The one file of the database with this ending, or beginning.
fn file(place: &Place, part: &str) -> PathBuf {
    let files = fs::read_dir(place.path("db"))
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut found = files.filter(|path| path.file_name().unwrap().to_str().unwrap().contains(part));
    let file = found.next().unwrap();
    assert!(found.next().is_none(), "one file");
    file
}

/// A database whose table has a wrong byte on the page in the middle.
fn with_damaged_table() -> Place {
    let place = Place::new();
    let lines = (0..KEYS).map(|n| format!("key {n:04}\tvalue {n:04}\n"));
    place.file("in.tsv", lines.collect::<String>());
    place.run("load in.tsv --db db").good();
    let table = file(&place, ".table");
    let mut bytes = fs::read(&table).unwrap();
    let value = format!("value {:04}", KEYS / 2);
    let at = bytes
        .windows(value.len())
        .position(|found| found == value.as_bytes());
    bytes[at.expect("values stand in tables as they are")] ^= 0x20;
    fs::write(&table, bytes).unwrap();
    place
}

#[track_caller]
fn assert_names_repair(answer: &Answer, code: i32) {
    assert_eq!(answer.code, code, "{}{}", answer.out, answer.err);
    let hint = "`tephra repair db --into NEWDIR` makes a new database of what can be read";
    assert!(answer.err.contains(hint), "{}", answer.err);
}

#[test]
fn whoever_meets_damage_is_told_of_repair() {
    let place = with_damaged_table();
    let key = format!("key {:04}", KEYS / 2 + 1);
    assert_names_repair(&place.tephra(["get", "--db", "db", &key]), REFUSED);
    assert_names_repair(&place.run("scan --db db"), REFUSED);
    assert_names_repair(&place.run("dump --db db out"), REFUSED);
    assert_names_repair(&place.run("verify --db db"), NO);
    assert!(!place.path("out").exists());
    let damages: [&dyn Fn(&Place); 4] = [
        &|place| fs::write(file(place, ".table"), "no table").unwrap(),
        &|place| fs::write(file(place, "MANIFEST-"), "no manifest").unwrap(),
        &|place| fs::remove_file(place.path("db").join("CURRENT")).unwrap(),
        &|place| fs::remove_file(file(place, ".log")).unwrap(),
    ];
    for damage in damages {
        let place = Place::with_database();
        place.run("put --db db in-the-log v").good();
        damage(&place);
        for line in [
            "get --db db alpha",
            "put --db db k v",
            "stats --db db",
            "report db --json",
        ] {
            assert_names_repair(&place.run(line), REFUSED);
        }
    }
    // What is no damage is no case for it.
    let place = Place::with_database();
    for line in [
        "get --db db missing",
        "get --db nowhere k",
        "restore in.tsv --db other",
    ] {
        let answer = place.run(line);
        assert!(!answer.err.contains("repair"), "{line}: {}", answer.err);
    }
}

#[test]
fn a_delete_on_a_damaged_page_is_kept_and_its_trouble_told() {
    let place = with_damaged_table();
    let key = format!("key {:04}", KEYS / 2);
    place.tephra(["delete", "--db", "db", &key]).good();
    place.tephra(["get", "--db", "db", &key]).bad(NO, &["not found"]);
    // One that has to flush cannot.
    let answer = place.run("load in.tsv --db db");
    assert_names_repair(&answer, REFUSED);
    assert!(
        answer.err.contains("deletes cannot be flushed") && answer.err.contains("checksum of the page"),
        "{}",
        answer.err
    );
    let stats = place.run("stats --db db").good();
    assert!(stats.contains("deletes cannot be flushed"), "{stats}");
}

#[test]
fn repair_says_what_is_taken_lost_and_set_aside() {
    let place = with_damaged_table();
    let answer = place.run("repair db --into new");
    assert_eq!(answer.code, NO, "{}", answer.err);
    let lines: Vec<&str> = answer.out.lines().collect();
    assert!(
        lines[0].starts_with("lost: ") && lines[0].contains("between the keys"),
        "{lines:?}"
    );
    let fact: Vec<_> = place
        .run("repair db --into new2 --json")
        .out
        .lines()
        .map(String::from)
        .collect();
    let fact: serde_json::Value = serde_json::from_str(&fact[0]).unwrap();
    let lost = fact["lost_records"].as_u64().unwrap();
    assert!(
        lost > 0 && lost + fact["table_records"].as_u64().unwrap() == KEYS as u64,
        "{fact}"
    );
    assert!(
        lines
            .iter()
            .any(|line| *line == format!("not taken: {lost} records in 1 place")),
        "{lines:?}"
    );
    assert!(
        answer.err.contains("some of it is lost") && !answer.err.contains("alive again"),
        "{}",
        answer.err
    );

    // Without a manifest nobody knows what was deleted.
    let place = Place::with_database();
    fs::remove_file(file(&place, "MANIFEST-")).unwrap();
    let answer = place.run("repair db --into new");
    assert_eq!(answer.code, NO, "{}", answer.err);
    assert!(
        answer.out.contains("left where it is: 1 table with 4 records")
            && answer.out.contains("With --accept-undeleted"),
        "{}",
        answer.out
    );
    assert!(answer.err.contains("tables are set aside"), "{}", answer.err);
    let answer = place.run("repair db --into all --accept-undeleted");
    assert_eq!(answer.code, NO, "{}", answer.err);
    assert!(
        answer.out.contains("undeleted: ") && answer.out.contains("ARE ALIVE AGAIN"),
        "{}",
        answer.out
    );
    assert!(
        answer
            .out
            .contains("taken though deletes are lost: 1 table with 4 records alive"),
        "{}",
        answer.out
    );
    assert!(
        !answer
            .out
            .lines()
            .any(|line| line.starts_with("lost: ") && line.contains(".table")),
        "a table that is taken is not lost: {}",
        answer.out
    );
    assert!(
        answer.err.contains("deleted keys may be alive again"),
        "{}",
        answer.err
    );

    let place = Place::with_database();
    let said = place.run("repair db --into new").good();
    assert!(
        said.contains("taken: 1 table") && said.contains("nothing is lost"),
        "{said}"
    );
    place
        .run("repair in.tsv --into other")
        .bad(REFUSED, &["in.tsv", "it is a file", "directory of a database"]);
    place
        .run("repair nowhere --into other")
        .bad(REFUSED, &["there is no such directory"]);
    place
        .run("repair db --into new")
        .bad(REFUSED, &["new is in the way"]);
    place
        .run("repair db --into db/inside")
        .bad(REFUSED, &["lies in the database's directory"]);
    assert_eq!(place.names(), ["db", "in.tsv", "new"]);
}

#[test]
fn what_is_no_event_log_is_told_and_in_nobodys_way() {
    let place = Place::with_database();
    let events = place.path("db").join("EVENTS");
    fs::remove_file(&events).unwrap();
    fs::create_dir(&events).unwrap();
    place.run("put --db db k v").good();
    let said = place.run("stats --db db").good();
    assert!(said.contains("event log    cannot be read"), "{said}");
    place.run("report db -o page.html").good();
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(
        page.contains("The event log could not be read"),
        "the page says why it has no timeline"
    );
    let fact: serde_json::Value = serde_json::from_str(&place.run("report db --json").good()).unwrap();
    assert_eq!(
        fact["events"]["unreadable_files"].as_array().unwrap().len(),
        1,
        "{fact}"
    );
    assert_eq!(fact["advice"][0]["rule"], "event-log");
    assert_eq!(place.run("count --db db").good(), "5\n");
    place.run("verify --db db").good();
}

#[test]
fn a_report_goes_to_standard_output_and_shows_no_control_characters() {
    let place = Place::with_database();
    let name = "evil\u{1b}[31m<b>";
    place.tephra(["keyspaces", "create", "--db", "db", name]).good();
    place
        .tephra(["put", "--db", "db", "--keyspace", name, "k", "v"])
        .good();
    place.run("compact --db db").good();
    let page = place.run("report db -o -").good();
    assert!(
        page.starts_with("<!") && page.trim_end().ends_with("</html>"),
        "the page alone"
    );
    let json = place.run("report db --json -o -").good();
    let list = place.run("keyspaces list --db db").good();
    let stats = place.run("stats --db db").good();
    for text in [page, json, list, stats] {
        assert!(!text.contains('\u{1b}') && !text.contains("<b>evil"), "{text}");
    }
    assert!(!place.path("-").exists());
}
