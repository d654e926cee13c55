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
//! with least and most, are in `benches/record/amd-epyc-zen3/`. Recorded before runs were copied among many inputs,
//! matches were selected, and loads and copies cost one comparison each (below): the counts of instructions are of
//! now, the times of then.
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
//! **Where the goals resist.** Instructions an output key at prefix 0 (callgrind; validating / certified), and what they
//! were when the times were taken; the goals for validating are 160, 165, 290 and 325.
//!
//! ```text
//! byte fixed      175 / 168     189 / 186
//! byte variable   178 / 172     197 / 191
//! bit fixed       310 / 273     329 / 287
//! bit variable    335 / 298     350 / 310
//! ```
//!
//! The loops retire nearly five instructions a cycle, so it is instructions that have to go. Of the 175 of byte fixed 149 are
//! in the loop, 18 compare block starts with the directory and cross them, 5 note the output's blocks and build its
//! directory. In the loop some 25 move heads between registers and the stack: two heads, their bounds and the burst are
//! more words than there are registers. What helped: one load for all counts of a frame, events instead of tests, one
//! comparison for a load and one for a copy, tie-breaks that begin behind the unit that equal codes already speak of and
//! tell their result in plain numbers (options and slices handed to the long comparison lay on the stack for every
//! tie, 25 instructions each), and everything unusual out of line. What did not: reading runs within the loop (up to ten
//! instructions a key, all of them moves), so a source that keeps winning is handed to a loop of its own.
//!
//! Among 16 inputs the matches of the tournament were branches, although they were written as choices of values:
//! 3.6 mispredicted branches a key in callgrind's model. Now they are selected (`select_unpredictable`): 1.4, for 20 to 27
//! instructions more. What is left is the loop over the places on the way up and the ties of duplicates.
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
//! byte, fragments to depth 2,048          4,096       4,080           0
//! bit, fragments                            512         510           0
//! peak, byte fixed fragments             69,258      69,242      65,162         (144,384 and 303,104 in the first design)
//! ```
//!
//! Certified scratch is nothing at all; validating scratch is that of the materialised source or less in each of the
//! twenty fixtures, which the bench asserts, and over keys of every length, which `tests/allocations.rs` does: flattened
//! keys take exactly the room they need, because doubling may ask for more than a buffer does that has grown by every key.
//! The price is a request for each 16 levels of a chain: 175 in all in byte fragments, 240 KB together, where the
//! buffers ask 23 times for 73 KB. Otherwise a merge makes a few dozen allocations at most whatever the number of its
//! records, also behind dead records and for laws that see the key; a law that returns owned values makes its own.
//!
//! # Certificates
//!
//! A certified source keeps no key, so it cannot see every frame that retains less than it could. Records keep their own
//! keys and values whatever an input claims; so an output that is strictly ordered and ordinarily coded is the union,
//! and the pass over its keys that writing a table makes finds any other. [`merge_tables`] abandons such a table and
//! fails with [`CompactionError::WrongCertificate`].

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
