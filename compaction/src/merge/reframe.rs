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

use tephra_sstable::{EncodedCursor, EncodedStream, FrameWriter, Policy, StreamMeta, Unit};

use crate::error::MergeError;

const OUR_OWN: &str = "our own frames are well-formed";

/// Frames a stream once more, under another declaration.
pub(super) fn reframe<U: Unit>(
    stream: &EncodedStream,
    common_width: Option<u64>,
) -> Result<FrameWriter<U>, MergeError> {
    let mut out = FrameWriter::new(stream.meta.policy, common_width)?;
    let mut cursor = EncodedCursor::<U>::new(stream.view()).expect(OUR_OWN);
    while let Some(frame) = cursor.next().expect(OUR_OWN) {
        let (literal, value) = (
            frame.literal::<U>(&stream.payload),
            frame.value::<U>(&stream.payload),
        );
        out.append(frame.retained, U::suffix(literal, 0), U::suffix(value, 0))?;
    }
    Ok(out)
}

/// The width that all values of a stream without a declared one have, and 0 for a stream without records; none if
/// they differ. Usually the first two records differ, and nothing else is read.
pub(super) fn uniform_width<U: Unit>(stream: &EncodedStream) -> Option<u64> {
    let mut cursor = EncodedCursor::<U>::new(stream.view()).expect(OUR_OWN);
    let mut width = None;
    while let Some(frame) = cursor.next().expect(OUR_OWN) {
        if *width.get_or_insert(frame.value_units()) != frame.value_units() {
            return None;
        }
    }
    Some(width.unwrap_or(0))
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
