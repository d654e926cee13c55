//! Walking through a table's records in both directions.
//!
//! The current key is kept in one buffer. Going forward a frame changes its tail. Going backward needs the tails
//! that were overwritten: on entering a block backwards its frames are read once, into a buffer that is used again,
//! and the tail of the key before is put together from them. Of a block of more than 1,024 records so many frames are
//! kept at a time, with the key before them: memory stays small, and such a block is read once for each 1,024.
//!
//! ```text
//! record   retains  literal     key         going back from "cap" to "cart": "ca" stays (cap retains 2), and the
//!      0      0     "car"       "car"       tail "rt" comes from record 1 ("t", units from 3 on) and from record
//!      1      3     "t"         "cart"      0 ("r", the units 2 to 3 of it)
//!      2      2     "p"         "cap"
//! ```

use std::ops::Range;

use super::Table;
use super::frames::{BlockFrames, Checked};
use super::search::Landing;
use crate::container::TableError;
use crate::container::TableSection;
use crate::elias_fano::to_index;
use crate::error::{FormatError, Rule};
use crate::front_coding::Frame;
use crate::unit::{Byte, Unit};

/// Where a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeFirst,
    Record,
    AfterLast,
}

/// A cursor over the records of a table, in the order of their keys.
///
/// It stands on a record, before the first, or after the last. Methods that move it say whether it stands on a
/// record afterwards. Once its buffers have grown to the longest key and the longest block met, moving allocates
/// nothing. Every page a record lies in has been checked when the cursor stands on it. After an error it stands
/// before the first record.
#[derive(Debug)]
pub struct TableCursor<'t, B, U: Unit = Byte> {
    table: &'t Table<B, U>,
    place: Place,
    key: U::Owned,
    frame: Frame,
    frames: Option<BlockFrames<'t, B, U>>,
    /// Whether `frames` have to be set behind the current record before they go on.
    went_back: bool,
    /// Frames of one block, for going backward: all, or as many as are kept at a time.
    block_frames: Vec<Frame>,
    /// The first of their ordinals, if `frames` are of the same block.
    loaded_from: Option<u64>,
    /// The key before them, where they are not the block's first.
    key_before: U::Owned,
}

/// Frames that are kept for going backward: 48 KiB.
const FRAMES_KEPT_MAX: u64 = 1024;

const NO_FRAME: Frame = Frame {
    ordinal: 0,
    start: 0,
    retained: 0,
    literal_start: 0,
    value_start: 0,
    next: 0,
};

impl<'t, B: AsRef<[u8]> + Send + Sync, U: Unit> TableCursor<'t, B, U> {
    pub(super) fn new(table: &'t Table<B, U>) -> Self {
        Self {
            table,
            place: Place::BeforeFirst,
            key: U::Owned::default(),
            frame: NO_FRAME,
            frames: None,
            went_back: false,
            block_frames: Vec::new(),
            loaded_from: None,
            key_before: U::Owned::default(),
        }
    }

    /// Whether the cursor stands on a record.
    pub fn is_valid(&self) -> bool {
        self.place == Place::Record
    }

