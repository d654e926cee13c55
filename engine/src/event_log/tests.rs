//! The event log: what is in it, its bounds, and disks that refuse it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::line::LineWriter;
use super::{EventHistory, EventLine, HEADER};
use crate::clock::{Clock, ManualClock};
use crate::error::Error;
use crate::tests::{DIR, TestDb, contents, manual};
use crate::vfs::{Calls, Fault, FaultFs, FileSystem as _, Interlude, MemFs, Operation, Rule};
use crate::{Db, KeyspaceOptions};

fn events_of(db: &Db) -> EventHistory {
    db.event_history().expect("readable")
}

/// The events of both files of a closed database.
fn events_left(db: &TestDb) -> EventHistory {
    let mut history = EventHistory::default();
    for name in ["EVENTS.old", "EVENTS"] {
        if db.files().iter().any(|file| file == name) {
            history.add_file(&db.read_file(name));
        }
    }
    history
}

fn kinds(history: &EventHistory) -> Vec<&str> {
    history.events.iter().map(|event| event.kind.as_str()).collect()
}

fn number(event: &EventLine, name: &str) -> u64 {
    event.number(name).unwrap_or_else(|| panic!("{name}: {event:?}"))
}

fn last<'a>(history: &'a EventHistory, kind: &str) -> &'a EventLine {
    let mut events = history.events.iter().rev();
    events
        .find(|event| event.kind == kind)
        .unwrap_or_else(|| panic!("no {kind}: {:?}", kinds(history)))
}

/// Puts so many records, and flushes.
fn flush_some(db: &Db, count: u32) {
    for number in 0..count {
        db.put(number.to_be_bytes(), [b'v'; 30]).expect("put");
    }
    db.flush().expect("flush");
}

#[test]
fn flushes_compactions_ingests_checkpoints_opens_and_closes_are_told_with_their_figures() {
    let clock = Arc::new(ManualClock::new());
    clock.advance_ms(1_796_055_257_120);
    let mut db = TestDb::open(manual().clock(Arc::clone(&clock) as Arc<dyn Clock>));
    let odd = db
        .keyspace("odd \"name\"\n", KeyspaceOptions::default())
        .expect("creates");
    for round in 0..3u32 {
        clock.advance_ms(10);
        odd.put("k", round.to_be_bytes()).expect("put");
        flush_some(&db, 50 + round);
    }
    db.compact().expect("compacts");
    let mut ingest = odd.ingest().expect("begins");
    ingest.put("z", "taken in").expect("put");
    ingest.finish().expect("finishes");
    db.checkpoint("/copy").expect("copies");
    let stats = db.stats();
    drop(odd);
    db.reopen();
    let history = events_of(&db);
    assert_eq!(history.unreadable_line_count, 0);
    assert_eq!(
        (kinds(&history)[0], kinds(&history).last()),
        ("open", Some(&"open"))
    );
    assert!(kinds(&history).contains(&"close"));
    assert!(
        history
            .events
            .iter()
            .all(|event| event.wall_ms >= 1_796_055_257_120)
    );
    let ended: Vec<_> = history
        .events
        .iter()
        .filter(|event| event.kind == "flush.end")
        .collect();
    assert_eq!(ended.len() as u64, stats.flush_count);
    assert_eq!(
        ended.iter().map(|event| number(event, "bytes")).sum::<u64>(),
        stats.flush_bytes
    );
    assert_eq!((number(ended[0], "records"), number(ended[0], "tables")), (51, 2));
    assert_eq!(number(last(&history, "flush.begin"), "entries"), 53);

    let begun: BTreeMap<u64, &EventLine> = history
        .events
        .iter()
        .filter(|event| event.kind == "compaction.begin")
        .map(|event| (number(event, "number"), event))
        .collect();
    let compacted: Vec<_> = history
        .events
        .iter()
        .filter(|event| event.kind == "compaction.end")
        .collect();
    assert_eq!(
        (compacted.len() as u64, begun.len()),
        (stats.compaction_count, compacted.len())
    );
    let sum = |name: &str, events: &[&EventLine]| events.iter().map(|event| number(event, name)).sum::<u64>();
    assert_eq!(sum("bytes", &compacted), stats.compaction_write_bytes);
    let begun_of: Vec<_> = compacted
        .iter()
        .map(|event| begun[&number(event, "number")])
        .collect();
    assert_eq!(sum("bytes", &begun_of), stats.compaction_read_bytes);
    assert!(
        begun_of.iter().any(|event| {
            event.text("keyspace") == Some("odd \"name\"\n")
                && event.text("inputs") == Some("L0:3")
                && event.text("kind") == Some("merge")
                && event.text("reason").is_some_and(|reason| reason == "asked for")
        }),
        "{begun_of:?}"
    );
    assert_eq!(number(last(&history, "ingest"), "records"), 1);
    assert_eq!(last(&history, "checkpoint").text("path"), Some("/copy"));
    assert_eq!(number(last(&history, "open"), "tables"), stats.table_count as u64);

    let copy: Vec<_> = db.machine.list(Path::new("/copy")).expect("listable");
    assert!(
        copy.iter()
            .all(|entry| !entry.name.to_string_lossy().starts_with("EVENTS")),
        "{copy:?}"
    );
    let report = db.verify().expect("verifies");
    assert_eq!((report.leftover_files, report.foreign_files), (vec![], vec![]));
}

