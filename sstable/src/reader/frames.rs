//! The frames of one block, read in order, with the pages they lie in checked on the way.
//!
//! Most frames of byte tables have counts below 128, a byte each: one load of eight bytes has them all. Everything
//! else, and everything that is wrong, goes the long way through [`read_frame`].

use std::hint::select_unpredictable;

use super::Table;
use super::pages::Pages;
use crate::container::{PAGE_LEN_BYTES, TableError, TableSection};
use crate::elias_fano::to_index;
use crate::error::{FormatError, Rule};
use crate::front_coding::Frame;
use crate::front_coding::frame::read_frame;
use crate::prefetch::prefetch;
use crate::unit::{Unit, UnitKind};

/// Reads the frames of one block.
#[derive(Debug, Clone)]
pub(super) struct BlockFrames<'t, B, U: Unit> {
    table: &'t Table<B, U>,
    /// The file from the payload on: wide loads may go past the payload's end.
    readable: &'t [u8],
    /// Number of the next record.
    ordinal: u64,
    /// Number of the first record after the block.
    pub(super) end_ordinal: u64,
    /// Where the next frame starts.
    at: u64,
    /// Where the block ends.
    end: u64,
    /// Length of the key before; at the block's start, more than any.
    key_units: u64,
    short: ShortFrames,
    /// Bytes of `readable` before this one, from the current frame on, are checked.
    checked_until: usize,
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// The frames of a block.
    #[inline(always)]
    pub(super) fn block(&self, block: u64) -> Result<BlockFrames<'_, B, U>, TableError> {
        let file = self.bytes.as_ref();
        let directory = self.index()?.directory(file);
        let width = u64::from(self.meta.policy.records_per_block.get());
        let ordinal = block * width;
        let end_ordinal = self.record_count().min(ordinal + width);
        let (start, end) = directory
            .find_pair(block)
            .ok_or_else(|| self.directory_error(block))?;
        let start = start.saturating_add(self.meta.common_units_before(ordinal));
        let end = end.saturating_add(self.meta.common_units_before(end_ordinal));
        if end > self.meta.extent_units {
            let error = FormatError::directory(block + 1, Rule::BlockPosition, self.meta.extent_units, end);
            return Err(self.stream_error(TableSection::Directory, error));
        }
        Ok(BlockFrames {
            table: self,
            readable: &file[self.sections.payload.start..],
            ordinal,
            end_ordinal,
            at: start,
            end,
            key_units: u64::MAX,
            short: ShortFrames::new(self.meta.common_width),
            checked_until: 0,
        })
    }
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// What is wrong with the directory's entries for a block.
    #[cold]
    #[inline(never)]
    fn directory_error(&self, block: u64) -> TableError {
        match self
            .index()
            .map(|index| index.directory(self.bytes.as_ref()).select_pair(block))
        {
            Err(error) => error,
            Ok(Err(error)) => self.stream_error(TableSection::Directory, error.into()),
            Ok(Ok(_)) => unreachable!("the same entries were looked for"),
        }
    }
}

/// How frames of eight bytes and less of controls look in a byte table.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortFrames {
    /// The bits of the controls' bytes that are set in counts of more than one byte.
    long_bits: u64,
    controls_len: u64,
    /// The bits of the third byte that are a value's length: none where there is a common width.
    width_bits: u64,
    common_width: u64,
}

impl ShortFrames {
    pub(super) fn new(common_width: Option<u64>) -> Self {
        match common_width {
            Some(common_width) => Self {
                long_bits: 0x8080,
                controls_len: 2,
                width_bits: 0,
                common_width,
            },
            None => Self {
                long_bits: 0x80_8080,
                controls_len: 3,
                width_bits: 0x7f,
                common_width: 0,
            },
        }
    }
}

/// Where a walk over short frames ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Walk {
    /// Behind this frame, whose key is not below the wanted one; whether it is the wanted one.
    Landed(Frame, bool),
    /// Before a frame that is not short, or behind the last; with how many units agree with the key before.
    Undecided(u64),
}

/// What of a frame is checked when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    /// Controls and literal.
    Key,
    /// The value as well.
    Record,
}

impl<'t, B: AsRef<[u8]> + Send + Sync, U: Unit> BlockFrames<'t, B, U> {
    /// The next frame; `None` behind the block's last.
    #[inline(always)]
    pub(super) fn next(&mut self, checked: Checked) -> Result<Option<Frame>, TableError> {
        if self.ordinal == self.end_ordinal {
            return match self.at == self.end {
                true => Ok(None),
                false => Err(self.position_error(self.at)),
            };
        }
        let frame = match self.read_short() {
            Some(frame) => frame,
            None => self.read_any()?,
        };
        let end = if checked == Checked::Key {
            frame.value_start
        } else {
            frame.next
        };
        self.check_until(frame.start, end)?;
        self.ordinal += 1;
        self.at = frame.next;
        self.key_units = frame.key_units();
        Ok(Some(frame))
    }

