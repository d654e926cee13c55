//! Who watches a job.

use crate::merge::Progress;

/// Is told how far a job has come, and may end it. Called between steps, every few thousand keys, on the job's thread.
pub trait Observer: Sync {
    /// What has been done since the start.
    fn progress(&self, _total: &Progress) {}

    /// Whether to stop; the job then ends with an error within a step.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
