//! One function a command.
//!
//! `get`, `scan`, `verify` and `stats` open a database for reading only: they write nothing and create nothing. `put` and
//! `delete` want one that exists, unless told `--create`.

use std::ffi::OsString;
use std::io::Write;
use std::ops::Bound;
use std::path::Path;

use tephradb::{Db, Durability, Options};

use crate::args::{self, Args, Command};
use crate::demo;
use crate::escape::{escape, unescape};
use crate::failure::{Failure, Result};
use crate::figures::{duration, grouped, ratio};
use crate::progress::Progress;
use crate::records::{Records, check_file};
use crate::stopwatch::Stopwatch;
use crate::stress;

/// Records a load commits together.
const LOAD_BATCH_RECORDS: usize = 1_000;
/// Bytes of keys and values after which a load commits earlier.
const LOAD_BATCH_BYTES: usize = 4 << 20;

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<()> {
    match args.command {
        Command::Demo(demo) => demo::run(&demo, out),
        Command::Load(load) => self::load(&load, out),
        Command::Get(get) => self::get(get, out),
        Command::Scan(scan) => self::scan(scan, out),
        Command::Put(put) => self::put(put),
        Command::Delete(delete) => self::delete(delete),
        Command::Verify(verify) => self::verify(&verify, out),
        Command::Stats(stats) => self::stats(&stats, out),
        Command::Stress(stress) => stress::run(&stress, out),
    }
}

/// Opens a database that must exist, without the right to change it.
fn open_to_read(path: &Path) -> Result<Db> {
    Ok(Db::open(
        path,
        Options::default().create_if_missing(false).read_only(true),
    )?)
}

/// The bytes an argument stands for.
fn bytes_of(what: &'static str, argument: OsString, escaped: &args::Escaped) -> Result<Vec<u8>> {
    let bytes = argument.into_encoded_bytes();
    if !escaped.escaped {
        return Ok(bytes);
    }
    unescape(&bytes).map_err(|source| Failure::Argument {
        what,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        source,
    })
}

fn load(args: &args::Load, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    let record_count = check_file(&args.file, args.escaped.escaped)?;
    let mut options = Options::default();
    if let Some(kib) = args.memtable_kib {
        options = options.memtable_bytes((kib as usize) << 10);
    }
    let db = Db::open(&args.database.db, options)?;
    let loaded = load_records(
        &db,
        &mut Records::open(&args.file, args.escaped.escaped)?,
        record_count,
    )?;
    db.flush()?;
    db.close()?;
    if loaded != record_count {
        return Err(Failure::Changed {
            path: args.file.clone(),
            before: record_count,
            after: loaded,
        });
    }
    writeln!(
        out,
        "{} records from {} in {}",
        grouped(loaded),
        args.file.display(),
        duration(watch.elapsed())
    )
    .map_err(Failure::Output)
}

/// Puts all records, in order, in batches. Returns their number.
pub(crate) fn load_records(db: &Db, records: &mut Records, record_count: u64) -> Result<u64> {
    let progress = Progress::new("loading", record_count);
    let (mut loaded, mut batch, mut batch_bytes) = (0, db.batch(), 0);
    while let Some((key, value)) = records.next()? {
        batch_bytes += key.len() + value.len();
        batch.put(db, &key, &value);
        loaded += 1;
        if batch.len() >= LOAD_BATCH_RECORDS || batch_bytes >= LOAD_BATCH_BYTES {
            progress.advance(batch.len() as u64);
            std::mem::replace(&mut batch, db.batch()).commit(Durability::Process)?;
            batch_bytes = 0;
        }
    }
    batch.commit(Durability::Process)?;
    Ok(loaded)
}

fn get(args: args::Get, out: &mut dyn Write) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let db = open_to_read(&args.database.db)?;
    let Some(value) = db.get(&key)? else {
        return Err(Failure::NotFound { key });
    };
    if args.raw {
        out.write_all(&value).map_err(Failure::Output)
    } else {
        writeln!(out, "{}", escape(&value)).map_err(Failure::Output)
    }
}

