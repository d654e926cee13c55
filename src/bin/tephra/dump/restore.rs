//! `tephra restore`: a dump into a new database, whole or not at all.
//!
//! The database is made in a directory beside the one asked for, and gets its name when the dump's end mark was met and every count is
//! right. Records go straight into tables, keyspace by keyspace.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::{BitIngest, Db, Ingest, KeyspaceOptions};

use super::format::KeyspaceHead;
use super::reader::{Block, DumpReader, records_of_bits, records_of_bytes};
use crate::database::{Database, small_writes};
use crate::escape::shown;
use crate::failure::{Failure, Result};
use crate::figures::duration;
use crate::files::{check_fresh, directory_beside, move_into_place, open_once};
use crate::output::{Json, counted, facts, line};
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;

const EXAMPLES: &str = "\
Examples:
  tephra restore names.dump --db copy
  zstdcat names.dump.zst | tephra restore - --db copy

The directory must not exist, or be empty. A dump that is cut off or damaged restores nothing.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Restore {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
    /// The dump; - for standard input
    file: PathBuf,
}

pub(crate) fn restore(args: &Restore, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    let target = &args.database.db;
    check_fresh("restore", target)?;
    let (from, name) = open_once(&args.file)?;
    let bad = |reason| Failure::Dump {
        name: name.clone(),
        reason,
    };
    // The first line is read before anything is made.
    let reader = DumpReader::new(BufReader::with_capacity(1 << 16, from)).map_err(bad)?;
    let directory = directory_beside(target)?;
    let (keyspace_count, record_count) = fill(directory.path(), reader).map_err(|error| match error {
        Broken::Dump(reason) => bad(reason),
        Broken::Other(failure) => *failure,
    })?;
    move_into_place(directory, target)?;
    let time = watch.elapsed();
    if args.json.json {
        return facts(
            out,
            &json!({ "keyspaces": keyspace_count, "records": record_count, "seconds": time.as_secs_f64() }),
        );
    }
    line(
        out,
        format_args!(
            "{} of {} to {} in {}",
            counted(record_count, "record"),
            counted(keyspace_count, "keyspace"),
            shown(target),
            duration(time)
        ),
    )
}

/// Why a restore ended early.
enum Broken {
    Dump(String),
    Other(Box<Failure>),
}

impl From<String> for Broken {
    fn from(reason: String) -> Broken {
        Broken::Dump(reason)
    }
}

impl From<tephradb::Error> for Broken {
    fn from(error: tephradb::Error) -> Broken {
        match error {
            // What only a dump that this command did not write can hold.
            tephradb::Error::IngestOrder { .. }
            | tephradb::Error::ValueWidth { .. }
            | tephradb::Error::LawValueWidth { .. }
            | tephradb::Error::KeyTooLong { .. }
            | tephradb::Error::ValueTooLong { .. }
            | tephradb::Error::KeyspaceMismatch { .. }
            | tephradb::Error::KeyspaceNameTooLong { .. }
            | tephradb::Error::InvalidOption { .. } => Broken::Dump(error.to_string()),
            error => Broken::Other(Box::new(error.into())),
        }
    }
}

/// The keyspace whose records come now.
enum Target {
    Bytes(Ingest),
    Bits(BitIngest),
}

impl Target {
    fn create(db: &Db, head: &KeyspaceHead) -> std::result::Result<Target, Broken> {
        let mut options = KeyspaceOptions::default();
        if let Some(bytes) = head.target_table_bytes {
            options = options.target_table_bytes(bytes);
        }
        if let Some(law) = &head.law {
            options = options.law_by_name(law);
        }
        if head.is_of_bits {
            if let Some(width) = head.value_width_units {
                options = options.value_width_bits(width);
            }
            return Ok(Target::Bits(db.bit_keyspace(&head.name, options)?.ingest()?));
        }
        if let Some(width) = head.value_width_units {
            let width = usize::try_from(width).map_err(|_| format!("a width of {width} bytes"))?;
            options = options.value_width_bytes(width);
        }
        Ok(Target::Bytes(db.keyspace(&head.name, options)?.ingest()?))
    }

    /// Takes a block of records; returns their number.
    fn take(&mut self, payload: &[u8]) -> std::result::Result<u64, Broken> {
        let mut count = 0;
        match self {
            Target::Bytes(ingest) => records_of_bytes(payload, |key, value| {
                count += 1;
                ingest.put(key, value).map_err(Broken::from)
            })?,
            Target::Bits(ingest) => records_of_bits(payload, |key, value| {
                count += 1;
                ingest.put(key, value).map_err(Broken::from)
            })?,
        }
        Ok(count)
    }

    fn finish(self) -> std::result::Result<(), Broken> {
        match self {
            Target::Bytes(ingest) => ingest.finish()?,
            Target::Bits(ingest) => ingest.finish()?,
        }
        Ok(())
    }
}

/// Reads the whole dump into a new database. Returns the number of keyspaces and records.
fn fill(
    directory: &Path,
    mut reader: DumpReader<impl std::io::Read>,
) -> std::result::Result<(u64, u64), Broken> {
    let progress = Progress::counter("restoring");
    let db = Db::open(directory, small_writes().create_if_missing(true))?;
    let mut names = std::collections::BTreeSet::new();
    let mut target = None;
    let mut record_total = 0;
    loop {
        match reader.next()? {
            Block::Keyspace(head) => {
                if let Some(done) = target.take() {
                    Target::finish(done)?;
                }
                target = Some(Target::create(&db, &head)?);
                if !names.insert(head.name.clone()) {
                    return Err(Broken::Dump(format!("keyspace {:?} comes twice", head.name)));
                }
            }
            Block::Records(payload) => {
                let Some(target) = &mut target else {
                    return Err(Broken::Dump("records come before a keyspace".to_owned()));
                };
                let count = target.take(&payload)?;
                record_total += count;
                progress.advance(count);
            }
            Block::End {
                keyspace_count,
                record_count,
            } => {
                if let Some(done) = target.take() {
                    Target::finish(done)?;
                }
                let found = (names.len() as u64, record_total);
                if found != (keyspace_count, record_count) {
                    return Err(Broken::Dump(format!(
                        "its end mark counts {} and {}, it holds {} and {}",
                        counted(keyspace_count, "keyspace"),
                        counted(record_count, "record"),
                        found.0,
                        found.1
                    )));
                }
                db.close()?;
                return Ok(found);
            }
        }
    }
}
