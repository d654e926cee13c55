//! Back-pressure: writers slow down smoothly before they stop, and stop only while something is being done about it.
//!
//! ```text
//!  delay of a commit
//!   stop |                          .----   until there is room again
//!   1 ms |                        .'
//!        |                    ..-'
//!      0 |-----------------'''
//!        '--------------+------------+----> backlog: the fuller of (frozen memtables, flushed tables of a keyspace)
//!                     half          full
//! ```
//!
//! The backlog is read from the published layers, without a lock of the background's. In manual mode nobody else would do
//! the work, so a writer that meets a full backlog does a step of it.

use std::time::Duration;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::options::Background;

/// Longest delay of a commit that is slowed down and not stopped.
const DELAY_MAX: Duration = Duration::from_millis(1);

/// How long a stopped writer sleeps before it looks again, should a wake-up be missed.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Engine {
    /// Waits as long as the backlog asks for. Called without locks.
    pub(crate) fn pace_writer(&self) -> Result<()> {
        let mut backlog = self.backlog();
        if backlog <= 0.5 {
            return Ok(());
        }
        let began_ns = self.clock().now_ns();
        if backlog < 1.0 && self.options.background == Background::Threads {
            self.work
                .wait_for_progress(DELAY_MAX.mul_f64((backlog - 0.5) * 2.0));
        }
        while backlog >= 1.0 && self.wait_for_room()? {
            backlog = self.backlog();
        }
        self.counters
            .stalled(self.clock().now_ns().saturating_sub(began_ns));
        Ok(())
    }

    /// Waits once. `false`: there is nothing to wait for.
    fn wait_for_room(&self) -> Result<bool> {
        self.check_writable()?;
        if self.options.background == Background::Manual {
            return self.run_background_step();
        }
        if let Some(cause) = self.work.failure() {
            return Err(Error::BackgroundFailing { cause });
        }
        self.work.wait_for_progress(LOOK_AGAIN);
        Ok(true)
    }

    /// How full the backlog is: 0 nothing waits, 1 writers stop.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn backlog(&self) -> f64 {
        let layers = self.layers();
        let frozen = layers.frozen.len() as f64 / self.options.frozen_memtables_max as f64;
        let flushed = layers.version.flushed_table_count_max() as f64 / self.options.l0_tables_max as f64;
        // One frozen memtable is being flushed: that is the ordinary course of things.
        let frozen = if layers.frozen.len() <= 1 && self.options.frozen_memtables_max > 1 {
            0.0
        } else {
            frozen
        };
        frozen.max(flushed)
    }
}
