//! What crosses the border: codes, messages, bytes, strings; and the call that no panic leaves.
//!
//! All that is read through a pointer of the caller's is read here. An argument that is null where it may not be becomes a [`Refusal`],
//! a [`Refusal`] a code and a message.

#![expect(
    unsafe_code,
    reason = "bytes and strings of C are addresses; exported functions have unmangled names"
)]

use std::any::Any;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tephra_engine::{Durability, Error, Usability};

/// Done.
pub(crate) const TEPHRA_OK: c_int = 0;
/// No such key; the iterator is at its end.
pub(crate) const TEPHRA_ABSENT: c_int = 1;
/// The call failed and changed nothing.
pub(crate) const TEPHRA_FAILED: c_int = 2;
/// As before, and writes are refused until the database is opened again.
pub(crate) const TEPHRA_READS_ONLY: c_int = 3;
/// The database cannot be used.
pub(crate) const TEPHRA_UNUSABLE: c_int = 4;
/// An argument is null, or has a value that it may not have.
pub(crate) const TEPHRA_BAD_ARGUMENT: c_int = 5;
/// A bug of this library.
pub(crate) const TEPHRA_PANIC: c_int = 6;

/// A variable of the caller's that a call writes to; null where the caller does not want it.
pub(crate) type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Why a call is not done.
pub(crate) enum Refusal {
    Argument(String),
    Engine(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Engine(error)
    }
}

impl Refusal {
    pub(crate) fn null(what: &str) -> Refusal {
        Refusal::Argument(format!("argument {what}: expected a pointer, found NULL"))
    }

    fn code(&self) -> c_int {
        match self {
            Refusal::Argument(_) => TEPHRA_BAD_ARGUMENT,
            Refusal::Engine(error) => match error.usability() {
                Usability::Usable => TEPHRA_FAILED,
                Usability::ReadsOnly => TEPHRA_READS_ONLY,
                Usability::Unusable => TEPHRA_UNUSABLE,
            },
        }
    }

    fn message(&self) -> String {
        match self {
            Refusal::Argument(what) => what.clone(),
            Refusal::Engine(error) => error.to_string(),
        }
    }
}

/// Runs a call. Gives its code, and puts what went wrong, or null, into `error`. A panic ends here.
pub(crate) fn call(error: Out<*mut c_char>, body: impl FnOnce() -> Result<c_int, Refusal>) -> c_int {
    let (code, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(code)) => (code, None),
        Ok(Err(refusal)) => (refusal.code(), Some(refusal.message())),
        Err(panic) => (TEPHRA_PANIC, Some(panic_message(&*panic))),
    };
    if let Some(error) = error {
        error.write(message.map_or(std::ptr::null_mut(), lent_text));
    }
    code
}

/// Drops a handle. A panic ends here.
pub(crate) fn free<T>(handle: Option<Box<T>>) {
    // Nobody is left to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "a bug in tephradb: {}",
        said.unwrap_or("a panic without a message")
    )
}

/// A string for the caller, who gives it back to `tephra_string_free`. Ends at a zero byte, which messages do not hold.
pub(crate) fn lent_text(text: String) -> *mut c_char {
    let mut bytes = text.into_bytes();
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    CString::new(bytes).unwrap_or_default().into_raw()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: the header asks for a string that this library gave and that was not freed yet: `lent_text` made it.
        drop(unsafe { CString::from_raw(string) });
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version holds no zero byte"),
        };
    VERSION.as_ptr()
}

/// The variable that a call gives its result to; null first, so that a failed call leaves nothing to free.
pub(crate) fn result<'a, T>(out: Out<'a, *mut T>, what: &str) -> Result<&'a mut *mut T, Refusal> {
    Ok(out
        .ok_or_else(|| Refusal::null(what))?
        .write(std::ptr::null_mut()))
}

/// A handle for the caller.
pub(crate) fn handle<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Bytes of the caller's, or lent to the caller.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TephraSlice {
    data: *const c_void,
    len: usize,
}

impl TephraSlice {
    pub(crate) const NONE: TephraSlice = TephraSlice {
        data: std::ptr::null(),
        len: 0,
    };

    pub(crate) fn of(bytes: &[u8]) -> TephraSlice {
        TephraSlice {
            data: bytes.as_ptr().cast(),
            len: bytes.len(),
        }
    }

    /// The bytes. Null stands for no bytes.
    pub(crate) fn bytes(&self, what: &str) -> Result<&[u8], Refusal> {
        match (self.data.is_null(), self.len) {
            (true, 0) => Ok(&[]),
            (true, len) => Err(Refusal::Argument(format!(
                "argument {what}: expected {len} bytes, found NULL"
            ))),
            (false, len) if isize::try_from(len).is_err() => Err(Refusal::Argument(format!(
                "argument {what}: {len} bytes are more than memory has"
            ))),
            // SAFETY: the header asks for `len` readable bytes that nobody changes during the call, and a slice made by `of` is one.
            (false, len) => Ok(unsafe { std::slice::from_raw_parts(self.data.cast(), len) }),
        }
    }

    /// The bytes of a bound; null stands for no bound.
    fn bound(&self, what: &str) -> Result<Option<&[u8]>, Refusal> {
        let bytes = self.bytes(what)?;
        Ok((!self.data.is_null()).then_some(bytes))
    }
}

/// The bounds of a range.
type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The range from `start`, included, to `end`, excluded.
pub(crate) fn range<'a>(start: &'a TephraSlice, end: &'a TephraSlice) -> Result<Bounds<'a>, Refusal> {
    let start = start.bound("start")?.map_or(Bound::Unbounded, Bound::Included);
    let end = end.bound("end")?.map_or(Bound::Unbounded, Bound::Excluded);
    Ok((start, end))
}

/// A string of the caller's, ending in a zero byte.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TephraString(*const c_char);

impl TephraString {
    #[cfg(test)]
    pub(crate) fn of(string: &CStr) -> TephraString {
        TephraString(string.as_ptr())
    }

    fn string(&self, what: &str) -> Result<&CStr, Refusal> {
        if self.0.is_null() {
            return Err(Refusal::null(what));
        }
        // SAFETY: the header asks for a string that ends in a zero byte and that nobody changes during the call.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    pub(crate) fn text(&self, what: &str) -> Result<&str, Refusal> {
        let string = self.string(what)?;
        string.to_str().map_err(|_| {
            let found = string.to_bytes().escape_ascii();
            Refusal::Argument(format!("argument {what}: expected UTF-8, found \"{found}\""))
        })
    }

    #[cfg(unix)]
    pub(crate) fn path(&self, what: &str) -> Result<&Path, Refusal> {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(OsStr::from_bytes(self.string(what)?.to_bytes())))
    }

    #[cfg(not(unix))]
    pub(crate) fn path(&self, what: &str) -> Result<&Path, Refusal> {
        Ok(Path::new(OsStr::new(self.text(what)?)))
    }
}

pub(crate) fn durability(code: c_int) -> Result<Durability, Refusal> {
    match code {
        0 => Ok(Durability::Process),
        1 => Ok(Durability::Sync),
        other => Err(Refusal::Argument(format!(
            "argument durability: expected TEPHRA_PROCESS (0) or TEPHRA_SYNC (1), found {other}"
        ))),
    }
}
