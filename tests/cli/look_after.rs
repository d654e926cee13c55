//! `stats`, `compact`, `checkpoint`, `verify`.

use std::fs;

use super::support::{NO, Place, REFUSED, USAGE, contents};

#[test]
fn damage_is_found_by_verify_with_file_and_exit_code() {
    // In the page that opening reads, and in one that only reading reaches.
    for line_count in [4, 4_000] {
        let place = Place::new();
        place.file(
            "in.tsv",
            (0..line_count)
                .map(|n| format!("key {n:04}\tvalue {n:04}\n"))
                .collect::<String>(),
        );
        place.tephra(["load", "in.tsv", "--db", "db"]).good();
        let files = contents(&place.path("db"));
        let tables: Vec<_> = files
            .iter()
            .filter(|(path, _)| path.extension() == Some("table".as_ref()))
            .collect();
        let [(table, bytes)] = tables[..] else {
            panic!("one table: {:?}", files.iter().map(|f| &f.0).collect::<Vec<_>>())
        };
        let value = format!("value {:04}", line_count / 2).into_bytes();
        let at = bytes
            .windows(value.len())
            .position(|w| w == value)
            .expect("values stand in tables as they are");
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        fs::write(table, damaged).unwrap();

        let name = table.file_name().unwrap().to_str().unwrap();
        let answer = place.tephra(["verify", "--db", "db"]);
        assert_eq!(answer.code, NO, "{}{}", answer.out, answer.err);
        assert!(
            answer.out.starts_with("wrong: ") && answer.out.contains(name),
            "{}",
            answer.out
        );
        assert!(answer.err.contains("not sound"), "{}", answer.err);
        let answer = place.tephra(["scan", "--db", "db"]);
        assert_eq!(answer.code, REFUSED, "{}{}", answer.out, answer.err);
        assert!(
            answer.err.contains(name) && answer.err.contains("checksum"),
            "{}",
            answer.err
        );
    }
}

#[test]
fn stats_are_one_screen_or_json() {
    let place = Place::with_database();
    let stats = place.run("stats --db db").good();
    assert!(stats.lines().count() <= 24, "{stats}");
    assert!(stats.lines().all(|line| line.chars().count() <= 80), "{stats}");
    for words in [
        "L0",
        "tables       1 in 1 keyspace,",
        "dead",
        "of tables",
        "stalls",
        "since ",
        "opened 1 time",
        "1.00 times what came into tables",
        "times those alive",
    ] {
        assert!(stats.contains(words), "no {words:?} in:\n{stats}");
    }
    let fact = place.run("stats --db db --json").fact();
    assert_eq!(
        (&fact["table_count"], &fact["live_record_count"]),
        (&1.into(), &4.into())
    );
    assert_eq!(fact["levels"][0]["table_count"], 1);
    assert_eq!(fact["event_log"]["stall_count"], 0);
    assert_eq!(fact["event_log"]["flush_count"], 1);
    for bytes in ["manifest_bytes", "event_log_bytes", "table_bytes"] {
        assert!(fact[bytes].as_u64().unwrap() > 0, "{bytes}: {fact}");
    }
    assert_eq!(
        fact["event_log"]["flush_bytes"], fact["table_bytes"],
        "what the one flush wrote is there"
    );
}

#[test]
fn compact_merges_tables_and_drops_the_dead() {
    let place = Place::with_database();
    place.file("more.tsv", "alpha\tnew\nbeta\tnew\n");
    place.run("load more.tsv --db db").good();
    place.run("delete --db db gamma").good();
    let fact = place.run("compact --db db --json").fact();
    assert_eq!(
        (&fact["after"]["tables"], &fact["after"]["dead_records"]),
        (&1.into(), &0.into())
    );
    assert_eq!(fact["after"]["live_records"], 3);
    assert_eq!(
        place.run("scan --db db").good(),
        "alpha\tnew\nalpha two\t1b\nbeta\tnew\n"
    );
    let said = place.run("compact --db db").good();
    assert!(said.contains("->") && said.contains("1 table, "), "{said}");
    place.run("compact --db db --prefix al").good();
    place
        .run("compact --db db --keyspace nowhere")
        .bad(REFUSED, &["no keyspace"]);
    place.run("compact --db nowhere").bad(REFUSED, &["no database"]);
    let place = Place::with_keyspaces();
    place.run("compact --db db").good();
    place
        .run("compact --db db --keyspace routes --prefix 0000")
        .good();
    place.run("verify --db db").good();
}

