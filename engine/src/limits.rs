//! The sizes the engine accepts. All are checked before anything is logged.

use crate::error::{Error, Result};
use crate::memtable::Interval;

/// Longest key in bytes.
pub const KEY_LEN_BYTES_MAX: usize = 16 << 20;
/// Longest value in bytes.
pub const VALUE_LEN_BYTES_MAX: usize = 1 << 30;
/// Largest batch in bytes, as encoded for the log.
pub const BATCH_LEN_BYTES_MAX: usize = (1 << 30) + (64 << 20);
/// Longest name of a keyspace in bytes.
pub const KEYSPACE_NAME_LEN_BYTES_MAX: usize = 1024;
/// Most keyspaces of a database at one time, the default one included.
pub const KEYSPACE_COUNT_MAX: usize = 1 << 20;
/// Most keyspaces a database creates in its life: each has a number that is never used again.
pub const KEYSPACES_EVER_MAX: u32 = u32::MAX - 1;
/// Most tables that a database has open, unless [`Options::tables_max`](crate::Options::tables_max) says otherwise. Each is a mapping, and
/// Linux gives a process 65,530 of them by default.
pub const TABLE_COUNT_MAX: usize = 60_000;

/// Most bytes an operation takes in the log beside its key and value: kind, keyspace and two lengths.
const OP_OVERHEAD_BYTES_MAX: usize = 1 + 5 + 5 + 5;

// One record with the longest key and value fits a batch, and a key length fits the memtable's u32.
const _: () = assert!(KEY_LEN_BYTES_MAX + VALUE_LEN_BYTES_MAX + 64 <= BATCH_LEN_BYTES_MAX);
const _: () = assert!(BATCH_LEN_BYTES_MAX <= u32::MAX as usize);

/// Checks a range delete that would join a batch of `batch_len_bytes`. A bound is a key, with a zero byte where the key itself
/// belongs to the other side.
pub(crate) fn check_range(interval: &Interval, batch_len_bytes: usize) -> Result<()> {
    let (start, end) = (interval.start(), interval.end().unwrap_or_default());
    for bound in [start, end] {
        if bound.len() > KEY_LEN_BYTES_MAX + 1 {
            return Err(Error::KeyTooLong {
                len_bytes: bound.len(),
                limit_bytes: KEY_LEN_BYTES_MAX,
            });
        }
    }
    check_batch(batch_len_bytes + start.len() + end.len())
}

/// Checks one operation that would join a batch of `batch_len_bytes`.
pub(crate) fn check(key: &[u8], value: &[u8], batch_len_bytes: usize) -> Result<()> {
    if key.len() > KEY_LEN_BYTES_MAX {
        return Err(Error::KeyTooLong {
            len_bytes: key.len(),
            limit_bytes: KEY_LEN_BYTES_MAX,
        });
    }
    if value.len() > VALUE_LEN_BYTES_MAX {
        return Err(Error::ValueTooLong {
            len_bytes: value.len(),
            limit_bytes: VALUE_LEN_BYTES_MAX,
        });
    }
    check_batch(batch_len_bytes + key.len() + value.len())
}

/// Checks that so many keyspaces may be added to `count` of them, `created_ever` of which numbers were given so far.
pub(crate) fn check_keyspace_count(count: usize, created_ever: u32, added: usize) -> Result<()> {
    if count.saturating_add(added) > KEYSPACE_COUNT_MAX {
        return Err(Error::TooManyKeyspaces {
            asked_count: count.saturating_add(added) as u64,
            limit_count: KEYSPACE_COUNT_MAX as u64,
            span: "at one time",
        });
    }
    let ever = u64::from(created_ever) + added as u64;
    if ever > u64::from(KEYSPACES_EVER_MAX) {
        return Err(Error::TooManyKeyspaces {
            asked_count: ever,
            limit_count: u64::from(KEYSPACES_EVER_MAX),
            span: "in its life",
        });
    }
    Ok(())
}

/// Checks that a database with `count` tables may take records that become more of them.
pub(crate) fn check_table_count(count: usize, limit_count: usize) -> Result<()> {
    if count >= limit_count {
        return Err(Error::TooManyTables { count, limit_count });
    }
    Ok(())
}

/// Checks the length of a batch that gets one more operation.
fn check_batch(len_bytes: usize) -> Result<()> {
    let len_bytes = len_bytes + OP_OVERHEAD_BYTES_MAX;
    if len_bytes > BATCH_LEN_BYTES_MAX {
        return Err(Error::BatchTooLong {
            len_bytes,
            limit_bytes: BATCH_LEN_BYTES_MAX,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyspaces_are_counted_at_one_time_and_over_a_life() {
        let refusal = |count, ever, added| {
            let outcome = check_keyspace_count(count, ever, added);
            outcome.map_err(|error| error.to_string()).err()
        };
        assert_eq!(refusal(1, 1, KEYSPACE_COUNT_MAX - 1), None);
        assert_eq!(
            refusal(1, 1, KEYSPACE_COUNT_MAX).as_deref(),
            Some(
                "a database has at most 1048576 keyspaces at one time, this would be 1048577; nothing was created"
            )
        );
        assert_eq!(refusal(1, KEYSPACES_EVER_MAX - 1, 1), None);
        assert_eq!(
            refusal(1, KEYSPACES_EVER_MAX, 1).as_deref(),
            Some(
                "a database has at most 4294967294 keyspaces in its life, this would be 4294967295; nothing was created"
            )
        );
    }

    #[test]
    fn keys_values_and_batches_end_at_their_limits() {
        let long = vec![0; KEY_LEN_BYTES_MAX + 1];
        assert!(check(&long[1..], &[], 0).is_ok());
        assert!(matches!(check(&long, &[], 0), Err(Error::KeyTooLong { .. })));
        assert!(check(&[], &[], BATCH_LEN_BYTES_MAX - OP_OVERHEAD_BYTES_MAX).is_ok());
        assert!(matches!(
            check(&[], &[], BATCH_LEN_BYTES_MAX - OP_OVERHEAD_BYTES_MAX + 1),
            Err(Error::BatchTooLong { .. })
        ));
    }
}