    /// The key of the record it stands on. Lives until the cursor moves; unspecified where there is no record.
    pub fn key(&self) -> U::Str<'_> {
        U::as_str(&self.key)
    }

    /// The value of the record it stands on. Lives as long as the table; empty where there is no record.
    pub fn value(&self) -> U::Str<'t> {
        match self.place {
            Place::Record => self.frame.value::<U>(self.table.payload()),
            _ => U::Str::default(),
        }
    }

    /// The bytes of the file in which the value lies.
    pub fn value_range(&self) -> Range<usize> {
        self.table.file_range(self.frame.value_start, self.frame.next)
    }

    /// The number of the record it stands on; the record count where there is none.
    pub fn ordinal(&self) -> u64 {
        match self.place {
            Place::Record => self.frame.ordinal,
            _ => self.table.record_count(),
        }
    }

    /// Goes to the first record.
    ///
    /// # Errors
    ///
    /// A damaged page or frame, here as with every method that moves the cursor.
    pub fn seek_to_first(&mut self) -> Result<bool, TableError> {
        self.seek_ordinal(0)
    }

    /// Goes to the last record.
    ///
    /// # Errors
    ///
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_to_last(&mut self) -> Result<bool, TableError> {
        self.place = Place::AfterLast;
        self.prev()
    }

    /// Goes to the first record whose key is at least `key`, or after the last.
    ///
    /// # Errors
    ///
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek(&mut self, key: U::Str<'_>) -> Result<bool, TableError> {
        self.place = Place::BeforeFirst;
        if self.table.record_count() == 0 {
            self.place = Place::AfterLast;
            return Ok(false);
        }
        match self.table.search(key)? {
            (Landing::Record { frame, .. }, frames) => {
                // What it retains are units of `key`, too.
                U::truncate(&mut self.key, 0);
                U::push(&mut self.key, U::slice(key, 0, frame.retained));
                U::push(&mut self.key, frames.literal(&frame));
                self.enter(frames);
                self.stand_on(frame)
            }
            (Landing::BlockStart(ordinal), _) => self.seek_ordinal(ordinal),
        }
    }

    /// Goes to a record by its number, or after the last if there is no such record.
    ///
    /// # Errors
    ///
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_ordinal(&mut self, ordinal: u64) -> Result<bool, TableError> {
        if ordinal >= self.table.record_count() {
            self.place = Place::AfterLast;
            return Ok(false);
        }
        self.place = Place::BeforeFirst;
        let mut frames = self.table.block(ordinal / self.records_per_block())?;
        let mut first = true;
        while let Some(frame) = frames.next(Checked::Key)? {
            if first {
                U::truncate(&mut self.key, 0);
                append_inherited(self.table, &frame, 0, &mut self.key)?;
                first = false;
            }
            frames.apply(&frame, &mut self.key);
            if frame.ordinal == ordinal {
                self.enter(frames);
                return self.stand_on(frame);
            }
        }
        unreachable!("a block has the records that its number and the record count give it")
    }

    /// Goes to the next record; to the first from before it.
    ///
    /// # Errors
    ///
    /// As [`seek_to_first`](Self::seek_to_first).
    #[expect(
        clippy::should_implement_trait,
        reason = "it lends what it stands on, and may fail"
    )]
    pub fn next(&mut self) -> Result<bool, TableError> {
        let (Some(frames), Place::Record) = (&mut self.frames, self.place) else {
            return match self.place {
                Place::AfterLast => Ok(false),
                _ => self.seek_to_first(),
            };
        };
        if self.went_back {
            frames.resume_after(&self.frame);
            self.went_back = false;
        }
        match frames.next(Checked::Record) {
            Ok(Some(frame)) => {
                frames.apply(&frame, &mut self.key);
                self.frame = frame;
                Ok(true)
            }
            Ok(None) => self.next_block(),
            Err(error) => {
                self.place = Place::BeforeFirst;
                Err(error)
            }
        }
    }

    /// Goes from a block's last record to the next block's first.
    #[inline(never)]
    fn next_block(&mut self) -> Result<bool, TableError> {
        let ordinal = self.frame.ordinal + 1;
        if ordinal == self.table.record_count() {
            self.place = Place::AfterLast;
            return Ok(false);
        }
        self.place = Place::BeforeFirst;
        let mut frames = self.table.block(ordinal / self.records_per_block())?;
        let frame = frames.next(Checked::Record)?.expect("no block is empty");
        if frame.start != self.frame.next {
            let error = FormatError::payload(frame.start, Rule::BlockPosition, frame.start, self.frame.next);
            return Err(self.table.stream_error(TableSection::Payload, error));
        }
        check_retained(self.table, &frame, U::len(self.key()))?;
        frames.apply(&frame, &mut self.key);
        self.enter(frames);
        self.stand_on(frame)
    }

    /// Goes to the record before; to the last from after it.
    ///
    /// # Errors
    ///
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn prev(&mut self) -> Result<bool, TableError> {
        let last = match self.place {
            Place::BeforeFirst => return Ok(false),
            Place::Record => self.frame.ordinal.checked_sub(1),
            Place::AfterLast => self.table.record_count().checked_sub(1),
        };
        // What the record it stands on retains is right already.
        let kept = if self.place == Place::Record {
            self.frame.retained
        } else {
            0
        };
        self.place = Place::BeforeFirst;
        let Some(ordinal) = last else { return Ok(false) };
        let in_block = ordinal % self.records_per_block();
        let from = ordinal - in_block % FRAMES_KEPT_MAX;
        if self.loaded_from != Some(from) {
            self.load_frames(ordinal / self.records_per_block(), from)?;
        }
        let index = to_index(ordinal - from);
        self.restore_key(index, kept)?;
        let frame = self.block_frames[index];
        self.frame = frame;
        self.went_back = true;
        self.place = Place::Record;
        Ok(true)
    }

    /// Goes on in another block, or in the same from its frames.
    fn enter(&mut self, frames: BlockFrames<'t, B, U>) {
        self.frames = Some(frames);
        self.went_back = false;
        self.loaded_from = None;
    }

    /// Reads the frames of a block from ordinal `from` on, as many as are kept.
    #[inline(never)]
    fn load_frames(&mut self, block: u64, from: u64) -> Result<(), TableError> {
        let mut frames = self.table.block(block)?;
        frames.prefetch_before();
        self.loaded_from = None;
        self.block_frames.clear();
        let mut first = block * self.records_per_block();
        if first < from {
            U::truncate(&mut self.key_before, 0);
        }
        while first < from {
            let frame = frames
                .next(Checked::Key)?
                .expect("the block has the record wanted");
            if U::owned_len(&self.key_before) < frame.retained {
                append_inherited(self.table, &frame, 0, &mut self.key_before)?;
            }
            frames.apply(&frame, &mut self.key_before);
            first += 1;
        }
        while (self.block_frames.len() as u64) < FRAMES_KEPT_MAX
            && let Some(frame) = frames.next(Checked::Record)?
        {
            self.block_frames.push(frame);
        }
        self.enter(frames);
        self.loaded_from = Some(from);
        Ok(())
    }

    /// Builds the key of record `index` of the loaded block, of which `kept` units are right: takes the rest from its
    /// literal if that has it, or replays the frames from the last one that retains no more than that.
    #[inline]
    fn restore_key(&mut self, index: usize, kept: u64) -> Result<(), TableError> {
        let frame = &self.block_frames[index];
        if frame.retained <= kept && kept <= frame.key_units() {
            let frames = self.frames.as_ref().expect("the block is loaded");
            frames.complete(frame, kept, &mut self.key);
            return Ok(());
        }
        if kept > frame.key_units() {
            return check_retained(self.table, &self.frame, frame.key_units());
        }
        U::truncate(&mut self.key, kept);
        match self.block_frames[..index]
            .iter()
            .rposition(|frame| frame.retained <= kept)
        {
            Some(source) => self.replay(source, index, kept),
            None => {
                let first = self.block_frames[0];
                match first.ordinal % self.records_per_block() {
                    0 => append_inherited(self.table, &first, kept, &mut self.key)?,
                    _ => {
                        let before = U::as_str(&self.key_before);
                        U::push(&mut self.key, U::slice(before, kept, first.retained));
                    }
                }
                self.replay(0, index, kept);
            }
        }
        Ok(())
    }

    /// Applies the frames `source..=index` of the loaded block to a key of which `kept` units are right.
    fn replay(&mut self, source: usize, index: usize, kept: u64) {
        let frames = self.frames.as_ref().expect("the block is loaded");
        for frame in &self.block_frames[source..=index] {
            frames.complete(frame, frame.retained.max(kept), &mut self.key);
        }
    }

    #[inline]
    fn stand_on(&mut self, frame: Frame) -> Result<bool, TableError> {
        self.place = Place::BeforeFirst;
        self.table
            .check(self.table.file_range(frame.value_start, frame.next))?;
        self.frame = frame;
        self.place = Place::Record;
        Ok(true)
    }

    fn records_per_block(&self) -> u64 {
        u64::from(self.table.meta.policy.records_per_block.get())
    }
}

