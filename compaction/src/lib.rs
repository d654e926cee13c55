//! The encoded merger: merges front-coded tables without rebuilding keys.
//!
//! | module | what it holds |
//! |---|---|
//! | [`compose`] | laws: what becomes of a key that several inputs hold |
//! | [`merge`] | the merger and its step contract |
//! | [`job`] | tables in, tables out: output cut at a target size, sub-ranges, progress, cancellation |
//! | [`picker`] | which tables to compact next, and why: pure data in, a decision out |
//!
//! What reaches the output is the inputs' own bytes, trimmed; it is, byte for byte and word for word, what
//! batch-encoding the union would give.
//!
//! # Results
//!
//! AMD EPYC (Zen 3), 2 virtual cores, x86-64-v3, 30 November 2026. Nanoseconds an output key, scaled to a machine whose
//! dependent addition takes 0.350 ns: the middle one of the medians of three processes with 15 alternating rounds each. All lines,
//! with least and most, are in `benches/record/amd-epyc-zen3/`.
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo bench --bench merge
//!
//! 4,096 records               materialised   validating   certified   goal (validating / certified)
//! byte fixed     prefix 0         18.1          14.3        14.6         9   / 8
//! byte variable  prefix 0         19.1          15.6        15.2         9.5 / 8.5
//! bit fixed      prefix 0         51.5          26.0        22.2        18   / 15
//! bit variable   prefix 0         53.5          27.5        24.5        20   / 18
//! byte fixed     prefix 4,096     20.7          17.4        16.9         9   / 8
//! byte variable  prefix 4,096     22.4          18.5        17.6        10   / 9.5
//! byte fixed     fragments        22.9          22.2        17.8        13   / 10
//! byte variable  fragments        23.9          24.2        18.7        13   / 10
//! bit fixed      fragments        39.8          27.5        21.1        19   / 16
//! byte fixed     tail 4,096        838           645         642        1.25 memcpy (466); found 1.38
//! bit fixed      tail 4,096       1388          1036        1016        1.35 memcpy (405); found 2.5
//!
//! 16,384 records                  naive      materialised   validating   certified
//! byte fixed     prefix 0         73.0          18.6          14.7        14.6
//! byte variable  prefix 4,096    239.3          22.8          18.5        18.2
//! bit fixed      prefix 0        125.7          50.9          26.2        22.0
//! bit variable   prefix 4,096    328.6          53.1          27.9        24.3
//!
//! beyond the experiments                                     validating   certified   goal
//! random interleaving, bytes / bits                          21.9 / 44.4  20.8 / 38.1   19 / 35
//! 16 inputs, byte variable / a third duplicated (tree)       42.7 / 57.3  41.1 / 55.0   24 / 38
//! 16 inputs against 2 through the same tree                  1.8 times    1.8 times    1.7
//! share of memcpy's speed, 1 record in 100 from the small side, values of 100 bytes:
//!     output of 64 MB, bytes / bits                          70 / 33 %    73 / 38 %     75 / 30 %
//!     output in the cache, bytes                             23 %         24 %         35 %
//! ```
//!
//! Against the experiments that this design was first measured with: the frontier (materialised) takes 58 to 91 % less
//! than the naive merge in all twelve fixtures (12 to 80 % there); the certified source takes 18 to 57 % less than the
//! materialised one in all twenty fixtures, and the validating source 3 to 49 % less in nineteen: in byte-variable fragments it is
//! level with it (24.2 against 23.9).
//!
//! **Where the goals resist.** Instructions an output key at prefix 0 (callgrind; validating / certified /
//! materialised): byte fixed 181 / 178 / 227, byte variable 193 / 182 / 235, bit fixed 326 / 280 / 658, bit variable
//! 352 / 304 / 678; the goals for validating are 160, 165, 290 and 325. They were counted before bursts checked that a body
//! does not end before it starts, which adds a comparison or two a key; the times above include it. The loops retire nearly five instructions a
//! cycle, so it is instructions that have to go. About 35 of them a key are not in the loop: comparing block starts with
//! the directory, noting the output's blocks, building its directory. In the loop some 25 move heads between registers
//! and the stack: two heads, their bounds and the burst are more words than there are registers. Looking for runs of
//! frames costs up to ten where inputs alternate, and pays where they do not. What helped: one load for all counts of
//! a frame, events instead of tests, one comparison a load, tie-breaks that begin behind the unit that equal codes
//! already speak of, and everything unusual out of line. What did not: reading runs within the loop (16 instructions a
//! key more, all of them moves).
//!
//! The names of Unicode in four parts: certified 36, materialised 46, validating 57. Names nest many short prefixes; our
//! guess, not yet measured, is that the loop that pops spans is mispredicted where truncating a buffer is not. Tails in bits are bound by the
//! shifted copy and the comparison of duplicates, 128 blocks of 32 bytes each.
//!
//! ```text
//! cargo bench --bench allocations
//!
//! requested bytes beyond the output   materialised   validating   certified     (the merger itself: 1.8 KB, no heap)
//! byte, prefix 4,096                      8,208           0           0
//! bit, tail 4,096                        16,416           0           0
//! byte, fragments to depth 2,048          4,096       4,096           0
//! bit, fragments                            512         512           0
//! peak, byte fixed fragments             69,258      69,258      65,162         (144,384 and 303,104 in the first design)
//! ```
//!
//! Certified scratch is nothing at all; validating scratch is that of the materialised source or less in each of the
//! twenty fixtures, which the bench asserts. A merge makes 5 to 23 allocations whatever the number of its records; a law that returns owned values makes its own.

pub mod compose;
mod error;
pub mod job;
pub mod merge;
pub mod picker;
#[cfg(test)]
mod test_rng;

pub use compose::{
    ComposeValues, ComposeWithKey, Composed, Law, LawFailure, Replace, Values, WithKey, call_law,
};
pub use error::MergeError;
pub use job::{CompactionError, MergeReport, Observer, OutputSink, Unobserved, merge_tables};
pub use merge::{BlockPrefixes, MergeInput, MergeUnit, Merger, PrefixError, Progress, Strategy, Trust};
