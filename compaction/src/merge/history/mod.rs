//! What a source remembers of the key it stands at, so that the next one can be checked against it.
//!
//! ```text
//! Spans       where the key's units lie in the payload: 64 spans, then flattened into one buffer
//! Certified   nothing: order is checked only where the boundary falls inside the current literal
//! Buffer      the key itself, copied (the baseline, and the oracle of the others)
//! ```
//!
//! All three speak of the *head*: the current record. Between two records of the fast path the head's own
//! literal is known to the source and not yet part of the history. The general path puts it there first
//! ([`History::commit`]), follows as many frames as it likes, and takes the last one's out again
//! ([`History::uncommit`]).

mod buffer;
mod certified;
mod spans;

pub(super) use buffer::Buffer;
pub(super) use certified::Certified;
pub(super) use spans::Spans;

use tephra_sstable::{FormatError, Frame, Rule};

use super::lane::Lane;
use super::source::Head;

/// How a frame continues the key before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continues {
    /// In order; shares this many units with the key before.
    Shares(u64),
    /// In order, but against the certificate: it repeats units that it could have retained.
    Repeats,
}

/// The memory of one source.
pub(super) trait History<U: Lane>: Default + Send {
    /// The fast path: whether a literal that starts at key unit `retained` with unit `first` follows the head in
    /// order and ordinary front coding; if so, the head becomes part of the history. False changes
    /// nothing and sends the source the general way.
    fn advance(&mut self, payload: &[u8], head: &Head, next: &Next) -> bool;

    /// Puts the head's literal into the history.
    fn commit(&mut self, payload: &[u8], head: &Head);

    /// Judges a frame against the committed key of `key_units` units.
    fn follow(&self, payload: &[u8], key_units: u64, frame: &Frame) -> Result<Continues, FormatError>;

    /// Trims the committed key to what the frame retains and appends its literal.
    fn replace(&mut self, payload: &[u8], key_units: u64, frame: &Frame);

    /// Starts anew with a prefix that a block inherits.
    fn restart(&mut self, prefix: U::Str<'_>);

    /// Takes the literal committed last out again, since the head holds it.
    fn uncommit(&mut self);

    /// Appends the units `from..` of the committed key of `key_units` units; false if they are not known.
    fn assemble(&self, payload: &[u8], from: u64, key_units: u64, out: &mut U::Owned) -> bool;
}

/// What the fast path knows of the frame behind the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// Units it retains.
    pub(super) retained: u64,
    /// First unit of its literal.
    pub(super) first: u64,
    /// Position of its literal.
    pub(super) literal_start: u64,
    /// Length of its literal.
    pub(super) literal_units: u64,
}

/// Compares what a frame replaces with its literal, piece by piece: `replaced` gives the units of the
/// key before from the retained boundary on.
pub(super) fn judge<'k, U: Lane>(
    replaced: impl Iterator<Item = U::Str<'k>>,
    literal: U::Str<'_>,
    frame: &Frame,
    key_units: u64,
) -> Result<Continues, FormatError> {
    let mut same = 0;
    for piece in replaced {
        let rest = U::slice(literal, same, U::len(literal));
        let shared = U::lcp(piece, rest);
        same += shared;
        match (U::get(piece, shared), U::get(rest, shared)) {
            (None, _) => {}
            (Some(before), Some(after)) if before < after => {
                return Ok(Continues::Shares(frame.retained + same));
            }
            (Some(before), Some(after)) => {
                let offset = frame.literal_start + same;
                return Err(FormatError::payload(offset, Rule::KeyOrder, before, after));
            }
            (Some(_), None) => break,
        }
    }
    if frame.retained + same == key_units && same < U::len(literal) {
        return Ok(Continues::Shares(key_units));
    }
    Err(FormatError::payload(
        frame.start,
        Rule::KeyIsPrefix,
        key_units,
        frame.key_units(),
    ))
}
