//! What a repair came to.

use std::fmt;

/// What a repair came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// Keyspaces of the new database, the default one included.
    pub keyspace_count: usize,
    /// Tables in it.
    pub table_count: usize,
    /// Of these, made anew of what could be read.
    pub rebuilt_table_count: usize,
    /// Records in its tables, dead ones included.
    pub table_record_count: u64,
    /// Records (batches) of the log that were taken.
    pub log_record_count: u64,
    /// Keys alive in the new database.
    pub live_key_count: u64,
    /// Everything that is lost.
    pub lost: Vec<Loss>,
    /// Tables that were taken, whole or in part, though deletes in them are lost ([`RepairOptions::accept_undeleted`](super::RepairOptions)).
    pub undeleted: Vec<Undeleted>,
    /// Tables that were readable and are not in the new database.
    pub set_aside: Vec<SetAside>,
    /// What is worth telling and no loss.
    pub notes: Vec<String>,
    /// What the check of the new database found wrong: traces of what is lost.
    pub problems: Vec<String>,
}

impl RepairReport {
    /// Whether everything was taken and nothing is doubtful.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty()
            && self.undeleted.is_empty()
            && self.set_aside.is_empty()
            && self.problems.is_empty()
    }

    /// Whether a key that was deleted may be alive in the new database.
    #[must_use]
    pub fn may_undelete(&self) -> bool {
        !self.undeleted.is_empty() || self.lost.iter().any(|loss| loss.may_undelete)
    }

    /// Records that are known to be lost; `None` where nobody knows of some.
    #[must_use]
    pub fn lost_record_count(&self) -> Option<u64> {
        self.lost.iter().map(|loss| loss.record_count).sum()
    }

    pub(super) fn lose(&mut self, loss: Loss) {
        self.lost.push(loss);
    }
}

/// Something that could not be taken, or not with certainty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// Name of the file in the source.
    pub file: String,
    /// Where in it, in bytes; `None`: the whole file.
    pub offset: Option<u64>,
    /// What is wrong, and what that means.
    pub reason: String,
    /// How many records are lost; `None`: nobody knows.
    pub record_count: Option<u64>,
    /// Whether it may have held deletes that nothing else tells of.
    pub may_undelete: bool,
}

impl Loss {
    pub(super) fn of(file: impl fmt::Display, reason: impl Into<String>) -> Loss {
        Loss {
            file: file.to_string(),
            offset: None,
            reason: reason.into(),
            record_count: None,
            may_undelete: false,
        }
    }

    pub(super) fn at(mut self, offset: u64) -> Loss {
        self.offset = Some(offset);
        self
    }

    pub(super) fn records(mut self, count: u64) -> Loss {
        self.record_count = Some(count);
        self
    }

    pub(super) fn may_undelete(mut self) -> Loss {
        self.may_undelete = true;
        self
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(offset) = self.offset {
            write!(f, " at offset {offset}")?;
        }
        write!(f, ": {}", self.reason)?;
        match self.record_count {
            Some(1) => f.write_str("; 1 record lost")?,
            Some(count) => write!(f, "; {count} records lost")?,
            None => f.write_str("; nobody knows how many records are lost")?,
        }
        if self.may_undelete {
            f.write_str("; DELETED KEYS MAY BE ALIVE AGAIN")?;
        }
        Ok(())
    }
}

/// A table that was taken though what was deleted in it is not all known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undeleted {
    /// Name of the file in the source, and in the new database.
    pub file: String,
    /// How many records of it are alive in the new database: some of them may have been deleted.
    pub record_count: u64,
    /// How it was taken, and why nobody knows.
    pub reason: String,
}

impl fmt::Display for Undeleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, count) = (&self.file, self.record_count);
        write!(
            f,
            "{file}: {}; of its {count} records those that were deleted ARE ALIVE AGAIN",
            self.reason
        )
    }
}

/// A table that is left where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Name of the file in the source.
    pub file: String,
    /// How many records it holds, dead ones included.
    pub record_count: u64,
    /// Why it was not taken.
    pub reason: String,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} records: {}", self.file, self.record_count, self.reason)
    }
}
