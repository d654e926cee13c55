//! Where the demo's data and its database are.

use std::fs;
use std::path::{Path, PathBuf};

use super::Demo;
use crate::failure::{Failure, Result};
use crate::load::check_file;

/// The data file, below the current directory or below the source tree.
const DATA_FILE: &str = "data/unicode-names.tsv";
/// The source tree this command was built from.
const SOURCE_TREE: &str = env!("CARGO_MANIFEST_DIR");

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) data: PathBuf,
    pub(crate) db: PathBuf,
    /// Lines of the data file, each of them a record.
    pub(crate) record_count: u64,
}

impl Setting {
    /// Finds and checks the data; then makes a fresh directory unless one is named.
    pub(crate) fn find(args: &Demo) -> Result<Setting> {
        let data = match &args.data {
            Some(path) => path.clone(),
            None => find_data()?,
        };
        let record_count = check_file(&data, false)?;
        let db = match &args.db {
            Some(path) => fresh(path)?,
            None => make_directory()?,
        };
        Ok(Setting {
            data,
            db,
            record_count,
        })
    }
}

fn find_data() -> Result<PathBuf> {
    let built = Path::new(SOURCE_TREE).join(DATA_FILE);
    let places = [PathBuf::from(DATA_FILE), built];
    let found = places.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| Failure::NoData {
        reason: format!(
            "there is neither {} nor {}",
            places[0].display(),
            places[1].display()
        ),
    })
}

/// Refuses a directory with anything in it: the demo never adds to a database that is there.
#[expect(
    clippy::disallowed_methods,
    reason = "looks for what is in the way before a database is opened"
)]
fn fresh(path: &Path) -> Result<PathBuf> {
    let in_the_way = match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    if in_the_way {
        return Err(Failure::InTheWay {
            path: path.to_path_buf(),
        });
    }
    Ok(path.to_path_buf())
}

/// How to call this command again from here.
pub(crate) fn command_line() -> String {
    let Ok(path) = std::env::current_exe() else {
        return "tephra".to_owned();
    };
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(&path).display().to_string()
}

/// A new directory among the temporary ones. It stays when the demo has ended: its reader may want to look.
fn make_directory() -> Result<PathBuf> {
    let made = tempfile::Builder::new()
        .prefix("tephra-demo-")
        .tempdir()
        .map_err(|source| Failure::File {
            operation: "make a directory in",
            path: std::env::temp_dir(),
            source,
        })?;
    Ok(made.keep())
}
