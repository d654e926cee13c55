//! Re-framing a stream when what it declares of its values has to change.
//!
//! The batch encoding of a union declares a common value width exactly if all values of the union have
//! one. A merge learns that at its end: it starts with what its inputs declare, and in two rare cases
//! frames once more what it has framed.
//!
//! ```text
//! inputs declare 8, a law returns 9 units         lengths are added to all frames so far
//! inputs declare nothing, every value has 8       lengths are taken out of all frames at the end
//! ```

use tephra_sstable::front_coding::frame::read_frame;
use tephra_sstable::{FormatError, Policy, StreamMeta, Unit};

use super::output::FrameSink;

/// Frames of a stream once more, under another declaration. `meta` describes `payload`; both come from
/// our own output, so an error is a bug and the caller says so.
pub(super) fn reframe<U: Unit>(
    payload: &[u8],
    meta: &StreamMeta,
    common_width: Option<u64>,
) -> Result<FrameSink<U>, FormatError> {
    let mut out = FrameSink::new(meta.policy, common_width);
    let (mut at, mut key_units) = (0, 0);
    for ordinal in 0..meta.record_count {
        let frame = read_frame::<U>(payload, meta, ordinal, at, key_units)?;
        out.append(
            frame.retained,
            frame.literal::<U>(payload),
            frame.value::<U>(payload),
        );
        (at, key_units) = (frame.next, frame.key_units());
    }
    Ok(out)
}

/// The width that all values of a stream without a declared one have; none if they differ. Usually
/// the first two records differ, and nothing else is read.
pub(super) fn uniform_width<U: Unit>(payload: &[u8], meta: &StreamMeta) -> Result<Option<u64>, FormatError> {
    let (mut at, mut key_units, mut width) = (0, 0, None);
    for ordinal in 0..meta.record_count {
        let frame = read_frame::<U>(payload, meta, ordinal, at, key_units)?;
        if *width.get_or_insert(frame.value_units()) != frame.value_units() {
            return Ok(None);
        }
        (at, key_units) = (frame.next, frame.key_units());
    }
    Ok(width)
}

/// What the output starts to declare: the policy's width, or the one that all inputs with records declare.
pub(super) fn declared_width<'a>(
    policy: &Policy,
    inputs: impl Iterator<Item = &'a StreamMeta>,
) -> Option<u64> {
    if let Some(width) = policy.fixed_width() {
        return Some(width);
    }
    let mut widths = inputs
        .filter(|meta| meta.record_count > 0)
        .map(|meta| meta.common_width);
    let first = widths.next().flatten()?;
    widths.all(|width| width == Some(first)).then_some(first)
}
