//! Bit strings as the byte strings that log and memory hold; only tables hold them as bits.
//!
//! ```text
//! key     8 bytes of the string, count | 8 bytes, count | ...      padded with zeros to whole groups
//!         count: 65 another group follows; 0 to 64 bits of the last group are the string's
//!
//! 1            80 00 00 00 00 00 00 00  01
//! 10           80 00 00 00 00 00 00 00  02          behind 1, of which it is an extension
//! 64 ones, 0   ff ff ff ff ff ff ff ff  41  00 00 00 00 00 00 00 00  01
//!
//! value   the string's bytes, padded with zeros; the number of padding bits, 0 to 7
//! ```
//!
//! Keys encoded so are ordered as bytes exactly as the bit strings are as bits, a prefix before its extensions: where two
//! groups differ in a bit that both strings have, that bit decides; where one string has ended its padding is zero, so the
//! longer one is not below it in the bytes, and above it in the count. So nothing but the edge of a table has to know of
//! bits. A key takes nine bytes for each 64 bits, an eighth more than the bits alone.

use tephra_sstable::bits::{BitStr, BitString};

/// Bits of a group.
const GROUP_BITS: u64 = 64;
/// The count of a group that another follows.
const MORE_FOLLOWS: u8 = 65;
/// Bytes of a group with its count.
const GROUP_BYTES: usize = 9;

/// The bytes of a key.
pub(crate) fn encode_key(bits: BitStr<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key_into(bits, &mut out);
    out
}

/// As [`encode_key`], into a buffer that is cleared first.
pub(crate) fn encode_key_into(bits: BitStr<'_>, out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    loop {
        let left = bits.len() - at;
        out.extend_from_slice(&bits.window(at).to_be_bytes());
        if left <= GROUP_BITS {
            out.push(u8::try_from(left).expect("at most 64"));
            return;
        }
        out.push(MORE_FOLLOWS);
        at += GROUP_BITS;
    }
}

/// The bits of a key; `None` where the bytes are no key's.
pub(crate) fn decode_key(bytes: &[u8]) -> Option<BitString> {
    let (groups, rest) = bytes.as_chunks::<GROUP_BYTES>();
    let (last, before) = groups.split_last()?;
    if !rest.is_empty() {
        return None;
    }
    let mut bits = BitString::new();
    for &[data @ .., count] in before {
        if count != MORE_FOLLOWS {
            return None;
        }
        bits.push_bits(u64::from_be_bytes(data), 64);
    }
    let &[data @ .., count] = last;
    let (data, count) = (u64::from_be_bytes(data), u32::from(count));
    let padding = data.checked_shl(count).unwrap_or(0);
    if count > 64 || padding != 0 || (count == 0 && !before.is_empty()) {
        return None;
    }
    bits.push_bits(data.checked_shr(64 - count).unwrap_or(0), count);
    Some(bits)
}

/// The bytes of a value.
pub(crate) fn encode_value(bits: BitStr<'_>) -> Vec<u8> {
    let mut string = BitString::new();
    string.push_str(bits);
    let padding_bits = padding_of(string.len());
    let mut bytes = string.into_bytes();
    bytes.push(padding_bits);
    bytes
}

/// The bits of a value; `None` where the bytes are no value's.
pub(crate) fn decode_value(bytes: &[u8]) -> Option<BitStr<'_>> {
    let (&padding_bits, data) = bytes.split_last()?;
    let len = (data.len() as u64 * 8).checked_sub(u64::from(padding_bits))?;
    if padding_bits != padding_of(len) {
        return None;
    }
    let last = data.last().copied().unwrap_or(0);
    (last & !(0xFF << padding_bits) == 0)
        .then(|| BitStr::new(data, 0, len))
        .flatten()
}

/// The number of bits of a value.
pub(crate) fn value_len_bits(bytes: &[u8]) -> u64 {
    decode_value(bytes)
        .expect("values of bit keyspaces are encoded where they enter")
        .len()
}

