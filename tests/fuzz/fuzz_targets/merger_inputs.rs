//! Merging what anybody may have written.
#![no_main]

#[path = "../bodies/merger_inputs.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::check(bytes));
