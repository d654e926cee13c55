//! Alternating timers and the calibration loop.

use std::hint::black_box;
use std::time::Instant;

/// Median, minimum and maximum of one variant's rounds. Nothing is dropped as an outlier.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Middle observation.
    pub median: f64,
    /// Smallest observation.
    pub min: f64,
    /// Largest observation.
    pub max: f64,
    /// Number of observations.
    pub samples: usize,
}

impl Spread {
    /// Summarises observations; panics on an empty list.
    pub fn of(mut observations: Vec<f64>) -> Self {
        assert!(!observations.is_empty(), "a spread needs observations");
        observations.sort_by(f64::total_cmp);
        let samples = observations.len();
        Self {
            median: observations[samples / 2],
            min: observations[0],
            max: observations[samples - 1],
            samples,
        }
    }

    /// The same spread in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            min: self.min * factor,
            max: self.max * factor,
            samples: self.samples,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark owns its clock")]
fn now() -> Instant {
    Instant::now()
}

/// One variant of a comparison: a name and a body that returns what must be dropped outside the timer.
pub struct Variant<'a, T> {
    /// Name in the report.
    pub name: &'static str,
    /// Timed work; its result is checked and dropped outside the timer.
    pub body: Box<dyn FnMut() -> T + 'a>,
}

impl<'a, T> Variant<'a, T> {
    /// A variant from a closure.
    pub fn new(name: &'static str, body: impl FnMut() -> T + 'a) -> Self {
        Self {
            name,
            body: Box::new(body),
        }
    }
}

/// Times the variants in turn for `rounds` rounds (the starting variant moves on each round), after one
/// warm round each, and gives each result to `check` outside the timer. Short bodies are repeated
/// within a round until it lasts about a millisecond. Nanoseconds for one run of the body.
pub fn alternate<T>(
    variants: &mut [Variant<'_, T>],
    rounds: usize,
    mut check: impl FnMut(usize, &T),
) -> Vec<Spread> {
    const ROUND_NS: f64 = 1_000_000.0;
    const REPEATS_MAX: usize = 64;
    let mut repeats = vec![1_usize; variants.len()];
    for (index, variant) in variants.iter_mut().enumerate() {
        let result = (variant.body)();
        check(index, &result);
        let start = now();
        let result = (variant.body)();
        let elapsed = start.elapsed().as_nanos() as f64;
        check(index, &result);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to a small range"
        )]
        let wanted = (ROUND_NS / elapsed.max(1.0)).ceil() as usize;
        repeats[index] = wanted.clamp(1, REPEATS_MAX);
    }
    let mut observations = vec![Vec::with_capacity(rounds); variants.len()];
    for round in 0..rounds {
        for step in 0..variants.len() {
            let index = (round + step) % variants.len();
            let mut elapsed = 0.0;
            for _ in 0..repeats[index] {
                let start = now();
                let result = black_box((variants[index].body)());
                elapsed += start.elapsed().as_nanos() as f64;
                check(index, &result);
            }
            observations[index].push(elapsed / repeats[index] as f64);
        }
    }
    observations.into_iter().map(Spread::of).collect()
}

/// Nanoseconds of one 64-bit addition in a dependent chain: the unit in which machines are compared.
/// Best of nine, about ten milliseconds.
///
/// The chain is the Fibonacci sequence modulo 2^64: each addition needs the one before, and no compiler
/// knows a shorter way to its end.
pub fn calibrate_add_ns() -> f64 {
    const PAIRS: u32 = 1_500_000;
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let (mut left, mut right) = (black_box(1_u64), black_box(2_u64));
        let start = now();
        for _ in 0..PAIRS {
            left = left.wrapping_add(right);
            right = right.wrapping_add(left);
        }
        black_box(right);
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(2 * PAIRS));
    }
    best
}
