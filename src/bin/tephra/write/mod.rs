//! Commands that change records. They want a database and a keyspace that exist, unless told `--create`; what they write is durable
//! when they return.

mod delete;
mod merge;
mod put;

pub(crate) use delete::{Delete, DeleteRange, delete, delete_range};
pub(crate) use merge::{Merge, merge};
pub(crate) use put::{Put, put};
