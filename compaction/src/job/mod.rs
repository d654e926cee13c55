//! Compaction around the merger: tables in, tables out.
//!
//! ```text
//! inputs, oldest first --> Merger --- step ---> output --- cut at the target size ---> table --> OutputSink
//!                             |                                                         create, finish, abandon
//!                             '--> Observer: progress, cancellation between steps
//! ```
//!
//! [`merge_tables`] runs one merge on the calling thread. A large one is split by key into sub-ranges
//! ([`plan_subranges`]), each a merge of its own over ranges of the same tables, on as many threads as the caller
//! has; their outputs follow each other in key order.
//!
//! Nothing here opens a file or starts a thread. What an unfinished job has written is the caller's to remove: the
//! sink knows every table it has created.

mod error;
mod merge_tables;
mod observer;
mod sink;
mod subrange;
mod table_input;

pub use error::CompactionError;
pub use merge_tables::{MergeReport, merge_tables};
pub use observer::{Observer, Unobserved};
pub use sink::OutputSink;
pub use subrange::{plan_subranges, select_subrange};
pub use table_input::table_input;

#[cfg(test)]
mod tests;
