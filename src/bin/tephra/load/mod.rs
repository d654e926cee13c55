//! `tephra load`: records of a file into a database.
//!
//! ```text
//! file, pipe, -  --input-->  lines  --format-->  columns  --forms-->  (key, value)  --batches-->  database
//! ```
//!
//! The input is read twice: all of it is checked before anything is written, so that a broken line 1,000,000 leaves nothing behind. What
//! cannot be read twice is copied to a temporary file first.

mod columns;
mod csv;
mod json_lines;
mod quotes;
mod records;
mod tsv;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use serde_json::json;
use tephradb::{Cancel, Db, Durability, ExistingKeyspace, Keyspace, KeyspaceOptions, Options};

use crate::database::{Place, existing_keyspace, no_keyspace, shown_name};
use crate::escape::{escape, shown};
use crate::failure::{Failure, Result};
use crate::figures::duration;
use crate::files::Input;
use crate::form::Forms;
use crate::interrupt;
use crate::output::{Json, counted, facts, line};
use crate::progress::Progress;
use crate::stopwatch::Stopwatch;
pub(crate) use columns::Column;
pub(crate) use records::{Checked, Plan, Records, check};

/// Records a load commits together.
const LOAD_BATCH_RECORDS: usize = 1_000;
/// Bytes of keys and values after which a load commits earlier.
const LOAD_BATCH_BYTES: usize = 4 << 20;

const EXAMPLES: &str = "\
Examples:
  tephra load names.tsv --db names                               lines of KEY TAB VALUE
  tephra load people.csv --db people --key id                    the row of each id, as JSON
  tephra load people.csv --db people --key id --value email      one column of it
  tephra load events.jsonl --db events --key time                each object under its field `time`
  tephra load hits.csv --db visits --keyspace counters --merge --value-form number
  zcat dump.tsv.gz | tephra load - --db names --format tsv

What the formats mean:
  tsv    lines of KEY TAB VALUE; only the first TAB separates. With --key, --value or --header every TAB separates columns.
         Lines end with LF or CR LF; a value that ends in a CR is written as an escape (--escaped)
  csv    comma-separated, quoted as usual. The first line names the columns, unless --no-header. Lines end with LF, CR LF or CR,
         empty ones are passed over. A quote that is never closed, or closed in the middle of a value, is an error
  jsonl  an object a line (columns by field) or an array a line (columns by number). Strings stand for their text, other values
         for their JSON. Fields `key_hex` and `value_hex` stand in for `key` and `value`, as `scan --json` prints what is no text

Keys may repeat, in one input as in the database: the last line of a key wins, or with --merge all are merged, in order.

Columns are named, or numbered from 1. Without --key the first is the key (jsonl: the field `key`). Without --value the value is the
second of two columns (jsonl without --key: the field `value`), and otherwise the whole row as JSON.";

/// A format of input files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines of columns between TABs
    Tsv,
    /// Comma-separated values, with quotes
    Csv,
    /// An object or an array of JSON a line
    Jsonl,
}

impl Format {
    /// The format that the ending of a file's name tells.
    fn of(path: &Path) -> Option<Format> {
        let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match ending.as_str() {
            "tsv" | "tab" | "txt" => Some(Format::Tsv),
            "csv" => Some(Format::Csv),
            "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Tsv => "tsv",
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Load {
    /// The file to load; - for standard input
    file: PathBuf,
    #[command(flatten)]
    place: Place,
    /// The format [default: by the ending .tsv, .csv or .jsonl]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The column of the keys, by name or number
    #[arg(long, value_name = "COLUMN")]
    key: Option<Column>,
    /// The column of the values, by name or number
    #[arg(long, value_name = "COLUMN")]
    value: Option<Column>,
    /// The first line names the columns (tsv; csv has it by default)
    #[arg(long)]
    header: bool,
    /// The first line is a record like the others (csv)
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// Another separator than a comma (csv)
    #[arg(long, value_name = "CHARACTER", value_parser = one_byte)]
    delimiter: Option<u8>,
    /// Merge values by the keyspace's law rather than put them
    #[arg(long)]
    merge: bool,
    /// Size of a memtable in KiB: smaller ones flush more and smaller tables
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u32).range(1..))]
    memtable_kib: Option<u32>,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    forms: Forms,
}

fn one_byte(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] | [] | [_, _, ..] => {
            Err("expected one ASCII character, and neither a quote nor a line end".to_owned())
        }
        [byte] => Ok(*byte),
    }
}

impl Load {
    /// What to read, and how.
    fn plan(&self) -> Result<Plan> {
        let format = self
            .format
            .or_else(|| Format::of(&self.file))
            .ok_or_else(|| Failure::Usage {
                reason: format!(
                    "{}: name the format: --format tsv, csv or jsonl",
                    shown(&self.file)
                ),
            })?;
        let refuse = |option: &str, of: &str| {
            Err(Failure::Usage {
                reason: format!("{option} is for {of}, this is {}", format.name()),
            })
        };
        match format {
            Format::Jsonl if self.header || self.no_header => return refuse("--header", "tsv and csv"),
            Format::Tsv | Format::Jsonl if self.delimiter.is_some() => return refuse("--delimiter", "csv"),
            _ => {}
        }
        Ok(Plan {
            format,
            key: self.key.clone(),
            value: self.value.clone(),
            has_header: self.header || format == Format::Csv && !self.no_header,
            delimiter: self.delimiter.unwrap_or(b','),
            key_form: self.forms.key(),
            value_form: self.forms.value(),
        })
    }
}

