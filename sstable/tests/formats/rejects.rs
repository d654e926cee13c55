//! What a reader must refuse, each with section, offset, rule, expected and found, in both units.
//!
//! Streams are written by hand, frame by frame, so that each breaks exactly one rule.

use crate::hand_written::{Stream, directory, good, policy, push};
use tephra_sstable::{
    BackspaceCode, Bit, BitString, Byte, EncodedCursor, EncodedStream, FormatError, KeyCursor, Rule, Section,
    Unit, UnitKind, ValueLayout,
};

/// Reads all frames; the first error.
fn read_frames<U: Unit>(stream: &EncodedStream) -> Result<u64, FormatError> {
    let mut cursor = EncodedCursor::<U>::new(stream.view())?;
    let mut count = 0;
    while cursor.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Reads all keys; the first error.
fn read_keys<U: Unit>(stream: &EncodedStream) -> Result<u64, FormatError> {
    let mut cursor = KeyCursor::<U>::new(stream.view())?;
    let mut count = 0;
    while cursor.next()? {
        count += 1;
    }
    Ok(count)
}

/// Both cursors refuse a stream with the same error.
#[track_caller]
fn assert_refused<U: Unit>(stream: &EncodedStream, expected: FormatError) {
    assert_eq!(read_frames::<U>(stream), Err(expected));
    assert_eq!(read_keys::<U>(stream), Err(expected));
}

fn the_model_stream_is_accepted<U: Unit>() {
    let stream = good::<U>().finish();
    assert_eq!(read_frames::<U>(&stream), Ok(3));
    assert_eq!(read_keys::<U>(&stream), Ok(3));
}

fn a_stream_of_the_other_unit<U: Unit>() {
    let mut stream = good::<U>().finish();
    stream.meta.policy = match U::KIND {
        UnitKind::Byte => policy::<Bit>(),
        UnitKind::Bit => policy::<Byte>(),
    };
    let found = stream.meta.policy.unit.bits();
    assert_refused::<U>(&stream, FormatError::metadata(Rule::PolicyUnit, U::BITS, found));
}

fn a_common_width_that_the_policy_does_not_fix<U: Unit>() {
    let mut stream = good::<U>().finish();
    stream.meta.policy.values = ValueLayout::Fixed { width_units: 8 };
    assert_refused::<U>(&stream, FormatError::metadata(Rule::PolicyWidth, 8, u64::MAX));
    stream.meta.common_width = Some(9);
    assert_refused::<U>(&stream, FormatError::metadata(Rule::PolicyWidth, 8, 9));
}

fn impossible_backspace_codes<U: Unit>() {
    let mut stream = good::<U>().finish();
    stream.meta.policy.backspace = BackspaceCode::ExpGolomb { order: 64 };
    assert_refused::<U>(&stream, FormatError::metadata(Rule::PolicyBackspace, 63, 64));
    stream.meta.policy.backspace = BackspaceCode::Golomb { modulus: 0 };
    assert_refused::<U>(&stream, FormatError::metadata(Rule::PolicyBackspace, 1, 0));
}

fn a_backspace_beyond_the_previous_key<U: Unit>() {
    let mut stream = Stream::<U>::new().frame(0, &[0], &[]);
    let at = stream.end();
    stream.key_units = 2;
    let stream = stream.frame(0, &[1], &[]).finish();
    assert_refused::<U>(&stream, FormatError::payload(at, Rule::BackspaceBeyondKey, 1, 2));
}

fn a_first_key_that_retains_something<U: Unit>() {
    let stream = Stream::<U>::new().frame(1, &[0], &[]).finish();
    assert_refused::<U>(&stream, FormatError::payload(0, Rule::FirstKeyRetains, 0, 1));
}

fn a_retained_count_above_the_frames_own_start<U: Unit>() {
    let stream = Stream::<U>::new().frame(0, &[0], &[]).frame(1, &[1], &[]);
    let at = stream.end();
    let stream = stream.frame(1000, &[1], &[]).finish();
    assert_refused::<U>(
        &stream,
        FormatError::payload(at, Rule::RetainedAboveStart, at, 1000),
    );
}

fn a_retained_count_above_the_previous_key<U: Unit>() {
    let stream = Stream::<U>::new().frame(0, &[0], &[]).frame(1, &[1], &[]);
    let at = stream.end();
    let stream = stream.frame(3, &[1], &[]).finish();
    assert_refused::<U>(&stream, FormatError::payload(at, Rule::RetainedAboveKey, 2, 3));
}

fn a_literal_or_value_past_the_extent<U: Unit>() {
    for (literal_units, value_units) in [(5, 0), (1, 5), (u64::MAX, 1), (1, u64::MAX)] {
        let mut stream = Stream::<U>::new().frame(0, &[0], &[]);
        let at = stream.end();
        stream.controls(1, literal_units, value_units);
        push::<U>(&mut stream.frames, &[1]);
        stream.key_units = 2;
        let controls_end = stream.end() - 1;
        let stream = stream.finish();
        let found = controls_end
            .saturating_add(literal_units)
            .saturating_add(value_units);
        let expected = stream.meta.extent_units;
        assert_refused::<U>(
            &stream,
            FormatError::payload(at, Rule::FramePastExtent, expected, found),
        );
    }
}

fn data_behind_the_last_record<U: Unit>() {
    let mut stream = good::<U>();
    let end = stream.end();
    push::<U>(&mut stream.frames, &[0]);
    let stream = stream.finish();
    assert_refused::<U>(
        &stream,
        FormatError::payload(end, Rule::TrailingData, end, end + 1),
    );
}

fn a_wrong_length_of_the_last_key<U: Unit>() {
    let mut stream = good::<U>().finish();
    stream.meta.last_key_units = 7;
    let end = stream.meta.extent_units;
    assert_refused::<U>(&stream, FormatError::payload(end, Rule::LastKeyLength, 7, 1));
}

fn a_block_that_is_not_where_the_directory_says<U: Unit>() {
    let mut stream = good::<U>();
    let at = stream.starts[1];
    stream.starts[1] += 1;
    let stream = stream.finish();
    assert_refused::<U>(&stream, FormatError::payload(at, Rule::BlockPosition, at + 1, at));
}

fn a_directory_of_another_size_or_end<U: Unit>() {
    let mut stream = good::<U>().finish();
    stream.meta.record_count = 5;
    assert_refused::<U>(&stream, FormatError::directory(0, Rule::DirectoryEntries, 4, 3));
    let stream = good::<U>();
    let (starts, end) = (stream.starts.clone(), stream.end());
    let mut stream = stream.finish();
    stream.directory = directory(&[starts[0], starts[1], end + 1]);
    assert_refused::<U>(
        &stream,
        FormatError::directory(2, Rule::BlockPosition, end, end + 1),
    );
}

fn a_payload_shorter_or_longer_than_the_extent<U: Unit>() {
    let mut stream = good::<U>().finish();
    let (len, extent) = (stream.payload.len() as u64, stream.meta.extent_units);
    stream.payload.push(0);
    assert_refused::<U>(
        &stream,
        FormatError::payload(extent, Rule::PayloadLength, len, len + 1),
    );
    stream.payload.truncate(stream.payload.len() - 2);
    let offset = (len - 1) * 8 / U::BITS;
    assert_refused::<U>(
        &stream,
        FormatError::payload(offset, Rule::PayloadLength, len, len - 1),
    );
    stream.meta.extent_units = u64::MAX;
    let found = read_keys::<U>(&stream).expect_err("no memory holds that");
    assert_eq!(
        (found.section, found.rule),
        (Section::Payload, Rule::PayloadLength)
    );
}

fn keys_out_of_order<U: Unit>() {
    let stream = Stream::<U>::new().frame(0, &[1, 0], &[]);
    let literal = stream.end() + 3 * if U::BITS == 8 { 1 } else { 0 };
    let stream = stream.frame(0, &[0, 1], &[]).finish();
    let error = read_keys::<U>(&stream).expect_err("0 1 behind 1 0");
    assert_eq!(
        (error.section, error.rule, error.expected, error.found),
        (Section::Payload, Rule::KeyOrder, 1, 0)
    );
    assert!(error.offset >= literal, "the offset is that of the unit");
    assert_eq!(read_frames::<U>(&stream), Ok(2), "frames alone know no keys");
}

fn a_key_out_of_order_behind_repeated_units<U: Unit>() {
    // Redundant: the literal repeats a unit that could have been retained, and then goes down.
    let stream = Stream::<U>::new().frame(0, &[1, 1, 1], &[]);
    let stream = stream.frame(0, &[1, 1, 0], &[]).finish();
    let error = read_keys::<U>(&stream).expect_err("1 1 0 behind 1 1 1");
    assert_eq!((error.rule, error.expected, error.found), (Rule::KeyOrder, 1, 0));
    assert_eq!(
        error.offset,
        stream.meta.extent_units - 1,
        "the last unit of the payload"
    );
}

fn a_key_equal_to_or_a_prefix_of_the_one_before<U: Unit>() {
    for (retained, literal, units) in [
        (2, &[][..], 2),
        (1, &[], 1),
        (0, &[], 0),
        (0, &[1, 0], 2),
        (0, &[1], 1),
    ] {
        let stream = Stream::<U>::new().frame(0, &[1, 0], &[]);
        let at = stream.end();
        let stream = stream.frame(retained, literal, &[]).finish();
        let expected = FormatError::payload(at, Rule::KeyIsPrefix, 2, units);
        assert_eq!(
            read_keys::<U>(&stream),
            Err(expected),
            "retained {retained}, literal {literal:?}"
        );
    }
}

fn an_error_stays<U: Unit>() {
    let stream = Stream::<U>::new()
        .frame(0, &[1], &[])
        .frame(0, &[0], &[])
        .finish();
    let mut cursor = KeyCursor::<U>::new(stream.view()).expect("the lengths are right");
    assert_eq!(cursor.next(), Ok(true));
    let error = cursor.next().expect_err("0 behind 1");
    assert_eq!(cursor.next(), Err(error));
    assert_eq!(
        cursor.frame().map(|frame| frame.ordinal),
        Some(0),
        "it stands at the record before"
    );
}

fn counts_that_the_extent_cuts_short<U: Unit>() {
    let mut stream = good::<U>();
    stream.record_count += 1;
    let end = stream.end();
    let stream = stream.finish();
    let error = read_keys::<U>(&stream).expect_err("the fourth record is missing");
    assert_eq!(
        (error.section, error.rule, error.offset),
        (Section::Payload, Rule::CountTruncated, end)
    );
}

/// Makes a test in bytes and a test in bits of each function.
macro_rules! tests {
    ($($name:ident)+) => {
        mod bytes {
            $(#[test] fn $name() { super::$name::<super::Byte>(); })+
        }
        mod bits {
            $(#[test] fn $name() { super::$name::<super::Bit>(); })+
        }
    };
}

tests! {
    the_model_stream_is_accepted
    a_stream_of_the_other_unit
    a_common_width_that_the_policy_does_not_fix
    impossible_backspace_codes
    a_backspace_beyond_the_previous_key
    a_first_key_that_retains_something
    a_retained_count_above_the_frames_own_start
    a_retained_count_above_the_previous_key
    a_literal_or_value_past_the_extent
    data_behind_the_last_record
    a_wrong_length_of_the_last_key
    a_block_that_is_not_where_the_directory_says
    a_directory_of_another_size_or_end
    a_payload_shorter_or_longer_than_the_extent
    keys_out_of_order
    a_key_out_of_order_behind_repeated_units
    a_key_equal_to_or_a_prefix_of_the_one_before
    an_error_stays
    counts_that_the_extent_cuts_short
}

#[test]
fn varints_with_a_redundant_byte() {
    let mut stream = Stream::<Byte>::new().frame(0, b"a", b"");
    let at = stream.end();
    stream.frames.extend_from_slice(&[0x80, 0x00, 1, 0, b'b']);
    stream.record_count += 1;
    stream.key_units = 2;
    let stream = stream.finish();
    assert_refused::<Byte>(&stream, FormatError::payload(at, Rule::CountNotCanonical, 1, 2));
}

#[test]
fn counts_above_64_bits() {
    let mut stream = Stream::<Byte>::new();
    stream.frames.extend_from_slice(&[0xff; 9]);
    stream.frames.push(0x02);
    stream.starts.push(0);
    stream.record_count = 1;
    assert_refused::<Byte>(
        &stream.finish(),
        FormatError::payload(0, Rule::CountTooLarge, 64, 65),
    );

    let mut stream = Stream::<Bit>::new();
    stream.frames.push_zeros(66);
    stream.frames.push_bits(u64::MAX, 64);
    stream.frames.push_bits(u64::MAX, 64);
    stream.starts.push(0);
    stream.record_count = 1;
    assert_refused::<Bit>(
        &stream.finish(),
        FormatError::payload(0, Rule::CountTooLarge, 129, 133),
    );
}

#[test]
fn padding_that_is_not_zero() {
    let mut stream = good::<Bit>().finish();
    let extent = stream.meta.extent_units;
    assert!(!extent.is_multiple_of(8), "the model stream has padding");
    *stream.payload.last_mut().expect("not empty") |= 1;
    assert_refused::<Bit>(&stream, FormatError::payload(extent, Rule::Padding, 0, 1));
}

#[test]
fn an_error_reads_as_a_sentence() {
    let stream = Stream::<Byte>::new().frame(1, &[0], &[]).finish();
    let error = read_keys::<Byte>(&stream).expect_err("it retains a unit");
    assert_eq!(
        error.to_string(),
        "payload, unit 0: the first key retains something: units: expected 0, found 1"
    );
}

#[test]
fn a_bit_string_that_is_all_zeros_is_no_count() {
    let mut zeros = BitString::new();
    zeros.push_zeros(40);
    let mut stream = Stream::<Bit>::new();
    stream.frames = zeros;
    stream.starts.push(0);
    stream.record_count = 1;
    let error = read_frames::<Bit>(&stream.finish()).expect_err("no one bit");
    assert_eq!(
        (error.rule, error.expected, error.found),
        (Rule::CountTruncated, 41, 40)
    );
}
