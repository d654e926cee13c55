//! Format 2: front-coded, immutable, sorted tables with Elias-Fano directories.
//!
//! A *stream* is a sequence of records with strictly increasing keys. Each record stores only what its key does
//! not share with the key before it. Keys and values are strings of *units*: bytes, or single bits.
//!
//! ```text
//! records                     frames of a byte stream (W = 15)
//! "car"  -> "1"               00 03 01 'c' 'a' 'r' '1'        retain 0 units, 3 new units, 1 value unit
//! "cart" -> "22"              00 01 02 't' '2' '2'            go back 0 units from "car", then "t"
//! "cat"  -> ""                02 01 00 't'                    go back 2 units from "cart", then "t"
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@unit`], [`policy`], [`stream`], [`error`] | what a stream is made of, how it was made, what can be wrong with it |
//! | [`bits`] | strings of bits, most significant bit first |
//! | [`counts`] | the codes of numbers: varints, exponential-Golomb, Golomb |
//! | [`front_coding`] | frames: the batch encoder (the oracle), strict sequential cursors |
//! | [`elias_fano`] | the directory: where blocks start, in few bits |
//! | [`writer`] | the native writer, the fast assembly of frames, table files |
//! | [`Table`], [`TableCursor`] | reading table files: look-ups, cursors, verification |
//! | [`ordinal_bitmap`] | records that are dead |

pub mod bits;
mod container;
pub mod counts;
pub mod elias_fano;
pub mod error;
mod filter;
pub mod front_coding;
mod hash;
pub mod ordinal_bitmap;
pub mod policy;
mod prefetch;
mod reader;
mod separators;
pub mod stream;
pub mod unit;
pub mod writer;

pub use bits::{BitReader, BitStr, BitString};
pub use container::{Properties, TABLE_MAGIC, TableError, TableRule, TableSection};
pub use error::{FormatError, Rule, Section};
pub use front_coding::{EncodedCursor, Frame, KeyCursor, encode_batch};
pub use policy::{BackspaceCode, Policy, PolicyError, ValueLayout};
pub use reader::{Located, Lookup, LostRecords, Salvaged, Table, TableCursor, VerifyReport};
pub use stream::{EncodedStream, EncodedView, StreamMeta};
pub use unit::{Bit, Byte, Unit, UnitKind};
pub use writer::{
    AppendError, FilterPolicy, FrameWriter, REPLACE_LAW, TableOptions, TableSummary, TableWriteError,
    TableWriter, write_encoded_table,
};
