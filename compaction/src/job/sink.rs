//! Where output tables go.

use std::io;

use tephra_sstable::TableSummary;

/// The port to the files of a job's output. One job uses it from one thread; jobs of sub-ranges have
/// one each.
pub trait OutputSink {
    /// What a table is written to, from its first byte on.
    type Write: io::Write;

    /// Starts a table: its id, and where its bytes go.
    ///
    /// # Errors
    /// Whatever keeps the table from being created; the job ends with it.
    fn create(&mut self) -> io::Result<(u64, Self::Write)>;

    /// Ends a table whose bytes are all written: sync it, note it. Tables end in key order.
    ///
    /// # Errors
    /// Whatever keeps the table from being kept; the job ends with it.
    fn finish(&mut self, out: Self::Write, summary: TableSummary) -> io::Result<()>;

    /// Throws a table away that was created and could not be written.
    fn abandon(&mut self, table_id: u64);
}
