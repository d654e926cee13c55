//! Composition laws: what becomes of a key that several inputs hold.
//!
//! ```text
//! Replace                    the newer value wins; nothing is called, nothing is copied
//! Values(law)                compose(older, newer)            keys stay encoded
//! WithKey(law)               compose(key, older, newer)       the key is assembled where two records meet
//! ```
//!
//! A law is always called in chronological order. When more than two records meet, the merger folds
//! from the oldest: `compose(compose(v1, v2), v3)`. A key that one input alone holds keeps its value
//! untouched, so a law must be associative: `compose(compose(a, b), c)` and `compose(a, compose(b, c))`
//! describe the same value. A law that is not gives results that depend on when compactions ran.
//!
//! A law may fail or panic. Either poisons the merge: nothing is published, the inputs stay as they
//! are, and the error carries the law's name.

mod call;
mod law;

pub use call::call_law;
pub use law::{ComposeValues, ComposeWithKey, Composed, Law, LawFailure, Replace, Values, WithKey};

#[cfg(test)]
mod tests;
