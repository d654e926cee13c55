//! The worked example of the crate's head, and round trips of small streams.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::frame::{read_short, read_with_care};
use super::{KeyCursor, encode_batch};
use crate::bits::BitStr;
use crate::policy::{BackspaceCode, Policy};
use crate::stream::StreamMeta;
use crate::unit::{Bit, Byte, Unit};

#[test]
fn the_worked_example_is_true() {
    let records: [(&[u8], &[u8]); 3] = [(b"car", b"1"), (b"cart", b"22"), (b"cat", b"")];
    let stream = encode_batch::<Byte>(Policy::byte_variable(), &records).expect("sorted");
    assert_eq!(stream.payload, b"\x00\x03\x01car1\x00\x01\x02t22\x02\x01\x00t");
    assert_eq!(stream.meta.common_width, None);
    let mut cursor = KeyCursor::<Byte>::new(stream.view()).expect("just written");
    for (key, value) in records {
        assert_eq!(cursor.next(), Ok(true));
        assert_eq!((cursor.key(), cursor.value()), (key, value));
    }
    assert_eq!(cursor.next(), Ok(false));
}

#[test]
fn bit_strings_come_back() {
    let bytes = [0b0101_1100];
    let key = |len| BitStr::new(&bytes, 1, len).expect("seven bits are there");
    let records: Vec<_> = (0..7).map(|len| (key(len), key(3))).collect();
    let stream = encode_batch::<Bit>(Policy::bit_variable(), &records).expect("sorted");
    assert_eq!(stream.meta.common_width, Some(3));
    let mut cursor = KeyCursor::<Bit>::new(stream.view()).expect("just written");
    for (key, value) in records {
        assert_eq!(cursor.next(), Ok(true));
        assert_eq!((cursor.key(), cursor.value()), (key, value));
    }
    assert_eq!(cursor.next(), Ok(false));
}

#[test]
fn an_empty_stream_has_one_directory_entry_and_declares_width_zero() {
    let stream = encode_batch::<Byte>(Policy::byte_variable(), &[]).expect("empty");
    assert_eq!(
        (
            stream.meta.common_width,
            stream.directory.entries,
            stream.payload.len()
        ),
        (Some(0), 1, 0)
    );
    let mut cursor = KeyCursor::<Byte>::new(stream.view()).expect("just written");
    assert_eq!(cursor.next(), Ok(false));
}

/// What one load decodes, the careful reader decodes too, to the same frame.
fn short_frames_are_those_read_with_care<U: Unit>(policy: Policy) {
    let mut short_frames = 0;
    for seed in 0..3000u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let payload: Vec<u8> = (0..rng.random_range(1..40))
            .map(|_| rng.random::<u8>() & rng.random::<u8>())
            .collect();
        let units = payload.len() as u64 * 8 / U::BITS;
        let backspace = BackspaceCode::ExpGolomb {
            order: if U::BITS == 1 { rng.random_range(0..=63) } else { 0 },
        };
        let meta = StreamMeta {
            policy: Policy { backspace, ..policy },
            common_width: rng.random::<bool>().then(|| rng.random_range(0..10)),
            record_count: 100,
            extent_units: units - rng.random_range(0..units.min(8)),
            last_key_units: 0,
        };
        let (start, previous) = (rng.random_range(0..units), rng.random_range(0..100));
        let (block_start, ordinal) = (rng.random(), rng.random_range(0..3));
        if let Some(frame) = read_short::<U>(&payload, &meta, block_start, ordinal, start, previous) {
            let careful = read_with_care::<U>(&payload, &meta, block_start, ordinal, start, previous);
            assert_eq!(Ok(frame), careful, "seed {seed}");
            short_frames += 1;
        }
    }
    assert!(short_frames > 50, "{short_frames} of 3000 frames were short");
}

#[test]
fn short_frames_of_bytes_are_those_read_with_care() {
    short_frames_are_those_read_with_care::<Byte>(Policy::byte_variable());
}

#[test]
fn short_frames_of_bits_are_those_read_with_care() {
    short_frames_are_those_read_with_care::<Bit>(Policy::bit_variable());
}
