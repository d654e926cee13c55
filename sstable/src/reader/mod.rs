//! Reading tables.

mod cursor;
mod estimate;
mod frames;
mod index;
mod open;
mod pages;
#[cfg(feature = "planted-faults")]
mod planted;
mod salvage;
mod search;
mod table;
mod verify;

pub use cursor::TableCursor;
pub use salvage::{LostRecords, Salvaged};
pub use search::Lookup;
pub use table::{Located, Table};
pub use verify::VerifyReport;
