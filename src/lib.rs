//! tephradb: an embedded, ordered key-value store of front-coded tables.
//!
//! Keys and values are bytes; keys are ordered as unsigned bytes. Writes go to a log and to memory, full memories become immutable
//! tables, and tables are merged in the background without being decoded. A delete leaves no tombstone in any table.
//!
//! ```
//! use tephradb::{Db, Durability, Options};
//!
//! # fn main() -> tephradb::Result<()> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//! # let path = dir.path();
//! let db = Db::open(path, Options::default())?;
//! db.put("basalt", "dark")?;
//! db.put("pumice", "light")?;
//! let snapshot = db.snapshot();
//!
//! let mut batch = db.batch();
//! batch.put(&db, "obsidian", "glass").delete(&db, "pumice");
//! batch.commit(Durability::Sync)?;
//!
//! assert_eq!(db.get("obsidian")?.as_deref(), Some(&b"glass"[..]));
//! assert!(!db.contains("pumice")?);
//! assert!(snapshot.contains(&db, "pumice")?);
//! let last = db.iter().next_back().expect("not empty")?;
//! assert_eq!(last.0, "obsidian");
//! # Ok(()) }
//! ```
//!
//! [`Db`] is where to start. [`vfs`] and [`clock`] replace the outside world in tests: [`Db::open_with`] takes a simulated file
//! system that loses power or fails.

pub use tephra_engine::*;

/// The code in the README compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code in the recipes compiles and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

/// The code in the page for those who come from another store.
#[cfg(doctest)]
#[doc = include_str!("../docs/migrating.md")]
struct Migrating;

/// The code in the page about composition laws.
#[cfg(doctest)]
#[doc = include_str!("../docs/composition-laws.md")]
struct CompositionLaws;
