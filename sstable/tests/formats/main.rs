//! Format 2 from outside: what is written, what is read back, and what a reader refuses. One program, since linking ten takes
//! longer than building them; tests that put an allocator of their own in force are programs of their own beside it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`golden`], [`elias_fano_vectors`] | golden encodings, in both directions |
//! | [`properties`] | encoding and decoding of random records under random policies |
//! | [`rejects`] | streams that break one rule each |
//! | [`writer`], [`table_writer`] | what writers refuse, and what they leave behind then |
//! | [`table_format`] | the example of `FORMAT.md`, byte for byte |
//! | [`table_model`] | tables against a sorted vector |
//! | [`table_damage`], [`table_forged`] | damaged files, and forged ones |

mod damaged_tables;
mod elias_fano_vectors;
mod golden;
mod hand_written;
mod properties;
mod records;
mod rejects;
mod table_damage;
mod table_forged;
mod table_format;
mod table_model;
mod table_writer;
#[path = "../support/vectors.rs"]
mod vectors;
mod writer;
