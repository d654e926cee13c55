//! Writing streams and tables.
//!
//! | name | writes |
//! |---|---|
//! | [`framing`] | frames and directory from (retained, literal, value); never sees a whole key |
//! | [`TableWriter`] | a table file, record by record |
//! | [`write_encoded_table`] | a table file around a finished stream |

pub mod framing;
mod options;
mod table;
mod table_parts;

pub use framing::{AppendError, FrameWriter};
pub use options::{FilterPolicy, REPLACE_LAW, TableOptions, TableSummary, TableWriteError};
pub use table::{TableWriter, write_encoded_table};
