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
//! dependent addition takes 0.350 ns: the middle one of the medians of three processes with 15 alternating rounds each, at raised
//! priority on a machine that others used too. All lines, with least and most, are in `benches/record/amd-epyc-zen3/`.
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo bench --bench merge
//!
//! 4,096 records               materialised   validating   certified   goal (validating / certified)
//! byte fixed     prefix 0         17.4          14.1        13.5         9   / 8
//! byte variable  prefix 0         17.8          14.1        13.7         9.5 / 8.5
//! bit fixed      prefix 0         48.7          24.1        20.8        18   / 15
//! bit variable   prefix 0         52.4          27.4        23.4        20   / 18
//! byte fixed     prefix 4,096     20.0          16.1        15.7         9   / 8
//! byte variable  prefix 4,096     22.6          18.4        18.1        10   / 9.5
//! byte fixed     fragments        21.3          20.7        16.1        13   / 10
//! byte variable  fragments        22.0          21.4        16.9        13   / 10
//! bit fixed      fragments        38.2          26.6        19.5        19   / 16
//! byte variable  tail 4,096        800           623         589        1.25 memcpy; found 1.4 to 1.7
//! bit fixed      tail 4,096        925           647         609        1.35 memcpy; found 1.9 to 2.0
//!
//! 16,384 records                  naive      materialised   validating   certified
//! byte fixed     prefix 0         72.2          17.4          13.5         13.0
//! byte variable  prefix 4,096    225.4          21.0          16.7         16.3
//! bit fixed      prefix 0        121.0          48.1          23.8         19.8
//! bit variable   prefix 4,096    341.3          50.6          26.4         22.4
//!
//! beyond the experiments                                     validating   certified   goal
//! random interleaving, bytes / bits                          18.9 / 41.5  18.0 / 35.1   19 / 35
//! 16 inputs, byte variable / a third duplicated (tree)       29.3 / 44.9  27.9 / 43.2   24 / 38
//! 16 inputs against 2 through the same tree                  1.3 times    1.3 times    1.7
//! share of memcpy's speed, 1 record in 100 from the small side, values of 100 bytes:
//!     output of 64 MB, bytes / bits                          70 / 41 %    71 / 47 %     75 / 30 %
//!     output in the cache, bytes                             26 %         28 %         35 %
//! the names of Unicode in four parts                         44.2         38.6         (materialised 44.3)
//! ```
//!
//! Against the experiments that this design was first measured with: the frontier (materialised) takes 59 to 91 % less
//! than the naive merge in all twelve fixtures (12 to 80 % there); the validating source takes 3 to 52 % less than the
//! materialised one in all twenty fixtures, and the certified source 20 to 58 %.
//!
//! **Where the goals resist.** Instructions an output key at prefix 0 (callgrind; validating / certified; counted before the loops were
//! compiled once a unit, which changed them by less than 2 %); the goals for validating are 160, 165, 290 and 325.
//!
//! ```text
//! byte fixed      175 / 168
//! byte variable   178 / 172
//! bit fixed       310 / 273
//! bit variable    335 / 298
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
//! Tails are bound by memory and by the bytes moved: inputs of a third more than the output are read, duplicates are compared, and the output is
//! written, where a copy reads and writes once, past the caches. Shifting bits by blocks of 64 bytes with one bound each made vectors of what were
//! scalar loads, each with a bound of its own: 960 to 660 ns. Asking for a literal's memory when its frame is read gave nothing in bits and lost 5 % in bytes.
//!
//! The names of Unicode took 54 ns validating and 44 materialised while inputs that declare a width and inputs that do not were read
//! the general way: three of the four parts hold code points of one width alone. They are read by the fast path of their own shape now.
//!
//! ```text
//! cargo bench --bench allocations
//!
//! requested bytes beyond the output   materialised   validating   certified     (the merger itself: 3.7 KB, no heap)
//! byte, prefix 4,096                      8,208           0           0
//! bit, tail 4,096                        16,416           0           0
//! byte, fragments to depth 2,048          4,096       4,032           0
//! bit, fragments                            512         504           0
//! peak, byte fixed fragments             69,258      69,194      65,162         (144,384 and 303,104 in the first design)
//! ```
//!
//! Certified scratch is nothing at all; validating scratch is that of the materialised source or less in each of the
//! twenty fixtures, which the bench asserts, and over keys of every length, which `tests/allocations.rs` does: flattened
//! keys take exactly the room they need, because doubling may ask for more than a buffer does that has grown by every key.
//! The price is a request for each 64 levels of a chain: 47 in all in byte fragments, 110 KB together, where the
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
