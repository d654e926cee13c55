//! One input as the frontier sees it: a head, and the way to the next one.
//!
//! ```text
//!            fast path                       general path
//! frame      common shape, in the middle     whatever the format allows
//!            of a block                      block starts, the end, long or odd codes, redundant records,
//!                                            dead records, the last frames before unreadable bytes
//! errors     none: it gives up               exact: section, offset, expected, found
//! ```
//!
//! **Events.** Everything unusual that can be foreseen (the next block start, the end, the next dead record)
//! is one countdown of frames; at zero the source goes the general way. So the fast path pays one test for all
//! of it. An input whose values say their width otherwise than the output's counts apart: each of its frames is an event, most of
//! which are read by the fast path of the input's own shape. Everything else the fast path sees as a frame that does not fit, and gives up before it
//! has changed anything.
//!
//! **The head.** Five words, never copied. A key unit `q` of the literal lies at payload position `bias + q`,
//! so trimming a literal to a boundary `b` is the addition `bias + b`, and literal and value from there on are
//! one range, `bias + b .. next`.
//!
//! **Joined heads.** Behind skipped records a head can share less with the last written key than its frame
//! retains; the units between lie in skipped literals. They are joined with the head's own literal in
//! one buffer. Such a head has a bias that fits no payload, so the fast paths leave it alone.

use std::ops::Range;

use tephra_sstable::elias_fano::EliasFanoIter;
use tephra_sstable::front_coding::frame::read_frame;
use tephra_sstable::ordinal_bitmap::OrdinalBitmap;
use tephra_sstable::writer::framing::Readable;
use tephra_sstable::{BackspaceCode, EncodedView, FormatError, Frame, KeyCursor, Rule, StreamMeta};

use super::code::ENDED;
use super::emit::Place;
use super::history::{Continues, History, Next};
use super::input::{BlockPrefixes, MergeInput};
use super::lane::{Lane, Suffix, glance_long};
use super::output::FrameRun;
use crate::error::MergeError;

/// Where a source stands. Lengths and positions in units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    /// Relative to the last written key, see [`code`](super::code).
    pub(super) code: u64,
    /// Payload position of the key's unit 0, were the literal to reach so far; wraps.
    pub(super) bias: u64,
    /// First key unit of the literal.
    pub(super) retained: u64,
    /// Length of the key.
    pub(super) key_units: u64,
    /// End of the value, which is the start of the next frame.
    pub(super) next: u64,
    /// Frames until the next event.
    pub(super) countdown: u64,
}

impl Head {
    /// Whether the literal has several pieces, and so does not lie in the payload.
    #[inline(always)]
    pub(super) fn is_joined(&self) -> bool {
        self.bias == JOINED_BIAS
    }

    /// Where the key from unit `from` on lies in the payload, if the head is not a joined one.
    #[inline(always)]
    pub(super) fn suffix<'a>(&self, bounds: &Bounds<'a>, from: u64) -> Suffix<'a> {
        let at = self.bias.wrapping_add(from);
        Suffix {
            readable: bounds.readable,
            at,
            units: self.key_units - from,
        }
    }
}

/// What the fast path knows of an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// The payload and what can be read behind it.
    pub(super) readable: Readable<'a>,
    /// End of the payload, in units.
    pub(super) extent: u64,
    /// Width of every value, where the stream declares one.
    pub(super) width: u64,
    /// Whether it does.
    pub(super) is_common: bool,
}

/// A bias that no payload position comes near.
const JOINED_BIAS: u64 = 1 << 62;

/// What a joined head consists of. Its buffer is kept for the next one.
#[derive(Debug, Default)]
struct Joined<U: Lane> {
    /// Key units from `from` on.
    suffix: U::Owned,
    from: u64,
    value: Range<u64>,
}

