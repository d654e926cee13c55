//! What can still be read of a damaged log: every whole record, and the places where there is none.
//!
//! ```text
//! segment 4   | Begin | a | b | ????????? | d | Seal(6) |      gap: 'c' cannot be read, 'd' can, behind it
//! segment 5   given up by a recovery: off the chain
//! segment 6   | Begin(4) | e | f | 0 0 0                       an ordinary end
//! segment 8   | Begin(7) | ...                                 gap: segment 7 is missing
//! segment 9   ?? | Begin(8) | g |                              gap: the header; 'g' passes its checks (`damaged_header.rs`)
//! ```
//!
//! Replay stops at a bad place or refuses it; this goes on behind it, for somebody who wants to have what there is and be told what there
//! is not. What is handed out is no longer a prefix of what was written.

use super::{Replayed, Segment, SegmentBytes, damaged_header, is_zero};
use crate::header::{HEADER_LEN_BYTES, array};
use crate::record::{RecordFault, RecordKind};
use crate::writer::LogPosition;

/// A place where records may have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The segment.
    pub segment: u64,
    /// First byte that is not part of a whole record.
    pub from: u64,
    /// Where the next whole record starts, or the segment ends. Equal to `from` where nothing is known of the segment but its number.
    pub to: u64,
    /// What is wrong.
    pub reason: String,
}

impl Gap {
    /// Only the header of the file is damaged: there was no record here.
    #[must_use]
    pub fn is_header(&self) -> bool {
        (self.from, self.to) == (0, HEADER_LEN_BYTES as u64)
    }
}

/// What could be read.
#[derive(Clone, Debug, Default)]
pub struct Salvage<'a> {
    /// Whole records, in the order they were written in.
    pub records: Vec<Replayed<'a>>,
    /// In the same order. Segments that are missing and headers that are damaged come first.
    pub gaps: Vec<Gap>,
    /// Segments that hold nothing, not even what is on the disk before a segment is used.
    pub unprepared: Vec<u64>,
    /// The segment that the oldest one read names as the one before it, unless there was none.
    pub follows: Option<u64>,
}

/// Reads what can be read of segments of a kind, given in ascending order of their numbers.
#[must_use]
pub fn salvage<'a>(given: &[SegmentBytes<'a>], magic: [u8; 8]) -> Salvage<'a> {
    let mut found = Salvage::default();
    let mut segments = Vec::new();
    for &segment in given {
        match Segment::open(segment, magic) {
            Ok(Some(opened)) if opened.is_prepared() => segments.push(opened),
            Ok(_) => found.unprepared.push(segment.number),
            Err(error) => {
                let opened = damaged_header::open(segment, magic);
                let (to, rest) = match opened {
                    Some(_) => (HEADER_LEN_BYTES, "; the records behind it pass their own checks"),
                    None => (segment.bytes.len(), ""),
                };
                found.gap(segment.number, 0, to, format!("no good header: {error}{rest}"));
                segments.extend(opened);
            }
        }
    }
    let chain = find_chain(&segments, given, &mut found);
    let oldest = chain.first().and_then(|&oldest| segments[oldest].begin);
    found.follows = oldest.map(|before| before.segment).filter(|&number| number != 0);
    for (link, &index) in chain.iter().enumerate() {
        let segment = &segments[index];
        let follower = chain.get(link + 1).and_then(|&next| segments[next].begin);
        let limit = follower.filter(|before| before.segment == segment.number);
        let is_newest = link + 1 == chain.len();
        found.read(segment, limit, is_newest.then_some(given));
    }
    found
}

