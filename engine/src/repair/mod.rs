//! Repair: a new database of what can be read of a damaged one.
//!
//! ```text
//! damaged, never changed                                                    new directory
//!   CURRENT, MANIFEST-*  --- every edit that can be read --------------->   one manifest: keyspaces, tables, dead sets     manifests.rs
//!   *.table              --- whole ones copied, others record by record ->   tables of the same numbers                     tables.rs
//!   *.log                --- every whole record, in order -------------->   log segments, sealed                           log.rs
//!                                   |
//!                                   '--> the report: what is lost, file by file; what is set aside; what may be undone
//! ```
//!
//! A delete lives in two places: by key in the log, until it is flushed; as a dead ordinal in the manifest from then on. So what
//! was deleted can come back where one of them has been lost:
//!
//! * **edits of the manifest are lost**: the dead set of every table that was there before is unknown. Such tables are *set aside*:
//!   they stay where they are, are listed, and are not in the new database, unless [`RepairOptions::accept_undeleted`] says so.
//!   Tables that were added after the last lost edit are certain.
//! * **a range of the log is lost**: the tables are taken, since their dead sets are whole up to there. The report names the range:
//!   what it deleted, and nothing else deleted since, is alive again, and what it put is gone.
//! * **records of a table are lost**: an older value of their keys may answer. A deleted key does not come back: deletes mark the records of
//!   *all* older tables. The report gives the keys between which they lay.
//!
//! A log that only ends as a crash leaves it is no loss, nor are files that no manifest names if the manifest is whole.
//!
//! Where edits were lost all tables of a keyspace go to level 0, in the order of their levels: whatever moved meanwhile, they may overlap
//! there. The new database is opened and verified before the report is given.

mod build;
mod log;
mod manifests;
mod report;
mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use crate::clock::SystemClock;
use crate::db::Db;
use crate::directory::{Directory, Listing};
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::options::Options;
use crate::vfs::{FileKind, FileSystem, LockError, LockGuard, StdFs};

use build::NewDatabase;
pub use report::{Loss, RepairReport, SetAside, Undeleted};

/// How to repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairOptions {
    /// Take tables whose dead sets are lost, or known in part, as well. Keys deleted in them are alive again; the report names the tables. One
    /// that no readable edit names becomes a keyspace of its own, `recovered 000012.table`, since nothing says where it belongs.
    pub accept_undeleted: bool,
}

impl RepairOptions {
    /// Sets [`RepairOptions::accept_undeleted`].
    #[must_use]
    pub fn accept_undeleted(mut self, accept: bool) -> Self {
        self.accept_undeleted = accept;
        self
    }
}

/// Makes a database of what can be read of the one in `source`, in the directory `into`, which must not exist or be empty. The source is not
/// changed, and nobody may have it open for writing. Costs a read of all its files and a write of what is taken.
///
/// # Errors
/// No such source; a place in the way of the new database; it cannot be written. Nothing of it stays then.
pub fn repair(
    source: impl AsRef<Path>,
    into: impl AsRef<Path>,
    options: RepairOptions,
) -> Result<RepairReport> {
    repair_with(Arc::new(StdFs::new()), source, into, options)
}

/// As [`repair`], on a file system of the caller's choice.
///
/// # Errors
/// As [`repair`].
pub fn repair_with(
    file_system: Arc<dyn FileSystem>,
    source: impl AsRef<Path>,
    into: impl AsRef<Path>,
    options: RepairOptions,
) -> Result<RepairReport> {
    let clock = Arc::new(SystemClock::new());
    let source = Directory::new(Arc::clone(&file_system), clock, source.as_ref());
    let into = into.as_ref();
    let reason = match file_system.kind(&source.path)? {
        Some(FileKind::Directory) => None,
        Some(_) => Some("it is a file; what is repaired is the directory of a database"),
        None => Some("there is no such directory"),
    };
    if let Some(reason) = reason {
        return Err(Error::NotADatabase {
            path: source.path,
            reason,
        });
    }
    if into.starts_with(&source.path) {
        return Err(Error::RepairTarget {
            path: into.to_path_buf(),
            reason: "it lies in the directory that is to be repaired",
        });
    }
    let mut report = RepairReport::default();
    let lock = keep_writers_out(&source, &mut report)?;
    let listing = source.list()?;
    if !listing.own.iter().any(|name| is_data(*name)) {
        return Err(Error::NotADatabase {
            path: source.path,
            reason: "there is no manifest, table or log segment in it",
        });
    }
    let mut database = NewDatabase::begin(&source, into)?;
    let filled = fill(&source, &listing, options, &mut database, &mut report);
    drop(lock);
    if let Err(error) = filled {
        database.undo();
        return Err(error);
    }
    drop(database);
    check(file_system, into, &mut report)?;
    Ok(report)
}

fn is_data(name: FileName) -> bool {
    matches!(
        name,
        FileName::Manifest(_) | FileName::Table(_) | FileName::Segment(_)
    )
}

/// A writer would change files under our hands. A lock file that is damaged itself is no obstacle.
fn keep_writers_out(source: &Directory, report: &mut RepairReport) -> Result<Option<Box<dyn LockGuard>>> {
    match source.file_system.lock_shared(&source.path_of(FileName::Lock)) {
        Ok(lock) => Ok(lock),
        Err(LockError::Failed(error)) => {
            report.notes.push(format!("not locked: {error}"));
            Ok(None)
        }
        Err(held) => Err(held.into()),
    }
}

fn fill(
    source: &Directory,
    listing: &Listing,
    options: RepairOptions,
    database: &mut NewDatabase,
    report: &mut RepairReport,
) -> Result<()> {
    let mut history = manifests::read(source, listing, report);
    let log = log::read(source, listing, &history, report);
    history.compare_with_log(&log, listing, report);
    let tables = tables::take(source, listing, &history, options, database, report)?;
    database.finish(&history, tables, &log, listing)
}

/// Opens the new database and checks it whole.
fn check(file_system: Arc<dyn FileSystem>, into: &Path, report: &mut RepairReport) -> Result<()> {
    let db = Db::open_with(file_system, into, Options::default().read_only(true))?;
    report.keyspace_count = db.keyspace_names().len();
    let verified = db.verify()?;
    report.live_key_count = verified.live_key_count;
    report.problems = verified.problems;
    db.close()
}
