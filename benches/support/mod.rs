//! What every benchmark of this package shares.
//!
//! ```text
//! args        --json  --quick  --filter TEXT  --rounds N
//! fixtures    tests/data/fixtures.json: generate each input exactly
//! digest      reproduce lengths, checksums, literal totals and wire digests before timing anything
//! tables      table files of several shapes, in memory of small and of huge pages
//! timing      calibration loop, alternating rounds, median / min / max
//! report      one JSON line a figure, or a table for people
//! ```
//!
//! Absolute times mean nothing on shared machines. Every harness therefore times its variants in turn
//! within one run, checks each result outside the timer, drops no observation, and prints the time of
//! one addition in a dependent chain (`add_ns`), so that runs on different machines can be compared:
//! a comparable time is `time * 0.350 / add_ns`.
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark compiles this module for itself and uses a part of it"
)]

pub mod args;
pub mod cases;
pub mod digest;
pub mod fixtures;
pub mod report;
pub mod tables;
pub mod timing;

pub use args::Args;
