//! One instant of a database.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};

use tephra_engine::Snapshot;

use crate::border::{Out, Refusal, TEPHRA_OK, TephraSlice, call, free, handle, range, result};
use crate::database::{TephraDb, db_of};
use crate::iterator::{TephraIterator, opened};
use crate::keyspace::{TephraKeyspace, keyspace_of};
use crate::value::{TephraValue, found};

/// A snapshot.
#[derive(Debug)]
pub(crate) struct TephraSnapshot(Snapshot);

fn snapshot_of(handle: Option<&TephraSnapshot>) -> Result<&Snapshot, Refusal> {
    handle
        .map(|handle| &handle.0)
        .ok_or_else(|| Refusal::null("snapshot"))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_snapshot_new(
    db: Option<&TephraDb>,
    snapshot: Out<*mut TephraSnapshot>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(snapshot, "snapshot")?;
        *out = handle(TephraSnapshot(db_of(db)?.snapshot()));
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_snapshot_get(
    snapshot: Option<&TephraSnapshot>,
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    value: Out<*mut TephraValue>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        found(value, || {
            Ok(snapshot_of(snapshot)?.get(keyspace_of(keyspace)?, key.bytes("key")?)?)
        })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_snapshot_range(
    snapshot: Option<&TephraSnapshot>,
    keyspace: Option<&TephraKeyspace>,
    start: TephraSlice,
    end: TephraSlice,
    iterator: Out<*mut TephraIterator>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        opened(iterator, || {
            Ok(snapshot_of(snapshot)?.range(keyspace_of(keyspace)?, range(&start, &end)?))
        })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_snapshot_prefix(
    snapshot: Option<&TephraSnapshot>,
    keyspace: Option<&TephraKeyspace>,
    prefix: TephraSlice,
    iterator: Out<*mut TephraIterator>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        opened(iterator, || {
            Ok(snapshot_of(snapshot)?.prefix(keyspace_of(keyspace)?, prefix.bytes("prefix")?))
        })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_snapshot_free(snapshot: Option<Box<TephraSnapshot>>) {
    free(snapshot);
}
