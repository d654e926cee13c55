//! Every allocation that an append can reach fails in turn, for the writers around the native one: tables, streams
//! handed on as they come, and frames that a merge forwards.
//!
//! ```text
//! for every step (one append) of a writer, and n = 0, 1, 2, ... until the step succeeds:
//!     a new writer does all steps before; the n-th allocation of this one fails
//!     the step says "no memory"
//!     ending there gives what the steps before give; doing it again, and the rest, gives the whole
//! ```
//!
//! These writers cannot be cloned, so an append reaches an allocation only where its buffers are full: runs are long
//! enough for every buffer to grow several times.

#[path = "support/failing_allocator.rs"]
mod failing_allocator;

use failing_allocator::with_failure;
use tephra_sstable::writer::DrainingWriter;
use tephra_sstable::writer::framing::Run;
use tephra_sstable::{
    AppendError, BackspaceCode, Bit, Byte, EncodedCursor, EncodedStream, Frame, FrameWriter, Policy,
    TableOptions, TableWriteError, TableWriter, Unit, UnitKind, encode_batch,
};

/// Enough for every output of this file: a vector that grows would abort where a file fails.
const OUTPUT_LEN_BYTES: usize = 4 << 20;

/// Fails every allocation of every step. Gives how many failed.
fn fail_everywhere<W, T: PartialEq>(
    context: &str,
    steps: usize,
    new: impl Fn() -> W,
    step: impl Fn(&mut W, usize) -> Result<(), AppendError>,
    finish: impl Fn(W) -> T,
) -> u64 {
    let after = |count: usize| {
        let mut writer = new();
        (0..count).for_each(|index| step(&mut writer, index).expect("memory"));
        writer
    };
    let whole = finish(after(steps));
    let mut failures = 0;
    for index in 0..steps {
        let prefix = finish(after(index));
        for n in 0.. {
            let fail = || {
                let mut writer = after(index);
                let (result, reached) = with_failure(n, || step(&mut writer, index));
                (writer, result, reached)
            };
            let (writer, result, reached) = fail();
            if !reached {
                result.expect("no allocation failed");
                break;
            }
            failures += 1;
            assert!(
                matches!(result, Err(AppendError::Memory)),
                "{context}: step {index}, allocation {n}: {result:?}"
            );
            assert!(
                finish(writer) == prefix,
                "{context}: step {index}, allocation {n}: prefix"
            );
            let (mut writer, ..) = fail();
            (index..steps).for_each(|index| step(&mut writer, index).expect("memory is back"));
            assert!(
                finish(writer) == whole,
                "{context}: step {index}, allocation {n}: retry"
            );
        }
    }
    failures
}

/// Keys that grow and shrink, with blocks of any length between them; in order.
fn keys() -> Vec<Vec<u8>> {
    (0..60u8)
        .map(|n| [&[n][..], &vec![n ^ 0x55; usize::from(n) * 37 % 700]].concat())
        .collect()
}

fn units<U: Unit>(bytes: &[u8], units_max: u64) -> U::Str<'_> {
    let units = bytes.len() as u64 * 8 / U::BITS;
    U::string_at(bytes, 0, units.min(units_max)).expect("so many are there")
}

/// Policies of a unit: the default, fixed values, and for bits other backspace codes; with the width of all values.
fn policies<U: Unit>() -> Vec<(Policy, Option<u64>)> {
    match U::KIND {
        UnitKind::Byte => vec![
            (Policy::byte_variable(), None),
            (Policy::byte_variable(), Some(2000)),
            (Policy::byte_fixed(0), Some(0)),
        ],
        UnitKind::Bit => {
            let with = |backspace| Policy {
                backspace,
                ..Policy::bit_variable()
            };
            vec![
                (Policy::bit_variable(), None),
                (Policy::bit_fixed(9), Some(9)),
                (with(BackspaceCode::Golomb { modulus: 3 }), Some(0)),
                (with(BackspaceCode::ExpGolomb { order: 11 }), None),
            ]
        }
    }
}

/// A value for a record: as wide as declared, or some width.
fn value<U: Unit>(bytes: &[u8], index: usize, width: Option<u64>) -> U::Str<'_> {
    units::<U>(bytes, width.unwrap_or(index as u64 * 997 % 6000))
}

fn tables<U: Unit>() {
    let (keys, bytes) = (keys(), vec![0xc5; 6000]);
    for (policy, width) in policies::<U>() {
        let options = TableOptions {
            common_width: width,
            ..TableOptions::new(policy, 5)
        };
        let failures = fail_everywhere(
            &format!("table, {policy:?}"),
            keys.len(),
            || {
                let output = Vec::with_capacity(OUTPUT_LEN_BYTES);
                TableWriter::<_, U>::new(output, options.clone()).expect("a legal policy")
            },
            |writer, index| match writer.append(
                units::<U>(&keys[index], u64::MAX),
                value::<U>(&bytes, index, width),
            ) {
                Err(TableWriteError::Append(error)) => Err(error),
                result => {
                    result.expect("only memory is short");
                    Ok(())
                }
            },
            |writer| writer.finish().expect("memory").0,
        );
        // The first key, the previous key, frames, the directory, hashes, separators and where they end.
        assert!(failures > 10, "{policy:?}: {failures} failures");
    }
}

