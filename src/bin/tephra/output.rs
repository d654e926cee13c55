//! What commands print: lines for people, or facts as JSON.

use std::io::Write;

use clap::Args as ClapArgs;
use serde_json::Value;

use crate::escape::is_printable;
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
    line(out, harmless(facts.to_string()))
}

/// Facts on lines of their own, the last one closed.
pub(crate) fn page_of_facts(facts: &Value) -> String {
    harmless(format!("{facts:#}\n"))
}

/// JSON in which what must not reach a terminal is escaped as JSON does it. Only strings hold such.
fn harmless(json: String) -> String {
    let is_harmless = |character| is_printable(character) || character == '\n';
    if json.chars().all(is_harmless) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_harmless(character) {
            escaped.push(character);
        } else {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    escaped
}

/// A help text, in colours where standard output shows them.
pub(crate) fn help(help: &clap::Error) -> String {
    let text = help.render();
    if crate::colour::are_on_output() {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
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
    fn facts_hold_nothing_that_a_terminal_obeys_and_mean_the_same() {
        let fact = serde_json::json!({ "a\u{202e}": "\u{1b}[31m \u{9b} \u{7f} \u{2028} \u{2603} \\" });
        let mut out = Vec::new();
        facts(&mut out, &fact).unwrap();
        for text in [String::from_utf8(out).unwrap(), page_of_facts(&fact)] {
            assert!(text.lines().all(|line| line.chars().all(is_printable)), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), fact);
        }
    }

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
