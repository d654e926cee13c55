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
        ("create --db db log", REFUSED, &["log", "already"][..]),
        ("create --db db (default)", REFUSED, &["(default)", "already"]),
        (
            "create --db db x --law add-u64 --value-width 4",
            USAGE,
            &["add-u64", "8 bytes", "is 4"],
        ),
        (
            "create --db db x --law max-u64 --value-width 0",
            USAGE,
            &["max-u64", "8 bytes", "is 0"],
        ),
        (
            "create --db nowhere x --law max-u64 --value-width 9",
            USAGE,
            &["max-u64", "is 9"],
        ),
        (
            "create --db nowhere x --value-width 99999999999",
            USAGE,
            &["value_width"],
        ),
        ("create --db db x --bits --law add-u64", USAGE, &["--law"]),
        ("create --db db x --law replace", USAGE, &["replace"]),
        (
            "create --db db x --target-table-bytes 0",
            USAGE,
            &["target_table_bytes"],
        ),
        (
            "create --db db x --value-width 99999999999",
            USAGE,
            &["value_width"],
        ),
        (&format!("create --db db {long}"), REFUSED, &["1025", "1024"]),
        ("drop --db db nowhere", REFUSED, &["no keyspace", "nowhere"]),
        ("list --db nowhere", REFUSED, &["no database"]),
        ("list", USAGE, &["--db"]),
        ("", USAGE, &["list", "create", "drop"]),
    ] {
        place.run(&format!("keyspaces {args}")).bad(code, words);
    }
    place
        .tephra(["keyspaces", "drop", "--db", "db", ""])
        .bad(USAGE, &["default keyspace cannot be dropped"]);
    place
        .run("keyspaces drop --db db (default)")
        .bad(USAGE, &["default keyspace cannot be dropped"]);
    assert_eq!(place.run("keyspaces list --db db --json").json().len(), 4);
    assert!(!place.path("nowhere").exists());
}