#[test]
fn tables_of_bytes_survive_every_failed_allocation() {
    tables::<Byte>();
}

#[test]
fn tables_of_bits_survive_every_failed_allocation() {
    tables::<Bit>();
}

fn drained_streams<U: Unit>() {
    let (keys, bytes) = (keys(), vec![0xc5; 6000]);
    for (policy, width) in policies::<U>() {
        for drain_len_bytes in [0, 500, 1 << 30] {
            let failures = fail_everywhere(
                &format!("draining after {drain_len_bytes} bytes, {policy:?}"),
                keys.len(),
                || {
                    let output = Vec::with_capacity(OUTPUT_LEN_BYTES);
                    DrainingWriter::<U, _>::new(policy, width, output, drain_len_bytes).expect("legal")
                },
                |writer, index| {
                    let (key, value) = (
                        units::<U>(&keys[index], u64::MAX),
                        value::<U>(&bytes, index, width),
                    );
                    writer.append(key, value).map(drop)
                },
                |writer| writer.finish().expect("memory"),
            );
            assert!(failures > 5, "{policy:?}: {failures} failures");
        }
    }
}

#[test]
fn drained_streams_of_bytes_survive_every_failed_allocation() {
    drained_streams::<Byte>();
}

#[test]
fn drained_streams_of_bits_survive_every_failed_allocation() {
    drained_streams::<Bit>();
}

/// What a merge appends: single frames, literal and value in one piece; and runs of frames as they are.
enum Forwarded {
    Single(Frame),
    Run(Vec<Frame>),
}

fn forwarded_frames<U: Unit>() {
    let (keys, bytes) = (keys(), vec![0xc5; 6000]);
    for (policy, width) in policies::<U>() {
        let policy = Policy {
            records_per_block: 20.try_into().expect("not zero"),
            ..policy
        };
        let records: Vec<_> = (0..keys.len())
            .map(|index| {
                (
                    units::<U>(&keys[index], u64::MAX),
                    value::<U>(&bytes, index, width),
                )
            })
            .collect();
        let mut stream = encode_batch::<U>(policy, &records).expect("sorted");
        if stream.meta.common_width != width {
            continue; // All values happen to be equally wide: another stream than a streaming writer's.
        }
        stream.payload.extend([0; 64]);
        let frames = frames_of::<U>(&stream);
        let mut steps: Vec<Forwarded> = Vec::new();
        for frame in frames {
            // In each block: three frames by themselves, then runs of up to six.
            match steps.last_mut() {
                Some(Forwarded::Run(run)) if frame.ordinal % 20 > 3 && run.len() < 6 => run.push(frame),
                _ if frame.ordinal % 20 > 3 => steps.push(Forwarded::Run(vec![frame])),
                _ => steps.push(Forwarded::Single(frame)),
            }
        }
        let failures = fail_everywhere(
            &format!("forwarded, {policy:?}"),
            steps.len(),
            || FrameWriter::<U>::new(policy, width).expect("a legal policy"),
            |writer, index| forward::<U>(writer, &stream.payload, &steps[index]),
            |mut writer| writer.finish().expect("memory"),
        );
        assert!(failures > 2, "{policy:?}: {failures} failures");
    }
}

fn frames_of<U: Unit>(stream: &EncodedStream) -> Vec<Frame> {
    let len_bytes = usize::try_from(stream.meta.payload_len_bytes().expect("small")).expect("small");
    let mut view = stream.view();
    view.payload = &stream.payload[..len_bytes];
    let mut cursor = EncodedCursor::<U>::new(view).expect("just written");
    std::iter::from_fn(|| cursor.next().expect("just written")).collect()
}

fn forward<U: Unit>(
    writer: &mut FrameWriter<U>,
    readable: &[u8],
    step: &Forwarded,
) -> Result<(), AppendError> {
    let span = |start, end| U::span_at(readable, start, end - start).expect("in the payload");
    match step {
        Forwarded::Single(frame) => {
            let body = span(frame.literal_start, frame.next);
            writer.append_joined(frame.retained, frame.literal_units(), body)
        }
        Forwarded::Run(frames) => {
            let last = frames.last().expect("not empty");
            let run = Run {
                records: frames.len() as u64,
                literal_units: frames.iter().map(Frame::literal_units).sum(),
                value_units: frames.iter().map(Frame::value_units).sum(),
                last_key_units: last.key_units(),
            };
            writer.append_run(run, span(frames[0].start, last.next))
        }
    }
}

#[test]
fn forwarded_frames_of_bytes_survive_every_failed_allocation() {
    forwarded_frames::<Byte>();
}

#[test]
fn forwarded_frames_of_bits_survive_every_failed_allocation() {
    forwarded_frames::<Bit>();
}
