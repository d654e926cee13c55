//! Ctrl-C in the middle of the work: exit code 130, nothing half-made, and a second try works.

use std::process::{Command, Stdio};

use super::support::{Answer, Place, answer};

/// Runs `tephra` and interrupts it as soon as `is_at_work` says so. It may be done before; the caller looks at the exit code.
fn interrupt(place: &Place, line: &str, is_at_work: impl Fn(&Place) -> bool) -> Answer {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tephra"))
        .current_dir(place.path("."))
        .env("TMPDIR", place.path("tmp"))
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !is_at_work(place) && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    Command::new("kill")
        .args(["-INT", &pid])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    answer(child.wait_with_output().unwrap())
}

/// A place with a file of many records, and a folder for what is temporary.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).unwrap();
    let lines = (0..RECORDS).map(|n| format!("key {:06}\tvalue {n}\n", n * 7_919 % RECORDS));
    place.file("in.tsv", lines.collect::<String>());
    place
}

const RECORDS: u64 = 300_000;

/// How often an interrupt that came too late is tried again.
const TRIES: usize = 10;

fn is_making(place: &Place) -> bool {
    place
        .names()
        .iter()
        .any(|name| name.starts_with(".tephra-unfinished-"))
}

#[test]
fn an_interrupted_load_says_how_much_is_in() {
    let place = place();
    let mut was_met = false;
    for attempt in 0..TRIES {
        let db = format!("db{attempt}");
        let has_begun = |place: &Place| place.path(&db).join("EVENTS").exists();
        let answer = interrupt(
            &place,
            &format!("load in.tsv --db {db} --memtable-kib 256"),
            has_begun,
        );
        let count: u64 = match answer.code {
            0 => RECORDS,
            130 if answer.err.contains("nothing half-made") => continue,
            130 => {
                was_met = true;
                assert!(answer.err.contains("are in, and durable"), "{}", answer.err);
                let words = answer.err.split_whitespace().skip_while(|word| *word != "first");
                words.clone().nth(1).unwrap().replace(',', "").parse().unwrap()
            }
            code => panic!("exit code {code}: {}", answer.err),
        };
        assert_eq!(
            place.run(&format!("count --db {db}")).good(),
            format!("{count}\n")
        );
        place.run(&format!("verify --db {db}")).good();
        if was_met {
            assert!(count < RECORDS);
            place.run(&format!("load in.tsv --db {db}")).good();
            assert_eq!(
                place.run(&format!("count --db {db}")).good(),
                format!("{RECORDS}\n")
            );
            return;
        }
    }
    panic!("never met at work");
}

#[test]
fn an_interrupted_dump_or_repair_or_restore_leaves_nothing_and_can_be_tried_again() {
    let place = place();
    place.run("load in.tsv --db db").good();
    place.run("dump --db db whole").good();
    let before = place.names();
    for (line, made) in [
        ("dump --db db out", "out"),
        ("repair db --into new", "new"),
        ("restore whole --db copy", "copy"),
    ] {
        let mut was_met = false;
        for _ in 0..TRIES {
            let answer = interrupt(&place, line, is_making);
            if answer.code == 130 {
                assert!(answer.err.contains("interrupted"), "{}", answer.err);
                assert_eq!(answer.out, "");
                assert_eq!(place.names(), before, "{line}");
                was_met = true;
                break;
            }
            assert_eq!(answer.code, 0, "{line}: {}", answer.err);
            let made = place.path(made);
            if made.is_dir() {
                std::fs::remove_dir_all(made).unwrap();
            } else {
                std::fs::remove_file(made).unwrap();
            }
        }
        assert!(was_met, "{line}: never met at work");
        place.run(line).good();
        let made = place.path(made);
        if made.is_dir() {
            std::fs::remove_dir_all(made).unwrap();
        } else {
            std::fs::remove_file(made).unwrap();
        }
    }
}

#[test]
fn an_interrupted_bench_or_stress_takes_its_directory_along() {
    let place = place();
    let is_there = |place: &Place| place.path("tmp").read_dir().unwrap().next().is_some();
    for line in [
        "bench fillrandom --records 3000000",
        "stress --kill --rounds 1000",
    ] {
        let answer = interrupt(&place, line, is_there);
        assert_eq!(answer.code, 130, "{line}: {}", answer.err);
        assert!(!is_there(&place), "{line}");
    }
}
