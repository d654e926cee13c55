//! `tephra scan`: records in key order.
//!
//! A key whose value only an unknown law could compose does not end the scan: it is left out, counted, and said at the end.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::json;

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
  tephra scan --db names --json > names.jsonl && tephra load --escaped names.jsonl --db copy";

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
    let mut left_out_count = 0;
    for item in items.take(args.limit.unwrap_or(usize::MAX)) {
        let (key, value) = match item {
            Err(tephradb::Error::LawUnknown { .. }) => {
                left_out_count += 1;
                continue;
            }
            item => item?,
        };
        let key = args.forms.key().show(&key);
        let value = || args.forms.value().show(&value);
        match (args.json.json, args.keys_only) {
            (true, false) => facts(out, &json!({ "key": key, "value": value() }))?,
            (true, true) => facts(out, &json!({ "key": key }))?,
            (false, false) => line(out, format_args!("{key}\t{}", value()))?,
            (false, true) => line(out, key)?,
        }
    }
    match left_out_count {
        0 => Ok(()),
        key_count => Err(Failure::LeftOut { key_count }),
    }
}
