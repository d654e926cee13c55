//! The event log: what the database did beside its callers, as lines of text in its directory.
//!
//! ```text
//! EVENTS        the younger lines, appended to
//! EVENTS.old    the lines before them; replaced when EVENTS has reached its size
//!
//! # tephradb events 1
//! 2026-11-30T16:14:17.120Z open tables=12 table_bytes=8388608 dropped_log_bytes=0 us=5120
//! 2026-11-30T16:14:18.003Z flush.begin entries=9000 memtable_bytes=1048600
//! 2026-11-30T16:14:18.045Z flush.end tables=1 records=9000 bytes=301220 us=41990
//! 2026-11-30T16:14:18.046Z compaction.begin number=3 keyspace="" kind=merge inputs=L0:4,L6:2 to=6 tables=6 bytes=1805221 records=54000 reason="level 0 holds 4 tables of at most 4"
//! 2026-11-30T16:14:18.205Z compaction.end number=3 keyspace="" kind=merge to=6 tables=2 records=51200 bytes=1650000 us=159020
//! 2026-11-30T16:14:18.205Z stall commits=2 us=31000 longest_us=30100
//! ```
//!
//! # The format
//!
//! A file starts with the line `# tephradb events 1`. Every other line is one event: the time in UTC with milliseconds, the kind, fields
//! `name=value`, separated by single spaces. A value that is empty or holds anything but letters, digits and `_ . : , -` stands in
//! quotes; in quotes, a quote and a backslash have a backslash before them, and control characters and what might turn or break the line
//! are `\u{...}`. Readers skip kinds, fields and lines they do not understand: a crash tears the last line (which then ends in ` torn`), a
//! power cut may leave zeros in the middle, and later revisions may write more.
//!
//! | kind | fields |
//! |---|---|
//! | `open` | `tables`, `table_bytes`, `dropped_log_bytes` (never completely written), `us` |
//! | `close` | `filtered`, `found`, `in_vain`: look-ups of keys in tables that the filter turned away, that found the key, that it let pass for nothing |
//! | `flush.begin` | `entries`, `memtable_bytes` |
//! | `flush.end` | `tables`, `records`, `bytes` written, `us`; `error` if it failed |
//! | `compaction.begin` | `number`, `keyspace`, `kind` (merge, move, drop), `inputs` (level:tables), `to` (level), `tables`, `bytes`, `records`, `reason` |
//! | `compaction.end` | `number`, `keyspace`, `kind`, `to`, `tables`, `records`, `bytes` written, `us`; `error` if it failed |
//! | `slowdown` | `commits` that were delayed, `us` they waited together |
//! | `stall` | `commits` that were stopped, `us` they waited together, `longest_us` |
//! | `ingest` | `keyspace`, `tables`, `records`, `bytes` |
//! | `checkpoint` | `path`, `tables`, `us` |
//! | `failure` | `error`: a flush or compaction that will be tried again |
//! | `stopped` | `error`: nothing is written any more until the database is opened again |
//! | `lost` | `events` that were not written: the disk failed, or too many came at once |
//!
//! # How it is written
//!
//! ```text
//! whoever does something --line--> queue (bounded)        under any lock, no file touched
//! end of a background step, of a flush, of a compaction, of an open or close --> file
//! ```
//!
//! A commit never writes to the file: what slowed or stopped it is added up, and written by whoever ends the next step of background
//! work. Nothing is synced. Nothing that goes wrong here is an error of anybody: the lines are given up and counted, and after a pause
//! it is tried again. A file that does not start with the line above is moved to `EVENTS.old`. A database opened for reading only
//! writes nothing.

mod line;
mod queue;
mod read;
#[cfg(test)]
mod tests;
mod time;
mod writer;

pub use line::EventLine;
pub use read::EventHistory;
pub(crate) use read::read;
pub(crate) use writer::{EVENT_LOG_BYTES_MAX, EventLog};

/// The first line of every file.
pub(crate) const HEADER: &str = "# tephradb events 1\n";
