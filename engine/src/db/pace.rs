//! Back-pressure: writers slow down smoothly before they stop, and stop only while something is being done about it.
//!
//! ```text
//!  delay of a commit
//!   stop |                          .----   until there is room again
//!   1 ms |                        .'
//!        |                     ..'
//!      0 |-----------------''''
//!        '--------------+------------+----> backlog
//!                     half          full
//! ```
//!
//! The backlog is the fuller of two:
//!
//! - frozen memtables that wait for their flush, with the active one's fill as the fraction between two of them. One that is
//!   being flushed is the ordinary course of things;
//! - flushed tables of a keyspace that the commit writes to, counted from where a compaction starts or half the limit,
//!   whichever is more. Keyspaces that a commit does not touch neither slow it down nor cost it anything. Deeper levels
//!   count through these: the picker pushes down a level far over its target before it takes another flushed table.
//!
//! A keyspace whose law holds up its compaction counts for nothing: waiting would not help it (`compact/held_up.rs`).
//!
//! Everything is read from the published layers. What ends a delay or a stop is the publication of other layers, by the same
//! function that began it: a writer that was stopped takes a ticket, looks at the backlog, and sleeps until something has been
//! published since the ticket. In manual mode nobody else would do the work, so a writer that meets a full backlog does a step
//! of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::engine::Engine;
use crate::compact::CompactionStats;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::instant::Layers;
use crate::keyspace::{Keyspace, KeyspaceCore};
use crate::options::{Background, Options};

/// Longest delay of a commit that is slowed down and not stopped.
pub(crate) const DELAY_MAX: Duration = Duration::from_millis(1);

/// How long a stopped writer sleeps before it looks again, for causes that are not announced.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How far flush and compaction lag. 0: nothing waits; up to a half: the ordinary course; 1 and more: writers stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Backlog(f64);

#[expect(clippy::cast_precision_loss, reason = "small counts, and a fraction")]
impl Backlog {
    /// Of the flush: frozen memtables, and how full the active one is.
    fn of_flush(frozen: usize, active_bytes: usize, options: &Options) -> Backlog {
        let limit = options.frozen_memtables_max;
        if frozen == 0 || frozen >= limit {
            return Backlog(if frozen == 0 { 0.0 } else { 1.0 });
        }
        // However full it is, there is room for it to freeze.
        let fill = (active_bytes as f64 / options.memtable_bytes as f64).min(0.99);
        Backlog((frozen as f64 - 1.0 + fill) / (limit as f64 - 1.0))
    }

    /// Of the compaction of one keyspace: its flushed tables.
    fn of_compaction(flushed: usize, options: &Options) -> Backlog {
        let limit = options.l0_tables_max;
        let start = options.l0_compaction_trigger.max(limit / 2);
        if flushed >= limit {
            return Backlog(1.0);
        }
        let over = flushed.saturating_sub(start) as f64;
        Backlog(if over > 0.0 {
            0.5 + 0.5 * over / (limit - start) as f64
        } else {
            0.0
        })
    }

    fn max(self, other: Backlog) -> Backlog {
        Backlog(self.0.max(other.0))
    }

    /// Whether writers stop.
    pub(crate) fn is_full(self) -> bool {
        self.0 >= 1.0
    }

    /// How long a commit waits: nothing up to a half, then growing with the square of what is above it.
    pub(crate) fn delay(self) -> Duration {
        let above = ((self.0 - 0.5) * 2.0).clamp(0.0, 1.0);
        DELAY_MAX.mul_f64(above * above)
    }
}

/// Holds commits back while it lives.
#[derive(Debug)]
pub(crate) struct HeldWriters<'a>(&'a Engine);

impl Drop for HeldWriters<'_> {
    fn drop(&mut self) {
        self.0.hold_count.fetch_sub(1, Ordering::AcqRel);
        self.0.work.announce_progress();
    }
}

