//! Checking a whole database against itself.

/// What [`Db::verify`](crate::Db::verify) found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Tables checked.
    pub table_count: usize,
    /// Records read and checked.
    pub record_count: u64,
    /// Of these, marked dead.
    pub dead_record_count: u64,
    /// Keys alive at the instant of the call, memtables included.
    pub live_key_count: u64,
    /// Files in the directory that are not part of the database; they are left alone.
    pub foreign_files: Vec<String>,
    /// Everything that is wrong, each with its file and what was expected and found. Empty: the database is sound.
    pub problems: Vec<String>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}