#[test]
fn failures_are_told() {
    let machine = FaultFs::new(Arc::new(MemFs::new()));
    let db = Db::open_with(Arc::new(machine.clone()), DIR, manual()).expect("opens");
    db.put("k", "v").expect("put");
    machine.add(Rule::once(Calls::Only(Operation::Sync), Fault::DeviceError).on(".table"));
    db.flush().expect_err("fails");
    let history = events_of(&db);
    let error = last(&history, "failure").text("error").expect("told").to_owned();
    assert!(error.contains(".table") && error.contains("injected"), "{error}");
    assert_eq!(last(&history, "flush.end").text("error"), Some(error.as_str()));
    machine.add(Rule::once(
        Calls::Only(Operation::SyncSegment),
        Fault::DeviceError,
    ));
    let lost = db.default_keyspace().put_with("k", "v", crate::Durability::Sync);
    lost.expect_err("the sync failed");
    db.flush().expect_err("refused");
    let history = events_of(&db);
    assert!(last(&history, "stopped").text("error").is_some());
}

#[test]
fn waits_of_writers_are_added_up() {
    let options = manual().memtable_bytes(2_000).frozen_memtables_max(1);
    let db = TestDb::open(options);
    for number in 0..200u32 {
        db.put(number.to_be_bytes(), [b'v'; 60]).expect("put");
    }
    db.flush().expect("flush");
    let history = events_of(&db);
    let waits = || {
        history
            .events
            .iter()
            .filter(|event| ["stall", "slowdown"].contains(&event.kind.as_str()))
    };
    assert!(
        waits().any(|event| event.kind == "stall"),
        "{:?}",
        kinds(&history)
    );
    assert_eq!(
        waits().map(|event| number(event, "commits")).sum::<u64>(),
        db.stats().stall_count
    );
    for event in waits().filter(|event| event.kind == "stall") {
        assert!(number(event, "longest_us") <= number(event, "us"), "{event:?}");
    }
}

