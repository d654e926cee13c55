//! Commands that read records. They open a database for reading only: nothing is written, nothing is created.

mod count;
mod get;
mod scan;

pub(crate) use count::{Count, count};
pub(crate) use get::{Get, get};
pub(crate) use scan::{Scan, scan};
