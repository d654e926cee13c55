//! What commands print: lines for people, or facts as JSON.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::Value;

use crate::failure::{Failure, Result};

/// How facts are printed.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct Json {
    /// Print facts as JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints a line.
pub(crate) fn line(out: &mut dyn Write, text: impl std::fmt::Display) -> Result<()> {
    writeln!(out, "{text}").map_err(Failure::Output)
}

/// Prints facts on a line.
pub(crate) fn facts(out: &mut dyn Write, facts: &Value) -> Result<()> {
    line(out, facts)
}

/// `1 record`, `2 records`, `34,823 records`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let number = crate::figures::grouped(count);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("{number} {noun}"),
        (_, Some(stem)) if !noun.ends_with("ey") => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        for (count, noun, text) in [
            (1, "record", "1 record"),
            (0, "record", "0 records"),
            (34_823, "record", "34,823 records"),
            (2, "key", "2 keys"),
            (2, "entry", "2 entries"),
        ] {
            assert_eq!(counted(count, noun), text);
        }
    }
}