    /// A frame of a byte table whose counts are all below 128 and which lies in the block.
    #[inline(always)]
    fn read_short(&self) -> Option<Frame> {
        if U::KIND != UnitKind::Byte {
            return None;
        }
        let window = u64::from_le_bytes(*self.readable.get(to_index(self.at)..)?.first_chunk()?);
        if window & self.short.long_bits != 0 {
            return None;
        }
        let (first, literal_units) = (window & 0x7f, window >> 8 & 0x7f);
        let value_units = (window >> 16 & self.short.width_bits) + self.short.common_width;
        let literal_start = self.at + self.short.controls_len;
        let value_start = literal_start + literal_units;
        let next = value_start.checked_add(value_units)?;
        // The block's first count is what it retains; whether the key before has that much is not known here.
        let retained = match self.key_units {
            u64::MAX => first,
            key_units => key_units.wrapping_sub(first),
        };
        let fits = next <= self.end && retained <= self.key_units && retained <= self.at;
        fits.then_some(Frame {
            ordinal: self.ordinal,
            start: self.at,
            retained,
            literal_start,
            value_start,
            next,
        })
    }

    /// Walks over short frames to the first whose key is not below `key`, of which `agreed` units are in the key before.
    ///
    /// The same as the loop of a search does, in registers and with one branch a frame that cannot be foretold, the
    /// last one; nothing here is more than a shortcut. Where a frame is not short, or not right, it stops before it.
    #[inline(always)]
    pub(super) fn walk_short(&mut self, key: U::Str<'_>, mut agreed: u64) -> Walk {
        let (short, key_units, records) = (self.short, U::len(key), self.end_ordinal - self.ordinal);
        let end = self.end.min(self.checked_until as u64);
        if U::KIND != UnitKind::Byte {
            return Walk::Undecided(agreed);
        }
        let (mut at, mut previous, mut passed) = (self.at, self.key_units, 0);
        if previous == u64::MAX {
            // The block's first count is what it retains: as if it took as much from twice that.
            let retained = self
                .readable
                .get(to_index(at))
                .map_or(0, |&first| u64::from(first));
            if retained > at {
                return Walk::Undecided(agreed);
            }
            previous = 2 * retained;
        }
        let landed = loop {
            let window = self
                .readable
                .get(to_index(at)..)
                .and_then(<[u8]>::first_chunk::<16>);
            let Some(window) = window else { break None };
            let controls = u64::from_le_bytes(*window.first_chunk().expect("16 bytes are more than 8"));
            let (first, literal) = (controls & 0x7f, controls >> 8 & 0x7f);
            let literal_start = at + short.controls_len;
            let value_start = literal_start + literal;
            let next = value_start + (controls >> 16 & short.width_bits) + short.common_width;
            if passed == records || controls & short.long_bits != 0 || next > end || first > previous {
                break None;
            }
            // A key retaining more than agrees is as far from the wanted one as the key before; others are compared
            // from what they retain on.
            let retained = previous - first;
            let from = retained.min(agreed);
            let key_head = U::head(key, from);
            let head = window[to_index(short.controls_len)..].first_chunk();
            let head = u64::from_be_bytes(*head.expect("controls are two or three of 16 bytes"));
            // Seven of equal ones, too: these are neither below nor above.
            let same = u64::from((key_head ^ head | 1).leading_zeros()) / 8;
            // What is behind the literal is no matter: the units that differ are in it. Behind the end of the wanted
            // key are zeros, and nothing is below those.
            let is_below = (retained > agreed) | ((head < key_head) & (same < literal));
            if is_below {
                agreed = select_unpredictable(retained > agreed, agreed, from + same);
                (at, previous, passed) = (next, retained + literal, passed + 1);
                continue;
            }
            let frame = Frame {
                ordinal: self.ordinal + passed,
                start: at,
                retained,
                literal_start,
                value_start,
                next,
            };
            (at, previous, passed) = (next, retained + literal, passed + 1);
            if head > key_head && same < literal {
                break Some((frame, false));
            }
            let rest = U::slice(key, from, key_units);
            let (same, is_below) = U::order(frame.literal::<U>(self.readable), rest);
            if !is_below {
                break Some((frame, same == literal && same == U::len(rest)));
            }
            agreed = from + same;
        };
        if passed > 0 {
            (self.at, self.key_units, self.ordinal) = (at, previous, self.ordinal + passed);
        }
        match landed {
            Some((frame, is_exact)) => Walk::Landed(frame, is_exact),
            None => Walk::Undecided(agreed),
        }
    }

