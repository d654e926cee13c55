//! What the log holds, as far as it can be read.

use tephra_sstable::UnitKind;
use tephra_wal::{
    BootId, LOG_MAGIC, Replay, ReplayError, ReplayOptions, Replayed, Salvage, SegmentBytes, salvage,
};

use super::manifests::{History, told};
use super::report::{Loss, RepairReport};
use crate::batch::record::{self, Op};
use crate::db::not_of_bits;
use crate::directory::{Directory, Listing};
use crate::file_name::FileName;
use crate::memtable::EntryKind;
use crate::sorted_map::SortedMap;

/// What was found in the segments that are not flushed.
#[derive(Debug, Default)]
pub(super) struct LogFound {
    /// The payloads of each segment that has any, oldest first.
    pub(super) segments: Vec<Vec<Vec<u8>>>,
    /// The segment that the oldest one follows.
    pub(super) follows: Option<u64>,
    /// Above the numbers of all keyspaces that are written to, those that nobody knows any more included: a new keyspace must not get
    /// what was meant for another.
    pub(super) next_keyspace: u32,
}

/// Reads the segments: as a plain open would, if that works, and else every record that is whole.
pub(super) fn read(
    source: &Directory,
    listing: &Listing,
    history: &History,
    report: &mut RepairReport,
) -> LogFound {
    let flushed = history.state.flushed_segment;
    let mut files = Vec::new();
    for name in &listing.own {
        if let FileName::Segment(number) = *name
            && number > flushed
        {
            match told(
                source
                    .file_system
                    .read(&source.path_of(*name))
                    .map_err(Into::into),
            ) {
                Ok(bytes) => files.push((number, bytes)),
                Err(reason) => report.lose(Loss::of(name, reason).may_undelete()),
            }
        }
    }
    let given: Vec<_> = files
        .iter()
        .map(|(number, bytes)| SegmentBytes {
            number: *number,
            bytes,
        })
        .collect();
    let today = BootId(source.file_system.boot_id());
    let loss_count = report.lost.len();
    let found = salvage(&given, LOG_MAGIC);
    check_newest(history, &given, &found, report);
    let (records, follows) = replay(&given, today, report).unwrap_or_else(|refusal| {
        for gap in &found.gaps {
            let mut loss = Loss::of(FileName::Segment(gap.segment), gap.reason.as_str()).may_undelete();
            if gap.to > gap.from {
                loss.reason = format!("{} bytes cannot be read: {}", gap.to - gap.from, loss.reason);
                loss = loss.at(gap.from);
            }
            report.lose(loss);
        }
        if report.lost.len() == loss_count {
            report.lose(Loss::of("log", refusal.to_string()).may_undelete());
        }
        (found.records.clone(), found.follows)
    });
    sort_out(&records, follows, history, report)
}

/// The newest segment that the manifest knows of must be there.
fn check_newest(
    history: &History,
    given: &[SegmentBytes<'_>],
    found: &Salvage<'_>,
    report: &mut RepairReport,
) {
    let newest = history.state.log_segment;
    if newest <= history.state.flushed_segment {
        return;
    }
    let reason = if !given.iter().any(|segment| segment.number == newest) {
        "no such file, though the manifest knows that it was made"
    } else if found.unprepared.contains(&newest) {
        "cut short before its first record, though the manifest knows that it was made"
    } else {
        return;
    };
    report.lose(Loss::of(FileName::Segment(newest), reason).may_undelete());
}

type Found<'a> = (Vec<Replayed<'a>>, Option<u64>);

/// What a plain open would read.
fn replay<'a>(
    given: &[SegmentBytes<'a>],
    today: BootId,
    report: &mut RepairReport,
) -> Result<Found<'a>, ReplayError> {
    let options = ReplayOptions {
        magic: LOG_MAGIC,
        boot_id: today,
    };
    let mut replay = Replay::new(given, options)?;
    let follows = replay.follows();
    let records = replay.by_ref().collect::<Result<Vec<_>, _>>()?;
    let dropped = replay.report().dropped.iter();
    report
        .notes
        .extend(dropped.map(|dropped| format!("{dropped}, as after any crash")));
    Ok((records, follows))
}

/// Keeps the records that an open of the new database will take.
fn sort_out(
    records: &[Replayed<'_>],
    follows: Option<u64>,
    history: &History,
    report: &mut RepairReport,
) -> LogFound {
    let mut next_keyspace = 0;
    let mut segments: SortedMap<u64, Vec<Vec<u8>>> = SortedMap::new();
    let mut homeless: SortedMap<u32, u64> = SortedMap::new();
    for record in records {
        let name = FileName::Segment(record.position.segment);
        let ops = match record::decode(record.payload) {
            Ok(ops) => ops,
            Err(malformed) => {
                let reason = format!("expected {}, found {}", malformed.expected, malformed.found);
                let loss = Loss::of(name, reason).at(record.position.offset);
                report.lose(loss.records(1).may_undelete());
                continue;
            }
        };
        if let Some(found) = ops.iter().find_map(|op| foreign(op, history)) {
            let loss = Loss::of(name, format!("its keyspace cannot hold {found}"));
            report.lose(loss.at(record.position.offset).records(1).may_undelete());
            continue;
        }
        for op in &ops {
            next_keyspace = next_keyspace.max(op.keyspace().saturating_add(1));
            if !history.state.keyspaces.contains_key(&op.keyspace()) {
                *homeless.get_or_insert_with(op.keyspace(), Default::default) += 1;
            }
        }
        report.log_record_count += 1;
        let payloads = segments.get_or_insert_with(record.position.segment, Default::default);
        payloads.push(record.payload.to_vec());
    }
    if !history.is_complete {
        for (keyspace, count) in homeless {
            let reason =
                format!("{count} operations on keyspace {keyspace}, whose name and settings are lost");
            report.lose(Loss::of("log", reason).records(count));
        }
    }
    LogFound {
        segments: segments.into_values().collect(),
        follows,
        next_keyspace,
    }
}

/// What of an operation its keyspace cannot hold.
fn foreign(op: &Op<'_>, history: &History) -> Option<String> {
    let keyspace = history.state.keyspaces.get(&op.keyspace())?;
    let merges = matches!(op, Op::Write(write) if write.kind == EntryKind::Merge);
    if merges && keyspace.settings.law.is_none() {
        return Some("a merge, having no law".into());
    }
    match keyspace.settings.unit {
        UnitKind::Bit => not_of_bits(op, &history.state),
        UnitKind::Byte => None,
    }
}
