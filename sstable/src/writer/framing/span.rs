//! What is copied into a frame: units within a larger readable slice.
//!
//! ```text
//! readable   ........[literal][value]...........
//!                    ^start   len in units       copies may read up to the ends of the slice, never past them
//! ```
//!
//! A plain `&[u8]` forgets what lies around it, so that a copy of three bytes has to be a copy of three bytes. A span
//! remembers, and short copies become one load and one store. Bit strings are spans already.

use std::collections::TryReserveError;
use std::fmt::Debug;

use super::Controls;
use crate::bits::BitStr;
use crate::policy::BackspaceCode;
use crate::unit::{Bit, Byte};

/// Bytes within a readable slice.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByteSpan<'a> {
    readable: &'a [u8],
    start: usize,
    len: usize,
}

impl<'a> ByteSpan<'a> {
    /// `len` bytes of `readable` from `start` on, or `None` where it ends before.
    #[must_use]
    #[inline]
    pub fn new(readable: &'a [u8], start: usize, len: usize) -> Option<Self> {
        (start.checked_add(len)? <= readable.len()).then_some(Self { readable, start, len })
    }

    /// The bytes themselves.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        &self.readable[self.start..self.start + self.len]
    }

    /// How many bytes there are.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The readable slice, where the bytes start in it, how many there are.
    #[must_use]
    #[inline]
    pub const fn parts(&self) -> (&'a [u8], usize, usize) {
        (self.readable, self.start, self.len)
    }
}

impl<'a> From<&'a [u8]> for ByteSpan<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self {
            readable: bytes,
            start: 0,
            len: bytes.len(),
        }
    }
}

/// How frames of a unit are assembled. Part of [`Unit`](crate::unit::Unit); implemented here for both.
pub trait Assemble {
    /// Units within a readable slice.
    type Span<'a>: Copy + Debug + Default;
    /// The growing frames.
    type Frames;
    /// A borrowed string.
    type String<'a>: Copy;

    /// The units of a string from `from` on.
    fn suffix<'a>(string: Self::String<'a>, from: u64) -> Self::Span<'a>;
    /// `len` units of `readable` from unit `start` on; `None` where it ends before.
    fn span_at(readable: &[u8], start: u64, len: u64) -> Option<Self::Span<'_>>;
    /// The length of a span in units.
    fn span_len(span: Self::Span<'_>) -> u64;

    /// Appends one frame, or fails for want of memory and changes nothing.
    ///
    /// # Errors
    ///
    /// No memory.
    fn append_frame(
        frames: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        literal: Self::Span<'_>,
        value: Self::Span<'_>,
    ) -> Result<(), TryReserveError>;

    /// Appends the frame of a short record, whose literal is the end of `key`, and makes `previous` equal to `key`. False
    /// means that nothing has changed and [`Assemble::append_frame`] has to take it.
    fn append_short(
        frames: &mut Self::Frames,
        previous: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        key: Self::String<'_>,
        value: Self::String<'_>,
    ) -> bool;

    /// As [`Assemble::append_frame`], for a literal and a value that are adjacent.
    ///
    /// # Errors
    ///
    /// No memory.
    fn append_joined(
        frames: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        body: Self::Span<'_>,
    ) -> Result<(), TryReserveError>;

    /// Appends units as they are, or fails for want of memory and changes nothing.
    ///
    /// # Errors
    ///
    /// No memory.
    fn append_raw(frames: &mut Self::Frames, units: Self::Span<'_>) -> Result<(), TryReserveError>;

    /// The bytes of which every bit is written.
    fn whole_bytes(frames: &Self::Frames) -> &[u8];
    /// Forgets them.
    fn discard_whole_bytes(frames: &mut Self::Frames);
    /// Makes room for `extra` more units and the slack behind them.
    ///
    /// # Errors
    ///
    /// No memory.
    fn reserve_frames(frames: &mut Self::Frames, extra: u64) -> Result<(), TryReserveError>;
}

impl Assemble for Byte {
    type Span<'a> = ByteSpan<'a>;
    type Frames = Vec<u8>;
    type String<'a> = &'a [u8];

    #[inline(always)]
    fn suffix<'a>(string: Self::String<'a>, from: u64) -> Self::Span<'a> {
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let len = string
            .len()
            .checked_sub(start)
            .expect("a suffix starts within its string");
        ByteSpan {
            readable: string,
            start,
            len,
        }
    }

    #[inline(always)]
    fn span_at(readable: &[u8], start: u64, len: u64) -> Option<ByteSpan<'_>> {
        ByteSpan::new(readable, usize::try_from(start).ok()?, usize::try_from(len).ok()?)
    }

    #[inline(always)]
    fn span_len(span: ByteSpan<'_>) -> u64 {
        span.len as u64
    }

    #[inline(always)]
    fn append_frame(
        frames: &mut Vec<u8>,
        controls: Controls,
        _: &BackspaceCode,
        literal: ByteSpan<'_>,
        value: ByteSpan<'_>,
    ) -> Result<(), TryReserveError> {
        super::byte::append_frame(frames, controls, literal, value)
    }

    #[inline(always)]
    fn append_short(
        frames: &mut Vec<u8>,
        previous: &mut Vec<u8>,
        controls: Controls,
        _: &BackspaceCode,
        key: &[u8],
        value: &[u8],
    ) -> bool {
        super::byte::append_short(frames, previous, controls, key, value)
    }

    #[inline(always)]
    fn append_joined(
        frames: &mut Vec<u8>,
        controls: Controls,
        _: &BackspaceCode,
        body: ByteSpan<'_>,
    ) -> Result<(), TryReserveError> {
        super::byte::append_joined(frames, controls, body)
    }

    fn append_raw(frames: &mut Vec<u8>, units: ByteSpan<'_>) -> Result<(), TryReserveError> {
        frames.try_reserve(units.len)?;
        frames.extend_from_slice(units.as_bytes());
        Ok(())
    }

    fn whole_bytes(frames: &Vec<u8>) -> &[u8] {
        frames
    }

    fn discard_whole_bytes(frames: &mut Vec<u8>) {
        frames.clear();
    }

    fn reserve_frames(frames: &mut Vec<u8>, extra: u64) -> Result<(), TryReserveError> {
        frames.try_reserve(
            usize::try_from(extra)
                .unwrap_or(usize::MAX)
                .saturating_add(2 * super::SLACK_BYTES),
        )
    }
}

