//! `keyspaces`: list, create, drop.

use super::support::{Place, REFUSED, USAGE};

#[test]
fn keyspaces_are_created_listed_and_dropped() {
    let place = Place::with_keyspaces();
    let listed = place.run("keyspaces list --db db").good();
    for (name, settings) in [
        ("(default)", "bytes"),
        ("counters", "bytes, values of 8, law add-u64"),
        ("log", "bytes, law append-bytes, target tables of 1,048,576 bytes"),
        ("routes", "bits"),
    ] {
        let line = listed
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {listed}"));
        assert!(line.ends_with(settings), "{line}");
    }
    let facts = place.run("keyspaces list --db db --json").json();
    assert_eq!(facts.len(), 4);
    assert_eq!(
        (&facts[0]["name"], &facts[0]["is_default"]),
        (&"".into(), &true.into())
    );
    assert_eq!(
        (&facts[1]["law"], &facts[1]["value_width"]),
        (&"add-u64".into(), &8.into())
    );
    assert_eq!(
        (&facts[3]["unit"], &facts[3]["law"]),
        (&"bits".into(), &serde_json::Value::Null)
    );
    place.run("keyspaces drop --db db log").good();
    place.run("keyspaces drop --db db routes").good();
    let names: Vec<_> = place.run("keyspaces list --db db --json").json();
    assert_eq!(names.len(), 2);
    place.run("verify --db db").good();
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::with_keyspaces();
    let long = "n".repeat(1025);
    for (args, code, words) in [
        ("create --db db log", USAGE, &["log", "already"][..]),
        ("create --db db x --bits --law add-u64", USAGE, &["--law"]),
        ("create --db db x --law replace", REFUSED, &["replace"]),
        (
            "create --db db x --target-table-bytes 0",
            REFUSED,
            &["target_table_bytes"],
        ),
        (
            "create --db db x --value-width 99999999999",
            REFUSED,
            &["value_width"],
        ),
        (&format!("create --db db {long}"), REFUSED, &["1025", "1024"]),
        ("create --db nowhere x", REFUSED, &["no database"]),
        ("drop --db db nowhere", REFUSED, &["no keyspace", "nowhere"]),
        ("list --db nowhere", REFUSED, &["no database"]),
        ("list", USAGE, &["--db"]),
        ("", USAGE, &["list", "create", "drop"]),
    ] {
        place.run(&format!("keyspaces {args}")).bad(code, words);
    }
    place
        .tephra(["keyspaces", "drop", "--db", "db", ""])
        .bad(REFUSED, &["default keyspace cannot be dropped"]);
    assert_eq!(place.run("keyspaces list --db db --json").json().len(), 4);
    assert!(!place.path("nowhere").exists());
}

#[test]
fn odd_names_are_shown_escaped_and_taken_as_they_are() {
    let place = Place::with_database();
    for name in ["with space", "tab\there", "\u{2603}", "(default)"] {
        place.tephra(["keyspaces", "create", "--db", "db", name]).good();
        place
            .tephra(["put", "--db", "db", "--keyspace", name, "k", name])
            .good();
        let value = place
            .tephra(["get", "--db", "db", "--keyspace", name, "--raw", "k"])
            .good();
        assert_eq!(value, name);
    }
    let listed = place.run("keyspaces list --db db").good();
    assert!(
        listed.contains("tab\\there") && listed.contains('\u{2603}'),
        "{listed}"
    );
}