/// Appends to a key the units from `from` on that a block's first frame retains of the key before it.
fn append_inherited<B: AsRef<[u8]> + Send + Sync, U: Unit>(
    table: &Table<B, U>,
    first: &Frame,
    from: u64,
    key: &mut U::Owned,
) -> Result<(), TableError> {
    if first.retained == from {
        return Ok(());
    }
    let block = first.ordinal / u64::from(table.meta.policy.records_per_block.get());
    if block == 0 {
        return check_retained(table, first, 0);
    }
    let separators = table.index()?.separators::<U>(table.bytes.as_ref());
    match separators.append(block, from, first.retained, key) {
        Some(()) => Ok(()),
        None => {
            let len = separators
                .len_units(block)
                .ok_or_else(|| table.separators_error(block))?;
            check_retained(table, first, len)?;
            Err(table.separators_error(block))
        }
    }
}

/// A block's first record retains no more than there is.
fn check_retained<B: AsRef<[u8]> + Send + Sync, U: Unit>(
    table: &Table<B, U>,
    first: &Frame,
    limit: u64,
) -> Result<(), TableError> {
    if first.retained <= limit {
        return Ok(());
    }
    let error = FormatError::payload(first.start, Rule::RetainedAboveKey, limit, first.retained);
    Err(table.stream_error(TableSection::Payload, error))
}