impl Assemble for Bit {
    type Span<'a> = BitStr<'a>;
    type Frames = crate::bits::BitString;
    type String<'a> = BitStr<'a>;

    #[inline(always)]
    fn suffix<'a>(string: Self::String<'a>, from: u64) -> Self::Span<'a> {
        string.slice(from, string.len())
    }

    #[inline(always)]
    fn span_at(readable: &[u8], start: u64, len: u64) -> Option<BitStr<'_>> {
        BitStr::new(readable, start, len)
    }

    #[inline(always)]
    fn span_len(span: BitStr<'_>) -> u64 {
        span.len()
    }

    #[inline(always)]
    fn append_frame(
        frames: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        literal: BitStr<'_>,
        value: BitStr<'_>,
    ) -> Result<(), TryReserveError> {
        super::bit::append_frame(frames, controls, backspace, literal, value)
    }

    #[inline(always)]
    fn append_short(
        frames: &mut Self::Frames,
        previous: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        key: BitStr<'_>,
        value: BitStr<'_>,
    ) -> bool {
        super::bit::append_short(frames, previous, controls, backspace, key, value)
    }

    #[inline(always)]
    fn append_joined(
        frames: &mut Self::Frames,
        controls: Controls,
        backspace: &BackspaceCode,
        body: BitStr<'_>,
    ) -> Result<(), TryReserveError> {
        super::bit::append_joined(frames, controls, backspace, body)
    }

    fn append_raw(frames: &mut Self::Frames, units: BitStr<'_>) -> Result<(), TryReserveError> {
        super::bit::append_raw(frames, units)
    }

    fn whole_bytes(frames: &Self::Frames) -> &[u8] {
        frames.whole_bytes()
    }

    fn discard_whole_bytes(frames: &mut Self::Frames) {
        frames.discard_whole_bytes();
    }

    fn reserve_frames(frames: &mut Self::Frames, extra: u64) -> Result<(), TryReserveError> {
        frames.try_reserve(extra.saturating_add(16 * super::SLACK_BYTES as u64))
    }
}
