//! A keyspace as the command meets it: byte strings, or bit strings as text.
//!
//! A keyspace of bit strings takes and gives its keys and values as strings of the characters 0 and 1. Everything else of the command
//! handles bytes alone.
//!
//! ```text
//! bytes     "ash"       <-->   ash
//! bits      "0000101"   <-->   0000 101
//! ```

use std::ops::Bound;

use tephradb::{BitStr, BitString, Cancel, Db, ExistingKeyspace};

use crate::database::{existing_keyspace, no_keyspace, shown_name};
use crate::failure::{Failure, Result};
use crate::form::{Form, Forms};
use crate::span::Span;

/// Key and value, or why there is none.
pub(crate) type Item = std::result::Result<(Vec<u8>, Vec<u8>), tephradb::Error>;
/// Records in key order, from either end.
pub(crate) type Items = Box<dyn DoubleEndedIterator<Item = Item>>;

/// An open keyspace.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    inner: ExistingKeyspace,
}

impl Space {
    /// The keyspace of a name, which must exist; the empty name is the default one's.
    pub(crate) fn open(db: &Db, name: &str) -> Result<Space> {
        match existing_keyspace(db, name)? {
            Some(inner) => Ok(Space { inner }),
            None => Err(no_keyspace(db, name)),
        }
    }

    pub(crate) fn inner(&self) -> &ExistingKeyspace {
        &self.inner
    }

    /// Refuses forms that mean nothing for bit strings.
    pub(crate) fn check_forms(&self, forms: &Forms) -> Result<()> {
        let is_plain = forms.key() == Form::Plain && forms.value() == Form::Plain;
        if matches!(self.inner, ExistingKeyspace::Bits(_)) && !is_plain {
            return Err(Failure::Unfit {
                reason: "a keyspace of bit strings has its keys and values as 0s and 1s, in no other form"
                    .into(),
            });
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => Ok(keyspace.get(key)?.map(|value| value.to_vec())),
            ExistingKeyspace::Bits(keyspace) => {
                let value = keyspace.get(bits_of("key", key)?.as_str())?;
                Ok(value.map(|value| text_of(value.bits())))
            }
        }
    }

    pub(crate) fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => keyspace.put(key, value)?,
            ExistingKeyspace::Bits(keyspace) => {
                keyspace.put(bits_of("key", key)?.as_str(), bits_of("value", value)?.as_str())?;
            }
        }
        Ok(())
    }

    pub(crate) fn delete(&self, key: &[u8]) -> Result<()> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => keyspace.delete(key)?,
            ExistingKeyspace::Bits(keyspace) => keyspace.delete(bits_of("key", key)?.as_str())?,
        }
        Ok(())
    }

    pub(crate) fn merge(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => Ok(keyspace.merge(key, operand)?),
            ExistingKeyspace::Bits(keyspace) => Err(Failure::Unfit {
                reason: format!(
                    "keyspace {} holds bit strings, for which there are no laws to merge by",
                    shown_name(keyspace.name())
                ),
            }),
        }
    }

    pub(crate) fn delete_range(&self, span: &Span) -> Result<()> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => keyspace.delete_range(span.bytes())?,
            ExistingKeyspace::Bits(keyspace) => {
                let (from, to) = bit_bounds(span)?;
                keyspace.delete_range((
                    from.as_ref().map(BitString::as_str),
                    to.as_ref().map(BitString::as_str),
                ))?;
            }
        }
        Ok(())
    }

    pub(crate) fn compact(&self, span: &Span, cancel: &Cancel) -> Result<()> {
        match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => keyspace.compact_range(span.bytes(), cancel)?,
            ExistingKeyspace::Bits(keyspace) => {
                let (from, to) = bit_bounds(span)?;
                let bounds = (
                    from.as_ref().map(BitString::as_str),
                    to.as_ref().map(BitString::as_str),
                );
                keyspace.compact_range(bounds, cancel)?;
            }
        }
        Ok(())
    }

    /// The records of a span.
    pub(crate) fn scan(&self, span: &Span) -> Result<Items> {
        Ok(match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => Box::new(
                keyspace
                    .range(span.bytes())
                    .map(|item| item.map(|(key, value)| (key.into_vec(), value.to_vec()))),
            ),
            ExistingKeyspace::Bits(keyspace) => {
                let (from, to) = bit_bounds(span)?;
                let bounds = (
                    from.as_ref().map(BitString::as_str),
                    to.as_ref().map(BitString::as_str),
                );
                let text = |item: std::result::Result<(BitString, tephradb::BitValue), _>| {
                    item.map(|(key, value)| (text_of(key.as_str()), text_of(value.bits())))
                };
                Box::new(keyspace.range(bounds).map(text))
            }
        })
    }

    /// About how many keys, tables and bytes of tables there are.
    pub(crate) fn estimate(&self) -> Result<(u64, tephradb::SizeEstimate)> {
        Ok(match &self.inner {
            ExistingKeyspace::Bytes(keyspace) => {
                (keyspace.approximate_len()?, keyspace.approximate_size(..)?)
            }
            ExistingKeyspace::Bits(keyspace) => (keyspace.approximate_len()?, keyspace.approximate_size(..)?),
        })
    }
}

/// The bits that a text of 0s and 1s stands for.
fn bits_of(what: &'static str, text: &[u8]) -> Result<BitString> {
    let mut bits = BitString::new();
    for byte in text {
        match byte {
            b'0' | b'1' => bits.push_bits(u64::from(byte - b'0'), 1),
            _ => {
                return Err(Failure::Unfit {
                    reason: format!(
                        "the keyspace holds bit strings: expected a {what} of 0s and 1s, found {:?}",
                        String::from_utf8_lossy(text)
                    ),
                });
            }
        }
    }
    Ok(bits)
}

fn text_of(bits: BitStr<'_>) -> Vec<u8> {
    (0..bits.len())
        .filter_map(|at| bits.get(at))
        .map(|bit| b'0' + u8::from(bit))
        .collect()
}

fn bit_bounds(span: &Span) -> Result<(Bound<BitString>, Bound<BitString>)> {
    let (from, to) = span.bits();
    let bound = |bound: Bound<Vec<u8>>| -> Result<Bound<BitString>> {
        Ok(match bound {
            Bound::Included(text) => Bound::Included(bits_of("bound", &text)?),
            Bound::Excluded(text) => Bound::Excluded(bits_of("bound", &text)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    Ok((bound(from)?, bound(to)?))
}
