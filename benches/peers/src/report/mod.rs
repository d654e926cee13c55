//! Results: one line of JSON a part, round and engine, and the table made of many.

mod line;
mod table;

pub(crate) use line::Line;
pub(crate) use table::table;
