//! What the event log tells, put together: work with its begin and end, waits, look-ups.

use std::collections::BTreeMap;

use tephradb::{EventHistory, EventLine};

use super::facts::ratio;
use crate::database::shown_name;
use crate::output::counted;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Flush,
    Compaction,
    Ingest,
    Stall,
    Slowdown,
    Failure,
    Open,
    Close,
}

/// One piece of work, or a wait.
#[derive(Clone, Debug)]
pub(crate) struct Activity {
    pub(crate) kind: Kind,
    /// When it ended, in milliseconds since 1970.
    pub(crate) end_ms: u64,
    /// How long it took.
    pub(crate) took_us: u64,
    /// The level of the output of a compaction.
    pub(crate) level: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// The event for people.
    pub(crate) text: String,
}

impl Activity {
    pub(crate) fn begin_ms(&self) -> u64 {
        self.end_ms.saturating_sub(self.took_us / 1_000)
    }
}

/// Look-ups of keys in tables, counted by the filters, while the database was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Probes {
    pub(crate) filtered: u64,
    pub(crate) found: u64,
    pub(crate) in_vain: u64,
}

/// The log, put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) activities: Vec<Activity>,
    pub(crate) event_count: usize,
    pub(crate) unreadable_line_count: usize,
    pub(crate) lost_event_count: u64,
    pub(crate) first_time: Option<String>,
    pub(crate) last_time: Option<String>,
    pub(crate) flush_count: u64,
    pub(crate) flush_bytes: u64,
    pub(crate) ingest_bytes: u64,
    pub(crate) compaction_count: u64,
    /// Bytes that compactions wrote, by level.
    pub(crate) compaction_bytes: BTreeMap<u64, u64>,
    pub(crate) stall_us: u64,
    pub(crate) stall_commits: u64,
    pub(crate) slowdown_us: u64,
    /// Time during which the database was open, as far as the log tells.
    pub(crate) open_ms: u64,
    /// How often the database was opened for writing.
    pub(crate) open_count: u64,
    /// Files of the log that could not be read, each with the reason.
    pub(crate) unreadable_files: Vec<String>,
    pub(crate) probes: Probes,
    pub(crate) failures: Vec<String>,
    /// Writing stopped for good, and the database was not opened since.
    pub(crate) stopped: Option<String>,
}

impl History {
    /// Bytes of tables that came in: by flushes and ingests.
    pub(crate) fn bytes_in(&self) -> u64 {
        self.flush_bytes + self.ingest_bytes
    }

    pub(crate) fn compaction_bytes_total(&self) -> u64 {
        self.compaction_bytes.values().sum()
    }

    /// Bytes of tables written for each byte that came in; `None` where the log tells of none.
    pub(crate) fn write_amplification(&self) -> Option<f64> {
        let came_in = self.bytes_in();
        (came_in > 0).then(|| ratio(came_in + self.compaction_bytes_total(), came_in))
    }

    pub(crate) fn of(log: &EventHistory) -> History {
        let mut history = History {
            event_count: log.events.len(),
            unreadable_line_count: log.unreadable_line_count,
            unreadable_files: log.unreadable_files.clone(),
            first_time: log.events.first().map(EventLine::time),
            last_time: log.events.last().map(EventLine::time),
            ..History::default()
        };
        let mut begun: BTreeMap<u64, &EventLine> = BTreeMap::new();
        let mut previous_ms = None;
        for event in &log.events {
            if event.kind != "open"
                && let Some(previous_ms) = previous_ms
            {
                history.open_ms += event.wall_ms.saturating_sub(previous_ms);
            }
            previous_ms = Some(event.wall_ms);
            history.note(event, &mut begun);
        }
        history
    }

    fn note<'a>(&mut self, event: &'a EventLine, begun: &mut BTreeMap<u64, &'a EventLine>) {
        let number = |name: &str| event.number(name).unwrap_or(0);
        let keyspace = event.text("keyspace").unwrap_or("");
        let (kind, text) = match event.kind.as_str() {
            "open" => {
                // Numbers of compactions count from each open.
                begun.clear();
                self.open_count += 1;
                self.stopped = None;
                (
                    Kind::Open,
                    format!("opened: {}", counted(number("tables"), "table")),
                )
            }
            "close" => {
                self.probes.filtered += number("filtered");
                self.probes.found += number("found");
                self.probes.in_vain += number("in_vain");
                (Kind::Close, "closed".to_owned())
            }
            "flush.end" if event.text("error").is_none() => {
                self.flush_count += 1;
                self.flush_bytes += number("bytes");
                (
                    Kind::Flush,
                    format!(
                        "flush: {}, {} bytes",
                        counted(number("records"), "record"),
                        number("bytes")
                    ),
                )
            }
            "compaction.begin" => {
                begun.insert(number("number"), event);
                return;
            }
            "compaction.end" if event.text("error").is_none() => {
                self.compaction_count += 1;
                *self.compaction_bytes.entry(number("to")).or_default() += number("bytes");
                return self.note_compaction(event, begun.remove(&number("number")), keyspace);
            }
            "ingest" => {
                self.ingest_bytes += number("bytes");
                (
                    Kind::Ingest,
                    format!(
                        "ingest: {}, {} bytes",
                        counted(number("records"), "record"),
                        number("bytes")
                    ),
                )
            }
            "stall" => {
                self.stall_us += number("us");
                self.stall_commits += number("commits");
                (
                    Kind::Stall,
                    format!(
                        "{} commits stopped, the longest for {} ms",
                        number("commits"),
                        number("longest_us") / 1_000
                    ),
                )
            }
            "slowdown" => {
                self.slowdown_us += number("us");
                (
                    Kind::Slowdown,
                    format!(
                        "{} commits delayed, {} ms together",
                        number("commits"),
                        number("us") / 1_000
                    ),
                )
            }
            "failure" | "stopped" => {
                let error = event
                    .text("error")
                    .unwrap_or("an error without a text")
                    .to_owned();
                if event.kind == "stopped" {
                    self.stopped = Some(error.clone());
                }
                self.failures.push(error.clone());
                (Kind::Failure, error)
            }
            "lost" => {
                self.lost_event_count += number("events");
                return;
            }
            _ => return,
        };
        let took_us = if kind == Kind::Stall {
            number("longest_us")
        } else {
            number("us")
        };
        let bytes_out = number("bytes");
        self.activities.push(Activity {
            kind,
            end_ms: event.wall_ms,
            took_us,
            level: 0,
            bytes_in: 0,
            bytes_out,
            text,
        });
    }

    fn note_compaction(&mut self, end: &EventLine, begin: Option<&EventLine>, keyspace: &str) {
        let number = |name: &str| end.number(name).unwrap_or(0);
        let input = |name: &str| begin.and_then(|begin| begin.number(name)).unwrap_or(0);
        let reason = begin.and_then(|begin| begin.text("reason")).unwrap_or("");
        let inputs = begin.and_then(|begin| begin.text("inputs")).unwrap_or("?");
        let text = format!(
            "{} of {inputs} to level {} in keyspace {}: {} bytes in, {} bytes out; {reason}",
            end.text("kind").unwrap_or("compaction"),
            number("to"),
            shown_name(keyspace),
            input("bytes"),
            number("bytes")
        );
        self.activities.push(Activity {
            kind: Kind::Compaction,
            end_ms: end.wall_ms,
            took_us: number("us"),
            level: number("to"),
            bytes_in: input("bytes"),
            bytes_out: number("bytes"),
            text,
        });
    }
}
