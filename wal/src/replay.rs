//! Reads a log back: every record in order, and a verdict on how it ends.
//!
//! ```text
//!   segments given:   4        5        6        7
//!                     |        |        |        |
//!   Begin names:     (3)  <----4        4 <------6        the chain, walked back from the newest: 7 -> 6 -> 4 (-> 3, gone)
//!                              ^ given up by an earlier recovery
//! ```
//!
//! 1. The *chain* is walked back from the newest segment in use along the `Begin` records (past one whose `Begin` is lost, to the
//!    one before it). Each of them also says where the segment before it ended: its *limit*. What lies beyond a limit was given up, or broken, when the next segment began.
//! 2. The records of the chain are handed out in order. A segment ends well at its limit; the newest one at its seal, or
//!    where nothing but zeros follow in a file that has its whole length. A seal that names the next segment is no end of the log unless
//!    that segment, or a later one, is there.
//! 3. Anything else is a *bad place*. Either it is the end of what survived a crash, and everything after it is dropped and
//!    reported; or it is damage, and an error. `judge.rs` tells them apart.
//!
//! Nothing is ever skipped: what is handed out is a prefix of what was written.

mod damaged_header;
mod judge;
mod report;
mod salvage;

use crate::header::{BootId, FileHeader, HEADER_LEN_BYTES, array};
use crate::record::{Framing, Record, RecordFault, RecordKind};
use crate::writer::{BEGIN_LEN_BYTES, LogPosition};

pub use salvage::{Gap, Salvage, salvage};

pub use report::{DamageKind, Dropped, Evidence, ReplayError, ReplayReport};

/// One segment file, whole.
#[derive(Clone, Copy, Debug)]
pub struct SegmentBytes<'a> {
    /// Its number, as the file's name says.
    pub number: u64,
    /// Its contents.
    pub bytes: &'a [u8],
}

/// What is known beside the files.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions {
    /// The kind of file: [`crate::LOG_MAGIC`] for the log.
    pub magic: [u8; 8],
    /// The boot of the machine that replays.
    pub boot_id: BootId,
}

/// A record of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed<'a> {
    /// Where it starts.
    pub position: LogPosition,
    /// Its bytes.
    pub payload: &'a [u8],
}

/// A segment that has a header.
#[derive(Debug)]
struct Segment<'a> {
    number: u64,
    bytes: &'a [u8],
    boot_id: BootId,
    reserved_bytes: u64,
    framing: Framing,
    /// The `Begin` record: where the segment before ended. `None` if it is not there, or not whole.
    begin: Option<LogPosition>,
}

impl<'a> Segment<'a> {
    fn open(given: SegmentBytes<'a>, magic: [u8; 8]) -> Result<Option<Self>, ReplayError> {
        let SegmentBytes { number, bytes } = given;
        let Some(header) = FileHeader::decode(magic, number, bytes)? else {
            return Ok(None);
        };
        Ok(Some(Self::behind(given, &header)))
    }

    /// The segment behind a header.
    fn behind(given: SegmentBytes<'a>, header: &FileHeader) -> Self {
        Self::framed(
            given,
            header.boot_id,
            header.reserved_bytes,
            Framing::new(header.salt),
        )
    }

    fn framed(given: SegmentBytes<'a>, boot_id: BootId, reserved_bytes: u64, framing: Framing) -> Self {
        let SegmentBytes { number, bytes } = given;
        let begin = match framing.decode(bytes, HEADER_LEN_BYTES) {
            Ok(Record {
                kind: RecordKind::Begin,
                payload,
                ..
            }) if payload.len() == 16 => Some(LogPosition {
                segment: u64::from_le_bytes(array(&payload[..8])),
                offset: u64::from_le_bytes(array(&payload[8..])),
            }),
            _ => None,
        };
        Self {
            number,
            bytes,
            boot_id,
            reserved_bytes,
            framing,
            begin,
        }
    }

    /// The file has lost its end, or given it back when it was sealed.
    fn is_cut_short(&self) -> bool {
        (self.bytes.len() as u64) < self.reserved_bytes
    }

    /// What is on the disk before the segment is used: its header, and its whole length.
    fn is_prepared(&self) -> bool {
        self.begin.is_some() || self.is_used() || !self.is_cut_short()
    }

    /// Bytes behind the header that are not all zero: something was written, even if its first record is lost.
    fn is_used(&self) -> bool {
        !is_zero(&self.bytes[HEADER_LEN_BYTES..])
    }
}

