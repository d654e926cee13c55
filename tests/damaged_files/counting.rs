//! An allocator that counts what a thread asks for.

#![expect(unsafe_code, reason = "an allocator that counts has to be an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What was allocated.
pub(crate) struct Allocated {
    pub(crate) largest_len_bytes: usize,
    pub(crate) total_len_bytes: u64,
}

struct Counting;

thread_local! {
    static LARGEST_LEN_BYTES: Cell<usize> = const { Cell::new(0) };
    static TOTAL_LEN_BYTES: Cell<u64> = const { Cell::new(0) };
}

fn count(len_bytes: usize) {
    LARGEST_LEN_BYTES.set(LARGEST_LEN_BYTES.get().max(len_bytes));
    TOTAL_LEN_BYTES.set(TOTAL_LEN_BYTES.get() + len_bytes as u64);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What this thread allocates while `work` runs.
pub(crate) fn allocations_of<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    LARGEST_LEN_BYTES.set(0);
    let before = TOTAL_LEN_BYTES.get();
    let outcome = work();
    let allocated = Allocated {
        largest_len_bytes: LARGEST_LEN_BYTES.get(),
        total_len_bytes: TOTAL_LEN_BYTES.get() - before,
    };
    (outcome, allocated)
}
