//! What C cannot show: that a panic ends at the border, and which handles threads may share.

#![expect(unsafe_code, reason = "reads messages as C does")]

use std::ffi::CStr;
use std::mem::MaybeUninit;

use crate::batch::TephraBatch;
use crate::border::{Refusal, TEPHRA_BAD_ARGUMENT, TEPHRA_OK, TEPHRA_PANIC, TephraString, call, free};
use crate::database::TephraDb;
use crate::iterator::TephraIterator;
use crate::keyspace::TephraKeyspace;
use crate::options::{TephraKeyspaceOptions, TephraOptions};
use crate::snapshot::TephraSnapshot;
use crate::value::TephraValue;

/// Runs a call and gives its code and message.
fn outcome(body: impl FnOnce() -> Result<i32, Refusal>) -> (i32, Option<String>) {
    let mut error = MaybeUninit::uninit();
    let code = call(Some(&mut error), body);
    // SAFETY: every call writes it.
    let error = unsafe { error.assume_init() };
    if error.is_null() {
        return (code, None);
    }
    // SAFETY: a message ends in a zero byte, and lives until it is freed.
    let message = unsafe { CStr::from_ptr(error) };
    let message = message.to_str().unwrap().to_owned();
    crate::border::tephra_string_free(error);
    (code, Some(message))
}

#[test]
fn a_panic_becomes_a_code_and_a_message() {
    assert_eq!(outcome(|| Ok(TEPHRA_OK)), (TEPHRA_OK, None));
    let (code, message) = outcome(|| panic!("lost the {}", "thread"));
    assert_eq!(code, TEPHRA_PANIC);
    assert_eq!(message.as_deref(), Some("a bug in tephradb: lost the thread"));
    let (code, message) = outcome(|| std::panic::panic_any(7));
    assert_eq!(code, TEPHRA_PANIC);
    assert_eq!(
        message.as_deref(),
        Some("a bug in tephradb: a panic without a message")
    );
    assert_eq!(call(None, || panic!("nobody asks why")), TEPHRA_PANIC);
}

#[test]
fn a_panic_of_a_destructor_ends_here() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    free(Some(Box::new(Loud)));
}

#[test]
fn a_string_that_is_not_text_is_refused() {
    let latin_1 = TephraString::of(c"caf\xE9");
    let (code, message) = outcome(|| latin_1.text("name").map(|_| TEPHRA_OK));
    assert_eq!(code, TEPHRA_BAD_ARGUMENT);
    assert_eq!(
        message.as_deref(),
        Some("argument name: expected UTF-8, found \"caf\\xe9\"")
    );
}

#[test]
fn threads_may_share_what_the_header_says() {
    fn shared<T: Send + Sync>() {}
    fn handed_over<T: Send>() {}
    shared::<TephraDb>();
    shared::<TephraKeyspace>();
    shared::<TephraSnapshot>();
    shared::<TephraValue>();
    handed_over::<TephraOptions>();
    handed_over::<TephraKeyspaceOptions>();
    handed_over::<TephraBatch>();
    handed_over::<TephraIterator>();
}