/// One input.
#[derive(Debug)]
pub(super) struct Source<'a, U: Lane, H: History<U>> {
    pub(super) head: Head,
    pub(super) history: H,
    stream: EncodedView<'a>,
    bounds: Bounds<'a>,
    input: usize,
    /// Number of the record whose frame follows when the countdown is zero.
    event_ordinal: u64,
    /// The event is the start of a block, and nothing else.
    event_is_block_start: bool,
    blocks: EliasFanoIter<'a>,
    dead: Option<&'a OrdinalBitmap>,
    ordinals: Range<u64>,
    prefixes: Option<&'a dyn BlockPrefixes<U>>,
    /// Counts while the head is a joined one.
    joined: Joined<U>,
    /// A block's prefix while the source goes there, kept for the next one.
    prefix: U::Owned,
    /// Rebuilds keys for whom nothing else knows them; goes on where it stood. See [`Source::decode_key`].
    decoder: Option<Box<KeyCursor<'a, U>>>,
    shape: FrameShape,
    /// Frames until the next event, where they are of their own shape: the countdown is zero then.
    own_shape_left: u64,
}

/// How the frames of an input are to those of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameShape {
    /// Frames follow each other in the output as they do here, so the fast path may read them.
    Output,
    /// Only how values say their width differs: frames are read by the fast path for that, one at a time.
    OwnWidths,
    /// Everything goes the general way.
    Foreign,
}

impl FrameShape {
    fn new(meta: &StreamMeta, declared_width: Option<u64>) -> Self {
        let is_readable = meta.common_width.is_none_or(|width| width <= meta.extent_units)
            && meta.policy.backspace == BackspaceCode::default();
        match (is_readable, meta.common_width == declared_width) {
            (true, true) => Self::Output,
            (true, false) => Self::OwnWidths,
            (false, _) => Self::Foreign,
        }
    }
}

impl<'a, U: Lane, H: History<U>> Source<'a, U, H> {
    /// Stands at the first live record of the input. `declared_width` is what the output declares.
    pub(super) fn new(
        given: &MergeInput<'a, U>,
        input: usize,
        declared_width: Option<u64>,
    ) -> Result<Self, MergeError> {
        let meta = &given.stream.meta;
        let blocks = given
            .stream
            .directory
            .iter()
            .map_err(|error| MergeError::input(input, error.into()))?;
        let mut source = Self {
            head: Head::default(),
            history: H::default(),
            stream: given.stream,
            bounds: Bounds {
                readable: Readable::new(given.stream.readable),
                extent: meta.extent_units,
                width: meta.common_width.unwrap_or(0),
                is_common: meta.common_width.is_some(),
            },
            input,
            event_ordinal: 0,
            blocks,
            dead: given.dead.filter(|dead| dead.dead_count() > 0),
            ordinals: given.ordinal_range(),
            prefixes: given.prefixes,
            joined: Joined::default(),
            prefix: U::Owned::default(),
            decoder: None,
            event_is_block_start: false,
            shape: FrameShape::new(meta, declared_width),
            own_shape_left: 0,
        };
        source.advance_general(false)?;
        Ok(source)
    }

    fn failed(&self, error: FormatError) -> MergeError {
        MergeError::input(self.input, error)
    }

    /// Whether no record is left.
    pub(super) fn has_ended(&self) -> bool {
        self.head.code == ENDED
    }

    fn records_per_block(&self) -> u64 {
        self.stream.meta.policy.records_per_block.get().into()
    }

    /// Number of the record whose frame follows the head's.
    fn next_ordinal(&self) -> u64 {
        self.event_ordinal - self.head.countdown
    }

    fn is_skipped(&self, ordinal: u64) -> bool {
        ordinal < self.ordinals.start || self.dead.is_some_and(|dead| dead.contains(ordinal))
    }

    /// The fast path: makes the next frame the head, if it has a common shape and no event is due. `head` is the
    /// source's head in the caller's registers. False changes nothing and asks for [`Source::advance_slowly`].
    #[inline(always)]
    pub(super) fn advance_fast<const COMMON: bool>(
        head: &mut Head,
        history: &mut H,
        bounds: &Bounds<'a>,
    ) -> bool {
        if head.countdown == 0 {
            return false;
        }
        let glance = match U::glance::<COMMON>(bounds.readable, head.next, bounds.width) {
            Some(glance) => glance,
            None => match glance_long::<U>(bounds, head.next, false) {
                Some(glance) => glance,
                None => return false,
            },
        };
        let retained = head.key_units.wrapping_sub(glance.lead);
        let next = Next {
            retained,
            first: glance.first,
            literal_start: glance.literal_start,
            literal_units: glance.suffix,
        };
        if glance.next > bounds.extent || !history.advance(bounds.readable.bytes(), head, &next) {
            return false;
        }
        *head = Head {
            code: U::code(retained, glance.first),
            bias: glance.literal_start.wrapping_sub(retained),
            retained,
            key_units: retained + glance.suffix,
            next: glance.next,
            countdown: head.countdown - 1,
        };
        true
    }

