//! A progress bar on standard error. Without a terminal there it shows nothing.

use indicatif::{ProgressBar, ProgressStyle};

const TEMPLATE: &str = "{msg} [{bar:40}] {human_pos}/{human_len} {per_sec}, {eta} left";

/// A bar over a known number of records. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(what: &'static str, record_count: u64) -> Progress {
        let bar = ProgressBar::new(record_count).with_message(what);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { bar }
    }

    pub(crate) fn advance(&self, records: u64) {
        self.bar.inc(records);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
