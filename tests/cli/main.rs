//! The `tephra` command as a user meets it: every command, with good and with bad input.
//!
//! Held to: answers on standard output and nothing else there; messages on standard error that name what they speak of;
//! the exit codes of `tephra --help`; no command but those that say so ever makes a database; `--json` is JSON.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]
#![expect(
    clippy::disallowed_methods,
    reason = "makes input files and looks at what a command left"
)]

mod bench;
mod damage;
mod demo;
mod dump;
mod exit_codes;
mod general;
#[cfg(unix)]
mod interrupts;
mod keyspaces;
mod load;
mod look_after;
mod read;
mod short_runs;
mod streams;
mod support;
mod write;
