//! How long operations took.

use hdrhistogram::Histogram;

use crate::stopwatch::Stopwatch;

/// Longest time that is told apart, in nanoseconds: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Digits of a time that are kept.
const DIGITS: u8 = 3;

/// Times of single operations, and of all of them.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    histogram: Histogram<u64>,
    /// Bytes of keys and values that operations moved.
    pub(super) bytes: u64,
    /// Seconds from the first operation to the last, over all threads.
    pub(super) seconds: f64,
}

impl Timing {
    pub(super) fn new() -> Timing {
        Timing {
            histogram: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("these bounds are valid"),
            bytes: 0,
            seconds: 0.0,
        }
    }

    /// Times one operation, which says how many bytes it moved.
    pub(super) fn time<T, E>(&mut self, operation: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let watch = Stopwatch::start();
        let outcome = operation();
        let ns = u64::try_from(watch.elapsed().as_nanos()).unwrap_or(LONGEST_NS);
        self.histogram.saturating_record(ns);
        outcome
    }

    /// Adds the operations of another thread.
    pub(super) fn add(&mut self, other: &Timing) {
        self.histogram
            .add(&other.histogram)
            .expect("both have the same bounds");
        self.bytes += other.bytes;
    }

    pub(super) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(super) fn percentile_ns(&self, percentile: f64) -> u64 {
        self.histogram.value_at_percentile(percentile)
    }

    pub(super) fn max_ns(&self) -> u64 {
        self.histogram.max()
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub(super) fn per_second(&self) -> f64 {
        self.count() as f64 / self.seconds.max(1e-9)
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub(super) fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds.max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up() {
        let (mut all, mut one) = (Timing::new(), Timing::new());
        for _ in 0..10 {
            one.time(|| Ok::<_, ()>(())).expect("it does nothing");
        }
        one.bytes = 70;
        all.add(&one);
        all.add(&one);
        assert_eq!((all.count(), all.bytes), (20, 140));
        assert!(all.percentile_ns(50.0) <= all.max_ns());
    }
}
