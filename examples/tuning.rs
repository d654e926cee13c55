//! What options trade: the same writes into databases with one option changed at a time, and what each came to.
//!
//! ```text
//! cargo run --release --example tuning [WRITES]       400,000 writes unless said; docs/tuning.md shows a run
//! ```
//!
//! Background work is done by the writing thread, step by step, so that the bytes are the same in each run and on each machine, whatever
//! else it does. Times are not, and none are printed.
//!
//! | column | what it says |
//! |---|---|
//! | flushed | bytes of tables that flushes wrote: what came in |
//! | write amp. | bytes of tables written for each of those |
//! | space amp. | bytes of tables, at the end, for each byte that they have after a full compaction |
//! | most tables | the greatest number of tables at one time: files held open |
//! | probes | tables asked a look-up, on average; the filter turns most of them away |

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use tephradb::{Background, Db, Durability, KeyspaceOptions, Options};

/// Writes between two looks for background work.
const WRITES_A_STEP: usize = 100;
const LOOK_UPS: u64 = 2_000;

/// Small, so that a short run has several levels: a 64th of the defaults.
fn small() -> Options {
    Options::default()
        .memtable_bytes(1 << 20)
        .target_table_bytes(1 << 20)
        .background(Background::Manual)
}

/// A number that looks random: the same ones in each run.
fn scattered(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16
}

/// Half as many keys as writes, so that on average each is written twice.
fn key(number: u64, writes: u64) -> String {
    format!("{:016}", scattered(number) % (writes / 2))
}

fn ratio(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

fn run(
    setting: &str,
    options: Options,
    keyspace: KeyspaceOptions,
    writes: u64,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let db = Db::open(folder.path(), options)?;
    let keys = db.keyspace("keys", keyspace)?;
    let mut most_tables = 0;
    for first in (0..writes).step_by(WRITES_A_STEP) {
        let mut batch = db.batch();
        for number in first..(first + WRITES_A_STEP as u64).min(writes) {
            batch.put(&keys, key(number, writes), format!("{:0100}", scattered(!number)));
        }
        batch.commit(Durability::Process)?;
        while db.run_background_step()? {}
        most_tables = most_tables.max(db.stats().table_count);
    }
    db.flush()?;
    while db.run_background_step()? {}
    let before = db.stats();
    for number in 0..LOOK_UPS {
        if keys.get(key(number * 97 % writes, writes))?.is_none() {
            return Err(format!("key {} is lost", key(number * 97 % writes, writes)).into());
        }
    }
    let probes = db.stats().filter_probe_count() - before.filter_probe_count();
    db.compact()?;
    let merged = db.stats();
    println!(
        "{setting:34} {:>12} {:>10.2} {:>10.2} {:>11} {:>7.2}",
        before.flush_bytes,
        before.write_amplification().unwrap_or(1.0),
        ratio(before.table_bytes, merged.table_bytes),
        most_tables,
        ratio(probes, LOOK_UPS),
    );
    db.close()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let writes = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 400_000,
    };
    println!("{writes} writes of 16-byte keys and 100-byte values, each key about twice");
    println!(
        "{:34} {:>12} {:>10} {:>10} {:>11} {:>7}",
        "", "flushed", "write amp.", "space amp.", "most tables", "probes"
    );
    let plain = KeyspaceOptions::default;
    for kib in [256, 1024, 4096, 16384] {
        run(
            &format!("memtable_bytes {kib} KiB"),
            small().memtable_bytes(kib << 10),
            plain(),
            writes,
        )?;
    }
    for kib in [256, 1024, 4096] {
        run(
            &format!("target_table_bytes {kib} KiB"),
            small().target_table_bytes(kib << 10),
            plain(),
            writes,
        )?;
    }
    for tables in [2, 4, 8, 16] {
        run(
            &format!("l0_compaction_trigger {tables}"),
            small().l0_compaction_trigger(tables),
            plain(),
            writes,
        )?;
    }
    run(
        "value_width_bytes 100",
        small(),
        plain().value_width_bytes(100),
        writes,
    )?;
    Ok(())
}
