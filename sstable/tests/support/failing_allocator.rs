//! An allocator that fails one allocation of the thread that asks for it; other threads are left in peace.

#![expect(unsafe_code, reason = "a global allocator that fails on demand")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Hands out the system's memory, except for one allocation.
struct Failing;

thread_local! {
    /// Allocations before the one that fails; `None` lets all pass.
    pub(crate) static BEFORE_FAILURE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Whether this allocation is the one that fails.
fn fails() -> bool {
    BEFORE_FAILURE.with(|left| match left.get() {
        None => false,
        Some(0) => {
            left.set(None);
            true
        }
        Some(n) => {
            left.set(Some(n - 1));
            false
        }
    })
}

// SAFETY: every call is the system allocator's, or a null pointer, which every caller must expect.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, len_bytes: usize) -> *mut u8 {
        if fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, len_bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Runs `act` with its `n`-th allocation failing. Says whether that was reached.
pub(crate) fn with_failure<T>(n: u64, act: impl FnOnce() -> T) -> (T, bool) {
    BEFORE_FAILURE.with(|left| left.set(Some(n)));
    let result = act();
    let reached = BEFORE_FAILURE.with(|left| left.replace(None)).is_none();
    (result, reached)
}
