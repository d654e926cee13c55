//! Composition laws: what a keyspace makes of several records of one key.
//!
//! ```text
//! log          put a    merge b    merge c              merge d
//! memtable                  compose(a, b) = x    compose(x, c) = y
//! tables                                                [y]       flushed; then d is merged
//! get          compose(y, d)                                      oldest first, whoever composes, whatever was flushed when
//! ```
//!
//! A merge adds an operand to a key without reading it. Writer, readers, flush and compaction compose what they hold of a key, always
//! in the order in which it was written and never over a put or a delete, which end what was before. Since each of them holds other
//! pieces at other times, a law must be **associative**: `compose(compose(a, b), c)` is `compose(a, compose(b, c))`. Its author
//! declares that by implementing one of the traits; nobody checks it. With a law that is not, a value depends on when flushes and
//! compactions ran: two reads may disagree with no write between them, and a law that keeps less of the older side loses
//! operands for good at the next compaction. It need not be commutative. It must give the same answer to the same operands every time, also
//! in the program that opens the database next year under the same name.
//!
//! | file | what it holds |
//! |---|---|
//! | `traits.rs` | what an author implements: [`Compose`] or [`ComposeWithKey`] |
//! | `ready.rs` | [`AddU64`], [`MaxU64`], [`AppendBytes`] |
//! | `named.rs` | a law with the name that the manifest knows, and all that a program registered |
//! | `history.rs` | what a reader collects of one key, and what comes of it |
//!
//! Laws are called through the merger's own door ([`tephra_compaction::call_law`]), which turns a panic into a failure. A failure is the
//! error of the read that needed the value; the records stay as they are.

mod history;
mod named;
mod ready;
#[cfg(test)]
mod tests;
mod traits;

pub(crate) use history::History;
pub(crate) use named::{Laws, NamedLaw, WithLaw};
pub use ready::{AddU64, AppendBytes, MaxU64};
pub use tephra_compaction::LawFailure;
pub use traits::{Compose, ComposeWithKey, Composed};