    /// Any frame, with every check; if it cannot be read, the page's checksum is asked first.
    #[cold]
    #[inline(never)]
    fn read_any(&self) -> Result<Frame, TableError> {
        let (table, payload) = (self.table, self.table.payload());
        let read = read_frame::<U>(payload, &table.meta, self.ordinal, self.at, self.key_units);
        match read {
            Ok(frame) if frame.next <= self.end => Ok(frame),
            read => {
                /// As far as the controls of a frame go as a rule.
                const CONTROLS_LEN_BYTES: usize = 64;
                let start = table.file_range(self.at, self.at).start;
                table.check(start..table.sections.payload.end.min(start + CONTROLS_LEN_BYTES))?;
                Err(match read {
                    Ok(frame) => self.position_error(frame.next),
                    Err(error) => table.stream_error(TableSection::Payload, error),
                })
            }
        }
    }

    /// Checks all pages of a block of no more than a page, so that nothing more is to be checked frame by frame.
    #[inline]
    pub(super) fn check_small_block(&mut self) -> Result<(), TableError> {
        match self.end - self.at <= PAGE_LEN_BYTES as u64 * 8 / U::BITS {
            true => self.check_until(self.at, self.end),
            false => Ok(()),
        }
    }

    /// Checks the pages of some units.
    #[inline(always)]
    fn check_until(&mut self, start_units: u64, end_units: u64) -> Result<(), TableError> {
        let end = to_index((end_units * U::BITS).div_ceil(8));
        if end > self.checked_until {
            self.check_pages(to_index(start_units * U::BITS / 8), end)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn check_pages(&mut self, start: usize, end: usize) -> Result<(), TableError> {
        let base = self.table.sections.payload.start;
        self.table
            .check(base + start.max(self.checked_until)..base + end)?;
        self.checked_until = Pages::end_of_page(base + end - 1) - base;
        Ok(())
    }

    #[cold]
    fn position_error(&self, found: u64) -> TableError {
        let error = FormatError::payload(self.at, Rule::BlockPosition, self.end, found);
        self.table.stream_error(TableSection::Payload, error)
    }

    /// Goes on after a frame of this block.
    #[inline]
    pub(super) fn resume_after(&mut self, frame: &Frame) {
        self.ordinal = frame.ordinal + 1;
        self.at = frame.next;
        self.key_units = frame.key_units();
        self.checked_until = 0;
    }

    /// Asks for the memory of the block, to be read in a moment.
    #[inline]
    pub(super) fn prefetch(&self) {
        let bytes = |units: u64| to_index(units * U::BITS / 8);
        prefetch(self.readable.get(bytes(self.at)..bytes(self.end)).unwrap_or(&[]));
    }

    /// Asks for the memory before the block, as much as the block takes: a walk backwards reads it next.
    #[inline]
    pub(super) fn prefetch_before(&self) {
        let bytes = |units: u64| to_index(units * U::BITS / 8);
        let start = bytes(self.at.saturating_sub(self.end - self.at));
        prefetch(self.readable.get(start..bytes(self.at)).unwrap_or(&[]));
    }

    /// The literal of a frame of this block.
    #[inline]
    pub(super) fn literal(&self, frame: &Frame) -> U::Str<'t> {
        frame.literal::<U>(self.readable)
    }

    /// Turns the key before a frame of this block into the frame's key.
    #[inline]
    pub(super) fn apply(&self, frame: &Frame, key: &mut U::Owned) {
        U::replace_suffix(
            key,
            frame.retained,
            self.readable,
            frame.literal_start,
            frame.literal_units(),
        );
    }

    /// Turns a key that has the first `kept` units of the frame's key, at least those the frame retains, into it.
    #[inline]
    pub(super) fn complete(&self, frame: &Frame, kept: u64, key: &mut U::Owned) {
        let skipped = kept - frame.retained;
        let (start, units) = (frame.literal_start + skipped, frame.literal_units() - skipped);
        U::replace_suffix(key, kept, self.readable, start, units);
    }

    /// The first 64 bits of a frame's literal, zeros past its end.
    #[inline]
    pub(super) fn literal_head(&self, frame: &Frame) -> u64 {
        if U::KIND == UnitKind::Byte
            && let Some(bytes) = self.readable[to_index(frame.literal_start)..].first_chunk()
        {
            let head = u64::from_be_bytes(*bytes);
            return match frame.literal_units() {
                0 => 0,
                units @ 1..8 => head & (u64::MAX << (64 - 8 * units)),
                _ => head,
            };
        }
        U::head(self.literal(frame), 0)
    }
}
