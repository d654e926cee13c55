//! Bars and signs of life on standard error. Without a terminal there they show nothing; gone when dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::stopwatch::Stopwatch;

const BAR: &str = "{msg} [{bar:40}] {human_pos}/{human_len}, {eta} left";
const SPINNER: &str = "{spinner} {msg} {elapsed}";
const COUNTER: &str = "{spinner} {msg} {human_pos}, {elapsed}";

/// Work that is done within this shows nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
/// Time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(150);

/// How far a command is.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    watch: Stopwatch,
    is_shown: AtomicBool,
}

impl Progress {
    /// A bar over a known number of records.
    pub(crate) fn new(what: &'static str, record_count: u64) -> Progress {
        Progress::styled(ProgressBar::new(record_count), BAR, what)
    }

    /// A count of records whose number is not known.
    pub(crate) fn counter(what: &'static str) -> Progress {
        Progress::styled(ProgressBar::no_length(), COUNTER, what)
    }

    fn styled(bar: ProgressBar, template: &str, what: &'static str) -> Progress {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let bar = bar.with_message(what);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress {
            bar,
            watch: Stopwatch::start(),
            is_shown: AtomicBool::new(false),
        }
    }

    pub(crate) fn advance(&self, records: u64) {
        self.bar.inc(records);
        if self.watch.elapsed() >= SHOWN_AFTER && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A sign of life of work that does not say how far it is. Clones share it, from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Spinner {
    bar: ProgressBar,
}

impl Spinner {
    pub(crate) fn new(what: impl Into<String>) -> Spinner {
        let bar = ProgressBar::new_spinner().with_message(what.into());
        if let Ok(style) = ProgressStyle::with_template(SPINNER) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Spinner { bar }
    }

    pub(crate) fn say(&self, what: String) {
        self.bar.set_message(what);
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [BAR, SPINNER, COUNTER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