#[test]
fn no_commit_touches_the_log_and_nobody_writes_it_under_a_lock_that_commits_or_readers_need() {
    let machine = FaultFs::new(Arc::new(MemFs::new()));
    let db = Db::open_with(Arc::new(machine.clone()), DIR, manual()).expect("opens");
    let changes = machine.call_count(Calls::Changing) - machine.call_count(Calls::Only(Operation::Append));
    for number in 0..300u32 {
        db.put(number.to_be_bytes(), "v").expect("put");
        db.delete(number.to_be_bytes()).expect("delete");
    }
    let after = machine.call_count(Calls::Changing) - machine.call_count(Calls::Only(Operation::Append));
    assert_eq!(after, changes, "only the log segment was written to");
    // At each of the first calls on the log, a writer and a reader come along on the same thread: they would wait for ever.
    for skip in 0..4 {
        let other = db.clone();
        let play = Interlude::new(move || {
            other.put("in between", "v").expect("put");
            assert!(other.contains("in between").expect("get"));
            drop(other.snapshot());
            assert!(other.stats().commit_count > 0);
        });
        machine.add(
            Rule::once(Calls::Only(Operation::Write), Fault::Interlude(play.clone()))
                .on("EVENTS")
                .after(skip),
        );
        flush_some(&db, 20);
        flush_some(&db, 20);
        db.compact().expect("compacts");
        assert!(db.contains("in between").expect("get"));
        db.delete("in between").expect("delete");
        play.cancel();
    }
}

#[test]
fn the_log_stays_within_twice_its_size_and_keeps_the_newest_lines() {
    let limit = 3_000;
    let mut db = TestDb::open(manual().event_log_bytes(limit));
    for round in 0..120 {
        flush_some(&db, 1 + round % 3);
        if round % 40 == 39 {
            db.reopen();
        }
        for name in ["EVENTS", "EVENTS.old"] {
            if db.files().iter().any(|file| file == name) {
                let len = db.read_file(name).len() as u64;
                assert!(len <= limit && len > 0, "{name}: {len}");
            }
        }
    }
    db.close();
    let history = events_left(&db);
    assert_eq!(history.unreadable_line_count, 0);
    assert_eq!(kinds(&history).last(), Some(&"close"));
    assert!(history.events.len() > 20, "{}", history.events.len());
    // A limit that no line fits in keeps one line at a time.
    let mut db = TestDb::open(manual().event_log_bytes(1));
    flush_some(&db, 3);
    db.close();
    let history = events_left(&db);
    assert_eq!(kinds(&history).last(), Some(&"close"));
    assert_eq!(history.events.len(), 2);
}

#[test]
fn a_log_that_is_turned_off_makes_no_file_and_a_size_beyond_the_limit_is_refused() {
    let mut db = TestDb::open(manual().event_log_bytes(0));
    flush_some(&db, 3);
    db.close();
    assert!(
        db.files().iter().all(|name| !name.starts_with("EVENTS")),
        "{:?}",
        db.files()
    );
    let refused = Db::open_with(Arc::new(MemFs::new()), DIR, manual().event_log_bytes(1 << 40));
    assert!(matches!(
        refused,
        Err(Error::InvalidOption {
            option: "event_log_bytes",
            ..
        })
    ));
}

#[test]
fn torn_damaged_foreign_and_impossible_files_are_no_error_at_open() {
    let mut db = TestDb::open(manual());
    flush_some(&db, 3);
    db.close();
    let whole = db.read_file("EVENTS");
    let cut = whole.len() - 5;
    let mut zeros = whole.clone();
    zeros[30..60].fill(0);
    let mut not_text = whole.clone();
    not_text[40] = 0xff;
    let foreign = b"somebody's own list of events".to_vec();
    for (what, bytes, unreadable, moved) in [
        ("torn", &whole[..cut], 1, false),
        ("zeros", &zeros[..], 1, false),
        ("not text", &not_text[..], 1, false),
        ("empty", &[][..], 0, true),
        ("half a header", &HEADER.as_bytes()[..7], 1, true),
        ("foreign", &foreign[..], 1, true),
    ] {
        let mut copy = TestDb::closed_copy(&db);
        copy.replace_file("EVENTS", bytes);
        copy.reopen();
        flush_some(&copy, 2);
        let history = events_of(&copy);
        assert_eq!(history.unreadable_line_count, unreadable, "{what}");
        assert!(
            kinds(&history).ends_with(&["open", "flush.begin", "flush.end"]),
            "{what}: {history:?}"
        );
        if moved {
            assert_eq!(copy.read_file("EVENTS.old"), bytes, "{what}");
        }
        copy.assert_sound();
        assert_eq!(copy.stats().lost_event_count, 0, "{what}");
    }
    // A folder of that name: there is no log, and everything else works.
    let mut copy = TestDb::closed_copy(&db);
    copy.remove_file("EVENTS");
    let folder = Path::new(DIR).join("EVENTS");
    copy.machine.create_dir_all(&folder).expect("creates");
    copy.reopen();
    flush_some(&copy, 2);
    copy.assert_sound();
    assert!(copy.stats().lost_event_count > 0);
}

