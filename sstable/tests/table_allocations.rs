//! Looking up and scanning allocate nothing: every allocation of the process is counted.

#![expect(unsafe_code, reason = "an allocator that counts has to be an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tephra_sstable::{Policy, Table, TableOptions, TableWriter};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are the system allocator's conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `work` runs.
fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn looking_up_and_scanning_allocate_nothing() {
    let key = |number: u64| {
        format!(
            "tenant/{:03}/{number:09}/{}",
            number / 100,
            "x".repeat((number % 40) as usize)
        )
    };
    let mut writer =
        TableWriter::<_>::new(Vec::new(), TableOptions::new(Policy::byte_variable(), 1)).unwrap();
    let mut keys: Vec<String> = (0..5000).map(key).collect();
    keys.sort();
    for key in &keys {
        writer.append(key.as_bytes(), &key.as_bytes()[..9]).unwrap();
    }
    let (file, _) = writer.finish().unwrap();
    let table = Table::<_>::open(file).unwrap();
    assert_eq!(allocations_of(|| drop(vec![1u8])), 1, "the allocator counts");

    // The first look-up measures the index, and keeps a sample of it with the table.
    assert!(allocations_of(|| assert_eq!(table.lower_bound(b""), Ok(0))) <= 1);
    let lookups = allocations_of(|| {
        for key in &keys {
            assert!(table.get(key.as_bytes()).unwrap().is_some());
            assert!(table.get(&key.as_bytes()[1..]).unwrap().is_none());
            table.lower_bound(&key.as_bytes()[..12]).unwrap();
        }
    });
    assert_eq!(lookups, 0, "allocations of look-ups");

    let mut cursor = table.cursor();
    let mut pass = || {
        let mut records = 0;
        allocations_of(|| {
            let mut valid = cursor.seek_to_first().unwrap();
            while valid {
                records += 1;
                valid = cursor.next().unwrap();
            }
            valid = cursor.seek_to_last().unwrap();
            while valid {
                records += 1;
                valid = cursor.prev().unwrap();
            }
            for key in keys.iter().step_by(7) {
                assert!(cursor.seek(key.as_bytes()).unwrap());
            }
            assert_eq!(records, 10_000);
        })
    };
    let growing = pass();
    assert!(growing < 20, "buffers grow a few times: {growing}");
    assert_eq!(
        pass(),
        0,
        "allocations of scans and seeks once the buffers have grown"
    );
}