fn padding_of(len_bits: u64) -> u8 {
    u8::try_from((8 - len_bits % 8) % 8).expect("below 8")
}

/// The bounds of all keys that start with some bits: from them on, below the next string of their length.
pub(crate) fn prefix_successor(prefix: BitStr<'_>) -> Option<BitString> {
    let last_zero = (0..prefix.len())
        .rev()
        .find(|&at| prefix.get(at) == Some(false))?;
    let mut successor = BitString::new();
    successor.push_str(prefix.slice(0, last_zero));
    successor.push_bits(1, 1);
    Some(successor)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn bits(text: &str) -> BitString {
        let mut string = BitString::new();
        text.bytes()
            .for_each(|digit| string.push_bits(u64::from(digit == b'1'), 1));
        string
    }

    #[test]
    fn the_worked_examples_are_true() {
        assert_eq!(encode_key(bits("1").as_str()), [0x80, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(encode_key(bits("10").as_str()), [0x80, 0, 0, 0, 0, 0, 0, 0, 2]);
        let long = bits(&format!("{}0", "1".repeat(64)));
        let expected = [
            [255, 255, 255, 255, 255, 255, 255, 255, 65],
            [0, 0, 0, 0, 0, 0, 0, 0, 1],
        ];
        assert_eq!(encode_key(long.as_str()), expected.as_flattened());
        assert_eq!(encode_value(bits("101").as_str()), [0xA0, 5]);
        assert_eq!(encode_value(bits("").as_str()), [0]);
    }

    #[test]
    fn order_survives_encoding_and_decoding_gives_back_the_bits() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let one_in = random.random_range(2..20);
            let mut strings: Vec<BitString> = (0..40)
                .map(|_| {
                    let len = random.random_range(0..200);
                    let mut string = BitString::new();
                    (0..len)
                        .for_each(|_| string.push_bits(u64::from(random.random_range(0..one_in) == 0), 1));
                    string
                })
                .collect();
            // Prefixes and extensions of what is there: the borders of groups.
            for index in 0..20 {
                let string = strings[index].clone();
                let mut cut = BitString::new();
                cut.push_str(
                    string
                        .as_str()
                        .slice(0, string.len().min(64 * (index as u64 % 3))),
                );
                strings.push(cut.clone());
                cut.push_bits(0, 1);
                strings.push(cut);
            }
            for a in &strings {
                let encoded = encode_key(a.as_str());
                assert_eq!(decode_key(&encoded).as_ref(), Some(a), "seed {seed}");
                let value = encode_value(a.as_str());
                assert_eq!(decode_value(&value), Some(a.as_str()), "seed {seed}");
                for b in &strings {
                    let order = encoded.cmp(&encode_key(b.as_str()));
                    assert_eq!(order, a.as_str().cmp(&b.as_str()), "seed {seed}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_key_or_value_are_refused() {
        let key = |last: &[u8]| [&[0xFF, 0, 0, 0, 0, 0, 0, 0][..], last].concat();
        for wrong in [
            key(&[7]),
            key(&[65]),
            key(&[66]),
            key(&[]),
            vec![],
            key(&[8, 0]),
            [key(&[8]), key(&[8])].concat(),
        ] {
            assert_eq!(decode_key(&wrong), None, "{wrong:?}");
        }
        let ends_in_an_empty_group = [key(&[65]), vec![0; 9]].concat();
        assert_eq!(decode_key(&ends_in_an_empty_group), None);
        for wrong in [&[][..], &[1], &[8], &[0xFF, 1], &[0xFE, 8]] {
            assert_eq!(decode_value(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_prefix_ends_below_its_successor() {
        let successor = |text| prefix_successor(bits(text).as_str());
        assert_eq!(successor("1011"), Some(bits("11")));
        assert_eq!(successor("0"), Some(bits("1")));
        assert_eq!(successor("111"), None);
        assert_eq!(successor(""), None);
    }
}
