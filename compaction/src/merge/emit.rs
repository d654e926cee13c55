//! Writing the record of a head, alone or composed with others.

use tephra_sstable::Unit;

use super::history::History;
use super::lane::Lane;
use super::output::Output;
use super::source::Source;
use crate::compose::{Composed, Law, call_law};
use crate::error::MergeError;

/// Where a value lies in a payload, which outlives its source's head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) payload: &'a [u8],
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Place<'_> {
    pub(super) fn string<U: Unit>(&self) -> U::Str<'_> {
        U::string_at(self.payload, self.start, self.end - self.start).expect("a value lies in its payload")
    }
}

/// A value on its way to the output.
#[derive(Debug)]
pub(super) enum Value<'a, U: Unit> {
    /// Borrowed from an input until it is written.
    Borrowed(Place<'a>),
    /// A law's own.
    Owned(U::Owned),
}

impl<U: Unit> Value<'_, U> {
    pub(super) fn as_str(&self) -> U::Str<'_> {
        match self {
            Self::Borrowed(place) => place.string::<U>(),
            Self::Owned(owned) => U::as_str(owned),
        }
    }
}

/// Folds one more value into what the older ones gave. `key` is the key of both, where the law asks for it.
pub(super) fn compose<'a, U: Lane, L: Law<U>, H: History<U>>(
    law: &L,
    output: &Output<U>,
    key: &U::Owned,
    older: Value<'a, U>,
    newer: &Source<'a, U, H>,
) -> Result<Value<'a, U>, MergeError> {
    if L::REPLACES {
        return Ok(Value::Borrowed(newer.value()));
    }
    let key = L::NEEDS_KEY.then(|| U::as_str(key));
    let composed = call_law::<U, L>(law, key, older.as_str(), newer.value().string::<U>());
    let record = output.record_count();
    match composed.map_err(|failure| MergeError::law(law.name(), record, failure))? {
        Composed::Older => Ok(older),
        Composed::Newer => Ok(Value::Borrowed(newer.value())),
        Composed::Owned(owned) => {
            output.check_width(law.name(), U::len(U::as_str(&owned)))?;
            Ok(Value::Owned(owned))
        }
    }
}

/// Writes the head of `source` with a value, its own or another. `key` is a buffer.
pub(super) fn emit<U: Lane, H: History<U>>(
    output: &mut Output<U>,
    source: &mut Source<'_, U, H>,
    key: &mut U::Owned,
    lcp: u64,
    value: U::Str<'_>,
) -> Result<(), MergeError> {
    if lcp > 0 && output.record_count() == 0 {
        // The first record behind a cut retains nothing: its key is written whole.
        source.read_key(key)?;
        output.append(0, U::as_str(key), value)
    } else {
        output.append(lcp, source.suffix(lcp), value)
    }
}
