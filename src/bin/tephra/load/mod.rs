//! `tephra load`: a file of records into a database.
//!
//! The file is read twice: all of it is checked before anything is written.

mod records;

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use tephradb::{Db, Durability, Options};

use crate::database::{Database, Escaped};
use crate::failure::{Failure, Result};
use crate::figures::{duration, grouped};
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;
pub(crate) use records::{Records, check_file};

/// Records a load commits together.
const LOAD_BATCH_RECORDS: usize = 1_000;
/// Bytes of keys and values after which a load commits earlier.
const LOAD_BATCH_BYTES: usize = 4 << 20;

#[derive(Debug, ClapArgs)]
pub(crate) struct Load {
    /// File of lines, KEY TAB VALUE
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) database: Database,
    #[command(flatten)]
    pub(crate) escaped: Escaped,
    /// Size of a memtable in KiB: smaller ones flush more and smaller tables
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memtable_kib: Option<u32>,
}

pub(crate) fn run(args: &Load, out: &mut dyn Write) -> Result<()> {
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
