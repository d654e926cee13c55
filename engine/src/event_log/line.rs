//! One line: from an event to text, and back.

use std::fmt::Write as _;
use std::time::Duration;

use super::time;
use crate::event::Event;

/// Longest value of a field in characters; what is longer is cut and ends in an ellipsis.
const VALUE_LEN_CHARS_MAX: usize = 1_200;

/// One event of the log, as it was read: see the head of `engine/src/event_log/mod.rs` for kinds and fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventLine {
    /// When it happened: milliseconds since 1970, by the clock of the wall, which may have jumped.
    pub wall_ms: u64,
    /// What happened.
    pub kind: String,
    /// Names and values, in the order of the line.
    pub fields: Vec<(String, String)>,
}

impl EventLine {
    /// When it happened, as in the log: `2026-11-30T16:14:17.120Z`.
    #[must_use]
    pub fn time(&self) -> String {
        time::render(self.wall_ms)
    }

    /// The value of a field.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }

    /// The value of a field that is a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// Reads a line without its end; `None` if it is none.
    #[must_use]
    pub fn parse(line: &str) -> Option<EventLine> {
        let (wall_ms, rest) = line.split_once(' ')?;
        let wall_ms = time::parse(wall_ms)?;
        let (kind, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if kind.is_empty() || !kind.bytes().all(is_plain) {
            return None;
        }
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            if name.is_empty() || !name.bytes().all(is_plain) {
                return None;
            }
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => unquote(quoted)?,
                None => {
                    let len = after.find(' ').unwrap_or(after.len());
                    let value = Some(&after[..len]).filter(|value| value.bytes().all(is_plain))?;
                    (value.to_owned(), &after[len..])
                }
            };
            fields.push((name.to_owned(), value));
            rest = match after.strip_prefix(' ') {
                Some(next) if !next.is_empty() => next,
                None if after.is_empty() => "",
                _ => return None,
            };
        }
        let kind = kind.to_owned();
        Some(EventLine {
            wall_ms,
            kind,
            fields,
        })
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.:,-".contains(&byte)
}

/// The text up to the closing quote, and what follows that.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = quoted.chars();
    loop {
        match rest.next()? {
            '"' => return Some((value, rest.as_str())),
            '\\' => match rest.next()? {
                'u' => {
                    let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                    value.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    rest = after.chars();
                }
                escaped @ ('"' | '\\') => value.push(escaped),
                _ => return None,
            },
            other => value.push(other),
        }
    }
}

/// A line under construction.
pub(super) struct LineWriter(String);

impl LineWriter {
    pub(super) fn new(wall_ms: u64, kind: &str) -> Self {
        LineWriter(format!("{} {kind}", time::render(wall_ms)))
    }

    pub(super) fn number(mut self, name: &str, value: u64) -> Self {
        write!(self.0, " {name}={value}").expect("a String takes everything");
        self
    }

    fn count(self, name: &str, value: usize) -> Self {
        self.number(name, value as u64)
    }

    pub(super) fn duration(self, name: &str, value: Duration) -> Self {
        self.number(name, u64::try_from(value.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn text(mut self, name: &str, value: &str) -> Self {
        write!(self.0, " {name}=").expect("a String takes everything");
        if !value.is_empty() && value.bytes().all(is_plain) && value.len() <= VALUE_LEN_CHARS_MAX {
            self.0.push_str(value);
            return self;
        }
        self.0.push('"');
        for (index, character) in value.chars().enumerate() {
            if index == VALUE_LEN_CHARS_MAX {
                self.0.push('\u{2026}');
                break;
            }
            match character {
                '"' | '\\' => self.0.extend(['\\', character]),
                _ if is_disorderly(character) => self.0.extend(character.escape_unicode()),
                _ => self.0.push(character),
            }
        }
        self.0.push('"');
        self
    }

    fn error(self, error: Option<&crate::error::Error>) -> Self {
        match error {
            Some(error) => self.text("error", &error.to_string()),
            None => self,
        }
    }

    /// The line with its end.
    pub(super) fn finish(mut self) -> String {
        self.0.push('\n');
        self.0
    }
}

/// Control characters, and those that turn or break a line.
fn is_disorderly(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The line of an event; `None` for events that the log does not tell.
pub(super) fn render(wall_ms: u64, event: &Event) -> Option<String> {
    let line = |kind| LineWriter::new(wall_ms, kind);
    let line = match event {
        Event::Opened {
            table_count,
            table_bytes,
            dropped_log_bytes,
            took,
        } => line("open")
            .count("tables", *table_count)
            .number("table_bytes", *table_bytes)
            .number("dropped_log_bytes", *dropped_log_bytes)
            .duration("us", *took),
        Event::Closed {
            filter_negative_count,
            filter_true_positive_count,
            filter_false_positive_count,
        } => line("close")
            .number("filtered", *filter_negative_count)
            .number("found", *filter_true_positive_count)
            .number("in_vain", *filter_false_positive_count),
        Event::FlushBegun {
            entry_count,
            memtable_bytes,
        } => line("flush.begin")
            .count("entries", *entry_count)
            .count("memtable_bytes", *memtable_bytes),
        Event::FlushEnded {
            table_count,
            record_count,
            written_bytes,
            took,
            error,
        } => line("flush.end")
            .count("tables", *table_count)
            .number("records", *record_count)
            .number("bytes", *written_bytes)
            .duration("us", *took)
            .error(error.as_deref()),
        Event::CompactionBegun {
            number,
            keyspace,
            kind,
            inputs,
            output_level,
            input_bytes,
            input_record_count,
            reason,
            ..
        } => {
            let table_count = inputs.iter().map(|input| input.table_count).sum();
            let inputs: Vec<String> = inputs
                .iter()
                .map(|input| format!("L{}:{}", input.level, input.table_count))
                .collect();
            line("compaction.begin")
                .number("number", *number)
                .text("keyspace", keyspace)
                .text("kind", kind)
                .text("inputs", &inputs.join(","))
                .number("to", u64::from(*output_level))
                .count("tables", table_count)
                .number("bytes", *input_bytes)
                .number("records", *input_record_count)
                .text("reason", reason)
        }
        Event::CompactionEnded {
            number,
            keyspace,
            kind,
            output_level,
            table_count,
            record_count,
            written_bytes,
            took,
            error,
        } => line("compaction.end")
            .number("number", *number)
            .text("keyspace", keyspace)
            .text("kind", kind)
            .number("to", u64::from(*output_level))
            .count("tables", *table_count)
            .number("records", *record_count)
            .number("bytes", *written_bytes)
            .duration("us", *took)
            .error(error.as_deref()),
        Event::Ingested {
            keyspace,
            table_count,
            record_count,
            written_bytes,
        } => line("ingest")
            .text("keyspace", keyspace)
            .count("tables", *table_count)
            .number("records", *record_count)
            .number("bytes", *written_bytes),
        Event::Checkpointed {
            path,
            table_count,
            took,
        } => line("checkpoint")
            .text("path", &path.to_string_lossy())
            .count("tables", *table_count)
            .duration("us", *took),
        Event::BackgroundFailed { error } => line("failure").error(Some(error)),
        Event::WriterStopped { cause } => line("stopped").error(Some(cause)),
        // Waits of writers are added up; tables are told by what makes them.
        Event::StallBegun
        | Event::StallEnded { .. }
        | Event::TableCreated { .. }
        | Event::TableRemoved { .. } => return None,
    };
    Some(line.finish())
}
