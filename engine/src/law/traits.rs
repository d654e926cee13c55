//! What the author of a law implements.

use tephra_compaction::LawFailure;

/// What a law makes of two values: one of them as it is, or a value of its own.
pub type Composed = tephra_compaction::Composed<Vec<u8>>;

/// A composition law over values alone. Must be associative and always give the same answer.
///
/// Called by the writer (in [`Keyspace::merge`](crate::Keyspace::merge), holding the commit lock), by readers, by flush and by compaction, on
/// their threads and at the same time. It must not call the database.
///
/// A closure is a law too:
///
/// ```
/// use tephra_engine::{Composed, KeyspaceOptions, LawFailure};
/// let longest = |older: &[u8], newer: &[u8]| -> Result<Composed, LawFailure> {
///     Ok(if newer.len() > older.len() { Composed::Newer } else { Composed::Older })
/// };
/// let options = KeyspaceOptions::default().compose("longest", longest);
/// ```
pub trait Compose: Send + Sync {
    /// Composes two values of one key. Either may be what an earlier call made. `older` was written before `newer`.
    ///
    /// # Errors
    /// Whatever the author cannot compose. A failure, or a panic, is the error of the read that needed the value.
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure>;

    /// The one width, in bytes, of all values the law composes. A put, a merge or an ingest of another is refused before anything is logged
    /// ([`Error::LawValueWidth`](crate::Error::LawValueWidth)), and so is a new keyspace of another value width. Asked once, when the law is
    /// given. Default: any width.
    fn value_width_bytes(&self) -> Option<usize> {
        None
    }
}

impl<F> Compose for F
where
    F: Fn(&[u8], &[u8]) -> Result<Composed, LawFailure> + Send + Sync,
{
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        self(older, newer)
    }
}

/// A composition law that also sees the key; otherwise as [`Compose`]. Costs compactions the key of every record that meets another.
pub trait ComposeWithKey: Send + Sync {
    /// Composes two values of `key`. Either may be what an earlier call made. `older` was written before `newer`.
    ///
    /// # Errors
    /// As [`Compose::compose`].
    fn compose(&self, key: &[u8], older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure>;

    /// As [`Compose::value_width_bytes`].
    fn value_width_bytes(&self) -> Option<usize> {
        None
    }
}

impl<F> ComposeWithKey for F
where
    F: Fn(&[u8], &[u8], &[u8]) -> Result<Composed, LawFailure> + Send + Sync,
{
    fn compose(&self, key: &[u8], older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        self(key, older, newer)
    }
}
