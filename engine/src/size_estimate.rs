//! Estimates of what ranges of keys take on disk.

use std::ops::Bound;

use crate::error::Result;
use crate::iter::Bounds;
use crate::version::KeyspaceView;

/// What a range takes in tables, about.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// for number in 0..10_000u32 {
///     db.put(number.to_be_bytes(), "value")?;
/// }
/// db.flush()?;
/// let half = db.default_keyspace().approximate_size(..5_000u32.to_be_bytes())?;
/// let all = db.default_keyspace().approximate_size(..)?;
/// assert_eq!(all.table_count, 1);
/// assert!(half.table_bytes < all.table_bytes);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeEstimate {
    /// Bytes of table files: those of the blocks that the range touches, with their share of the other sections. Records that are dead
    /// or overwritten, and wait for a compaction, count.
    pub table_bytes: u64,
    /// Tables that the range touches.
    pub table_count: usize,
}

impl SizeEstimate {
    /// Asks the directories of all tables that overlap the bounds; reads no payload.
    pub(crate) fn of(view: &KeyspaceView, bounds: &Bounds) -> Result<SizeEstimate> {
        let mut estimate = SizeEstimate::default();
        for table in view.tables().filter(|table| table.file.overlaps(bounds)) {
            let file = &table.file;
            // An end outside the table is an open end: nothing to search.
            let start = match &bounds.0 {
                Bound::Included(key) | Bound::Excluded(key) if &**key > file.first_key() => Some(&**key),
                _ => None,
            };
            let end = match &bounds.1 {
                Bound::Included(key) | Bound::Excluded(key) if &**key < file.last_key() => Some(&**key),
                _ => None,
            };
            let bytes = file.table().estimate_len_bytes(start, end);
            estimate.table_bytes += bytes.map_err(|error| file.error(error))?;
            estimate.table_count += 1;
        }
        Ok(estimate)
    }
}
