//! What a keyspace is, for whoever meets it without having made it: a tool, a copy.
//!
//! ```text
//! Db::keyspace(name, options)      a program that knows what it wants: other settings are an error, a missing one is created
//! Db::existing_keyspace(name)      a tool that takes what is there: the settings it was created with, nothing is ever created
//! ```

use crate::bit_keyspace::BitKeyspace;
use crate::keyspace::{Keyspace, KeyspaceCore};
use crate::law::NamedLaw;
use crate::options::KeyspaceOptions;
use tephra_sstable::UnitKind;

/// The settings a keyspace was created with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyspaceInfo {
    /// Its name; that of the default keyspace is empty.
    pub name: String,
    /// Whether keys and values are strings of bits, not of bytes.
    pub is_of_bits: bool,
    /// The width of all values, in bytes or bits; `None`: any.
    pub value_width_units: Option<u64>,
    /// The law by which records of one key compose; `None`: the newer replaces the older.
    pub law: Option<String>,
    /// The one width in bytes of all values that the law composes; `None`: any, or the law is not known here.
    pub law_value_width_bytes: Option<usize>,
    /// Whether nothing here needs a law that this program has not given.
    pub is_law_known: bool,
    /// Size at which a compaction starts its next table; `None`: the database's option.
    pub target_table_bytes: Option<u64>,
}

impl KeyspaceInfo {
    pub(crate) fn of(core: &KeyspaceCore) -> KeyspaceInfo {
        KeyspaceInfo {
            name: core.name.clone(),
            is_of_bits: core.settings.unit == UnitKind::Bit,
            value_width_units: core.settings.value_width_units,
            law: core.settings.law.clone(),
            law_value_width_bytes: core.law().ok().and_then(NamedLaw::value_width_bytes),
            is_law_known: !core.is_composing() || core.law().is_ok(),
            target_table_bytes: core.settings.target_table_bytes,
        }
    }

    /// Options that create such a keyspace. Its law goes by its name alone: see [`KeyspaceOptions::law_by_name`].
    #[must_use]
    pub fn options(&self) -> KeyspaceOptions {
        let mut options = KeyspaceOptions::default();
        if let Some(width) = self.value_width_units {
            options = if self.is_of_bits {
                options.value_width_bits(width)
            } else {
                options.value_width_bytes(usize::try_from(width).unwrap_or(usize::MAX))
            };
        }
        if let Some(law) = &self.law {
            options = options.law_by_name(law);
        }
        if let Some(bytes) = self.target_table_bytes {
            options = options.target_table_bytes(bytes);
        }
        options
    }
}

/// A keyspace opened as what it is, from [`Db::existing_keyspace`](crate::Db::existing_keyspace).
#[derive(Clone, Debug)]
pub enum ExistingKeyspace {
    /// Its keys and values are strings of bytes.
    Bytes(Keyspace),
    /// Its keys and values are strings of bits.
    Bits(BitKeyspace),
}

impl ExistingKeyspace {
    /// The settings it was created with.
    pub fn info(&self) -> KeyspaceInfo {
        match self {
            ExistingKeyspace::Bytes(keyspace) => keyspace.info(),
            ExistingKeyspace::Bits(keyspace) => keyspace.info(),
        }
    }
}
