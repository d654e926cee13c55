//! Calling a law that may fail or panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tephra_sstable::Unit;

use super::law::{Composed, Law, LawFailure};

/// Calls a law and turns a panic into a failure: the one door through which laws are called.
///
/// Unwind safety: the merger changes nothing while the law runs, and refuses all work after a failure,
/// so nothing half-changed is ever seen.
///
/// # Errors
/// The law failed or panicked.
pub fn call_law<U: Unit, L: Law<U>>(
    law: &L,
    key: Option<U::Str<'_>>,
    older: U::Str<'_>,
    newer: U::Str<'_>,
) -> Result<Composed<U::Owned>, LawFailure> {
    catch_unwind(AssertUnwindSafe(|| law.compose(key, older, newer)))
        .unwrap_or_else(|panic| Err(LawFailure::Panicked(panic_message(&*panic))))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "(no message)".to_owned()
    }
}