#[test]
fn odd_names_are_shown_escaped_and_taken_as_they_are() {
    let place = Place::with_database();
    for name in ["with space", "tab\there", "\u{2603}", "default"] {
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

#[test]
fn the_name_that_is_shown_for_the_default_keyspace_is_taken_for_it() {
    let place = Place::with_keyspaces();
    for args in [
        "get --db db --keyspace (default) alpha",
        "count --db db --keyspace (default)",
        "scan --db db --keyspace (default) --limit 1",
        "compact --db db --keyspace (default)",
        "put --db db --keyspace (default) new 1",
        "put --create --db db --keyspace (default) newer 1",
        "delete --db db --keyspace (default) new",
        "load in.tsv --db db --keyspace (default)",
    ] {
        place.run(args).good();
    }
    assert_eq!(place.run("get --db db newer").good(), "1\n");
    assert_eq!(place.run("keyspaces list --db db --json").json().len(), 4);
    // A program may have made a keyspace that is really called so. It comes first.
    let db = tephradb::Db::open(place.path("db"), tephradb::Options::default()).unwrap();
    let named = db
        .keyspace("(default)", tephradb::KeyspaceOptions::default())
        .unwrap();
    named.put("alpha", "of the program").unwrap();
    db.close().unwrap();
    assert_eq!(
        place.run("get --db db --keyspace (default) alpha").good(),
        "of the program\n"
    );
    assert_eq!(place.run("get --db db alpha").good(), "1\n");
}

/// The first thing somebody does who counts: the examples of the help texts, on a directory that is not there.
#[test]
fn the_examples_make_a_database_of_counters() {
    let place = Place::new();
    let create = "keyspaces create --db visits counters --law add-u64 --value-width 8";
    for help in ["keyspaces --help", "merge --help"] {
        assert!(
            place.run(help).good().contains(&format!("tephra {create}")),
            "{help}"
        );
    }
    assert_eq!(place.run(create).good(), "");
    place.file("hits.csv", "page,hits\nfront-page,5\nabout,1\n");
    place
        .run("load hits.csv --db visits --keyspace counters --merge --value-form number")
        .good();
    place
        .run("merge --db visits --keyspace counters --value-form number front-page 1")
        .good();
    assert_eq!(
        place
            .run("get --db visits --keyspace counters --value-form number front-page")
            .good(),
        "6\n"
    );
    place.run("verify --db visits").good();
    place.run(create).bad(REFUSED, &["already"]);
}

/// What the law could never compose is refused wherever values come in, and nothing is written.
#[test]
fn counters_take_numbers_alone_whatever_the_settings_say_of_widths() {
    let place = Place::new();
    place.run("keyspaces create --db db hits --law add-u64").good();
    place.run("keyspaces create --db db peaks --law max-u64").good();
    place.file("hits.tsv", "a\t1\nb\t2\n");
    for keyspace in ["hits", "peaks"] {
        for args in [
            "put --db db K a 1",
            "merge --db db K a 1",
            "put --create --db db K a 123456789",
        ] {
            place
                .run(&args.replace(" K ", &format!(" --keyspace {keyspace} ")))
                .bad(REFUSED, &[keyspace, "8 bytes", "nothing was written"]);
        }
        for args in ["", "--merge"] {
            place
                .run(&format!("load hits.tsv --db db --keyspace {keyspace} {args}"))
                .bad(REFUSED, &[keyspace, "8 bytes", "1 byte"]);
        }
        assert_eq!(
            place.run(&format!("count --db db --keyspace {keyspace}")).good(),
            "0\n"
        );
        place
            .run(&format!(
                "load hits.tsv --db db --keyspace {keyspace} --merge --value-form number"
            ))
            .good();
    }
    // A dump that holds such a value restores nothing: made here by a law of any width under a name of the same length.
    place
        .run("keyspaces create --db other count-u --law add-u65")
        .good();
    place.run("put --db other --keyspace count-u k 1").good();
    place.run("dump --db other other.dump").good();
    let mut dump = std::fs::read(place.path("other.dump")).unwrap();
    let at = dump.windows(7).position(|bytes| bytes == b"add-u65").unwrap();
    dump[at + 6] = b'4';
    place.file("other.dump", with_checksums(dump));
    place
        .run("restore other.dump --db restored")
        .bad(REFUSED, &["other.dump", "add-u64", "8 bytes"]);
    assert!(!place.path("restored").exists());
}

/// A dump with the checksums of its blocks made anew.
fn with_checksums(mut dump: Vec<u8>) -> Vec<u8> {
    let (mut at, mut number) = (b"TEPHRA DUMP 1\n".len(), 0u64);
    while at < dump.len() {
        let len = u32::from_le_bytes(dump[at + 1..at + 5].try_into().unwrap()) as usize;
        let end = at + 5 + len;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&number.to_le_bytes());
        hasher.update(&dump[at..at + 1]);
        hasher.update(&dump[at + 1..end]);
        dump[end..end + 4].copy_from_slice(&hasher.finalize().to_le_bytes());
        (at, number) = (end + 4, number + 1);
    }
    dump
}

/// A law fails here by making a value of another width than the keyspace holds.
#[test]
fn where_a_law_fails_all_the_same_the_message_says_how_to_get_out() {
    let place = Place::new();
    place
        .run("keyspaces create --db db k --law append-bytes --value-width 3")
        .good();
    for (key, value) in [("a", "fit"), ("b", "not"), ("b", "fit"), ("c", "fit")] {
        place
            .run(&format!("merge --db db --keyspace k {key} {value}"))
            .good();
    }
    place
        .run("get --db db --keyspace k b")
        .bad(REFUSED, &["key \"b\"", "put or delete the key"]);
    let scanned = place.run("scan --db db --keyspace k");
    assert_eq!(
        (scanned.code, scanned.out.as_str()),
        (REFUSED, "a\tfit\nc\tfit\n")
    );
    for word in ["1 key left out", "key \"b\"", "put or delete the key"] {
        assert!(scanned.err.contains(word), "{word}: {}", scanned.err);
    }
    place
        .run("dump --db db all.dump")
        .bad(REFUSED, &["key \"b\"", "put or delete the key"]);
    place.run("put --db db --keyspace k b new").good();
    place.run("compact --db db --keyspace k").good();
    place.run("dump --db db all.dump").good();
    assert_eq!(
        place.run("scan --db db --keyspace k").good(),
        "a\tfit\nb\tnew\nc\tfit\n"
    );
}
