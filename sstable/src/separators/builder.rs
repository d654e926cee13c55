//! Collecting separators while a table is written.

use std::marker::PhantomData;

use crate::unit::Unit;

/// Collects the separators of blocks 1, 2, 3 and so on.
#[derive(Debug, Default)]
pub(crate) struct SeparatorsBuilder<U> {
    ends: Vec<u64>,
    lens_units: Vec<u64>,
    heap: Vec<u8>,
    unit: PhantomData<U>,
}

impl<U: Unit> SeparatorsBuilder<U> {
    pub(crate) fn push(&mut self, separator: U::Str<'_>) {
        let mut owned = U::Owned::default();
        U::push(&mut owned, separator);
        self.heap.extend(U::into_bytes(owned));
        self.ends.push(self.heap.len() as u64);
        self.lens_units.push(U::len(separator));
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = (self.ends.len() as u64).to_le_bytes().to_vec();
        for word in self.ends.iter().chain(&self.lens_units) {
            out.extend(word.to_le_bytes());
        }
        out.extend(&self.heap);
        out
    }
}
