//! Counts what walks do, for tests: a number that does not depend on the machine.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// A merge or a source took a step.
pub(super) fn step() {
    STEPS.set(STEPS.get() + 1);
}

/// The steps of this thread since the last call.
pub(crate) fn take_steps() -> u64 {
    STEPS.take()
}
