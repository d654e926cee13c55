//! Where the demo's data and its database are.

use std::path::{Path, PathBuf};

use super::Demo;
use crate::escape::shown;
use crate::failure::{Failure, Result};
use crate::files::{Input, Temporary, check_fresh, temporary_directory};
use crate::load::{Plan, check};

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
    /// The database's directory, where it is one of the demo's own: gone when the demo ends, however it ends.
    temporary: Option<Temporary>,
    is_kept: bool,
}

impl Setting {
    /// Finds and checks the data; then makes a fresh directory unless one is named.
    pub(crate) fn find(args: &Demo) -> Result<Setting> {
        let data = match &args.data {
            Some(path) => path.clone(),
            None => find_data()?,
        };
        let record_count = check(&mut Input::open(&data)?, &Plan::lines())?.record_count;
        let temporary = match &args.db {
            Some(path) => {
                check_fresh("the demo", path)?;
                None
            }
            None => Some(temporary_directory("tephra-demo-")?),
        };
        let db = match (&args.db, &temporary) {
            (None, Some(temporary)) => temporary.path().to_path_buf(),
            (named, _) => named.clone().unwrap_or_default(),
        };
        Ok(Setting {
            data,
            db,
            record_count,
            temporary,
            is_kept: args.keep || args.db.is_some(),
        })
    }

    /// Whether the database is there when the demo has ended.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Lets the database stay.
    pub(crate) fn keep(self) {
        if let Some(temporary) = self.temporary {
            temporary.keep();
        }
    }
}

fn find_data() -> Result<PathBuf> {
    let built = Path::new(SOURCE_TREE).join(DATA_FILE);
    let places = [PathBuf::from(DATA_FILE), built];
    let found = places.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| Failure::NoData {
        reason: format!("there is neither {} nor {}", shown(&places[0]), shown(&places[1])),
    })
}

/// How to call this command again from here.
pub(crate) fn command_line() -> String {
    let Ok(path) = std::env::current_exe() else {
        return "tephra".to_owned();
    };
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(&path).display().to_string()
}
