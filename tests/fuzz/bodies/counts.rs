//! Count decoders: whatever the bytes, a number with the one code it has, or an error; and every number comes back.

use tephra_sstable::counts::{golomb, varint};
use tephra_sstable::{BackspaceCode, BitReader, BitString};

use super::choices::Choices;

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    if let Ok((number, len)) = varint::read(bytes) {
        let mut again = Vec::new();
        varint::push(&mut again, number);
        assert_eq!(again, bytes[..len], "the one code of {number}");
        assert_eq!(len, varint::len_bytes(number));
    }
    let mut choices = Choices::new(bytes);
    let code = match choices.next() % 2 {
        0 => BackspaceCode::ExpGolomb {
            order: choices.next() % 64,
        },
        _ => BackspaceCode::Golomb {
            modulus: choices.number().max(1),
        },
    };
    let number = choices.number();
    let mut written = Vec::new();
    varint::push(&mut written, number);
    assert_eq!(varint::read(&written), Ok((number, written.len())));
    let mut bits = BitString::default();
    golomb::push(&mut bits, number);
    // The unary part of a Golomb code grows with the number.
    let is_short = golomb::backspace_len_bits(number, code) < 4_096;
    if is_short {
        golomb::push_backspace(&mut bits, number, code);
    }
    let (string, start, len) = (bits.as_str(), bits.as_str().parts().1, bits.as_str().len());
    let mut reader = BitReader::new(string.parts().0, start, start + len);
    assert_eq!(golomb::read(&mut reader), Ok(number));
    if is_short {
        assert_eq!(golomb::read_backspace(&mut reader, code), Ok(number));
    }
    assert_eq!(reader.remaining(), 0);
    // Anything at all: read until it ends or fails.
    let mut reader = BitReader::new(bytes, 0, bytes.len() as u64 * 8);
    while reader.remaining() > 0 {
        let before = reader.position();
        let read = match choices.next() % 2 {
            0 => golomb::read(&mut reader),
            _ => golomb::read_backspace(&mut reader, code),
        };
        if read.is_err() {
            break;
        }
        assert!(reader.position() > before, "a code has bits");
    }
}
