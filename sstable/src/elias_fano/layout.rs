//! The numbers of the layout, named once.

use super::EliasFanoError;

#[cfg(not(target_endian = "little"))]
compile_error!("owned sequences lend their words as little-endian bytes: this target is not supported");
#[cfg(not(target_pointer_width = "64"))]
compile_error!("offsets of 64 bits index memory: this target is not supported");

/// One sample is kept for every so many entries.
pub const ENTRIES_PER_SAMPLE: u64 = 256;

/// A group whose ones span less than so many positions is scanned, a longer one lists its positions.
pub const DENSE_SPAN: u64 = 4096;

/// What [`Sample::sparse`] holds for a dense group.
pub const DENSE: u64 = u64::MAX;

/// Words that a scan from the first one of a dense group can touch: the span may start at the end of a word.
pub(super) const DENSE_SCAN_WORDS: usize = to_index(DENSE_SPAN / 64) + 1;

/// Where the ones of a group of [`ENTRIES_PER_SAMPLE`] entries are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::NoUninit)]
#[repr(C)]
pub struct Sample {
    /// Position in `high` of the group's first one.
    pub first: u64,
    /// [`DENSE`], or the place in `sparse` of the position of the group's first one.
    pub sparse: u64,
}

/// Bytes of a sample: two words.
pub(super) const SAMPLE_LEN_BYTES: usize = 16;
const _: () = assert!(size_of::<Sample>() == SAMPLE_LEN_BYTES);

/// A count or offset as an index of memory; lossless because targets of other widths are refused above.
#[expect(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits, checked at compile time"
)]
pub(crate) const fn to_index(n: u64) -> usize {
    n as usize
}

/// The sizes that follow from the number of entries and the universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) low_width: u32,
    pub(super) low_words: usize,
    pub(super) high_bits: u64,
    pub(super) high_words: usize,
    pub(super) samples: usize,
}

impl Shape {
    /// Computes the sizes; `None` if one of them passes what memory can hold.
    pub(super) fn new(entries: u64, universe: u64) -> Option<Self> {
        let low_width = match universe.checked_div(entries)? {
            0 => 0,
            quotient => quotient.ilog2(),
        };
        let high_bits = (universe >> low_width).checked_add(entries)?;
        let low_bits = entries.checked_mul(u64::from(low_width))?;
        Some(Self {
            low_width,
            low_words: to_index(low_bits.div_ceil(64)),
            high_bits,
            high_words: to_index(high_bits.div_ceil(64)),
            samples: to_index(entries.div_ceil(ENTRIES_PER_SAMPLE)),
        })
    }
}

/// A vector of `len` zeros, or an error instead of an abort.
pub(super) fn zeroed_words(len: usize) -> Result<Vec<u64>, EliasFanoError> {
    let mut words = Vec::new();
    reserve(&mut words, len)?;
    words.resize(len, 0);
    Ok(words)
}

/// Makes room for `additional` more elements, or fails with the vector unchanged.
pub(super) fn reserve<T>(vector: &mut Vec<T>, additional: usize) -> Result<(), EliasFanoError> {
    vector
        .try_reserve(additional)
        .map_err(|_| EliasFanoError::OutOfMemory {
            len_bytes: (additional as u64).saturating_mul(size_of::<T>() as u64),
        })
}
