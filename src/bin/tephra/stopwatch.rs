//! The clock of the command: how long things took.

use std::time::{Duration, Instant};

/// Runs from its start on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begin: Instant,
}

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "the command's only clock: it times what people read"
    )]
    pub(crate) fn start() -> Stopwatch {
        Stopwatch {
            begin: Instant::now(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}