pub(crate) fn run(args: &Load, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    let plan = args.plan()?;
    let mut input = Input::open(&args.file)?;
    let checked = check(&mut input, &plan)?;
    let record_count = checked.record_count;
    // There is nothing to merge into where there is no database.
    let mut options = Options::default().create_if_missing(!args.merge);
    if let Some(kib) = args.memtable_kib {
        options = options.memtable_bytes((kib as usize) << 10);
    }
    let cancel = Cancel::new();
    interrupt::ask_to_end(&cancel);
    let db = Db::open(&args.place.database.db, options)?;
    let keyspace = keyspace_to_load(&db, args.place.name(), args.merge)?;
    check_fits(&keyspace, &checked)?;
    let mut records = Records::open(&mut input, &plan)?;
    let columns = records.columns();
    let loaded = load_records(&db, &keyspace, &mut records, record_count, args.merge, &cancel)?;
    db.flush()?;
    db.close()?;
    if cancel.is_cancelled() && loaded < record_count {
        return Err(Failure::LoadInterrupted {
            path: input.path().to_path_buf(),
            loaded,
            record_count,
        });
    }
    if loaded != record_count {
        return Err(Failure::Changed {
            path: input.path().to_path_buf(),
            before: record_count,
            after: loaded,
        });
    }
    let time = watch.elapsed();
    if args.json.json {
        return facts(
            out,
            &json!({
                "records": loaded, "file": input.path().display().to_string(), "format": plan.format.name(),
                "columns": columns, "seconds": time.as_secs_f64(),
            }),
        );
    }
    let columns = columns.map_or_else(String::new, |names| {
        format!("; columns: {}", escape(names.join(", ").as_bytes()))
    });
    line(
        out,
        format_args!(
            "{} from {} in {}{columns}",
            counted(loaded, "record"),
            shown(input.path()),
            duration(time)
        ),
    )
}

/// Refuses an input with values of another width than the keyspace's or its law's, before any of it is written.
fn check_fits(keyspace: &Keyspace, checked: &Checked) -> Result<()> {
    let info = keyspace.info();
    let width = info
        .value_width_units
        .or(info.law_value_width_bytes.map(|width| width as u64));
    let (Some(width), Some((shortest, longest))) = (width, checked.value_lens_bytes) else {
        return Ok(());
    };
    let (shortest, longest) = (shortest as u64, longest as u64);
    if (shortest, longest) == (width, width) {
        return Ok(());
    }
    let found = match shortest == longest {
        true => counted(longest, "byte"),
        false => format!("{shortest} to {}", counted(longest, "byte")),
    };
    Err(Failure::Unfit {
        reason: format!(
            "keyspace {} holds values of {}, the input has values of {found}; numbers are read by --value-form number",
            shown_name(keyspace.name()),
            counted(width, "byte")
        ),
    })
}

/// The keyspace of a name, made with default settings where there is none; not so to merge, since only its law makes that possible.
fn keyspace_to_load(db: &Db, name: &str, is_merge: bool) -> Result<Keyspace> {
    match existing_keyspace(db, name)? {
        Some(ExistingKeyspace::Bytes(keyspace)) => Ok(keyspace),
        Some(ExistingKeyspace::Bits(_)) => Err(Failure::Unfit {
            reason: format!("keyspace {name:?} holds bit strings; load takes byte strings alone"),
        }),
        None if is_merge => Err(no_keyspace(db, name)),
        None => Ok(db.keyspace(name, KeyspaceOptions::default())?),
    }
}

/// Puts or merges all records, in order, in batches; ends behind one of them if it is cancelled. Returns their number.
pub(crate) fn load_records(
    db: &Db,
    keyspace: &Keyspace,
    records: &mut Records,
    record_count: u64,
    is_merge: bool,
    cancel: &Cancel,
) -> Result<u64> {
    let progress = Progress::new("loading", record_count);
    let (mut loaded, mut batch, mut batch_bytes) = (0, db.batch(), 0);
    while let Some((key, value)) = records.next()? {
        batch_bytes += key.len() + value.len();
        if is_merge {
            batch.merge(keyspace, &key, &value);
        } else {
            batch.put(keyspace, &key, &value);
        }
        loaded += 1;
        if batch.len() >= LOAD_BATCH_RECORDS || batch_bytes >= LOAD_BATCH_BYTES {
            progress.advance(batch.len() as u64);
            std::mem::replace(&mut batch, db.batch()).commit(Durability::Process)?;
            batch_bytes = 0;
            if cancel.is_cancelled() {
                break;
            }
        }
    }
    batch.commit(Durability::Process)?;
    Ok(loaded)
}

/// A row as JSON: an object by the header's names, or an array.
fn row_as_json(cells: &[&[u8]], header: Option<&[String]>) -> std::result::Result<Vec<u8>, String> {
    let text = |cell: &[u8]| match std::str::from_utf8(cell) {
        Ok(text) => Ok(serde_json::Value::from(text)),
        Err(_) => Err("the row is not UTF-8, so it is no JSON; name a column by --value".to_owned()),
    };
    // Written by hand: the columns keep their order.
    let mut json = String::from(if header.is_some() { "{" } else { "[" });
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        if let Some(name) = header.and_then(|header| header.get(at)) {
            json.push_str(&serde_json::Value::from(name.as_str()).to_string());
            json.push(':');
        }
        json.push_str(&text(cell)?.to_string());
    }
    json.push(if header.is_some() { '}' } else { ']' });
    Ok(json.into_bytes())
}
