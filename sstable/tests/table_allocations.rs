//! Looking up and scanning allocate nothing: every allocation of the process is counted.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]
#![expect(unsafe_code, reason = "an allocator that counts has to be an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tephra_sstable::{Bit, Byte, Policy, Table, TableOptions, TableWriter, Unit};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LARGEST_LEN_BYTES: Cell<usize> = const { Cell::new(0) };
}

fn count(len_bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    LARGEST_LEN_BYTES.set(LARGEST_LEN_BYTES.get().max(len_bytes));
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

/// Allocations of this thread while `work` runs.
fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// The largest allocation of this thread while `work` runs, in bytes.
fn largest_of(work: impl FnOnce()) -> usize {
    LARGEST_LEN_BYTES.set(0);
    work();
    LARGEST_LEN_BYTES.get()
}

/// All of some bytes but `less` units.
fn cut<U: Unit>(bytes: &[u8], less: u64) -> U::Str<'_> {
    U::string_at(bytes, 0, bytes.len() as u64 * 8 / U::BITS - less).unwrap()
}

fn keys(count: u64) -> Vec<String> {
    let key = |number: u64| {
        format!(
            "tenant/{:03}/{number:09}/{}",
            number / 100,
            "x".repeat((number % 40) as usize)
        )
    };
    let mut keys: Vec<String> = (0..count).map(key).collect();
    keys.sort();
    keys
}

fn table<U: Unit>(policy: Policy, keys: &[String]) -> Table<Vec<u8>, U> {
    let mut writer = TableWriter::<_, U>::new(Vec::new(), TableOptions::new(policy, 1)).unwrap();
    for key in keys {
        let key = key.as_bytes();
        writer.append(cut::<U>(key, 0), cut::<U>(&key[..9], 5)).unwrap();
    }
    Table::open(writer.finish().unwrap().0).unwrap()
}

/// Look-ups, and scans in both directions.
fn nothing_is_allocated<U: Unit>(policy: Policy) {
    let keys = keys(5000);
    let table = table::<U>(policy, &keys);
    assert_eq!(allocations_of(|| drop(vec![1u8])), 1, "the allocator counts");

    // The first look-up measures the index, and keeps a sample of it with the table.
    assert!(allocations_of(|| assert_eq!(table.lower_bound(U::Str::default()), Ok(0))) <= 1);
    let lookups = allocations_of(|| {
        for key in &keys {
            let key = key.as_bytes();
            assert!(table.get(cut::<U>(key, 0)).unwrap().is_some());
            assert!(table.get(cut::<U>(&key[1..], 0)).unwrap().is_none());
            table.lower_bound(cut::<U>(&key[..12], 3)).unwrap();
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
                assert!(cursor.seek(cut::<U>(key.as_bytes(), 0)).unwrap());
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

#[test]
fn reading_bytes_allocates_nothing() {
    nothing_is_allocated::<Byte>(Policy::byte_variable());
}

#[test]
fn reading_bits_allocates_nothing() {
    nothing_is_allocated::<Bit>(Policy::bit_variable());
}

/// A block may have as many records as there are: going back through it keeps some of its frames, and reads every
/// record all the same.
fn large_blocks_are_read_backwards<U: Unit>(policy: Policy) {
    let policy = Policy {
        records_per_block: 4000.try_into().unwrap(),
        ..policy
    };
    let keys = keys(9000);
    let table = table::<U>(policy, &keys);
    let mut cursor = table.cursor();
    let largest = largest_of(|| assert!(cursor.seek_to_last().unwrap()));
    assert!(largest < 64 << 10, "{largest} bytes for a block of 4,000 records");
    for (number, key) in keys.iter().enumerate().rev() {
        let same = U::compare(cursor.key(), cut::<U>(key.as_bytes(), 0)).is_eq();
        assert!(same, "record {number}");
        // A step forward and back again, now and then, and at every border.
        if number % 97 == 0 || number % 1000 > 990 || number % 1024 < 3 {
            let moved = cursor.next().unwrap();
            assert_eq!(moved, number + 1 < keys.len());
            assert!(cursor.prev().unwrap());
            assert_eq!(cursor.ordinal(), number as u64);
        }
        assert_eq!(cursor.prev().unwrap(), number > 0);
    }
}

#[test]
fn large_blocks_of_bytes_are_read_backwards() {
    large_blocks_are_read_backwards::<Byte>(Policy::byte_variable());
}

#[test]
fn large_blocks_of_bits_are_read_backwards() {
    large_blocks_are_read_backwards::<Bit>(Policy::bit_variable());
}
