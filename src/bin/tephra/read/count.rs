//! `tephra count`: how many keys there are.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::database::Place;
use crate::failure::{Failure, Result};
use crate::form::Forms;
use crate::output::{Json, facts, line};
use crate::progress::Progress;
use crate::span::SpanArgs;

/// Keys between two pictures of the progress.
const STEP_KEYS: u64 = 4096;

const EXAMPLES: &str = "\
Examples:
  tephra count --db names
  tephra count --db names --prefix GREEK
  tephra count --db names --estimate";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Count {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    span: SpanArgs,
    /// About how many, from counts that are kept anyway, without reading a key; of a whole keyspace
    #[arg(long)]
    estimate: bool,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    forms: Forms,
}

pub(crate) fn count(args: Count, out: &mut dyn Write) -> Result<()> {
    if args.estimate && args.span.is_given() {
        return Err(Failure::Usage {
            reason: "--estimate counts a whole keyspace: leave out --prefix, --from and --to".into(),
        });
    }
    let span = args.span.read(&args.forms)?;
    let (_db, space) = args.place.open_to_read()?;
    space.check_forms(&args.forms)?;
    let count = if args.estimate {
        space.estimate()?.0
    } else {
        let progress = Progress::counter("counting");
        let mut count = 0;
        for item in space.scan(&span)? {
            // A key is there whether or not this command could compose its value.
            match item {
                Ok(_) | Err(tephradb::Error::LawUnknown { .. } | tephradb::Error::LawFailed { .. }) => {
                    count += 1
                }
                Err(error) => return Err(error.into()),
            }
            if u64::is_multiple_of(count, STEP_KEYS) {
                progress.advance(STEP_KEYS);
            }
        }
        count
    };
    if args.json.json {
        facts(out, &json!({ "count": count, "is_estimate": args.estimate }))
    } else {
        line(out, count)
    }
}