/// Hands out the records of a log. Ends with `None`, after which [`Replay::report`] is complete, or with one error.
///
/// Holds no copies: a record's bytes are those of its file. Each byte is read once; a second time only after a bad
/// place, to judge it.
#[derive(Debug)]
pub struct Replay<'a> {
    boot_id: BootId,
    segments: Vec<Segment<'a>>,
    /// The newest segment given, with a header or without.
    newest_given: u64,
    /// Indexes into `segments`, oldest first.
    chain: Vec<usize>,
    /// Place in `chain`, and offset there.
    link: usize,
    offset: usize,
    report: ReplayReport,
    done: bool,
}

impl<'a> Replay<'a> {
    /// Takes the segments that count, all of them, in ascending order of their numbers; reads their headers and `Begin` records.
    ///
    /// # Errors
    /// A header is damaged, or a segment in the middle of the log is missing.
    pub fn new(given: &[SegmentBytes<'a>], options: ReplayOptions) -> Result<Self, ReplayError> {
        assert!(
            given.is_sorted_by(|a, b| a.number < b.number),
            "segments come in order"
        );
        let mut segments = Vec::with_capacity(given.len());
        for &segment in given {
            segments.extend(Segment::open(segment, options.magic)?);
        }
        let mut replay = Self {
            boot_id: options.boot_id,
            segments,
            newest_given: given.last().map_or(0, |segment| segment.number),
            chain: Vec::new(),
            link: 0,
            offset: HEADER_LEN_BYTES,
            report: ReplayReport::default(),
            done: false,
        };
        replay.find_chain(given)?;
        Ok(replay)
    }

    fn find_chain(&mut self, given: &[SegmentBytes<'a>]) -> Result<(), ReplayError> {
        let newest = self.segments.iter().rposition(|segment| segment.begin.is_some());
        let Some(mut at) = newest else {
            // Nothing was begun, or nothing of it survived: the oldest segment in which there is anything is a bad place.
            self.chain.extend(self.segments.iter().position(Segment::is_used));
            return Ok(());
        };
        loop {
            self.chain.push(at);
            let segment = &self.segments[at];
            let Some(before) = segment.begin else {
                // Its begin is lost, so the log breaks off here at the latest. What it followed is the newest before it,
                // or that one was given up, and then the log broke off even earlier.
                match self.segments[..at]
                    .iter()
                    .rposition(|older| older.begin.is_some())
                {
                    Some(older) => at = older,
                    None => break,
                }
                continue;
            };
            let mut older = given.iter().take_while(|older| older.number < segment.number);
            if before.segment == 0 || older.all(|older| older.number > before.segment) {
                break;
            }
            let found = self.segments[..at]
                .iter()
                .rposition(|older| older.number == before.segment);
            at = found.ok_or(ReplayError::MissingSegment {
                segment: before.segment,
                named_by: segment.number,
            })?;
        }
        self.chain.reverse();
        let last = *self.chain.last().expect("the newest was pushed");
        // Behind the newest that was begun, something may have been written whose begin is lost.
        let lost = self.segments[last + 1..].iter().position(Segment::is_used);
        self.chain.extend(lost.map(|behind| last + 1 + behind));
        Ok(())
    }

    /// The segment that the oldest one read names as the one before it, unless there was none; it was not among those
    /// given. Whoever left it out must know why: it was flushed.
    #[must_use]
    pub fn follows(&self) -> Option<u64> {
        let oldest = &self.segments[*self.chain.first()?];
        oldest
            .begin
            .map(|before| before.segment)
            .filter(|&segment| segment != 0)
    }

    /// Whether a segment is there with what is on the disk before it is used.
    #[must_use]
    pub fn is_prepared(&self, segment: u64) -> bool {
        let mut given = self.segments.iter().filter(|given| given.number == segment);
        given.any(Segment::is_prepared)
    }

    /// What was read so far, and at the end how it ended.
    #[must_use]
    pub fn report(&self) -> &ReplayReport {
        &self.report
    }

    /// Where the segment at hand must end, by the word of the next one.
    fn limit(&self) -> Option<usize> {
        let next = &self.segments[*self.chain.get(self.link + 1)?];
        // A lost begin names no limit: the bad place is then in the next segment.
        next.begin
            .map(|before| usize::try_from(before.offset).unwrap_or(usize::MAX))
    }

    fn step(&mut self) -> Result<Option<Replayed<'a>>, ReplayError> {
        while let Some(&index) = self.chain.get(self.link) {
            let limit = self.limit();
            let segment = &self.segments[index];
            let (number, bytes) = (segment.number, segment.bytes);
            if limit == Some(self.offset) {
                self.next_segment();
                continue;
            }
            let record = match segment.framing.decode(bytes, self.offset) {
                Ok(record) => record,
                Err(fault) if limit.is_none() && self.ends_here(index, fault) => {
                    self.next_segment();
                    continue;
                }
                Err(fault) => return self.bad_place(fault).map(|()| None),
            };
            let damaged = |kind| ReplayError::Damaged {
                segment: number,
                offset: record.offset,
                kind,
            };
            if let Some(limit) = limit.filter(|&limit| record.end() > limit as u64) {
                let kind = DamageKind::BeyondLimit {
                    limit: limit as u64,
                    found: record.end(),
                };
                return Err(damaged(kind));
            }
            let is_first = self.offset == HEADER_LEN_BYTES;
            if is_first != (record.kind == RecordKind::Begin) || (is_first && segment.begin.is_none()) {
                return Err(damaged(DamageKind::OutOfPlace { kind: record.kind }));
            }
            self.offset += crate::record::RECORD_HEADER_LEN_BYTES + record.payload.len();
            self.report.end = LogPosition {
                segment: number,
                offset: self.offset as u64,
            };
            match record.kind {
                RecordKind::Begin => debug_assert_eq!(self.offset, HEADER_LEN_BYTES + BEGIN_LEN_BYTES),
                RecordKind::SyncMark => {}
                RecordKind::Data => {
                    self.report.record_count += 1;
                    let position = LogPosition {
                        segment: number,
                        offset: record.offset,
                    };
                    return Ok(Some(Replayed {
                        position,
                        payload: record.payload,
                    }));
                }
                RecordKind::Seal if limit.is_some_and(|limit| limit != self.offset) => {
                    return Err(damaged(DamageKind::OutOfPlace { kind: record.kind }));
                }
                RecordKind::Seal => {
                    let is_newest = self.link + 1 == self.chain.len();
                    match <[u8; 8]>::try_from(record.payload) {
                        _ if record.payload.is_empty() => self.report.is_sealed = is_newest,
                        Ok(next) if is_newest => self.check_next(number, u64::from_le_bytes(next))?,
                        Ok(_) => {}
                        Err(_) => return Err(damaged(DamageKind::OutOfPlace { kind: record.kind })),
                    }
                    self.next_segment();
                }
            }
        }
        Ok(None)
    }

    /// The newest segment is sealed, and its seal names the next. That one had its name and its header on the disk before the seal was
    /// written; it may be gone again if the log went on in a later one.
    fn check_next(&self, sealed: u64, next: u64) -> Result<(), ReplayError> {
        if self.newest_given < next {
            return Err(ReplayError::MissingSegment {
                segment: next,
                named_by: sealed,
            });
        }
        if self.newest_given == next && !self.is_prepared(next) {
            return Err(ReplayError::Damaged {
                segment: next,
                offset: 0,
                kind: DamageKind::Unprepared { named_by: sealed },
            });
        }
        Ok(())
    }

    fn next_segment(&mut self) {
        self.link += 1;
        self.offset = HEADER_LEN_BYTES;
    }

    /// Is this the ordinary end of a log that nobody closed: nothing but zeros to the end of the file, which is where it was?
    fn ends_here(&self, index: usize, fault: RecordFault) -> bool {
        match fault {
            _ if self.segments[index].is_cut_short() => false,
            RecordFault::EndOfFile => true,
            RecordFault::NothingWritten => self.segments[index].bytes[self.offset..]
                .iter()
                .all(|&byte| byte == 0),
            _ => false,
        }
    }

    /// No valid record where one should be: the end of what survived, or damage.
    fn bad_place(&mut self, fault: RecordFault) -> Result<(), ReplayError> {
        let place = judge::BadPlace {
            segments: &self.segments,
            index: self.chain[self.link],
            offset: self.offset,
            limit: self.limit(),
            fault,
            today: self.boot_id,
        };
        if let Some(kind) = place.damage() {
            let segment = self.segments[place.index].number;
            return Err(ReplayError::Damaged {
                segment,
                offset: self.offset as u64,
                kind,
            });
        }
        self.report.dropped = place.dropped();
        self.link = self.chain.len();
        Ok(())
    }
}

impl<'a> Iterator for Replay<'a> {
    type Item = Result<Replayed<'a>, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let step = self.step().transpose();
        self.done = !matches!(step, Some(Ok(_)));
        step
    }
}

/// Are all bytes zero? In chunks, since most of a young segment is.
fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(256)
        .all(|chunk| chunk.iter().fold(0, |any, byte| any | byte) == 0)
}
