//! Writes the page, never into the database.

#![expect(
    clippy::disallowed_methods,
    reason = "this file owns the file calls of the report"
)]

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};

/// Refuses a path in the directory of the database: it could be one of its files.
pub(super) fn check(path: &Path, database: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    // Through links, as far as there are such folders.
    match (fs::canonicalize(parent), fs::canonicalize(database)) {
        (Ok(parent), Ok(database)) if parent.starts_with(&database) => Err(Failure::IntoTheDatabase {
            path: path.to_path_buf(),
        }),
        _ => Ok(()),
    }
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|source| Failure::File {
        operation: "write",
        path: path.to_path_buf(),
        source,
    })
}