    /// Reads frames ahead while their keys come before a head of code `other` and nothing but the key before them
    /// decides what they say: up to `records_max`, none at a block start. Gives the frames that come next as they are,
    /// and whether the head now stands at the record behind them; if not, it stands at the last of them.
    #[inline(never)]
    pub(super) fn read_run<const COMMON: bool>(&mut self, other: u64, records_max: u32) -> (FrameRun, bool) {
        let bounds = self.bounds();
        let mut head = self.head;
        let mut frames = FrameRun {
            start: head.next,
            end: head.next,
            records: 0,
            last_key_units: head.key_units,
        };
        let mut has_next = false;
        while Self::advance_fast::<COMMON>(&mut head, &mut self.history, &bounds) {
            if head.code <= other || frames.records == records_max {
                has_next = true;
                break;
            }
            (frames.end, frames.last_key_units) = (head.next, head.key_units);
            frames.records += 1;
        }
        self.head = head;
        (frames, has_next)
    }

    /// What the fast path must know of the input's bytes.
    pub(super) fn bounds(&self) -> Bounds<'a> {
        self.bounds
    }

    /// Goes on where the fast path gave up: quickly over a frame of the input's own shape and over a block start of common
    /// shape, else the general way.
    #[cold]
    #[inline(never)]
    pub(super) fn advance_slowly(&mut self) -> Result<(), MergeError> {
        if self.own_shape_left > 0 && self.advance_in_own_shape() {
            return Ok(());
        }
        let at_block_start = self.head.countdown == 0 && self.event_is_block_start && !self.head.is_joined();
        if !at_block_start {
            return self.advance_general(false);
        }
        let ordinal = self.event_ordinal;
        self.check_block_start(self.head.next, ordinal)?;
        let crossed = match self.stream.meta.common_width {
            Some(_) => self.cross_block_start::<true>(),
            None => self.cross_block_start::<false>(),
        };
        if !crossed {
            return self.advance_general(true);
        }
        let block_end = ordinal.saturating_add(self.records_per_block());
        self.plan_event(ordinal + 1, block_end);
        Ok(())
    }

    /// The fast path over a frame that is not of the output's shape. False changes nothing.
    fn advance_in_own_shape(&mut self) -> bool {
        let (bounds, mut head) = (self.bounds(), self.head);
        // No event is due.
        head.countdown = 1;
        let advanced = match bounds.is_common {
            true => Self::advance_fast::<true>(&mut head, &mut self.history, &bounds),
            false => Self::advance_fast::<false>(&mut head, &mut self.history, &bounds),
        };
        if advanced {
            self.head = head;
            self.own_shape_left -= 1;
            self.event_ordinal += 1;
        }
        advanced
    }

    /// The fast path over a block start, whose lead is the retained length itself.
    fn cross_block_start<const COMMON: bool>(&mut self) -> bool {
        let bounds = self.bounds();
        let glance = U::glance::<COMMON>(bounds.readable, self.head.next, bounds.width);
        let Some(glance) = glance.or_else(|| glance_long::<U>(&bounds, self.head.next, true)) else {
            return false;
        };
        let backspace = self.head.key_units.wrapping_sub(glance.lead);
        if backspace > self.head.key_units || glance.next > bounds.extent {
            return false;
        }
        let next = Next {
            retained: glance.lead,
            first: glance.first,
            literal_start: glance.literal_start,
            literal_units: glance.suffix,
        };
        if !self.history.advance(bounds.readable.bytes(), &self.head, &next) {
            return false;
        }
        self.head = Head {
            code: U::code(glance.lead, glance.first),
            bias: glance.literal_start.wrapping_sub(glance.lead),
            retained: glance.lead,
            key_units: glance.lead + glance.suffix,
            next: glance.next,
            countdown: 0,
        };
        true
    }

    /// Goes to the next live record, whatever lies between. The head's key must be the one written last.
    /// `block_is_checked` says that the next frame starts a block and has been compared with the directory.
    #[cold]
    #[inline(never)]
    fn advance_general(&mut self, mut block_is_checked: bool) -> Result<(), MergeError> {
        let mut at = self.head.next;
        if self.head.is_joined() {
            // The literal of a joined head has stayed in the history.
            at = self.joined.value.end;
        } else {
            self.history.commit(self.stream.payload, &self.head);
        }
        let mut ordinal = self.next_ordinal();
        let mut key_units = self.head.key_units;
        let mut lcp = if ordinal == 0 { 0 } else { u64::MAX };
        loop {
            if ordinal >= self.ordinals.end {
                return self.end(ordinal, at, key_units);
            }
            if ordinal.is_multiple_of(self.records_per_block()) {
                if let Some(block) = self.block_to_jump_to(ordinal) {
                    block_is_checked = false;
                    let shared;
                    (ordinal, at, key_units, shared) = self.jump(block, key_units)?;
                    lcp = lcp.min(shared);
                }
                if !std::mem::take(&mut block_is_checked) {
                    self.check_block_start(at, ordinal)?;
                }
            }
            let payload = self.stream.payload;
            let frame = read_frame::<U>(payload, &self.stream.meta, ordinal, at, key_units)
                .map_err(|error| self.failed(error))?;
            let shared = self.judge(&frame, key_units)?;
            lcp = lcp.min(shared);
            self.history.replace(payload, key_units, &frame);
            (at, key_units) = (frame.next, frame.key_units());
            ordinal += 1;
            if !self.is_skipped(frame.ordinal) {
                return self.stand_at(&frame, lcp);
            }
        }
    }

    /// Units that a frame's key shares with the committed key.
    fn judge(&self, frame: &Frame, key_units: u64) -> Result<u64, MergeError> {
        if frame.ordinal == 0 {
            return Ok(0);
        }
        match self
            .history
            .follow(self.stream.payload, key_units, frame)
            .map_err(|error| self.failed(error))?
        {
            Continues::Shares(shared) => Ok(shared),
            Continues::Repeats => Err(MergeError::WrongCertificate {
                input: self.input,
                ordinal: frame.ordinal,
            }),
        }
    }

    /// Makes a committed frame the head.
    fn stand_at(&mut self, frame: &Frame, lcp: u64) -> Result<(), MergeError> {
        let payload = self.stream.payload;
        self.head = Head {
            code: 0,
            bias: frame.literal_start.wrapping_sub(frame.retained),
            retained: frame.retained,
            key_units: frame.key_units(),
            next: frame.next,
            countdown: 0,
        };
        let first = if lcp >= frame.retained {
            self.history.uncommit();
            U::get(frame.literal::<U>(payload), lcp - frame.retained)
        } else {
            let suffix = &mut self.joined.suffix;
            U::truncate(suffix, 0);
            let known = self.history.assemble(payload, lcp, frame.key_units(), suffix);
            assert!(known, "sources that skip records keep the key");
            let first = U::get(U::as_str(suffix), 0);
            self.joined.from = lcp;
            self.joined.value = frame.value_start..frame.next;
            self.head.bias = JOINED_BIAS;
            self.head.next = JOINED_BIAS * 2;
            first
        };
        self.head.code = match first {
            Some(first) => U::code(lcp, first),
            None => U::empty_key_code(),
        };
        let ordinal = frame.ordinal + 1;
        self.plan_event(ordinal, ordinal.next_multiple_of(self.records_per_block()));
        Ok(())
    }

    /// Sets the countdown to the next foreseeable event at or behind the frame of record `ordinal`.
    fn plan_event(&mut self, ordinal: u64, block_end: u64) {
        let mut event = block_end.min(self.ordinals.end);
        self.event_is_block_start = block_end < self.ordinals.end && self.shape == FrameShape::Output;
        if let Some(dead) = self.dead {
            let next_dead = dead.next_dead(ordinal);
            self.event_is_block_start &= next_dead > event;
            event = event.min(next_dead);
        }
        self.own_shape_left = 0;
        if self.head.is_joined() || self.shape != FrameShape::Output {
            if !self.head.is_joined() && self.shape == FrameShape::OwnWidths {
                self.own_shape_left = event - ordinal;
            }
            event = ordinal;
            self.event_is_block_start = false;
        }
        self.event_ordinal = event;
        self.head.countdown = event - ordinal;
    }

    /// Behind the last record to merge: where that is the stream's last one, what must hold there.
    fn end(&mut self, ordinal: u64, at: u64, key_units: u64) -> Result<(), MergeError> {
        let meta = &self.stream.meta;
        if ordinal == meta.record_count {
            if at != meta.extent_units {
                let error = FormatError::payload(at, Rule::TrailingData, at, meta.extent_units);
                return Err(self.failed(error));
            }
            if key_units != meta.last_key_units {
                let error = FormatError::payload(at, Rule::LastKeyLength, meta.last_key_units, key_units);
                return Err(self.failed(error));
            }
        }
        self.head = Head {
            code: ENDED,
            ..Head::default()
        };
        self.event_ordinal = ordinal;
        Ok(())
    }

    /// Compares a block's position with the directory, whose entries are read in order.
    fn check_block_start(&mut self, at: u64, ordinal: u64) -> Result<(), MergeError> {
        let entry = self
            .blocks
            .next()
            .transpose()
            .map_err(|error| self.failed(error.into()))?;
        let expected = entry
            .unwrap_or(u64::MAX)
            .saturating_add(self.stream.meta.common_units_before(ordinal));
        if expected == at {
            return Ok(());
        }
        Err(self.failed(FormatError::payload(at, Rule::BlockPosition, expected, at)))
    }

    /// The block in which the next live record lies, if whole blocks of dead ones lie before it and its prefix
    /// can be had.
    fn block_to_jump_to(&self, ordinal: u64) -> Option<u64> {
        self.prefixes?;
        let mut live = ordinal.max(self.ordinals.start);
        if let Some(dead) = self.dead {
            live = dead.next_live(live);
        }
        let block = live.min(self.ordinals.end - 1) / self.records_per_block();
        (block > ordinal / self.records_per_block()).then_some(block)
    }

    /// Goes to the start of a block without reading what lies before. Gives the block's first record, its position,
    /// the length of the committed key, and what the block's keys at most share with the key committed before.
    ///
    /// That key is kept if it holds all that the block inherits; otherwise the history starts anew with the
    /// inherited prefix.
    fn jump(&mut self, block: u64, key_units: u64) -> Result<(u64, u64, u64, u64), MergeError> {
        let payload = self.stream.payload;
        let ordinal = block * self.records_per_block();
        self.blocks = self
            .stream
            .directory
            .iter_from(block)
            .map_err(|error| self.failed(error.into()))?;
        let frame = self.block_start(block)?;
        let at = frame.start;
        let mut prefix = std::mem::take(&mut self.prefix);
        self.read_block_prefix(block, frame.retained, &mut prefix)?;
        // No head is a joined one meanwhile, so the key before may lie where its units would.
        let before = &mut self.joined.suffix;
        U::truncate(before, 0);
        let known = self.history.assemble(payload, 0, key_units, before);
        assert!(known, "sources that skip blocks keep the key");
        let shared = U::lcp(U::as_str(before), U::as_str(&prefix));
        let keeps_key = shared == frame.retained;
        if !keeps_key {
            // Both have a unit here unless the key before has ended; a prefix that does not grow is of a key out of
            // order.
            let before_unit = U::get(U::as_str(before), shared);
            let unit = U::get(U::as_str(&prefix), shared).unwrap_or(0);
            if let Some(before_unit) = before_unit.filter(|&before_unit| before_unit > unit) {
                return Err(self.failed(FormatError::payload(at, Rule::KeyOrder, before_unit, unit)));
            }
            self.history.restart(U::as_str(&prefix));
        }
        self.prefix = prefix;
        if keeps_key {
            return Ok((ordinal, at, key_units, u64::MAX));
        }
        Ok((ordinal, at, frame.retained, shared))
    }

    /// The head's key from unit `from` on, which is at least what the code says is shared.
    pub(super) fn suffix(&self, from: u64) -> U::Str<'_> {
        if self.head.is_joined() {
            let suffix = U::as_str(&self.joined.suffix);
            return U::slice(suffix, from - self.joined.from, U::len(suffix));
        }
        let (at, units) = (self.head.bias.wrapping_add(from), self.head.key_units - from);
        U::string_at(self.stream.payload, at, units).expect("a head lies in its payload")
    }

    /// The head's value.
    pub(super) fn value(&self) -> Place<'a> {
        let (start, end) = if self.head.is_joined() {
            (self.joined.value.start, self.joined.value.end)
        } else {
            (self.head.bias.wrapping_add(self.head.key_units), self.head.next)
        };
        Place {
            payload: self.stream.payload,
            start,
            end,
        }
    }

    /// Puts the head's key into a buffer. Where no history is kept the key is decoded once more.
    pub(super) fn read_key(&mut self, key: &mut U::Owned) -> Result<(), MergeError> {
        U::truncate(key, 0);
        let payload = self.stream.payload;
        let is_joined = self.head.is_joined();
        if !is_joined {
            self.history.commit(payload, &self.head);
        }
        let known = self.history.assemble(payload, 0, self.head.key_units, key);
        if !is_joined {
            self.history.uncommit();
        }
        match known {
            true => Ok(()),
            false => self.decode_key(self.next_ordinal() - 1, key),
        }
    }

    /// Rebuilds the key of a record, not before the one asked for last. From its block where the prefixes of blocks are
    /// known; otherwise from the record asked for last, so all such records of a merge together cost one pass.
    fn decode_key(&mut self, ordinal: u64, key: &mut U::Owned) -> Result<(), MergeError> {
        let block = ordinal / self.records_per_block();
        if self.prefixes.is_none() || block == 0 {
            let mut cursor = match self.decoder.take() {
                Some(cursor) => cursor,
                None => Box::new(KeyCursor::new(self.stream).map_err(|error| self.failed(error))?),
            };
            while cursor.frame().is_none_or(|frame| frame.ordinal < ordinal) {
                cursor.next().map_err(|error| self.failed(error))?;
            }
            U::push(key, cursor.key());
            self.decoder = Some(cursor);
            return Ok(());
        }
        let (payload, meta) = (self.stream.payload, &self.stream.meta);
        let mut frame = self.block_start(block)?;
        self.read_block_prefix(block, frame.retained, key)?;
        loop {
            U::push(key, frame.literal::<U>(payload));
            if frame.ordinal == ordinal {
                return Ok(());
            }
            let key_units = U::len(U::as_str(key));
            frame = read_frame::<U>(payload, meta, frame.ordinal + 1, frame.next, key_units)
                .map_err(|error| self.failed(error))?;
            U::truncate(key, frame.retained);
        }
    }

    /// The first frame of a block. The key before it is not known.
    fn block_start(&self, block: u64) -> Result<Frame, MergeError> {
        let ordinal = block * self.records_per_block();
        let entry = self
            .stream
            .directory
            .select(block)
            .map_err(|error| self.failed(error.into()))?;
        let at = entry.saturating_add(self.stream.meta.common_units_before(ordinal));
        read_frame::<U>(self.stream.payload, &self.stream.meta, ordinal, at, u64::MAX)
            .map_err(|error| self.failed(error))
    }

    /// What the first key of a block retains of the key before it.
    fn read_block_prefix(&self, block: u64, units: u64, prefix: &mut U::Owned) -> Result<(), MergeError> {
        U::truncate(prefix, 0);
        if let Some(prefixes) = self.prefixes {
            prefixes
                .append_prefix(block, units, prefix)
                .map_err(|error| MergeError::ReadPrefix {
                    input: self.input,
                    block,
                    error,
                })?;
        }
        let found = U::len(U::as_str(prefix));
        match found == units {
            true => Ok(()),
            false => Err(MergeError::BlockPrefix {
                input: self.input,
                block,
                expected: units,
                found,
            }),
        }
    }
}
