//! The sequence that owns its words, and its form in a file.

use std::io;

use super::layout::SAMPLE_LEN_BYTES;
use super::{EliasFanoParts, EliasFanoView, Sample};

/// An Elias-Fano sequence in memory. The fields are exactly the parts of the format; see the module for their meaning.
///
/// They are public so that they can be compared with other encodings; whoever fills them by hand gets from
/// [`view`](Self::view) what a damaged file gives: errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EliasFano {
    /// How many entries there are, at least one.
    pub entries: u64,
    /// The last entry.
    pub universe: u64,
    /// Bits of an entry's low half.
    pub low_width: u32,
    /// The low halves, packed.
    pub low: Vec<u64>,
    /// The high halves in unary.
    pub high: Vec<u64>,
    /// One sample for every 256 entries.
    pub samples: Vec<Sample>,
    /// Positions of the ones of sparse groups.
    pub sparse: Vec<u64>,
}

impl EliasFano {
    /// The same sequence, borrowed. Costs a few comparisons.
    ///
    /// # Panics
    ///
    /// If the fields were filled by hand and their lengths contradict `entries` and `universe`.
    pub fn view(&self) -> EliasFanoView<'_> {
        EliasFanoView::new(EliasFanoParts {
            entries: self.entries,
            universe: self.universe,
            low_width: self.low_width,
            low: bytemuck::cast_slice(&self.low),
            high: bytemuck::cast_slice(&self.high),
            samples: bytemuck::cast_slice(&self.samples),
            sparse: bytemuck::cast_slice(&self.sparse),
        })
        .expect("the builder makes parts of the lengths that entries and universe ask for")
    }

    /// How many bytes [`write_to`](Self::write_to) writes.
    pub fn encoded_len_bytes(&self) -> u64 {
        let words = self.low.len() + self.high.len() + self.sparse.len();
        (Self::HEADER_LEN_BYTES + words * 8 + self.samples.len() * SAMPLE_LEN_BYTES) as u64
    }

    /// Bytes before the arrays: entries, universe, low width, number of sparse positions; a word each.
    pub const HEADER_LEN_BYTES: usize = 32;

    /// Writes the header and the arrays `low`, `high`, `samples`, `sparse`, all words little-endian.
    /// [`EliasFanoView::parse`] reads them.
    pub fn write_to(&self, out: &mut impl io::Write) -> io::Result<()> {
        for word in [
            self.entries,
            self.universe,
            u64::from(self.low_width),
            self.sparse.len() as u64,
        ] {
            out.write_all(&word.to_le_bytes())?;
        }
        out.write_all(bytemuck::cast_slice(&self.low))?;
        out.write_all(bytemuck::cast_slice(&self.high))?;
        out.write_all(bytemuck::cast_slice(&self.samples))?;
        out.write_all(bytemuck::cast_slice(&self.sparse))
    }
}
