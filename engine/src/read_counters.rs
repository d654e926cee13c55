//! Counts what look-ups in tables came to, at the cost of one addition each.
//!
//! A counter that all threads share would travel between their caches at every look-up; so each thread adds to one of a few
//! stripes, a cache line each, and the sum is taken when somebody asks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tephra_sstable::Lookup;

const STRIPES: usize = 8;

/// Threads so far; each takes the next stripe.
static NEXT_STRIPE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: Cell<usize> = Cell::new(NEXT_STRIPE.fetch_add(1, Ordering::Relaxed) % STRIPES);
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe {
    filtered: AtomicU64,
    absent: AtomicU64,
    found: AtomicU64,
}

/// What look-ups in tables came to.
#[derive(Debug, Default)]
pub(crate) struct ReadCounters {
    stripes: [Stripe; STRIPES],
}

/// The sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadCounts {
    /// Turned away by the filter.
    pub(crate) filtered: u64,
    /// Let pass by the filter in vain.
    pub(crate) absent: u64,
    /// Found.
    pub(crate) found: u64,
}

impl ReadCounters {
    #[inline]
    pub(crate) fn count(&self, lookup: &Lookup) {
        let stripe = &self.stripes[STRIPE.with(Cell::get)];
        let counter = match lookup {
            Lookup::Filtered => &stripe.filtered,
            Lookup::Absent => &stripe.absent,
            Lookup::Found(_) => &stripe.found,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sum(&self) -> ReadCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut sum = ReadCounts::default();
        for stripe in &self.stripes {
            sum.filtered += read(&stripe.filtered);
            sum.absent += read(&stripe.absent);
            sum.found += read(&stripe.found);
        }
        sum
    }
}
