//! Ending early what takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends a long call early, from any thread. Clones share it. Once raised it stays so: a call that is given it then ends
/// at once.
///
/// ```
/// use tephra_engine::Cancel;
/// let cancel = Cancel::new();
/// let watcher = cancel.clone();
/// watcher.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    is_cancelled: Arc<AtomicBool>,
}

impl Cancel {
    /// A flag not raised yet.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Raises the flag. The call that watches it ends at its next step, within milliseconds.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// Whether the flag was raised.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }
}
