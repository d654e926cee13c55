//! What the event log tells, put together: work with its begin and end, waits, look-ups.

use std::collections::BTreeMap;

use tephradb::{EventHistory, EventLine};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) struct Activity {
    pub(super) kind: Kind,
    /// When it ended, in milliseconds since 1970.
    pub(super) end_ms: u64,
    /// How long it took.
    pub(super) took_us: u64,
    /// The level of the output of a compaction.
    pub(super) level: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// The event for people.
    pub(super) text: String,
}

impl Activity {
    pub(super) fn begin_ms(&self) -> u64 {
        self.end_ms.saturating_sub(self.took_us / 1_000)
    }
}

/// Look-ups of keys in tables, counted by the filters, while the database was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probes {
    pub(super) filtered: u64,
    pub(super) found: u64,
    pub(super) in_vain: u64,
}

/// The log, put together.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) activities: Vec<Activity>,
    pub(super) event_count: usize,
    pub(super) unreadable_line_count: usize,
    pub(super) lost_event_count: u64,
    pub(super) first_time: Option<String>,
    pub(super) last_time: Option<String>,
    pub(super) flush_count: u64,
    pub(super) flush_bytes: u64,
    pub(super) ingest_bytes: u64,
    pub(super) compaction_count: u64,
    /// Bytes that compactions wrote, by level.
    pub(super) compaction_bytes: BTreeMap<u64, u64>,
    pub(super) stall_us: u64,
    pub(super) stall_commits: u64,
    pub(super) slowdown_us: u64,
    /// Time during which the database was open, as far as the log tells.
    pub(super) open_ms: u64,
    pub(super) probes: Probes,
    pub(super) failures: Vec<String>,
    /// Writing stopped for good, and the database was not opened since.
    pub(super) stopped: Option<String>,
}

impl History {
    /// Bytes of tables that came in: by flushes and ingests.
    pub(super) fn bytes_in(&self) -> u64 {
        self.flush_bytes + self.ingest_bytes
    }

    pub(super) fn compaction_bytes_total(&self) -> u64 {
        self.compaction_bytes.values().sum()
    }

    pub(super) fn of(log: &EventHistory) -> History {
        let mut history = History {
            event_count: log.events.len(),
            unreadable_line_count: log.unreadable_line_count,
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
                self.stopped = None;
                (Kind::Open, format!("opened: {} tables", number("tables")))
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
                    format!("flush: {} records, {} bytes", number("records"), number("bytes")),
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
                    format!("ingest: {} records, {} bytes", number("records"), number("bytes")),
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
            "{} of {inputs} to level {} in keyspace \"{keyspace}\": {} bytes in, {} bytes out; {reason}",
            end.text("kind").unwrap_or("compaction"),
            number("to"),
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
