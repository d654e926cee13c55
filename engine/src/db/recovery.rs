//! Replays the log into memtables.
//!
//! ```text
//! segments    5      6     7     9              left by processes that wrote little, and by one that wrote much
//! bytes       90    120   140   60 MB    80
//! memtables   '-----------------------'  '--'   a segment joins the memtable before it, unless that is half full
//! ```
//!
//! A program that opens the database, writes a record and goes leaves a segment each time. Joined, they are one memtable, which stops no
//! writer and goes with the next one that is full; or, when many segments have come together, in the open itself: a thread beside such a program
//! would come too late ([`Engine::flush_leftovers`]). So there is one table for many such programs, and the log stays short.

use std::sync::Arc;

use tephra_sstable::UnitKind;
use tephra_wal::{
    BootId, LOG_MAGIC, LogPosition, RECORD_HEADER_LEN_BYTES, Replay, ReplayOptions, SegmentBytes,
};

use crate::batch::record::{self, Op};
use crate::bit_key;
use crate::directory::{Directory, Listing};
use crate::error::{Error, Result};
use crate::file_name::FileName;
use crate::instant::FrozenMemtable;
use crate::keyspace::Keyspaces;
use crate::memtable::{Entry, EntryKind, Loader, Refusals, UNCOMPOSED_MAX, merged};
use crate::options::Options;
use crate::version::{ManifestState, manifest};

/// Segments that wait together for a flush: more of them cost the next opens more than a table does, since each is read and synced.
pub(crate) const LEFT_SEGMENTS_MAX: usize = 8;

/// Segments of one memtable at most, where flushes fail again and again: then writers get to know.
const JOINED_SEGMENTS_MAX: usize = 256;

/// What the log held.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The memtables of all segments up to the last that holds a record; newest first.
    pub(crate) frozen: Vec<Arc<FrozenMemtable>>,
    /// Bytes of the segments' files.
    pub(crate) file_bytes: u64,
    /// Their segments, oldest first.
    pub(crate) segments: Vec<u64>,
    /// The end of the last record: where the next segment goes on. `None` without records.
    pub(crate) end: Option<LogPosition>,
    /// Bytes behind the end that were never completely written.
    pub(crate) dropped_bytes: u64,
}

impl Recovered {
    /// Whether what was replayed is worth a flush now, or would slow writers down; otherwise it goes with the next memtable that is full.
    pub(crate) fn wants_flush(&self, options: &Options) -> bool {
        self.frozen.len() > 1
            || self.frozen.len() + 1 >= options.frozen_memtables_max
            || self.file_bytes >= options.memtable_bytes as u64 / 2
    }
}

/// A memtable that is being filled, from one or more segments that follow each other.
#[derive(Debug)]
struct Filling {
    loader: Loader,
    segments: Vec<u64>,
    log_bytes: u64,
    /// A key has so many uncomposed operands that those of another segment might be too many for a flush, or the law is not known.
    is_uncomposed: bool,
}

impl Filling {
    /// Whether the next segment may join.
    fn has_room(&self, memtable_bytes: usize) -> bool {
        !self.is_uncomposed
            && self.log_bytes < memtable_bytes as u64 / 2
            && self.segments.len() < JOINED_SEGMENTS_MAX
    }

    fn freeze(mut self) -> FrozenMemtable {
        let segment = self.segments.pop().expect("made for a segment");
        FrozenMemtable {
            root: self.loader.finish(),
            older_segments: self.segments,
            segment,
            log_bytes: self.log_bytes,
        }
    }
}

