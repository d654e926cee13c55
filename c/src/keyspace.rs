//! Reads and writes of one keyspace.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};

use tephra_engine::Keyspace;

use crate::border::{Out, Refusal, TEPHRA_OK, TephraSlice, call, free, range};
use crate::iterator::{TephraIterator, opened};
use crate::value::{TephraValue, found};

/// A keyspace.
#[derive(Debug)]
pub(crate) struct TephraKeyspace(pub(crate) Keyspace);

/// The keyspace, unless the handle is null.
pub(crate) fn keyspace_of(handle: Option<&TephraKeyspace>) -> Result<&Keyspace, Refusal> {
    handle
        .map(|handle| &handle.0)
        .ok_or_else(|| Refusal::null("keyspace"))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_free(keyspace: Option<Box<TephraKeyspace>>) {
    free(keyspace);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_put(
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    value: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        keyspace_of(keyspace)?.put(key.bytes("key")?, value.bytes("value")?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_get(
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    value: Out<*mut TephraValue>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        found(value, || Ok(keyspace_of(keyspace)?.get(key.bytes("key")?)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_delete(
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        keyspace_of(keyspace)?.delete(key.bytes("key")?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_delete_range(
    keyspace: Option<&TephraKeyspace>,
    start: TephraSlice,
    end: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        keyspace_of(keyspace)?.delete_range(range(&start, &end)?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_merge(
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    operand: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        keyspace_of(keyspace)?.merge(key.bytes("key")?, operand.bytes("operand")?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_range(
    keyspace: Option<&TephraKeyspace>,
    start: TephraSlice,
    end: TephraSlice,
    iterator: Out<*mut TephraIterator>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        opened(
            iterator,
            || Ok(keyspace_of(keyspace)?.range(range(&start, &end)?)),
        )
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_prefix(
    keyspace: Option<&TephraKeyspace>,
    prefix: TephraSlice,
    iterator: Out<*mut TephraIterator>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        opened(iterator, || {
            Ok(keyspace_of(keyspace)?.prefix(prefix.bytes("prefix")?))
        })
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_approximate_len(
    keyspace: Option<&TephraKeyspace>,
    len: Out<u64>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let len = len.ok_or_else(|| Refusal::null("len"))?.write(0);
        *len = keyspace_of(keyspace)?.approximate_len()?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_compact_range(
    keyspace: Option<&TephraKeyspace>,
    start: TephraSlice,
    end: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        keyspace_of(keyspace)?.compact(range(&start, &end)?)?;
        Ok(TEPHRA_OK)
    })
}
