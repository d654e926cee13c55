//! `tephra compact`: merges tables now.
//!
//! An interrupt ends it between two steps, each an edit of its own: what was finished stays, and the database is as sound as before.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args as ClapArgs;
use serde_json::json;
use tephradb::{Cancel, Db, Event, EventListener};

use crate::database::{Database, shown_name, small_writes};
use crate::failure::{Failure, Result};
use crate::figures::{duration, grouped};
use crate::form::Forms;
use crate::interrupt;
use crate::output::{Json, counted, facts, line};
use crate::progress::Spinner;
use crate::space::Space;
use crate::span::SpanArgs;
use crate::stopwatch::Stopwatch;

const EXAMPLES: &str = "\
Examples:
  tephra compact --db names                           all keyspaces
  tephra compact --db names --prefix GREEK            what touches these keys, of the default keyspace
  tephra compact --db visits --keyspace counters

Compaction goes on by itself while a program has the database open; this is for giving back the room of deleted records now, or
for composing all records before a dump. Ctrl-C ends it between two steps, cleanly.";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compact {
    #[command(flatten)]
    database: Database,
    /// A keyspace alone [default: all of them; with a range: the default keyspace]
    #[arg(long, value_name = "NAME")]
    keyspace: Option<String>,
    #[command(flatten)]
    span: SpanArgs,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    forms: Forms,
}

/// Tells the spinner what was done.
#[derive(Debug)]
struct Watcher {
    spinner: Spinner,
    step_count: AtomicU64,
    written_bytes: AtomicU64,
}

impl EventListener for Watcher {
    fn on_event(&self, event: &Event) {
        if let Event::CompactionEnded {
            keyspace,
            written_bytes,
            error: None,
            ..
        } = event
        {
            let steps = self.step_count.fetch_add(1, Ordering::Relaxed) + 1;
            let bytes = self.written_bytes.fetch_add(*written_bytes, Ordering::Relaxed) + written_bytes;
            self.spinner.say(format!(
                "compacting {}: {}, {} MiB written",
                shown_name(keyspace),
                counted(steps, "step"),
                grouped(bytes >> 20)
            ));
        }
    }
}

pub(crate) fn compact(args: Compact, out: &mut dyn Write) -> Result<()> {
    let watch = Stopwatch::start();
    let is_one = args.keyspace.is_some() || args.span.is_given();
    let span = args.span.read(&args.forms)?;
    let watcher = Arc::new(Watcher {
        spinner: Spinner::new("compacting"),
        step_count: AtomicU64::new(0),
        written_bytes: AtomicU64::new(0),
    });
    let options = small_writes().listener(Arc::clone(&watcher) as Arc<dyn EventListener>);
    let opened = Db::open(&args.database.db, options);
    let outcome = opened.map_err(Failure::from).and_then(|db| {
        let names = if is_one {
            vec![args.keyspace.unwrap_or_default()]
        } else {
            db.keyspace_names()
        };
        let before = db.stats();
        let spaces = names
            .iter()
            .map(|name| Space::open(&db, name))
            .collect::<Result<Vec<_>>>()?;
        let cancel = Cancel::new();
        interrupt::ask_to_end(&cancel);
        let mut skipped = None;
        for space in &spaces {
            space.check_forms(&args.forms)?;
            match space.compact(&span, &cancel) {
                Err(Failure::Database(tephradb::Error::CompactionCancelled { .. })) => {
                    db.close()?;
                    return Err(Failure::Interrupted);
                }
                // The others are compacted; then it is said.
                Err(failure @ Failure::Database(tephradb::Error::LawUnknown { .. })) if !is_one => {
                    skipped = Some(failure);
                }
                outcome => outcome?,
            }
        }
        let after = db.stats();
        db.close()?;
        Ok((before, after, skipped))
    });
    watcher.spinner.end();
    let (before, after, skipped) = outcome?;
    let time = watch.elapsed();
    if args.json.json {
        let side = |stats: &tephradb::Stats| {
            json!({
                "tables": stats.table_count, "table_bytes": stats.table_bytes,
                "live_records": stats.live_record_count, "dead_records": stats.dead_record_count,
            })
        };
        facts(
            out,
            &json!({ "before": side(&before), "after": side(&after), "seconds": time.as_secs_f64() }),
        )?;
    } else {
        let side = |stats: &tephradb::Stats| {
            format!(
                "{}, {} bytes, {} dead",
                counted(stats.table_count as u64, "table"),
                grouped(stats.table_bytes),
                grouped(stats.dead_record_count)
            )
        };
        line(
            out,
            format_args!("{}  ->  {} in {}", side(&before), side(&after), duration(time)),
        )?;
    }
    skipped.map_or(Ok(()), Err)
}
