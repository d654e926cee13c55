//! Bytes of a memtable's entries: written once, at addresses that stay, freed together.
//!
//! ```text
//! chunk 0, 4 KiB    | key value | key value | key ..  free |
//! chunk 1, 8 KiB    | key value | ...                       chunks double, up to 1 MiB
//! one of its own    | a long key and value                 |
//! ```
//!
//! An allocation an entry would cost a call of the allocator at every write, a counter that every copy of a map's node has to
//! raise, and the same again when the memtable goes. So entries hold bare addresses, and whoever holds entries holds the arena:
//! the types of `entry.rs` see to that. What is overwritten or deleted stays until the memtable goes; the log's segment, which is as
//! long as a memtable may be, bounds that as well.

use parking_lot::Mutex;

/// Length of the first chunk, in bytes.
const FIRST_CHUNK_BYTES: usize = 4 << 10;

/// Length of the longest chunk that several strings share, in bytes.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// Strings of at least one part in so many of a chunk get a chunk of their own.
const OWN_CHUNK_SHARE: usize = 4;

/// See the head of the file.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Filled in place and never grown beyond its capacity, so that its bytes stay where they are. The last one has room; those with a
    /// string of their own stand before it.
    chunks: Mutex<Vec<Vec<u8>>>,
}

/// Where a string lies in an arena. Says nothing without it.
#[derive(Clone, Copy)]
pub(crate) struct ArenaBytes {
    start: *const u8,
    len: u32,
}

#[expect(unsafe_code, reason = "an address of bytes that nobody changes")]
// SAFETY: it only tells where bytes lie; they are shared as `&[u8]` are, and whoever reads them vouches for the arena.
unsafe impl Send for ArenaBytes {}
#[expect(unsafe_code, reason = "an address of bytes that nobody changes")]
// SAFETY: as above.
unsafe impl Sync for ArenaBytes {}

impl Arena {
    /// An arena of one entry, with no room for more.
    pub(super) fn of(first: &[u8], second: &[u8]) -> (Arena, ArenaBytes) {
        let chunk = Vec::with_capacity(first.len() + second.len());
        let arena = Arena {
            chunks: Mutex::new(vec![chunk]),
        };
        let bytes = arena.push(first, second);
        (arena, bytes)
    }

    /// Copies two strings, one behind the other. At most 4 GiB together: keys and values are limited before the log.
    pub(super) fn push(&self, first: &[u8], second: &[u8]) -> ArenaBytes {
        let len = first.len() + second.len();
        let mut chunks = self.chunks.lock();
        let has_room = chunks
            .last()
            .is_some_and(|chunk| chunk.capacity() - chunk.len() >= len);
        let index = if has_room {
            chunks.len() - 1
        } else {
            add_chunk(&mut chunks, len)
        };
        let chunk = &mut chunks[index];
        let at = chunk.len();
        chunk.extend_from_slice(first);
        chunk.extend_from_slice(second);
        ArenaBytes {
            start: chunk[at..].as_ptr(),
            len: u32::try_from(len).expect("keys and values are limited before the log"),
        }
    }
}

/// Adds a chunk with room for `len` bytes; gives its index.
fn add_chunk(chunks: &mut Vec<Vec<u8>>, len: usize) -> usize {
    let shared = chunks.last().map_or(FIRST_CHUNK_BYTES, |last| {
        (last.capacity() * 2).clamp(FIRST_CHUNK_BYTES, CHUNK_BYTES_MAX)
    });
    if len < shared / OWN_CHUNK_SHARE || chunks.is_empty() {
        chunks.push(Vec::with_capacity(shared.max(len)));
        return chunks.len() - 1;
    }
    // The chunk with room stays the last.
    let index = chunks.len() - 1;
    chunks.insert(index, Vec::with_capacity(len));
    index
}

impl ArenaBytes {
    /// The string.
    ///
    /// # Safety
    /// The arena it was pushed to lives as long as what is returned.
    #[expect(
        unsafe_code,
        reason = "entries reach their bytes without a look-up in the arena"
    )]
    pub(super) unsafe fn get<'a>(self) -> &'a [u8] {
        // SAFETY: the arena wrote these bytes before it gave the address, keeps them where they are while it lives, which the caller
        // vouches for, and changes none that it gave the address of.
        unsafe { std::slice::from_raw_parts(self.start, self.len as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "the arena is alive")]
    fn strings_of_all_lengths_stay_what_they_were() {
        let arena = Arena::default();
        let string = |index: usize| vec![u8::try_from(index % 251).expect("below 251"); index * 37 % 3000];
        let long = vec![7; 3 << 20];
        let mut pushed = Vec::new();
        for index in 0..3000 {
            let whole = string(index);
            let (key, value) = whole.split_at(whole.len() / 3);
            pushed.push((whole.clone(), arena.push(key, value)));
            if index % 1000 == 999 {
                pushed.push((long.clone(), arena.push(&long, &[])));
            }
        }
        for (expected, at) in pushed {
            // SAFETY: `arena` outlives the loop.
            assert_eq!(unsafe { at.get() }, expected);
        }
        let chunks = arena.chunks.lock();
        assert!(chunks.len() < 3 + 20, "few chunks: {}", chunks.len());
        assert!(chunks.iter().all(|chunk| chunk.len() <= chunk.capacity()));
    }

    #[test]
    #[expect(unsafe_code, reason = "the arena is alive")]
    fn readers_of_old_strings_and_a_writer_of_new_ones_do_not_meet() {
        let arena = Arena::default();
        let pushed: Vec<ArenaBytes> = (0..100u8).map(|byte| arena.push(&[byte; 50], &[])).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..5_000 {
                    arena.push(&[9; 100], &[1; 10]);
                }
            });
            for _ in 0..20 {
                for (byte, at) in (0u8..).zip(&pushed) {
                    // SAFETY: `arena` outlives the scope.
                    assert_eq!(unsafe { at.get() }, [byte; 50]);
                }
            }
        });
    }
}
