//! Writing tables: record by record ([`TableWriter`]), or around a finished stream ([`write_encoded_table`]).

mod options;
mod table;
mod table_parts;

pub use options::{FilterPolicy, REPLACE_LAW, TableOptions, TableSummary, TableWriteError};
pub use table::{TableWriter, write_encoded_table};
