//! Writing streams and tables.
//!
//! | name | writes |
//! |---|---|
//! | [`framing`] | frames and directory from (retained, literal, value); never sees a whole key |
//! | [`NativeWriter`], [`DrainingWriter`] | a stream record by record, in memory or to an output |
//! | [`TableWriter`] | a table file, record by record |
//! | [`write_encoded_table`] | a table file around a finished stream |

pub mod framing;
mod native;
mod options;
mod table;
mod table_parts;

pub use framing::{AppendError, FrameWriter};
pub use native::{Appended, DRAIN_LEN_BYTES_DEFAULT, DrainingWriter, NativeWriter};
pub use options::{FilterPolicy, REPLACE_LAW, TableOptions, TableSummary, TableWriteError};
pub use table::{TableWriter, write_encoded_table};
