//! Reading tables.

mod cursor;
mod frames;
mod index;
mod open;
mod pages;
mod prefetch;
mod search;
mod table;
mod verify;

pub use cursor::TableCursor;
pub use table::{Located, Table};
pub use verify::VerifyReport;
