//! What a step did.

/// Result of one step of a merger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Distinct keys written.
    pub keys: u64,
    /// Live input records consumed; more than the keys where inputs share some.
    pub records: u64,
    /// All inputs have ended: `finish` will succeed.
    pub done: bool,
}
