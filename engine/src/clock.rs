//! Time, as the engine sees it: a monotonic reading for intervals and a wall reading for labels.
//!
//! Everything that measures or waits takes a [`Clock`], so that a test drives time by hand. Nothing decides by
//! the wall reading: it may jump backwards.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A source of time. Cheap to read, from any thread.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Nanoseconds since an origin of the clock's own choice; never goes backwards.
    fn now_ns(&self) -> u64;

    /// Milliseconds on the same scale as [`Clock::now_ns`].
    fn now_ms(&self) -> u64 {
        self.now_ns() / 1_000_000
    }

    /// Milliseconds since 1970, for labels that people read. May jump in either direction.
    fn wall_ms(&self) -> u64;
}

/// The clocks of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose origin is now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
    fn wall_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still until it is moved: test support.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: AtomicU64,
}

impl ManualClock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward.
    pub fn advance_ms(&self, ms: u64) {
        self.now_ns.fetch_add(ms * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    fn wall_ms(&self) -> u64 {
        self.now_ms()
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, ManualClock, SystemClock};

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::new();
        assert_eq!(clock.now_ms(), 0);
        clock.advance_ms(1_500);
        assert_eq!(
            (clock.now_ns(), clock.now_ms(), clock.wall_ms()),
            (1_500_000_000, 1_500, 1_500)
        );
    }

    #[test]
    fn the_system_clock_never_runs_backwards() {
        let clock = SystemClock::new();
        let readings: Vec<u64> = (0..1_000).map(|_| clock.now_ns()).collect();
        assert!(readings.is_sorted());
        assert!(clock.wall_ms() > 1_600_000_000_000, "later than 2020");
    }
}
