//! Copying runs: records of one source that follow each other in the output.
//!
//! ```text
//! input    [k0][k1][k2]|[k3][k4]...        | starts of blocks, in the input and in the output
//! output   ..|[k0]|[k1][k2]|[k3]|[k4]
//!             one  a range   one
//! ```
//!
//! A frame says the same in the output as in its input when the same key precedes it and neither starts a block. So a
//! source that keeps winning is read ahead, and the frames up to the next block start go over as one range; the first
//! behind a start, or behind another source's record, is framed anew. Small inputs against large ones become copies
//! of long ranges.
//!
//! Whether it wins is one comparison with the best code of all others: they lost against the last key written, and what
//! is before them shares more with that key than they do, so their codes stay true while the run goes on.
//!
//! The frontiers turn here when a source has won [`RUN_FROM`] times in a row. Looking for runs within their loops costs
//! ten instructions a key where inputs alternate.

use super::history::History;
use super::lane::Lane;
use super::output::{FrameRun, Output};
use super::source::Source;
use crate::error::MergeError;

/// Wins in a row that promise more of them: of two inputs that take turns by chance one in eight sources gets here.
pub(super) const RUN_FROM: u32 = 4;

/// Writes the head of a source, which comes next and whose key nobody else holds, and what follows in that source
/// while it comes before every other head: up to `keys_max` records, and no joined ones. `other` is the greatest code
/// that the others' heads have relative to the first. Gives how many records were written; the head then stands at the
/// first that was not.
#[inline(never)]
pub(super) fn copy_runs<U: Lane, H: History<U>, const COMMON: bool>(
    source: &mut Source<'_, U, H>,
    output: &mut Output<U>,
    other: u64,
    keys_max: u64,
) -> Result<u64, MergeError> {
    let readable = source.bounds().readable;
    let mut burst = output.burst();
    let mut keys = 0;
    let mut result = Ok(());
    let mut comes_next = true;
    while comes_next && keys < keys_max && !source.head.is_joined() {
        let head = source.head;
        let lcp = U::lcp_of(head.code);
        let start = head.bias.wrapping_add(lcp);
        if !U::append::<COMMON>(&mut burst, lcp, head.key_units, readable, start, head.next) {
            U::commit(burst);
            result = output.append_joined(lcp, head.key_units, readable, start, head.next);
            burst = output.burst();
            if result.is_err() {
                break;
            }
        }
        keys += 1;
        let left_in_step = u32::try_from(keys_max - keys).unwrap_or(u32::MAX);
        let records_max = U::records_until_block(&burst).min(left_in_step);
        let (frames, has_next) = source.read_run::<COMMON>(other, records_max);
        if frames.records > 0 {
            let FrameRun {
                start,
                end,
                records,
                last_key_units,
            } = frames;
            if !U::append_run(&mut burst, records, last_key_units, readable, start, end) {
                U::commit(burst);
                result = output.append_run(&frames, readable);
                burst = output.burst();
                if result.is_err() {
                    break;
                }
            }
            keys += u64::from(records);
        }
        if !has_next {
            result = source.advance_slowly();
            if result.is_err() {
                break;
            }
        }
        comes_next = source.head.code > other;
    }
    U::commit(burst);
    result.map(|()| keys)
}
