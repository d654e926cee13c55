//! tephradb: an embedded, ordered key-value store of front-coded tables.

pub use tephra_engine::{
    Background, Batch, Db, Durability, Error, Key, KeyRange, Keyspace, KeyspaceOptions, Options, Range,
    Result, Snapshot, Stats, Usability, Value, VerifyReport, limits,
};

/// The code in the README compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
