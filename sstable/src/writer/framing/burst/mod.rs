//! Bursts: many short records in a row, with everything they need in registers.
//!
//! ```text
//! FrameWriter --- burst() ---> Burst   append .. append .. append     true: written
//!      ^                         |                         '-> false: unusual, nothing has changed
//!      '------- commit() --------'     the writer takes the record, then lends the next burst
//! ```
//!
//! A burst borrows its writer, so nobody sees the frames between. It takes what nearly all records are: controls
//! in one byte each (bytes) or in one word together (bits), a literal with its value right behind it, a few hundred
//! bytes of room. Block starts included. Whatever else comes it refuses without having changed anything, and the
//! writer's own [`append_joined`](super::FrameWriter::append_joined) takes it.
//!
//! The literal and value totals of the writer count no records of bursts: who merges does not ask for them.

mod bit;
mod byte;
mod readable;

pub use bit::BitBurst;
pub use byte::ByteBurst;
pub use readable::Readable;

use super::FrameWriter;
use crate::unit::{Bit, Byte, Unit};

/// The longest body of a short record, and what is copied with it.
const BODY_REACH_BYTES: u64 = 2 * 127 + 32;

/// Units whose frames can be written in bursts.
pub trait Burst: Unit {
    /// The burst.
    type Lent<'w>
    where
        Self: 'w;

    /// Lends the writer's frames. `O(1)`.
    fn burst(writer: &mut FrameWriter<Self>) -> Self::Lent<'_>;

    /// Gives them back. `O(1)`.
    fn commit(burst: Self::Lent<'_>);

    /// Appends a record that retains `retained` units of the key before and has a key of `key_units` units; its
    /// literal and value are the units `start..end` of `readable`. `COMMON` says that the stream declares a common
    /// width. False means that nothing has changed and the writer has to take the record; so does a `start` behind `end`.
    ///
    /// Bytes of `readable` behind `end` may be read, never those behind its end; so it takes no record near that end.
    fn append<const COMMON: bool>(
        burst: &mut Self::Lent<'_>,
        retained: u64,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool;

    /// Records before the next block start.
    fn records_until_block(burst: &Self::Lent<'_>) -> u32;

    /// Appends frames as they are, the units `start..end` of `readable`: `records` of them, at most as many as are left
    /// before the next block start, none at a block start where they come from, behind a key of the same length; the
    /// last one's key has `key_units` units. False means that nothing has changed and the writer has to take them.
    fn append_run(
        burst: &mut Self::Lent<'_>,
        records: u32,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool;
}

impl Burst for Byte {
    type Lent<'w> = ByteBurst<'w>;

    #[inline(always)]
    fn burst(writer: &mut FrameWriter<Self>) -> ByteBurst<'_> {
        ByteBurst::new(writer)
    }

    #[inline(always)]
    fn commit(burst: ByteBurst<'_>) {
        burst.commit();
    }

    #[inline(always)]
    fn append<const COMMON: bool>(
        burst: &mut ByteBurst<'_>,
        retained: u64,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        burst.append::<COMMON>(retained, key_units, readable, start, end)
    }

    #[inline(always)]
    fn records_until_block(burst: &ByteBurst<'_>) -> u32 {
        burst.records_until_block
    }

    #[inline(always)]
    fn append_run(
        burst: &mut ByteBurst<'_>,
        records: u32,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        burst.append_run(records, key_units, readable, start, end)
    }
}

impl Burst for Bit {
    type Lent<'w> = BitBurst<'w>;

    #[inline(always)]
    fn burst(writer: &mut FrameWriter<Self>) -> BitBurst<'_> {
        BitBurst::new(writer)
    }

    #[inline(always)]
    fn commit(burst: BitBurst<'_>) {
        burst.commit();
    }

    #[inline(always)]
    fn append<const COMMON: bool>(
        burst: &mut BitBurst<'_>,
        retained: u64,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        burst.append::<COMMON>(retained, key_units, readable, start, end)
    }

    #[inline(always)]
    fn records_until_block(burst: &BitBurst<'_>) -> u32 {
        burst.records_until_block
    }

    #[inline(always)]
    fn append_run(
        burst: &mut BitBurst<'_>,
        records: u32,
        key_units: u64,
        readable: Readable<'_>,
        start: u64,
        end: u64,
    ) -> bool {
        burst.append_run(records, key_units, readable, start, end)
    }
}
