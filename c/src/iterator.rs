//! Walks over a range, from both ends. Keys and values are lent until the next call with the iterator.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};

use tephra_engine::{Error, Range};

use crate::border::{Out, Refusal, TEPHRA_ABSENT, TEPHRA_OK, TephraSlice, call, free, handle, result};

/// A range that is walked over.
#[derive(Debug)]
pub(crate) struct TephraIterator(Range);

/// Gives an iterator to the caller.
pub(crate) fn opened(
    out: Out<*mut TephraIterator>,
    open: impl FnOnce() -> Result<Range, Refusal>,
) -> Result<c_int, Refusal> {
    let out = result(out, "iterator")?;
    *out = handle(TephraIterator(open()?));
    Ok(TEPHRA_OK)
}

fn range_of(handle: Option<&mut TephraIterator>) -> Result<&mut Range, Refusal> {
    handle
        .map(|handle| &mut handle.0)
        .ok_or_else(|| Refusal::null("iterator"))
}

type Lent<'a> = Result<Option<(&'a [u8], &'a [u8])>, Error>;

/// Steps, and lends what was found; at the end, and with an error, there are no bytes.
fn step(
    iterator: Option<&mut TephraIterator>,
    key: Out<TephraSlice>,
    value: Out<TephraSlice>,
    error: Out<*mut c_char>,
    lend: impl FnOnce(&mut Range) -> Lent<'_>,
) -> c_int {
    call(error, || {
        let key = key.map(|key| key.write(TephraSlice::NONE));
        let value = value.map(|value| value.write(TephraSlice::NONE));
        let Some((found_key, found_value)) = lend(range_of(iterator)?)? else {
            return Ok(TEPHRA_ABSENT);
        };
        if let Some(key) = key {
            *key = TephraSlice::of(found_key);
        }
        if let Some(value) = value {
            *value = TephraSlice::of(found_value);
        }
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_iterator_next(
    iterator: Option<&mut TephraIterator>,
    key: Out<TephraSlice>,
    value: Out<TephraSlice>,
    error: Out<*mut c_char>,
) -> c_int {
    step(iterator, key, value, error, Range::lend_next)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_iterator_next_back(
    iterator: Option<&mut TephraIterator>,
    key: Out<TephraSlice>,
    value: Out<TephraSlice>,
    error: Out<*mut c_char>,
) -> c_int {
    step(iterator, key, value, error, Range::lend_next_back)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_iterator_seek(
    iterator: Option<&mut TephraIterator>,
    key: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        range_of(iterator)?.seek(key.bytes("key")?);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_iterator_seek_back(
    iterator: Option<&mut TephraIterator>,
    key: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        range_of(iterator)?.seek_back(key.bytes("key")?);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_iterator_free(iterator: Option<Box<TephraIterator>>) {
    free(iterator);
}
