//! The frames of one block, read in order, with the pages they lie in checked on the way.
//!
//! Most frames of byte tables have counts below 128, a byte each: one load of eight bytes has them all. Everything
//! else, and everything that is wrong, goes the long way through [`read_frame`].

use super::Table;
use super::pages::Pages;
use crate::container::{TableError, TableSection};
use crate::elias_fano::to_index;
use crate::error::{FormatError, Rule};
use crate::front_coding::Frame;
use crate::front_coding::frame::read_frame;
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
    /// Bytes of `readable` before this one, from the current frame on, are checked.
    checked_until: usize,
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// The frames of a block.
    pub(super) fn block(&self, block: u64) -> Result<BlockFrames<'_, B, U>, TableError> {
        let file = self.bytes.as_ref();
        let directory = self.index()?.directory(file);
        let width = u64::from(self.meta.policy.records_per_block.get());
        let ordinal = block * width;
        let end_ordinal = self.record_count().min(ordinal + width);
        let (start, end) = directory
            .select_pair(block)
            .map_err(|error| self.stream_error(TableSection::Directory, error.into()))?;
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
            checked_until: 0,
        })
    }
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
    #[inline]
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
    #[inline]
    fn read_short(&self) -> Option<Frame> {
        if U::KIND != UnitKind::Byte {
            return None;
        }
        let window = u64::from_le_bytes(*self.readable.get(to_index(self.at)..)?.first_chunk()?);
        let (long, controls_len, value_units) = match self.table.meta.common_width {
            Some(width) => (0x8080, 2, width),
            None => (0x80_8080, 3, window >> 16 & 0x7f),
        };
        if window & long != 0 {
            return None;
        }
        let (first, literal_units) = (window & 0x7f, window >> 8 & 0x7f);
        let retained = match self.key_units {
            // The block's first count is what it retains. Whether the key before has that much is not known here.
            u64::MAX => first.min(self.at),
            key_units => key_units.checked_sub(first)?,
        };
        let literal_start = self.at + controls_len;
        let value_start = literal_start + literal_units;
        let next = value_start + value_units;
        (next <= self.end && (retained == first || self.key_units != u64::MAX)).then_some(Frame {
            ordinal: self.ordinal,
            start: self.at,
            retained,
            literal_start,
            value_start,
            next,
        })
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

    /// Checks the pages of some units.
    #[inline]
    fn check_until(&mut self, start_units: u64, end_units: u64) -> Result<(), TableError> {
        let end = to_index((end_units * U::BITS).div_ceil(8));
        if end > self.checked_until {
            self.check_pages(to_index(start_units * U::BITS / 8), end)?;
        }
        Ok(())
    }

    #[cold]
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

    /// The literal of a frame of this block.
    #[inline]
    pub(super) fn literal(&self, frame: &Frame) -> U::Str<'t> {
        frame.literal::<U>(self.readable)
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
