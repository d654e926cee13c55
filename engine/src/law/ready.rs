//! Laws that are always known, each under the name it carries.

use std::any::TypeId;
use std::sync::Arc;

use tephra_compaction::LawFailure;

use super::named::{Kind, NamedLaw};
use super::traits::{Compose, Composed};

/// Adds unsigned numbers of 64 bits, little-endian, modulo 2⁶⁴: a counter. Adding the two's complement of a number takes it away.
///
/// All values have 8 bytes; others are refused when they are written. Best used with
/// [`KeyspaceOptions::value_width_bytes(8)`](crate::KeyspaceOptions::value_width_bytes), so that tables store no length a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddU64;

impl AddU64 {
    /// The name under which the law is always known.
    pub const NAME: &'static str = "add-u64";
}

impl Compose for AddU64 {
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        let sum = number(older, "older")?.wrapping_add(number(newer, "newer")?);
        Ok(Composed::Owned(sum.to_le_bytes().to_vec()))
    }

    fn value_width_bytes(&self) -> Option<usize> {
        Some(size_of::<u64>())
    }
}

/// Keeps the larger of two unsigned numbers of 64 bits, little-endian. Widths as for [`AddU64`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxU64;

impl MaxU64 {
    /// The name under which the law is always known.
    pub const NAME: &'static str = "max-u64";
}

impl Compose for MaxU64 {
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        let newer_is_larger = number(newer, "newer")? > number(older, "older")?;
        Ok(if newer_is_larger {
            Composed::Newer
        } else {
            Composed::Older
        })
    }

    fn value_width_bytes(&self) -> Option<usize> {
        Some(size_of::<u64>())
    }
}

/// Puts the newer bytes behind the older ones. Not commutative: the order is that of the writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendBytes;

impl AppendBytes {
    /// The name under which the law is always known.
    pub const NAME: &'static str = "append-bytes";
}

impl Compose for AppendBytes {
    fn compose(&self, older: &[u8], newer: &[u8]) -> Result<Composed, LawFailure> {
        Ok(match (older, newer) {
            ([], _) => Composed::Newer,
            (_, []) => Composed::Older,
            _ => Composed::Owned([older, newer].concat()),
        })
    }
}

fn number(value: &[u8], side: &str) -> Result<u64, LawFailure> {
    <[u8; 8]>::try_from(value)
        .map(u64::from_le_bytes)
        .map_err(|_| LawFailure::new(format!("the {side} value has {} bytes, expected 8", value.len())))
}

/// All ready laws.
pub(super) fn all() -> [NamedLaw; 3] {
    let named = |name, law| NamedLaw::new(name, Kind::Values(law));
    [
        named(AddU64::NAME, Arc::new(AddU64)),
        named(MaxU64::NAME, Arc::new(MaxU64)),
        named(AppendBytes::NAME, Arc::new(AppendBytes)),
    ]
}

/// Whether a name belongs to a ready law of another type than `law`.
pub(super) fn is_taken(name: &str, law: TypeId) -> bool {
    let owner = match name {
        AddU64::NAME => TypeId::of::<AddU64>(),
        MaxU64::NAME => TypeId::of::<MaxU64>(),
        AppendBytes::NAME => TypeId::of::<AppendBytes>(),
        _ => return false,
    };
    owner != law
}
