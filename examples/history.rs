//! Makes a database with some history, for `tephra report` to tell: `cargo run --release --example history -- DIRECTORY`.
//!
//! ```text
//! readings   an hour of sensors, overwritten and expired by range deletes
//! names      random keys, looked up, half of them absent
//! archive    sorted records, ingested
//! ```
//!
//! Memtables and tables are small, so that the history has flushes, compactions on several levels and waits of writers within
//! seconds. What is written is the same each time; when it is flushed and merged is not.

#![expect(clippy::print_stdout, reason = "says what was made")]

use tephradb::{Db, Durability, KeyspaceOptions, Options};

const SENSORS: u32 = 40;
const MINUTES: u32 = 900;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: history DIRECTORY")?;
    let options = || {
        Options::default()
            .memtable_bytes(192 << 10)
            .target_table_bytes(64 << 10)
            .frozen_memtables_max(2)
            .l0_tables_max(8)
    };
    let db = Db::open(&directory, options())?;
    let readings = db.keyspace("readings", KeyspaceOptions::default())?;
    for minute in 0..MINUTES {
        let mut batch = db.batch();
        for sensor in 0..SENSORS {
            let key = format!("sensor {sensor:03}/{minute:06}");
            batch.put(&readings, key, format!("{}", (minute * 37 + sensor * 11) % 1_000));
        }
        batch.commit(Durability::Process)?;
        if minute % 300 == 299 {
            for sensor in 0..SENSORS {
                let (from, to) = (
                    format!("sensor {sensor:03}/"),
                    format!("sensor {sensor:03}/{:06}", minute - 200),
                );
                readings.delete_range(from.as_str()..to.as_str())?;
            }
        }
    }
    db.close()?;

    let db = Db::open(&directory, options())?;
    let names = db.keyspace("names", KeyspaceOptions::default())?;
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    for _ in 0..40_000 {
        let number = next();
        names.put(format!("name {number:08}"), format!("value of {number}"))?;
    }
    for _ in 0..6_000 {
        names.contains(format!("name {:08}", next()))?;
    }
    let mut archive = db.keyspace("archive", KeyspaceOptions::default())?.ingest()?;
    for number in 0..20_000u32 {
        archive.put(format!("archive/{number:08}"), [b'a'; 24])?;
    }
    archive.finish()?;
    // What is over and done with is compacted; the rest is as it comes.
    names.compact(..)?;
    for _ in 0..12_000 {
        let number = next();
        names.put(format!("name {number:08}"), "newer")?;
    }
    for number in (0..20_000u32).step_by(7) {
        db.keyspace("archive", KeyspaceOptions::default())?
            .delete(format!("archive/{number:08}"))?;
    }
    db.flush()?;
    println!("{} tables", db.stats().table_count);
    db.close()?;
    Ok(())
}
