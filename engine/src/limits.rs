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