impl Engine {
    /// Makes commits that have not begun wait until the guard goes.
    pub(crate) fn hold_writers(&self) -> HeldWriters<'_> {
        self.hold_count.fetch_add(1, Ordering::AcqRel);
        HeldWriters(self)
    }

    /// Waits while somebody holds writers back.
    fn wait_while_held(&self) -> Result<()> {
        if self.hold_count.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let began_ns = self.clock().now_ns();
        loop {
            let ticket = self.work.ticket();
            if self.hold_count.load(Ordering::Acquire) == 0 {
                break;
            }
            self.check_writable()?;
            self.work.wait_for_progress(ticket, LOOK_AGAIN);
        }
        self.was_stopped_since(began_ns);
        Ok(())
    }

    /// A commit was stopped, since then.
    fn was_stopped_since(&self, began_ns: u64) {
        let waited_ns = self.clock().now_ns().saturating_sub(began_ns);
        self.counters.stalled(waited_ns);
        self.events().log().note_stall(Duration::from_nanos(waited_ns));
    }

    /// Waits as long as the backlog asks for. Called without locks.
    pub(crate) fn pace_writer(&self, touched: &[Keyspace]) -> Result<()> {
        self.wait_while_held()?;
        let backlog = self.backlog(touched);
        if backlog.delay().is_zero() {
            return Ok(());
        }
        let began_ns = self.clock().now_ns();
        if self.options.background == Background::Threads && !backlog.is_full() {
            self.work.wait_for_progress(self.work.ticket(), backlog.delay());
        }
        if self.backlog(touched).is_full() {
            let outcome = self.wait_while_full(touched);
            self.was_stopped_since(began_ns);
            return outcome;
        }
        let waited_ns = self.clock().now_ns().saturating_sub(began_ns);
        self.counters.stalled(waited_ns);
        self.events().log().note_slowdown(Duration::from_nanos(waited_ns));
        Ok(())
    }

    /// Waits while the full backlog is full, and tells of it.
    fn wait_while_full(&self, touched: &[Keyspace]) -> Result<()> {
        let began_ns = self.clock().now_ns();
        self.events().emit(|| Event::StallBegun);
        self.events().tell();
        let outcome = self.wait_for_room(touched);
        self.events().emit(|| Event::StallEnded {
            waited: Duration::from_nanos(self.clock().now_ns().saturating_sub(began_ns)),
        });
        self.events().tell();
        outcome
    }

    fn wait_for_room(&self, touched: &[Keyspace]) -> Result<()> {
        loop {
            let ticket = self.work.ticket();
            if !self.backlog(touched).is_full() {
                return Ok(());
            }
            self.check_writable()?;
            let refused = |cause| Error::BackgroundFailing { cause };
            if self.options.background == Background::Manual {
                // Nobody else tries again what has failed before.
                let stepped = self.run_background_step();
                if let Ok(true) = stepped {
                    continue;
                }
                if let Some(cause) = self.failure_behind_backlog(touched) {
                    return Err(refused(cause));
                }
                // An error of something else, or there is nothing to wait for.
                return stepped.map(|_| ());
            }
            if let Some(cause) = self.failure_behind_backlog(touched) {
                return Err(refused(cause));
            }
            self.work.wait_for_progress(ticket, LOOK_AGAIN);
        }
    }

    /// The failure for which there is no room: of the flush, or of the compaction of a keyspace that is full.
    fn failure_behind_backlog(&self, touched: &[Keyspace]) -> Option<Arc<Error>> {
        let layers = self.layers();
        if layers.frozen.len() >= self.options.frozen_memtables_max {
            return self.work.flush_failure();
        }
        let full = touched
            .iter()
            .filter(|keyspace| self.compaction_backlog(&layers, keyspace.core()).is_full());
        let schedule = self.schedule.lock();
        full.filter_map(|keyspace| schedule.failure_of(keyspace.number()))
            .next()
    }

    /// Adds to the statistics how long a commit to the keyspace with the largest backlog waits.
    pub(super) fn read_pace_into(&self, stats: &mut CompactionStats) {
        let layers = self.layers();
        let active_bytes = self.state.read().active.cost_bytes();
        let flush = Backlog::of_flush(layers.frozen.len(), active_bytes, &self.options);
        let backlog = self.cores().values().fold(flush, |backlog, core| {
            backlog.max(self.compaction_backlog(&layers, core))
        });
        stats.write_delay = backlog.delay();
        stats.are_writes_stopped = backlog.is_full();
    }

    /// How far flush and compaction lag behind a commit that touches these keyspaces.
    fn backlog(&self, touched: &[Keyspace]) -> Backlog {
        let (layers, active_bytes) = {
            let state = self.state.read();
            (Arc::clone(&state.layers), state.active.cost_bytes())
        };
        let flush = Backlog::of_flush(layers.frozen.len(), active_bytes, &self.options);
        touched.iter().fold(flush, |backlog, keyspace| {
            backlog.max(self.compaction_backlog(&layers, keyspace.core()))
        })
    }

    fn compaction_backlog(&self, layers: &Layers, core: &KeyspaceCore) -> Backlog {
        let flushed_count = if self.held_up.contains(core) {
            0
        } else {
            layers.version.flushed_table_count(core.number)
        };
        Backlog::of_compaction(flushed_count, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The backlogs of a growing lag, in order.
    fn growing(options: &Options) -> [Vec<Backlog>; 2] {
        let flush = (0..=options.frozen_memtables_max).flat_map(|frozen| {
            (0..10).map(move |tenth| Backlog::of_flush(frozen, options.memtable_bytes * tenth / 10, options))
        });
        let compaction = (0..=options.l0_tables_max).map(|flushed| Backlog::of_compaction(flushed, options));
        [flush.collect(), compaction.collect()]
    }

    #[test]
    fn the_delay_grows_with_the_backlog_from_nothing_to_its_bound() {
        for (frozen, trigger, tables) in [(3, 4, 24), (1, 1, 1), (2, 4, 4), (8, 2, 100)] {
            let options = Options::default()
                .frozen_memtables_max(frozen)
                .l0_compaction_trigger(trigger)
                .l0_tables_max(tables);
            for row in growing(&options) {
                assert!(row.is_sorted(), "{row:?}");
                assert!(row.iter().map(|backlog| backlog.delay()).is_sorted());
                assert_eq!(row[0].delay(), Duration::ZERO);
                let last = row.last().expect("some");
                assert!(last.is_full() && last.delay() == DELAY_MAX);
                let full = row
                    .iter()
                    .position(|backlog| backlog.is_full())
                    .expect("the last");
                assert!(row[..full].iter().all(|backlog| backlog.delay() < DELAY_MAX));
            }
        }
    }

    #[test]
    fn the_ordinary_course_of_things_costs_a_writer_nothing() {
        let options = Options::default();
        let full = options.memtable_bytes;
        assert_eq!(Backlog::of_flush(0, full, &options).delay(), Duration::ZERO);
        assert_eq!(Backlog::of_flush(1, full, &options).delay(), Duration::ZERO);
        assert!(Backlog::of_flush(2, full / 10, &options).delay() > Duration::ZERO);
        assert_eq!(Backlog::of_compaction(12, &options).delay(), Duration::ZERO);
        assert!(Backlog::of_compaction(13, &options).delay() > Duration::ZERO);
    }

    #[test]
    fn no_step_of_the_delay_is_a_cliff() {
        let options = Options::default();
        for row in growing(&options) {
            for pair in row.windows(2) {
                let step = pair[1].delay().abs_diff(pair[0].delay());
                assert!(step <= DELAY_MAX / 4, "{pair:?}");
            }
        }
    }
}
