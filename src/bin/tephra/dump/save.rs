//! `tephra dump`: the whole database into one file.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::{BitString, Db, Error, ExistingKeyspace};

use super::writer::DumpWriter;
use crate::database::{Database, open_to_read, shown_name};
use crate::escape::shown;
use crate::failure::{Failure, Result};
use crate::figures::duration;
use crate::files::{Output, file_failure, is_standard};
use crate::output::{Json, counted, facts, line};
use crate::progress::Progress;
use crate::space::Space;
use crate::stopwatch::Stopwatch;

/// Records between two pictures of the progress.
const STEP_RECORDS: u64 = 4096;

const EXAMPLES: &str = "\
Examples:
  tephra dump --db names names.dump
  tephra dump --db names - | zstd > names.dump.zst
  tephra restore names.dump --db copy

A dump holds all keyspaces, their settings, laws by name, and every key with its value, byte for byte, with checksums and an end mark. It
is taken from one instant, and changes nothing. docs/dump-format.md specifies it.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dump {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    json: Json,
    /// The file to write, which must not exist; - for standard output
    file: PathBuf,
}

pub(crate) fn dump(args: &Dump, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    let db = open_to_read(&args.database.db)?;
    if is_standard(&args.file) {
        if args.json.json {
            return Err(Failure::Usage {
                reason: "--json has no place where the dump goes to standard output".into(),
            });
        }
        if io::stdout().is_terminal() {
            return Err(Failure::Usage {
                reason: "a dump is no text for a terminal: name a file, or send it to another program".into(),
            });
        }
        write(&db, out, Failure::Output)?;
        return Ok(());
    }
    let output = Output::create(&args.file)?;
    let failed = |error| file_failure("write", &args.file, error);
    let (buffer, keyspace_count, record_count) =
        write(&db, BufWriter::with_capacity(1 << 16, output), failed)?;
    let output = buffer.into_inner().map_err(|error| failed(error.into_error()))?;
    output.finish()?;
    let time = watch.elapsed();
    if args.json.json {
        return facts(
            out,
            &json!({
                "file": args.file.display().to_string(), "keyspaces": keyspace_count, "records": record_count,
                "seconds": time.as_secs_f64(),
            }),
        );
    }
    line(
        out,
        format_args!(
            "{} of {} to {} in {}",
            counted(record_count, "record"),
            counted(keyspace_count, "keyspace"),
            shown(&args.file),
            duration(time)
        ),
    )
}

/// Writes all keyspaces. `failed` makes an error of the output a failure.
fn write<W: Write>(db: &Db, out: W, failed: impl Fn(io::Error) -> Failure + Copy) -> Result<(W, u64, u64)> {
    let infos = db.keyspace_infos();
    let mut about = 0;
    for info in &infos {
        about += Space::open(db, &info.name)?.estimate()?.0;
    }
    let progress = Progress::new("dumping", about);
    let mut writer = DumpWriter::new(out).map_err(failed)?;
    let mut record_count: u64 = 0;
    let mut step = || {
        record_count += 1;
        if record_count.is_multiple_of(STEP_RECORDS) {
            progress.advance(STEP_RECORDS);
        }
    };
    for info in &infos {
        writer.keyspace(info).map_err(failed)?;
        match Space::open(db, &info.name)?.inner() {
            ExistingKeyspace::Bytes(keyspace) => {
                for item in keyspace {
                    let (key, value) = item.map_err(whole_only)?;
                    writer.bytes(&key, &value).map_err(failed)?;
                    step();
                }
            }
            ExistingKeyspace::Bits(keyspace) => {
                for item in keyspace {
                    let (key, value) = item?;
                    let mut bits = BitString::new();
                    bits.push_str(value.bits());
                    writer.bits(&key, &bits).map_err(failed)?;
                    step();
                }
            }
        }
    }
    writer.finish().map_err(failed)
}

/// A dump that lacks a value would be none: where a law is missing, it says what to do first.
fn whole_only(error: Error) -> Failure {
    match error {
        Error::LawUnknown { keyspace, law } => Failure::Unfit {
            reason: format!(
                "keyspace {} holds several records of a key, which only its law {law:?} can compose, and this command does \
                 not know it.\n  Compact the keyspace in the program that has the law; every key is one record then, and can be dumped",
                shown_name(&keyspace)
            ),
        },
        error => error.into(),
    }
}
