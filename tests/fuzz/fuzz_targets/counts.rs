//! counts: see the body.
#![no_main]

#[path = "../bodies/counts.rs"]
mod body;
#[path = "../bodies/choices.rs"]
mod choices;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::check(bytes));
