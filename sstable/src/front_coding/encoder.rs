//! The batch encoder: all records at once, in the most obvious way. It is the oracle of every faster writer.
//!
//! ```text
//! for each record:   keep = lcp(previous key, key)
//!                    block start: note the offset, write count(keep)       otherwise: write backspace
//!                    write the two other counts, the suffix, the value
//! at the end:        note the extent, build the directory
//! ```
//!
//! Given all records it can see whether all values have one width, and under a variable policy declares it then (an
//! empty stream declares 0). A streaming writer cannot see that.

use crate::elias_fano::EliasFanoBuilder;
use crate::policy::{Policy, PolicyError};
use crate::stream::{EncodedStream, StreamMeta};
use crate::unit::{Unit, UnitKind};

/// Records that no stream can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The policy is of the other unit.
    #[error("unit of the policy: expected {expected:?}, found {found:?}")]
    Unit {
        /// The unit of the strings.
        expected: UnitKind,
        /// The unit of the policy.
        found: UnitKind,
    },
    /// The policy has a parameter out of range.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A key does not follow the one before it.
    #[error("record {ordinal}: expected a key above the one before it")]
    KeyOrder {
        /// Which record.
        ordinal: u64,
    },
    /// A value has another width than the policy fixes.
    #[error("record {ordinal}: width of the value in units: expected {expected}, found {found}")]
    ValueWidth {
        /// Which record.
        ordinal: u64,
        /// The width of the policy.
        expected: u64,
        /// The width of the value.
        found: u64,
    },
}

/// The common width that a batch of values has under a policy: the policy's own, or the one that all values share.
fn common_width<U: Unit>(
    policy: &Policy,
    records: &[(U::Str<'_>, U::Str<'_>)],
) -> Result<Option<u64>, EncodeError> {
    let width_of_first = records.first().map_or(0, |&(_, value)| U::len(value));
    let expected = policy.fixed_width().unwrap_or(width_of_first);
    let stranger = (0u64..)
        .zip(records)
        .find(|&(_, &(_, value))| U::len(value) != expected);
    match (stranger, policy.fixed_width()) {
        (None, _) => Ok(Some(expected)),
        (Some(_), None) => Ok(None),
        (Some((ordinal, &(_, value))), Some(_)) => Err(EncodeError::ValueWidth {
            ordinal,
            expected,
            found: U::len(value),
        }),
    }
}

/// Encodes records with strictly increasing keys.
///
/// `O(units)` time; grows its output as any vector does, and aborts where memory ends.
///
/// # Errors
///
/// A policy of another unit or out of range, keys out of order, a value of another width than the policy fixes.
pub fn encode_batch<U: Unit>(
    policy: Policy,
    records: &[(U::Str<'_>, U::Str<'_>)],
) -> Result<EncodedStream, EncodeError> {
    if policy.unit != U::KIND {
        return Err(EncodeError::Unit {
            expected: U::KIND,
            found: policy.unit,
        });
    }
    policy.validate()?;
    let common_width = common_width::<U>(&policy, records)?;
    let fixed = common_width.unwrap_or(0);
    let records_per_block = u64::from(policy.records_per_block.get());

    let mut out = U::Owned::default();
    let mut directory = EliasFanoBuilder::new();
    let grows = "residual offsets grow by at least the controls of a frame";
    let mut previous = U::Str::default();
    for (ordinal, &(key, value)) in (0u64..).zip(records) {
        let retained = U::lcp(previous, key);
        if ordinal > 0 && previous >= key {
            return Err(EncodeError::KeyOrder { ordinal });
        }
        if ordinal.is_multiple_of(records_per_block) {
            directory
                .push(U::len(U::as_str(&out)) - ordinal * fixed)
                .expect(grows);
            U::push_count(&mut out, retained);
        } else {
            U::push_backspace(&mut out, U::len(previous) - retained, policy.backspace);
        }
        U::push_count(&mut out, U::len(key) - retained);
        if common_width.is_none() {
            U::push_count(&mut out, U::len(value));
        }
        U::push(&mut out, U::slice(key, retained, U::len(key)));
        U::push(&mut out, value);
        previous = key;
    }

    let meta = StreamMeta {
        policy,
        common_width,
        record_count: records.len() as u64,
        extent_units: U::len(U::as_str(&out)),
        last_key_units: U::len(previous),
    };
    directory
        .push(meta.extent_units - meta.record_count * fixed)
        .expect(grows);
    let directory = directory
        .finish()
        .expect("the directory is smaller than the payload");
    Ok(EncodedStream {
        meta,
        payload: U::into_bytes(out),
        directory,
    })
}
