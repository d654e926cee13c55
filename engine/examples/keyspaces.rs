//! What many keyspaces cost: creating, opening and dropping them, and the memory they take.
//!
//! ```text
//! cargo run --release -p tephra-engine --example keyspaces -- DIRECTORY [COUNT]
//! ```
//!
//! Makes a database in a directory that does not exist yet, and leaves it there with its keyspaces dropped.

#![expect(clippy::print_stdout, reason = "printing is its purpose")]

use std::path::PathBuf;
use std::time::Instant;

use tephra_engine::{Db, Error, KeyspaceOptions, Options};

/// Memory of this process in the machine, in MB; 0 where the system does not say.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

#[expect(clippy::disallowed_methods, reason = "it times what people read")]
fn timed<T>(what: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let began = Instant::now();
    let outcome = work()?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{what:<44} {seconds:>8.3} s  {:>5} MB", resident_mb());
    Ok(outcome)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().expect("usage: keyspaces DIRECTORY [COUNT]"));
    let count: usize = arguments
        .next()
        .map_or(10_000, |text| text.parse().expect("a number"));
    let names: Vec<String> = (0..count).map(|number| format!("tenant/{number:05}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let open = || Db::open(&directory, Options::default());
    let all = |db: &Db| db.keyspaces(&names, KeyspaceOptions::default());

    let db = timed("open a new database", || {
        Db::open(&directory, Options::default().error_if_exists(true))
    })?;
    let created = timed(&format!("create {count} keyspaces in one call"), || all(&db))?;
    timed("create 100 more one by one", || {
        (0..100).try_for_each(|number| {
            db.keyspace(&format!("single/{number}"), KeyspaceOptions::default())
                .map(drop)
        })
    })?;
    drop((created, db));
    let db = timed("open, all empty", open)?;
    let keyspaces = all(&db)?;
    timed("put one record into each", || {
        keyspaces
            .iter()
            .try_for_each(|keyspace| keyspace.put("key", "value"))
    })?;
    timed("flush: one table each", || db.flush())?;
    timed("put and flush with all others idle, 100 times", || {
        (0..100u32).try_for_each(|number| {
            keyspaces[0].put("key", number.to_be_bytes())?;
            db.flush()
        })
    })?;
    drop((keyspaces, db));
    let db = timed("open, a table in each", open)?;
    let keyspaces = timed("handles of all", || all(&db))?;
    timed("read from each", || {
        keyspaces
            .iter()
            .try_for_each(|keyspace| keyspace.get("key").map(drop))
    })?;
    timed("drop a tenth", || {
        keyspaces[..count / 10]
            .iter()
            .try_for_each(|keyspace| db.drop_keyspace(keyspace))
    })?;
    timed("drop the rest", || {
        keyspaces[count / 10..]
            .iter()
            .try_for_each(|keyspace| db.drop_keyspace(keyspace))
    })?;
    db.close()
}
