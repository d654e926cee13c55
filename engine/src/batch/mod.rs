//! Batches: several writes, to any keyspaces of one database, that become visible and durable together.

pub(crate) mod record;

use std::sync::Arc;

use crate::db::DbHandle;
use crate::error::{Error, Result};
use crate::key::KeyRange;
use crate::keyspace::Keyspace;
use crate::limits;
use crate::memtable::Interval;
use crate::options::Durability;
use record::RecordBuilder;

/// Writes collected for one atomic commit. Nothing happens before [`Batch::commit`]; dropping the batch forgets it.
///
/// Operations apply in order: of two writes to one key the later one wins.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Durability, KeyspaceOptions, Options};
///
/// let db = Db::open(path, Options::default())?;
/// let index = db.keyspace("index", KeyspaceOptions::default())?;
/// let mut batch = db.batch();
/// batch.put(&db, "1", "basalt").put(&index, "basalt", "1").delete(&db, "0");
/// assert_eq!(batch.len(), 3);
/// assert!(!db.contains("1")?, "not committed yet");
/// batch.commit(Durability::Sync)?;
/// assert!(db.contains("1")? && index.contains("basalt")?);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Batch {
    handle: Arc<DbHandle>,
    record: RecordBuilder,
    touched: Vec<Keyspace>,
    refused: Option<Error>,
}

impl Batch {
    pub(crate) fn new(handle: Arc<DbHandle>) -> Self {
        Batch {
            handle,
            record: RecordBuilder::new(),
            touched: Vec::new(),
            refused: None,
        }
    }

    /// Adds a put. `keyspace` is a [`Keyspace`], or the database itself for its default keyspace.
    ///
    /// A key, a value or a keyspace that cannot be accepted makes [`Batch::commit`] fail as a whole.
    pub fn put(
        &mut self,
        keyspace: impl AsRef<Keyspace>,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> &mut Self {
        let (keyspace, key, value) = (keyspace.as_ref(), key.as_ref(), value.as_ref());
        if self.accepts(keyspace, key, Some(value)) {
            self.record.put(keyspace.number(), key, value);
        }
        self
    }

    /// Adds a delete. `keyspace` is a [`Keyspace`], or the database itself for its default keyspace.
    pub fn delete(&mut self, keyspace: impl AsRef<Keyspace>, key: impl AsRef<[u8]>) -> &mut Self {
        let (keyspace, key) = (keyspace.as_ref(), key.as_ref());
        if self.accepts(keyspace, key, None) {
            self.record.delete(keyspace.number(), key);
        }
        self
    }

    /// Adds a delete of all keys in a range; see [`Keyspace::delete_range`]. A range in which no key can lie adds nothing.
    pub fn delete_range(&mut self, keyspace: impl AsRef<Keyspace>, range: impl KeyRange) -> &mut Self {
        let keyspace = keyspace.as_ref();
        let interval = Interval::of_bounds(keyspace.number(), &range.into_bounds());
        let len_bytes = self.record.payload().len();
        if !interval.is_empty() && self.admits(keyspace, limits::check_range(&interval, len_bytes)) {
            self.record.delete_range(&interval);
        }
        self
    }

    /// Adds a merge of an operand; see [`Keyspace::merge`]. Later operations of the batch find it done.
    pub fn merge(
        &mut self,
        keyspace: impl AsRef<Keyspace>,
        key: impl AsRef<[u8]>,
        operand: impl AsRef<[u8]>,
    ) -> &mut Self {
        let (keyspace, key, operand) = (keyspace.as_ref(), key.as_ref(), operand.as_ref());
        if let Err(error) = keyspace.core().law() {
            self.refused.get_or_insert(error);
        } else if self.accepts(keyspace, key, Some(operand)) {
            self.record.merge(keyspace.number(), key, operand);
        }
        self
    }

    /// Adds a delete of everything in a keyspace.
    pub fn clear(&mut self, keyspace: impl AsRef<Keyspace>) -> &mut Self {
        self.delete_range(keyspace, ..)
    }

    /// Number of operations collected.
    pub fn len(&self) -> usize {
        self.record.op_count()
    }

    /// Whether nothing was collected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Commits all operations at one instant. An empty batch succeeds at once.
    ///
    /// # Errors
    /// A key, value or batch over its limit, a value of another width than its keyspace's or law's, a dropped or foreign keyspace, a merge
    /// that is refused: nothing was written. A failed log: see
    /// [`Error::usability`].
    pub fn commit(self, durability: Durability) -> Result<()> {
        if let Some(error) = self.refused {
            return Err(error);
        }
        self.handle
            .engine()
            .commit(&self.record, &self.touched, durability)
    }

    /// Checks one operation against the limits and the keyspace's settings, and remembers its keyspace and the first refusal.
    fn accepts(&mut self, keyspace: &Keyspace, key: &[u8], value: Option<&[u8]>) -> bool {
        let core = keyspace.core();
        let accepted = limits::check(key, value.unwrap_or_default(), self.record.payload().len())
            .and_then(|()| value.map_or(Ok(()), |value| core.check_value(value)));
        self.admits(keyspace, accepted)
    }

    /// Remembers the keyspace of an operation and, if it is the first, what the checks refused.
    fn admits(&mut self, keyspace: &Keyspace, checked: Result<()>) -> bool {
        let refusal = if !keyspace.belongs_to(&self.handle) {
            Some(Error::ForeignKeyspace {
                name: keyspace.name().to_owned(),
            })
        } else {
            checked.err()
        };
        if !self
            .touched
            .iter()
            .any(|touched| touched.number() == keyspace.number())
        {
            self.touched.push(keyspace.clone());
        }
        let accepted = refusal.is_none();
        self.refused = self.refused.take().or(refusal);
        accepted
    }
}