#[test]
fn a_checkpoint_is_a_database_of_its_own() {
    let place = Place::with_keyspaces();
    place.run("checkpoint --db db copy").good();
    place.run("put --db db alpha later").good();
    assert_eq!(place.run("get --db copy alpha").good(), "1\n");
    assert_eq!(place.run("get --db copy --keyspace log events").good(), "ab\n");
    place.run("verify --db copy").good();
    place
        .run("checkpoint --db db copy")
        .bad(REFUSED, &["copy", "not empty"]);
    place
        .run("checkpoint --db nowhere other")
        .bad(REFUSED, &["no database"]);
    assert!(!place.path("other").exists());
    place.run("checkpoint --db db").bad(USAGE, &["COPY"]);
    let fact = place.run("checkpoint --db db third --json").fact();
    assert_eq!(fact["checkpoint"], "third");
}

#[test]
fn verify_tells_as_json_and_in_the_singular() {
    let place = Place::new();
    place.run("put --create --db db k v").good();
    let said = place.run("verify --db db").good();
    assert!(said.contains("1 key alive"), "{said}");
    place.run("compact --db db").good();
    let mut names = fs::read_dir(place.path("db")).unwrap();
    let table = names
        .find_map(|entry| Some(entry.ok()?.path()).filter(|path| path.extension() == Some("table".as_ref())));
    let table = table.unwrap();
    for (command, words) in [
        ("verify", "sound: 1 record, "),
        ("info", "1 in 1 block of "),
        ("anatomy", ", 1 record, block 0 of 1"),
    ] {
        let said = place
            .tephra(["table".as_ref(), command.as_ref(), table.as_os_str()])
            .good();
        assert!(said.contains(words), "{command}: {said}");
    }
    let fact = place.run("verify --db db --json").fact();
    assert_eq!((&fact["is_sound"], &fact["live_keys"]), (&true.into(), &1.into()));
    assert_eq!(fact["problems"], serde_json::json!([]));
    fs::write(place.path("db").join("CURRENT"), "nonsense").unwrap();
    let answer = place.run("verify --db db --json");
    assert_eq!(answer.code, NO, "{}", answer.err);
    let fact: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(fact["is_sound"], false);
    assert!(answer.err.contains("1 problem, listed above"), "{}", answer.err);
}

#[test]
fn an_interrupted_compaction_leaves_a_sound_database() {
    let place = Place::new();
    place.run("bench fillrandom --records 100000 --db dbs").good();
    let db = place.path("dbs/01-fillrandom");
    let expected = place.run("count --db dbs/01-fillrandom").good();
    // Wherever the interrupt meets it: before it listens, between two steps, or when all is done.
    for wait_ms in [5, 60, 200] {
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_tephra"))
            .args(["compact", "--db"])
            .arg(&db)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        let pid = child.id().to_string();
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => assert_eq!(message, ""),
            Some(130) => assert!(message.contains("interrupted"), "{message}"),
            None => {}
            Some(other) => panic!("exit code {other}: {message}"),
        }
        assert_eq!(place.run("count --db dbs/01-fillrandom").good(), expected);
        place.run("verify --db dbs/01-fillrandom").good();
    }
}

#[test]
fn repair_tells_as_json() {
    let place = Place::with_keyspaces();
    let fact = place.run("repair db --into repaired --json").fact();
    assert_eq!(
        (&fact["is_complete"], &fact["keyspaces"]),
        (&true.into(), &4.into())
    );
    assert_eq!(fact["lost"], serde_json::json!([]));
    assert_eq!(
        place.run("scan --db repaired").good(),
        place.run("scan --db db").good()
    );
}