#[test]
fn every_failing_call_of_the_log_leaves_the_database_as_it_is_and_is_made_up_for() {
    for fault in [
        Fault::DeviceError,
        Fault::StorageFull,
        Fault::ShortWrite,
        Fault::ZeroWrite,
        Fault::Skipped,
    ] {
        for lasts in [false, true] {
            for skip in 0..24 {
                let clock = Arc::new(ManualClock::new());
                let options = || {
                    manual()
                        .event_log_bytes(700)
                        .clock(Arc::clone(&clock) as Arc<dyn Clock>)
                };
                let machine = MemFs::new();
                let disk = FaultFs::new(Arc::new(machine.clone()));
                let rule = if lasts { Rule::always } else { Rule::once };
                disk.add(rule(Calls::Any, fault.clone()).on("EVENTS").after(skip));
                let what = format!("{fault:?}, lasting {lasts}, after {skip}");
                let db = Db::open_with(Arc::new(disk.clone()), DIR, options()).expect(&what);
                for round in 0..4 {
                    flush_some(&db, 3 + round);
                }
                db.compact().expect(&what);
                let before = contents(&db);
                disk.heal();
                clock.advance_ms(600_000);
                db.put("last", "v").expect(&what);
                db.flush().expect(&what);
                let history = events_of(&db);
                let told: u64 = history
                    .events
                    .iter()
                    .filter(|event| event.kind == "lost")
                    .map(|event| number(event, "events"))
                    .sum();
                let counted = db.stats().lost_event_count;
                assert!(told <= counted, "{what}: told {told}, counted {counted}");
                assert!(kinds(&history).contains(&"flush.end"), "{what}: {history:?}");
                db.close().expect(&what);
                let db = Db::open_with(Arc::new(machine.clone()), DIR, options()).expect(&what);
                assert_eq!(contents(&db).len(), before.len() + 1, "{what}");
                assert!(db.verify().expect(&what).is_sound(), "{what}");
            }
        }
    }
}

#[test]
fn a_disk_that_refuses_the_log_is_asked_again_after_a_pause_alone() {
    let clock = Arc::new(ManualClock::new());
    let disk = FaultFs::new(Arc::new(MemFs::new()));
    disk.add(Rule::always(Calls::Any, Fault::StorageFull).on("EVENTS"));
    let options = manual().clock(Arc::clone(&clock) as Arc<dyn Clock>);
    let db = Db::open_with(Arc::new(disk.clone()), DIR, options).expect("opens");
    for _ in 0..50 {
        flush_some(&db, 1);
    }
    let faults = disk.fault_count();
    assert!((1..=2).contains(&faults), "{faults}: the clock stands still");
    let lost = db.stats().lost_event_count;
    assert!(lost >= 101, "{lost}");
    disk.heal();
    clock.advance_ms(2_000);
    flush_some(&db, 1);
    let history = events_of(&db);
    assert_eq!(kinds(&history), ["lost", "flush.begin", "flush.end"]);
    assert_eq!(number(&history.events[0], "events"), lost);
    assert_eq!(db.stats().lost_event_count, lost);
}

