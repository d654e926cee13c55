//! Merging an operand onto what a memtable says about its key.
//!
//! ```text
//! nothing          the operand, for whatever older layers hold
//! delete           a put of the operand: the history has ended
//! put, merge       parts  [ 5000 | 300 | 15 ]  and an operand of 8 bytes:
//!                  from the newest on, as long as a part is at most twice as long as all that is newer:  15, but not 300
//!                  [ 5000 | 300 | compose(15, 8) ]
//! ```
//!
//! So values of one size become one part at once, and a value that grows by appending is copied a logarithmic number of times in all,
//! not once an operand. There are never more than [`PARTS_MAX`] parts. Where the law fails, the operand is put on top as it
//! is; on [`UNCOMPOSED_MAX`] parts it is refused before it is logged, with the law's error. Operands replayed from the log are never
//! refused; without their law they wait as they are, and may be more.

use std::sync::Arc;

use super::entry::{Entry, EntryKind, EntryRef, Write};
use crate::error::Result;
use crate::keyspace::KeyspaceCore;
use crate::law::Composed;

/// Most parts an entry has: what a read composes, and the most tables that a flush needs for operands that do not compose.
pub(crate) const PARTS_MAX: usize = 24;

/// Parts on which no operand is put that does not compose with them.
pub(crate) const UNCOMPOSED_MAX: usize = 8;

const _: () = assert!(UNCOMPOSED_MAX <= PARTS_MAX);

/// A part is composed with what is newer if it is at most this many times as long.
const COMPOSED_LEN_RATIO: usize = 2;

/// Whether an operand may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusals {
    /// The operand is not logged yet.
    Allowed,
    /// It is logged, and must find a place.
    TooLate,
}

/// The entry that says what `older` says with an operand on top. Calls the law at most once for each part there is.
///
/// # Errors
/// The law failed, and there is no place for more parts; only if refusals are allowed.
pub(crate) fn merged(
    older: Option<Entry>,
    operand: Write<'_>,
    keyspace: &KeyspaceCore,
    refusals: Refusals,
) -> Result<Entry> {
    let Some(mut entry) = older else {
        return Ok(Entry::new(operand));
    };
    if !entry.as_ref().is_live() {
        return Ok(Entry::new(operand).with_kind(EntryKind::Put));
    }
    let part_count = entry.as_ref().part_count();
    let kept = parts_kept(entry.as_ref(), operand.value.len());
    if kept == part_count {
        entry.push_part(kept, Arc::from(operand.value));
        return Ok(entry);
    }
    match compose_from(entry.as_ref(), kept, operand.value, keyspace) {
        Ok(composed) if kept == 0 => Ok(entry.with_value(&composed)),
        Ok(composed) => {
            entry.push_part(kept, Arc::from(composed));
            Ok(entry)
        }
        Err(failure) if refusals == Refusals::Allowed && part_count >= UNCOMPOSED_MAX => Err(failure),
        Err(_) => {
            entry.push_part(part_count, Arc::from(operand.value));
            Ok(entry)
        }
    }
}

/// How many of the oldest parts stay as they are.
fn parts_kept(entry: EntryRef<'_>, operand_len_bytes: usize) -> usize {
    let mut kept = entry.part_count();
    let mut newer_len_bytes = operand_len_bytes;
    for part in entry.parts().rev() {
        let is_long = part.len() > newer_len_bytes.saturating_mul(COMPOSED_LEN_RATIO);
        if is_long && kept < PARTS_MAX {
            break;
        }
        newer_len_bytes += part.len();
        kept -= 1;
    }
    kept
}

/// Composes all parts behind the first `kept` with the operand. In which order the calls come is the same to an associative law;
/// the longest string comes last, so that it is copied once.
fn compose_from(
    entry: EntryRef<'_>,
    kept: usize,
    operand: &[u8],
    keyspace: &KeyspaceCore,
) -> Result<Vec<u8>> {
    let key = entry.key();
    let len_bytes: usize = entry.parts().skip(kept).map(<[u8]>::len).sum();
    if operand.len() < len_bytes {
        // Parts get longer towards the oldest.
        return entry.parts().rev().take(entry.part_count() - kept).try_fold(
            operand.to_vec(),
            |newer, older| {
                Ok(match keyspace.compose(key, older, &newer)? {
                    Composed::Older => older.to_vec(),
                    Composed::Newer => newer,
                    Composed::Owned(owned) => owned,
                })
            },
        );
    }
    let mut parts = entry.parts().skip(kept);
    let oldest = parts
        .next()
        .expect("fewer parts are kept than there are")
        .to_vec();
    parts
        .chain(std::iter::once(operand))
        .try_fold(oldest, |older, newer| {
            Ok(match keyspace.compose(key, &older, newer)? {
                Composed::Older => older,
                Composed::Newer => newer.to_vec(),
                Composed::Owned(owned) => owned,
            })
        })
}
