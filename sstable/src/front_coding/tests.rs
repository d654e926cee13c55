//! The worked example of the crate's head, and round trips of small streams.

use super::{KeyCursor, encode_batch};
use crate::bits::BitStr;
use crate::policy::Policy;
use crate::unit::{Bit, Byte};

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
