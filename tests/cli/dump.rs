//! `dump` and `restore`: exact, or nothing.

use std::fs;

use super::support::{Place, REFUSED, USAGE, contents};

/// Everything in a database as the command prints it.
fn everything(place: &Place, db: &str) -> Vec<String> {
    let mut all = Vec::new();
    for fact in place.run(&format!("keyspaces list --db {db} --json")).json() {
        let name = fact["name"].as_str().unwrap();
        let settings =
            ["name", "unit", "value_width", "law", "target_table_bytes"].map(|field| fact[field].to_string());
        all.push(settings.join(" "));
        let mut args = vec!["scan", "--db", db];
        if !name.is_empty() {
            args.extend(["--keyspace", name]);
        }
        all.push(place.tephra(args).good());
    }
    all
}

#[test]
fn a_restored_dump_is_the_database_again() {
    let place = Place::with_keyspaces();
    for (key, value) in [
        (r"\x00\xff", r"\n\t\x00"),
        ("", "the empty key"),
        ("empty value", ""),
    ] {
        place.tephra(["put", "--db", "db", "-e", key, value]).good();
    }
    place
        .tephra(["put", "--db", "db", "--keyspace", "routes", "", "101"])
        .good();
    place
        .tephra(["put", "--db", "db", "--keyspace", "routes", "1", ""])
        .good();
    place
        .run("keyspaces create --db db empty --law of-some-program")
        .good();
    let before = contents(&place.path("db"));
    let said = place.run("dump --db db all.dump").good();
    assert!(
        said.starts_with("13 records of 5 keyspaces to all.dump"),
        "{said}"
    );
    assert_eq!(contents(&place.path("db")), before, "a dump changes nothing");
    let said = place.run("restore all.dump --db copy").good();
    assert!(said.starts_with("13 records of 5 keyspaces to copy"), "{said}");
    assert_eq!(everything(&place, "copy"), everything(&place, "db"));
    place.run("verify --db copy").good();
    // Of the copy the same dump can be made.
    place.run("dump --db copy again.dump").good();
    assert_eq!(
        fs::read(place.path("again.dump")).unwrap(),
        fs::read(place.path("all.dump")).unwrap()
    );
    // Laws go on by their names.
    place
        .tephra([
            "merge",
            "--db",
            "copy",
            "--keyspace",
            "counters",
            "--value-form",
            "number",
            "front",
            "1",
        ])
        .good();
    assert_eq!(
        place
            .run("get --db copy --keyspace counters --value-form number front")
            .good(),
        "12\n"
    );
}

#[test]
fn dumps_go_through_pipes_and_as_json_facts() {
    let place = Place::with_database();
    let dumped = place.piped("dump --db db -", b"");
    assert!(dumped.status.success() && dumped.stderr.is_empty());
    let restored = place.piped("restore - --db copy", &dumped.stdout);
    assert!(
        restored.status.success(),
        "{}",
        String::from_utf8_lossy(&restored.stderr)
    );
    assert_eq!(everything(&place, "copy"), everything(&place, "db"));
    let fact = place.run("dump --db db file.dump --json").fact();
    assert_eq!((&fact["records"], &fact["keyspaces"]), (&4.into(), &1.into()));
    assert_eq!(fs::read(place.path("file.dump")).unwrap(), dumped.stdout);
    assert_eq!(
        place.run("restore file.dump --db third --json").fact()["records"],
        4
    );
    place.run("dump --db db - --json").bad(USAGE, &["--json"]);
}

#[test]
fn a_dump_that_is_cut_off_or_damaged_restores_nothing() {
    let place = Place::with_keyspaces();
    place.run("dump --db db all.dump").good();
    let whole = fs::read(place.path("all.dump")).unwrap();
    for cut in 0..whole.len() {
        place.file("cut.dump", &whole[..cut]);
        // Each cut is an error; a process for each would take long, so most are tried a few bytes apart.
        if cut % 7 == 0 || cut + 20 > whole.len() {
            place
                .run("restore cut.dump --db copy")
                .bad(REFUSED, &["cut.dump", "cut off", "end mark"]);
        }
    }
    for at in (0..whole.len()).step_by(11) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        place.file("bad.dump", &damaged);
        place
            .run("restore bad.dump --db copy")
            .bad(REFUSED, &["bad.dump"]);
    }
    place.file("longer.dump", [&whole[..], b"x"].concat());
    place
        .run("restore longer.dump --db copy")
        .bad(REFUSED, &["follows the end mark"]);
    place.file("text", "not a dump\n, though as long as one");
    place
        .run("restore text --db copy")
        .bad(REFUSED, &["TEPHRA DUMP 1"]);
    let left: Vec<_> = place
        .names()
        .into_iter()
        .filter(|name| name.contains("copy") || name.contains("restore"))
        .collect();
    assert_eq!(left, [""; 0], "nothing is left of what failed");
}

#[test]
fn nothing_is_written_over() {
    let place = Place::with_database();
    place.file("all.dump", "precious");
    place
        .run("dump --db db all.dump")
        .bad(REFUSED, &["all.dump", "already"]);
    assert_eq!(fs::read(place.path("all.dump")).unwrap(), b"precious");
    place
        .run("dump --db nowhere new.dump")
        .bad(REFUSED, &["no database"]);
    place
        .run("dump --db db none/new.dump")
        .bad(REFUSED, &["none/new.dump", "No such file"]);
    place.run("dump --db db new.dump").good();
    let before = contents(&place.path("db"));
    place
        .run("restore new.dump --db db")
        .bad(REFUSED, &["db", "in the way"]);
    assert_eq!(contents(&place.path("db")), before);
    place
        .run("restore none.dump --db copy")
        .bad(REFUSED, &["none.dump"]);
    place.run("restore . --db copy").bad(REFUSED, &["directory"]);
    assert!(!place.path("copy").exists());
    // An empty directory will do.
    fs::create_dir(place.path("copy")).unwrap();
    place.run("restore new.dump --db copy").good();
    assert_eq!(place.run("count --db copy").good(), "4\n");
}

#[test]
fn the_worked_example_of_the_format_is_true() {
    let place = Place::new();
    place.run("put --create --db db ash 2").good();
    place.run("dump --db db ash.dump").good();
    let found = fs::read(place.path("ash.dump")).unwrap();
    let document = include_str!("../../docs/dump-format.md");
    assert!(
        document.contains(&format!(", {} bytes:", found.len())),
        "{}",
        found.len()
    );
    let (_, example) = document.rsplit_once("```text\n").unwrap();
    let lines = example.lines().take_while(|line| !line.starts_with("```"));
    // Digits stand for bytes, ck for a byte of a checksum.
    let stated: Vec<Option<u8>> = lines
        .flat_map(|line| line.split("     ").next().unwrap().split_whitespace())
        .flat_map(|word| word.as_bytes().chunks(2))
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).ok())
        .collect();
    assert_eq!(stated.len(), found.len(), "{stated:?}");
    for (at, (stated, found)) in stated.iter().zip(&found).enumerate() {
        assert!(
            stated.is_none_or(|stated| stated == *found),
            "byte {at}: {stated:?}, {found}"
        );
    }
}