fn scan(args: args::Scan, out: &mut dyn Write) -> Result<()> {
    let bound =
        |what, argument: Option<OsString>| argument.map(|a| bytes_of(what, a, &args.escaped)).transpose();
    let prefix = bound("prefix", args.prefix)?;
    let from = bound("start", args.from)?;
    let to = bound("end", args.to)?;
    let db = open_to_read(&args.database.db)?;
    let range = match prefix {
        Some(prefix) => db.prefix(prefix),
        None => db.range((
            from.map_or(Bound::Unbounded, Bound::Included),
            to.map_or(Bound::Unbounded, Bound::Excluded),
        )),
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let items: Box<dyn Iterator<Item = _>> = if args.reverse {
        Box::new(range.rev())
    } else {
        Box::new(range)
    };
    for item in items.take(limit) {
        let (key, value) = item?;
        writeln!(out, "{}\t{}", escape(&key), escape(&value)).map_err(Failure::Output)?;
    }
    Ok(())
}

fn put(args: args::Put) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let value = bytes_of("value", args.value, &args.escaped)?;
    let options = Options::default()
        .create_if_missing(args.create)
        .durability(Durability::Sync);
    let db = Db::open(&args.database.db, options)?;
    db.put(key, value)?;
    Ok(db.close()?)
}

fn delete(args: args::Delete) -> Result<()> {
    let key = bytes_of("key", args.key, &args.escaped)?;
    let options = Options::default()
        .create_if_missing(false)
        .durability(Durability::Sync);
    let db = Db::open(&args.database.db, options)?;
    db.delete(key)?;
    Ok(db.close()?)
}

fn verify(args: &args::Verify, out: &mut dyn Write) -> Result<()> {
    let report = match open_to_read(&args.database.db).and_then(|db| Ok(db.verify()?)) {
        Ok(report) => report,
        // Damage that keeps the database from being opened is what was looked for, not a refusal.
        Err(Failure::Database(damage)) if is_damage(&damage) => {
            writeln!(out, "wrong: {damage}").map_err(Failure::Output)?;
            return Err(Failure::Unsound { problem_count: 1 });
        }
        Err(failure) => return Err(failure),
    };
    for problem in &report.problems {
        writeln!(out, "wrong: {problem}").map_err(Failure::Output)?;
    }
    for file in &report.leftover_files {
        writeln!(
            out,
            "note: {file} is left of work that was cut short; the next open for writing removes it"
        )
        .map_err(Failure::Output)?;
    }
    for file in &report.foreign_files {
        writeln!(
            out,
            "note: {} is no part of the database",
            escape(file.as_bytes())
        )
        .map_err(Failure::Output)?;
    }
    if !report.is_sound() {
        return Err(Failure::Unsound {
            problem_count: report.problems.len(),
        });
    }
    writeln!(
        out,
        "sound: {} tables, {} records ({} of them dead), {} keys alive",
        grouped(report.table_count as u64),
        grouped(report.record_count),
        grouped(report.dead_record_count),
        grouped(report.live_key_count),
    )
    .map_err(Failure::Output)
}

/// Whether an error says that bytes of the database are wrong, rather than that they cannot be had.
fn is_damage(error: &tephradb::Error) -> bool {
    matches!(
        error,
        tephradb::Error::Damaged { .. }
            | tephradb::Error::Table { .. }
            | tephradb::Error::Inconsistent { .. }
    )
}

fn stats(args: &args::Stats, out: &mut dyn Write) -> Result<()> {
    let db = open_to_read(&args.database.db)?;
    let stats = db.stats();
    let levels: Vec<String> = stats.level_table_counts.iter().map(ToString::to_string).collect();
    let levels = if levels.is_empty() {
        "-".to_owned()
    } else {
        levels.join(", ")
    };
    let record_count = stats.live_record_count + stats.dead_record_count;
    let rows = [
        ("keyspaces", grouped(stats.keyspace_count as u64)),
        ("tables", grouped(stats.table_count as u64)),
        ("tables by level", levels),
        ("table bytes", grouped(stats.table_bytes)),
        ("records in tables, alive", grouped(stats.live_record_count)),
        ("records in tables, dead", grouped(stats.dead_record_count)),
        ("table bytes a record", ratio(stats.table_bytes, record_count)),
        ("entries in memtables", grouped(stats.memtable_entry_count as u64)),
        ("deletes among them", grouped(stats.memtable_delete_count as u64)),
        ("log bytes", grouped(stats.log_bytes)),
        (
            "log bytes dropped as never completed",
            grouped(stats.recovery_dropped_bytes),
        ),
    ];
    for (name, figure) in rows {
        writeln!(out, "{name:<38} {figure:>16}").map_err(Failure::Output)?;
    }
    Ok(())
}
