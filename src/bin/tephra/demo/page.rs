//! What the reader sees, and the checks.
//!
//! ```text
//! 3. Look up                                               214 us
//!    GREEK SMALL LETTER OMEGA    U+03C9   ω
//! ```
//!
//! A step is written when it has ended, so that its time can stand in its title; its lines wait until then.

use std::io::Write;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::figures::duration;
use crate::stopwatch::Stopwatch;

/// Column where the times end.
const TIME_COLUMN: usize = 72;

pub(crate) struct Page<'a> {
    out: &'a mut dyn Write,
    step_count: usize,
    check_count: u64,
}

/// Times one step. Lines are collected; nothing is printed before the step has ended.
#[derive(Debug)]
pub(crate) struct Step {
    title: String,
    lines: Vec<String>,
    watch: Stopwatch,
    time: Option<Duration>,
    check_count: u64,
}

impl<'a> Page<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Page<'a> {
        Page {
            out,
            step_count: 0,
            check_count: 0,
        }
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "{text}").map_err(Failure::Output)
    }

    /// Ends a step: its title with its time, then its lines.
    pub(crate) fn show(&mut self, step: Step) -> Result<()> {
        self.step_count += 1;
        self.check_count += step.check_count;
        let title = format!("{}. {}", self.step_count, step.title);
        let time = duration(step.time.unwrap_or_else(|| step.watch.elapsed()));
        let width = TIME_COLUMN.saturating_sub(title.chars().count());
        self.line("")?;
        self.line(&format!("{title}{time:>width$}"))?;
        for line in &step.lines {
            self.line(&format!("   {line}"))?;
        }
        self.out.flush().map_err(Failure::Output)
    }

    /// Checks made by all steps shown so far.
    pub(crate) fn check_count(&self) -> u64 {
        self.check_count
    }
}

impl Step {
    pub(crate) fn begin(title: impl Into<String>) -> Step {
        Step {
            title: title.into(),
            lines: Vec::new(),
            watch: Stopwatch::start(),
            time: None,
            check_count: 0,
        }
    }

    /// Stops the clock: what follows checks what was timed.
    pub(crate) fn stop(&mut self) {
        self.time = Some(self.watch.elapsed());
    }

    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Holds the store to a claim. `claim` is asked for its words only if it does not hold.
    pub(crate) fn check(&mut self, holds: bool, claim: impl FnOnce() -> String) -> Result<()> {
        self.check_count += 1;
        if holds {
            Ok(())
        } else {
            Err(Failure::Wrong { claim: claim() })
        }
    }
}