#[test]
fn every_crash_leaves_a_log_that_can_be_read_and_goes_on() {
    let options = || manual().event_log_bytes(900);
    for seed in 0..60u64 {
        let db = TestDb::open(options());
        for round in 0..1 + u32::try_from(seed % 5).expect("small") {
            flush_some(&db, 2 + round);
        }
        let machine = if seed % 4 == 0 {
            db.machine.after_kill()
        } else {
            db.machine.after_power_cut(seed)
        };
        let again = TestDb::open_on(machine, options());
        flush_some(&again, 2);
        let history = events_of(&again);
        assert!(
            kinds(&history).ends_with(&["open", "flush.begin", "flush.end"]),
            "seed {seed}: {history:?}"
        );
        if seed % 4 == 0 {
            assert_eq!(
                history.unreadable_line_count, 0,
                "seed {seed}: a killed process loses nothing"
            );
        }
        again.assert_sound();
    }
}

#[test]
fn lines_come_back_as_they_were_written_whatever_the_names_hold() {
    let long = "n".repeat(1_024);
    for value in [
        "",
        "plain",
        "two words",
        "a=b",
        "quote\" and \\",
        "line\nend\r\t\0",
        "\u{202e}turned",
        "\u{65e5}\u{672c}",
        "\"",
        &long,
    ] {
        let text = LineWriter::new(5, "kind")
            .text("first", value)
            .number("second", 7)
            .text("third", value)
            .finish();
        assert_eq!(text.lines().count(), 1, "{text:?}");
        let line = EventLine::parse(text.trim_end_matches('\n')).unwrap_or_else(|| panic!("{text:?}"));
        assert_eq!((line.wall_ms, line.kind.as_str()), (5, "kind"));
        assert_eq!(
            (line.text("first"), line.number("second"), line.text("third")),
            (Some(value), Some(7), Some(value))
        );
    }
    let cut = LineWriter::new(5, "kind")
        .text("long", &"x".repeat(5_000))
        .finish();
    assert!(
        cut.len() < 1_300 && EventLine::parse(cut.trim_end()).is_some(),
        "{}",
        cut.len()
    );
    let duration = LineWriter::new(5, "kind").duration("us", Duration::MAX).finish();
    assert!(duration.contains(&u64::MAX.to_string()), "{duration}");
}

#[test]
fn no_text_is_read_wrong_and_none_panics() {
    let good = "1970-01-01T00:00:00.005Z kind a=1 b=\"x y\" c=";
    assert_eq!(EventLine::parse(good).expect("a line").fields.len(), 3);
    for bad in [
        "",
        "kind",
        "1970-01-01T00:00:00.005Z",
        "1970-01-01T00:00:00.005Z ",
        "1970-01-01T00:00:00.005Z kind a",
        "1970-01-01T00:00:00.005Z kind a=\"x",
        "1970-01-01T00:00:00.005Z kind a=1 ",
        "1970-01-01T00:00:00.005Z kind a=\"x\"y",
        "1970-01-01T00:00:00.005Z kind =1",
        "1970-01-01T00:00:00.005Z kind a=1\u{0}2",
        "1970-01-01T00:00:00.005Z kind a=\"\\q\"",
    ] {
        assert_eq!(EventLine::parse(bad), None, "{bad}");
    }
    let mut rng = crate::tests::Rng::new(7);
    for _ in 0..20_000 {
        let mut bytes = good.as_bytes().to_vec();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len());
            bytes[at] = u8::try_from(rng.below(256)).expect("a byte");
        }
        bytes.truncate(rng.below(bytes.len() + 1));
        let mut history = EventHistory::default();
        history.add_file(&bytes);
        assert!(history.events.len() + history.unreadable_line_count <= bytes.len().max(1));
    }
}
