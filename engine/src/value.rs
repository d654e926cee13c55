//! Values handed out by reads: zero-copy handles that keep what they point into. A composed value is its handle's own.

use std::ops::Deref;
use std::sync::Arc;

use tephra_sstable::BitStr;

use crate::bit_key;
use crate::memtable::{Entry, EntryRef, Part};
use crate::table_file::TableFile;
use crate::unit_table::ValuePlace;

/// A value: borrows nothing, copies nothing. It points into a memtable or a table's mapping and keeps that
/// alive, also after the database has dropped it or was closed. A handle to a small value
/// pins the whole table or memtable: copy what is to be kept for long. Where a law composed several records, the handle owns the result; its clones
/// share it.
///
/// ```
/// # fn main() -> Result<(), tephra_engine::Error> {
/// # let folder = tempfile::tempdir().expect("a temporary directory");
/// # let path = folder.path();
/// use tephra_engine::{Db, Options};
///
/// let db = Db::open(path, Options::default())?;
/// db.put("rock", "basalt")?;
/// let value = db.get("rock")?.expect("put above");
/// assert_eq!(&value[..], b"basalt"); // it derefs to bytes
/// let kept: Vec<u8> = value.to_vec(); // pins nothing
/// db.put("rock", "granite")?;
/// db.close()?;
/// assert_eq!((&value[..], &kept[..]), (&b"basalt"[..], &b"basalt"[..]));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Value(Repr);

#[derive(Clone)]
enum Repr {
    Memory(Entry),
    Table { file: Arc<TableFile>, place: ValuePlace },
    Part(Part),
    Owned(Arc<Vec<u8>>),
}

impl Value {
    /// The oldest part of an entry.
    pub(crate) fn in_memory(entry: EntryRef<'_>) -> Value {
        Value(Repr::Memory(entry.to_entry()))
    }

    /// A part of an entry that is not its oldest.
    pub(crate) fn of_part(part: Part) -> Value {
        Value(Repr::Part(part))
    }

    /// What a law made.
    pub(crate) fn owned(bytes: Vec<u8>) -> Value {
        Value(Repr::Owned(Arc::new(bytes)))
    }

    pub(crate) fn in_table(file: Arc<TableFile>, place: ValuePlace) -> Value {
        Value(Repr::Table { file, place })
    }

    /// The value as bits. Only for values of keyspaces of bit strings.
    pub(crate) fn bits(&self) -> BitStr<'_> {
        match &self.0 {
            Repr::Memory(entry) => bit_key::decode_value(entry.as_ref().value())
                .expect("values of bit keyspaces are encoded where they enter"),
            Repr::Table { file, place } => place.bits(file.bytes()),
            Repr::Part(_) | Repr::Owned(_) => panic!("no law composes in a keyspace of bit strings"),
        }
    }
}

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Memory(entry) => entry.as_ref().value(),
            Repr::Table { file, place } => &file.bytes()[place.bytes.clone()],
            Repr::Part(part) => part,
            Repr::Owned(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}

impl Eq for Value {}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Value {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}
