//! What can be wrong with an Elias-Fano sequence.

use std::fmt;

/// The parts of a sequence, for errors that say where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EliasFanoPart {
    /// The four words before the arrays: entries, universe, low width, sparse positions.
    Header,
    /// The packed low halves; indexes are word or entry numbers.
    Low,
    /// The high halves in unary; indexes are entry or word numbers.
    High,
    /// One sample for every 256 entries; indexes are sample numbers.
    Samples,
    /// Positions of the ones of sparse groups; indexes are places in the list.
    Sparse,
    /// The decoded entries.
    Entries,
}

impl fmt::Display for EliasFanoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Low => "low halves",
            Self::High => "high halves",
            Self::Samples => "samples",
            Self::Sparse => "sparse positions",
            Self::Entries => "entries",
        })
    }
}

/// Why a sequence was not built, or could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EliasFanoError {
    /// An entry was pushed that is smaller than the one before it.
    #[error("entry {index} is {found}, smaller than its predecessor {previous}")]
    Decreasing {
        /// Number of the entry that was refused.
        index: u64,
        /// The entry before it.
        previous: u64,
        /// The entry that was refused.
        found: u64,
    },
    /// A sequence has at least one entry, the universe.
    #[error("a sequence needs at least one entry")]
    NoEntries,
    /// There is no such entry.
    #[error("entry {index} was asked for, of {entries}")]
    OutOfRange {
        /// The entry asked for.
        index: u64,
        /// How many there are.
        entries: u64,
    },
    /// The bytes are not those of a sequence.
    #[error("{part} at {index}: expected {expected}, found {found}")]
    Damaged {
        /// Which part is wrong.
        part: EliasFanoPart,
        /// Where in the part, see [`EliasFanoPart`].
        index: u64,
        /// What a sequence has there (a bound, where a bound is broken).
        expected: u64,
        /// What was found.
        found: u64,
    },
    /// Memory for the sequence could not be had. Nothing was changed.
    #[error("no memory for {len_bytes} bytes")]
    OutOfMemory {
        /// How much was asked for.
        len_bytes: u64,
    },
}

impl EliasFanoError {
    #[cold]
    pub(crate) fn damaged(part: EliasFanoPart, index: u64, expected: u64, found: u64) -> Self {
        Self::Damaged {
            part,
            index,
            expected,
            found,
        }
    }
}
