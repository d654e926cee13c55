//! A value found by a look-up: bytes that stay where they are, kept by the handle.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::c_int;

use tephra_engine::Value;

use crate::border::{Out, Refusal, TEPHRA_ABSENT, TEPHRA_OK, TephraSlice, free, handle, result};

/// A value.
#[derive(Debug)]
pub(crate) struct TephraValue(Value);

/// Gives the outcome of a look-up to the caller.
pub(crate) fn found(
    out: Out<*mut TephraValue>,
    look_up: impl FnOnce() -> Result<Option<Value>, Refusal>,
) -> Result<c_int, Refusal> {
    let out = result(out, "value")?;
    Ok(match look_up()? {
        Some(value) => {
            *out = handle(TephraValue(value));
            TEPHRA_OK
        }
        None => TEPHRA_ABSENT,
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_value_bytes(value: Option<&TephraValue>) -> TephraSlice {
    value.map_or(TephraSlice::NONE, |value| TephraSlice::of(&value.0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_value_free(value: Option<Box<TephraValue>>) {
    free(value);
}