/// Reads the segments that are not flushed, in order. A tail that a crash tore is left out; damage in the middle is an error, and
/// nothing is changed on disk either way.
///
/// Deletes and range deletes stay in the memtables whatever older layers hold: resolving them again is harmless. Operations on keyspaces that were
/// dropped since are left for the flush to leave out. Operands are composed as they come, as the writer did; those of a law that is not
/// known are kept as they are.
pub(crate) fn replay(
    directory: &Directory,
    state: &ManifestState,
    listing: &Listing,
    cores: &Keyspaces,
    memtable_bytes: usize,
) -> Result<Recovered> {
    let numbers = listing.own.iter().filter_map(|name| match name {
        FileName::Segment(number) if *number > state.flushed_segment => Some(*number),
        _ => None,
    });
    let files = numbers.map(|number| {
        let path = directory.path_of(FileName::Segment(number));
        Ok((number, directory.file_system.read(&path)?))
    });
    let files = files.collect::<Result<Vec<_>>>()?;
    let given: Vec<_> = files
        .iter()
        .map(|(number, bytes)| SegmentBytes {
            number: *number,
            bytes,
        })
        .collect();
    let options = ReplayOptions {
        magic: LOG_MAGIC,
        boot_id: BootId(directory.file_system.boot_id()),
    };
    let error_of = |error| manifest::replay_error(directory, error, FileName::Segment);
    let mut replay = Replay::new(&given, options).map_err(error_of)?;
    // A manifest that lost its last edits would take flushed segments for unflushed ones: they are gone, and that tells.
    if let Some(before) = replay.follows().filter(|&before| before > state.flushed_segment) {
        return Err(Error::Inconsistent {
            path: directory.path_of(FileName::Segment(before)),
            expected: format!(
                "this log segment: tables hold the log up to segment {} only",
                state.flushed_segment
            ),
            found: "no such file".into(),
        });
    }
    check_newest(directory, state, &files, &replay)?;
    let mut recovered = Recovered::default();
    let mut memtables: Vec<Filling> = Vec::new();
    for replayed in replay.by_ref() {
        let replayed = replayed.map_err(error_of)?;
        let LogPosition { segment, offset } = replayed.position;
        // Those without a record count too, if one behind them has any.
        let begun = files.iter().skip(recovered.segments.len());
        for (number, bytes) in begun.take_while(|(number, _)| *number <= segment) {
            recovered.segments.push(*number);
            recovered.file_bytes += bytes.len() as u64;
            match memtables.last_mut() {
                Some(last) if last.has_room(memtable_bytes) => last.segments.push(*number),
                _ => memtables.push(Filling {
                    loader: Loader::default(),
                    segments: vec![*number],
                    log_bytes: 0,
                    is_uncomposed: false,
                }),
            }
        }
        let filling = memtables.last_mut().expect("replayed from a given segment");
        let ops = record::decode(replayed.payload).map_err(|malformed| Error::Damaged {
            path: directory.path_of(FileName::Segment(segment)),
            offset: offset + (RECORD_HEADER_LEN_BYTES + malformed.offset) as u64,
            expected: malformed.expected.into(),
            found: malformed.found,
        })?;
        if let Some(found) = ops.iter().find_map(|op| not_of_bits(op, state)) {
            return Err(Error::Damaged {
                path: directory.path_of(FileName::Segment(segment)),
                offset: offset + RECORD_HEADER_LEN_BYTES as u64,
                expected: "keys and values that encode bit strings".into(),
                found,
            });
        }
        let loader = &mut filling.loader;
        for op in ops {
            match op {
                Op::DeleteRange(interval) => loader.memtable().delete_range(interval, true),
                Op::Write(write) if write.kind == EntryKind::Merge => {
                    let found = cores.get(&write.keyspace);
                    let memtable = loader.memtable();
                    let merged = found.map_or(Ok(Entry::new(write)), |core| {
                        if !core.is_composing() {
                            return Err(Error::Damaged {
                                path: directory.path_of(FileName::Segment(segment)),
                                offset,
                                expected: format!("no merge, since keyspace {:?} has no law", core.name),
                                found: "a merge".into(),
                            });
                        }
                        let older = memtable.take_state(write.keyspace, write.key);
                        filling.is_uncomposed |= core.law().is_err();
                        merged(older, write, core, Refusals::TooLate)
                    })?;
                    filling.is_uncomposed |= merged.as_ref().part_count() > UNCOMPOSED_MAX;
                    memtable.insert(merged);
                }
                Op::Write(write) => loader.write(write),
            }
        }
        filling.log_bytes += replayed.payload.len() as u64;
        let record_len_bytes = (RECORD_HEADER_LEN_BYTES + replayed.payload.len()) as u64;
        recovered.end = Some(LogPosition {
            segment,
            offset: offset + record_len_bytes,
        });
    }
    recovered.dropped_bytes = replay
        .report()
        .dropped
        .iter()
        .map(|dropped| dropped.to - dropped.from)
        .sum();
    let newest_first = memtables.into_iter().rev();
    recovered.frozen = newest_first.map(|filling| Arc::new(filling.freeze())).collect();
    Ok(recovered)
}

/// The newest segment that the manifest knows of must be there, with its header.
fn check_newest(
    directory: &Directory,
    state: &ManifestState,
    files: &[(u64, Vec<u8>)],
    replay: &Replay<'_>,
) -> Result<()> {
    let number = state.log_segment;
    if number <= state.flushed_segment || replay.is_prepared(number) {
        return Ok(());
    }
    let path = directory.path_of(FileName::Segment(number));
    let Some((_, bytes)) = files.iter().find(|(given, _)| *given == number) else {
        return Err(Error::Inconsistent {
            path,
            expected: "this log segment".into(),
            found: "no such file".into(),
        });
    };
    Err(Error::Damaged {
        path,
        offset: 0,
        expected: "a log segment of full length, made before the manifest named it".into(),
        found: format!("{} bytes without a record", bytes.len()),
    })
}

/// What of an operation on a keyspace of bit strings is no bit string. Everything behind the log relies on it.
pub(crate) fn not_of_bits(op: &Op<'_>, state: &ManifestState) -> Option<String> {
    let is_of_bits = state
        .keyspaces
        .get(&op.keyspace())
        .is_some_and(|keyspace| keyspace.settings.unit == UnitKind::Bit);
    if !is_of_bits {
        return None;
    }
    let is_bound = |bytes: &[u8]| {
        let above = bytes.strip_suffix(&[0]).and_then(bit_key::decode_key);
        bytes.is_empty() || above.or_else(|| bit_key::decode_key(bytes)).is_some()
    };
    let is_sound = match op {
        Op::Write(write) => {
            let is_value_sound = match write.kind {
                EntryKind::Put => bit_key::decode_value(write.value).is_some(),
                EntryKind::Delete => true,
                // No law composes bits.
                EntryKind::Merge => false,
            };
            is_value_sound && bit_key::decode_key(write.key).is_some()
        }
        Op::DeleteRange(interval) => is_bound(interval.start()) && interval.end().is_none_or(is_bound),
    };
    (!is_sound).then(|| format!("{op:?}"))
}