/// The segments that belong together, oldest first: along the `Begin` records where they can be read, to the next older one otherwise.
fn find_chain(segments: &[Segment<'_>], given: &[SegmentBytes<'_>], found: &mut Salvage<'_>) -> Vec<usize> {
    let begun_before = |end: usize| {
        segments[..end]
            .iter()
            .rposition(|segment| segment.begin.is_some())
    };
    let Some(mut at) = begun_before(segments.len()) else {
        return segments.iter().position(Segment::is_used).into_iter().collect();
    };
    let mut chain = Vec::new();
    loop {
        chain.push(at);
        let number = segments[at].number;
        let next = match segments[at].begin {
            Some(before) if before.segment == 0 => None,
            Some(before) => {
                let named = segments[..at]
                    .iter()
                    .rposition(|older| older.number == before.segment);
                let is_any_older = given.iter().any(|older| older.number <= before.segment);
                let has_gap = found.gaps.iter().any(|gap| gap.segment == before.segment);
                if named.is_none() && is_any_older && !has_gap {
                    let reason = format!("no such segment, though segment {number} follows it");
                    found.gap(before.segment, 0, 0, reason);
                }
                named.or_else(|| begun_before(segments.partition_point(|s| s.number < before.segment)))
            }
            None => begun_before(at),
        };
        match next {
            Some(older) => at = older,
            None => break,
        }
    }
    chain.reverse();
    let newest = *chain.last().expect("one was pushed");
    let lost = segments[newest + 1..].iter().position(Segment::is_used);
    chain.extend(lost.map(|behind| newest + 1 + behind));
    chain
}

impl<'a> Salvage<'a> {
    fn gap(&mut self, segment: u64, from: usize, to: usize, reason: String) {
        self.gaps.push(Gap {
            segment,
            from: from as u64,
            to: to as u64,
            reason,
        });
    }

    /// Reads one segment. `given` are all segments, if this is the newest.
    fn read(
        &mut self,
        segment: &Segment<'a>,
        limit: Option<LogPosition>,
        given: Option<&[SegmentBytes<'_>]>,
    ) {
        let number = segment.number;
        let limit = limit.map(|limit| usize::try_from(limit.offset).unwrap_or(usize::MAX));
        let bytes = &segment.bytes[..limit.unwrap_or(usize::MAX).min(segment.bytes.len())];
        let mut at = HEADER_LEN_BYTES.min(bytes.len());
        loop {
            if limit == Some(at) {
                return;
            }
            let fault = match segment.framing.decode(bytes, at) {
                Ok(record) => {
                    at = usize::try_from(record.end()).expect("the record lies in memory");
                    match record.kind {
                        RecordKind::Data => self.records.push(Replayed {
                            position: LogPosition {
                                segment: number,
                                offset: record.offset,
                            },
                            payload: record.payload,
                        }),
                        RecordKind::Seal => return self.check_next(number, record.payload, given),
                        RecordKind::Begin | RecordKind::SyncMark => {}
                    }
                    continue;
                }
                Err(fault) => fault,
            };
            let is_end = match fault {
                RecordFault::EndOfFile => true,
                RecordFault::NothingWritten => is_zero(&bytes[at..]),
                _ => false,
            };
            if is_end && limit.is_none() && !segment.is_cut_short() {
                return;
            }
            let next = segment.framing.find_next(bytes, at);
            let to = match &next {
                Some(record) => usize::try_from(record.offset).expect("the record lies in memory"),
                None => limit.unwrap_or(bytes.len()).max(at),
            };
            let reason = match segment.is_cut_short() && next.is_none() {
                true => format!(
                    "{fault}; the file was made {} bytes long and has {}",
                    segment.reserved_bytes,
                    segment.bytes.len()
                ),
                false => fault.to_string(),
            };
            self.gap(number, at, to, reason);
            if next.is_none() {
                return;
            }
            at = to;
        }
    }

    /// The segment that a seal names must be there, or a later one.
    fn check_next(&mut self, sealed: u64, payload: &[u8], given: Option<&[SegmentBytes<'_>]>) {
        let (Some(given), 8) = (given, payload.len()) else {
            return;
        };
        let next = u64::from_le_bytes(array(payload));
        let newest = given.last().map_or(0, |segment| segment.number);
        if newest < next {
            let reason = format!("no such segment, though segment {sealed} goes on there");
            self.gap(next, 0, 0, reason);
        } else if newest == next && self.unprepared.contains(&next) {
            let reason = format!("cut short before its first record, though segment {sealed} goes on there");
            self.gap(next, 0, 0, reason);
        }
    }
}
