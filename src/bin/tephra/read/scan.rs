//! `tephra scan`: records in key order.
//!
//! A key whose value a law could not compose, or only an unknown one could, does not end the scan: it is left out, counted, and said at the
//! end.

use std::io::Write;

use clap::Args as ClapArgs;

use crate::database::Place;
use crate::failure::{Failure, Result};
use crate::form::Forms;
use crate::output::{Json, facts, line};
use crate::span::SpanArgs;

const EXAMPLES: &str = "\
Examples:
  tephra scan --db names --prefix 'GREEK SMALL LETTER' --reverse --limit 5
  tephra scan --db names --from A --to B --keys-only | wc -l
  tephra scan --db names > names.tsv && tephra load --escaped names.tsv --db copy
  tephra scan --db names --json > names.jsonl && tephra load names.jsonl --db copy";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Scan {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    span: SpanArgs,
    /// From the last key to the first
    #[arg(long)]
    reverse: bool,
    /// At most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print keys without values
    #[arg(long)]
    keys_only: bool,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    forms: Forms,
}

pub(crate) fn scan(args: Scan, out: &mut dyn Write) -> Result<()> {
    let span = args.span.read(&args.forms)?;
    let (_db, space) = args.place.open_to_read()?;
    space.check_forms(&args.forms)?;
    let items = space.scan(&span)?;
    let items: Box<dyn Iterator<Item = _>> = if args.reverse {
        Box::new(items.rev())
    } else {
        Box::new(items)
    };
    let (mut left_out_count, mut first_left_out) = (0, None);
    for item in items.take(args.limit.unwrap_or(usize::MAX)) {
        let (key, value) = match item {
            Err(error @ (tephradb::Error::LawUnknown { .. } | tephradb::Error::LawFailed { .. })) => {
                left_out_count += 1;
                first_left_out.get_or_insert(error);
                continue;
            }
            item => item?,
        };
        let value = (!args.keys_only).then_some(&value[..]);
        if args.json.json {
            facts(out, &args.forms.record_as_json(&key, value)?)?;
            continue;
        }
        let shown = args.forms.show_key(&key)?;
        match value {
            Some(value) => line(
                out,
                format_args!("{shown}\t{}", args.forms.show_value(&key, value)?),
            )?,
            None => line(out, shown)?,
        }
    }
    match first_left_out {
        None => Ok(()),
        Some(first) => Err(Failure::LeftOut {
            key_count: left_out_count,
            first,
        }),
    }
}
