//! The materialised key: every literal is copied behind what the key retains.

use tephra_sstable::{FormatError, Frame};

use super::super::lane::Lane;
use super::super::source::Head;
use super::{Continues, History, Next, judge};

/// The current key, head included.
#[derive(Debug, Default)]
pub(in super::super) struct Buffer<U: Lane> {
    key: U::Owned,
}

impl<U: Lane> History<U> for Buffer<U> {
    #[inline(always)]
    fn advance(&mut self, payload: &[u8], head: &Head, next: &Next) -> bool {
        let key = U::as_str(&self.key);
        match U::get(key, next.retained) {
            Some(before) if before < next.first => {}
            None if next.retained == head.key_units => {}
            _ => return false,
        }
        let literal = U::string_at(payload, next.literal_start, next.literal_units)
            .expect("a frame lies in its payload");
        U::truncate(&mut self.key, next.retained);
        U::push(&mut self.key, literal);
        true
    }

    fn commit(&mut self, _payload: &[u8], _head: &Head) {}

    fn follow(&self, payload: &[u8], key_units: u64, frame: &Frame) -> Result<Continues, FormatError> {
        let replaced = U::slice(U::as_str(&self.key), frame.retained, key_units);
        judge::<U>(
            std::iter::once(replaced),
            frame.literal::<U>(payload),
            frame,
            key_units,
        )
    }

    fn replace(&mut self, payload: &[u8], _key_units: u64, frame: &Frame) {
        U::truncate(&mut self.key, frame.retained);
        U::push(&mut self.key, frame.literal::<U>(payload));
    }

    fn restart(&mut self, prefix: U::Str<'_>) {
        U::truncate(&mut self.key, 0);
        U::push(&mut self.key, prefix);
    }

    fn uncommit(&mut self) {}

    fn assemble(&self, _payload: &[u8], from: u64, key_units: u64, out: &mut U::Owned) -> bool {
        U::push(out, U::slice(U::as_str(&self.key), from, key_units));
        true
    }
}
