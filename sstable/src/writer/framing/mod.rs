//! The fast assembly of frames, shared by everything that writes a stream: the native writer, which knows keys, and
//! the merger, which does not.
//!
//! ```text
//! append(retained, literal, value)
//!     1  the value has the declared width; the extent stays representable
//!     2  reserve: an entry of the directory at a block start, then the frame and slack behind it     (may fail)
//!     3  controls assembled in one word, one store; literal and value copied over the slack          (cannot fail)
//!     4  note the block, count the record
//! ```
//!
//! Up to the end of step 2 nothing has changed, so a failed append leaves exactly the records before it.
//!
//! State is the *length* of the key before, never the key; a block costs one residual offset of eight bytes. Bytes
//! that are complete may be given away while writing ([`FrameWriter::drain`]), so memory stays bounded.
//!
//! `byte.rs` and `bit.rs` hold the two assemblies, with the few unsafe stores; the batch encoder is their oracle.

mod bit;
pub mod burst;
mod byte;
mod error;
mod giving;
mod span;
#[cfg(test)]
mod tests;
mod writer;

pub use burst::{Burst, Readable};
pub use error::AppendError;
pub use span::{Assemble, ByteSpan};
pub use writer::{EXTENT_UNITS_MAX, FrameWriter, Run};

/// Bytes behind the end of a buffer that stores may touch: the widest over-copy, and a word.
pub(crate) const SLACK_BYTES: usize = 64;

/// The controls of one frame.
#[derive(Debug, Clone, Copy)]
pub struct Controls {
    /// The retained length at a block start, the backspace elsewhere.
    pub lead: u64,
    /// Whether `lead` is a retained length.
    pub block_start: bool,
    /// Units of the literal.
    pub suffix: u64,
    /// Units of the value, where the record says them.
    pub width: Option<u64>,
}
