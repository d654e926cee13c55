//! Writes the page.

#![expect(
    clippy::disallowed_methods,
    reason = "this file owns the file calls of the report"
)]

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|source| Failure::File {
        operation: "write",
        path: path.to_path_buf(),
        source,
    })
}
