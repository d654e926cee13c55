//! The C interface of tephradb. `include/tephra.h` is its documentation: what each function does, who owns what, which threads may call.
//!
//! ```text
//!   C program                      here                                        engine
//!   tephra_put(ks, key, value) --> null? length? --> catch_unwind { ks.put } --> ...
//!       int, char *error       <-- code, message <-- Result, or a panic
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `border` | codes, messages, bytes and strings across the border, and the call that no panic leaves; all unsafe reads |
//! | `options` | settings of a database and of a keyspace |
//! | `database` | open, close, and what concerns a database as a whole |
//! | `keyspace` | reads and writes of one keyspace |
//! | `batch`, `snapshot`, `iterator`, `value` | the other handles |
//!
//! Handles are boxes: a function that gives one writes its address to the caller's variable, the function that frees it takes the box
//! back. Arguments are `Option<&T>`, `Option<&mut T>` and `Option<Box<T>>`, which C sees as pointers: a null pointer is `None`, so that it
//! cannot be overlooked. What C promises in return (pointers are null or valid, exclusive where the header says so) stands in the header.
//!
//! `tests/header.rs` compares every signature here with its declaration in the header.

mod batch;
mod border;
mod database;
mod iterator;
mod keyspace;
mod options;
mod snapshot;
#[cfg(test)]
mod tests;
mod value;
