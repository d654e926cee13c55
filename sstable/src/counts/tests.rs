//! Codes against their definitions, written out as digits.

use super::{golomb, varint};
use crate::bits::{BitReader, BitString};
use crate::error::Rule;
use crate::policy::BackspaceCode;

/// Numbers at which widths change, and their neighbours.
fn telling_numbers() -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..300).collect();
    for shift in 1..64 {
        let power = 1u64 << shift;
        numbers.extend([power - 2, power - 1, power, power + 1]);
    }
    numbers.extend([u64::MAX - 1, u64::MAX, 12_345_678_901_234_567_890]);
    numbers
}

fn digits(string: &BitString) -> String {
    (0..string.len())
        .map(|at| {
            if string.as_str().get(at) == Some(true) {
                '1'
            } else {
                '0'
            }
        })
        .collect()
}

#[test]
fn varints_are_little_endian_base_128() {
    for (n, code) in [
        (0, &[0x00][..]),
        (127, &[0x7f]),
        (128, &[0x80, 0x01]),
        (300, &[0xac, 0x02]),
        (
            u64::MAX,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ),
    ] {
        let mut out = Vec::new();
        varint::push(&mut out, n);
        assert_eq!(out, code, "{n}");
    }
    for n in telling_numbers() {
        let mut out = Vec::new();
        varint::push(&mut out, n);
        assert_eq!(out.len(), varint::len_bytes(n), "{n}");
        assert_eq!(varint::read(&out), Ok((n, out.len())));
        let cut = varint::read(&out[..out.len() - 1]).expect_err("the last byte is missing");
        assert_eq!(cut.rule, Rule::CountTruncated, "{n}");
    }
}

#[test]
fn varints_longer_than_needed_or_above_64_bits_are_refused() {
    let rule = |bytes: &[u8]| varint::read(bytes).map_err(|error| error.rule);
    assert_eq!(rule(&[0x80, 0x00]), Err(Rule::CountNotCanonical));
    assert_eq!(rule(&[0xff, 0x80, 0x00]), Err(Rule::CountNotCanonical));
    assert_eq!(
        rule(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]),
        Err(Rule::CountTooLarge)
    );
    assert_eq!(
        rule(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]),
        Err(Rule::CountTooLarge)
    );
    assert_eq!(
        rule(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
        Err(Rule::CountNotCanonical)
    );
}

#[test]
fn exponential_golomb_codes_are_zeros_and_then_the_number_plus_one() {
    for n in telling_numbers() {
        let plus_one = format!("{:b}", u128::from(n) + 1);
        let expected = "0".repeat(plus_one.len() - 1) + &plus_one;
        let mut out = BitString::new();
        golomb::push(&mut out, n);
        assert_eq!(digits(&out), expected, "{n}");
        assert_eq!(golomb::len_bits(n), out.len(), "{n}");
        let mut reader = BitReader::new(out.as_bytes(), 0, out.len());
        assert_eq!(golomb::read(&mut reader), Ok(n));
        assert_eq!(reader.remaining(), 0);
        let mut cut = BitReader::new(out.as_bytes(), 0, out.len() - 1);
        assert_eq!(
            golomb::read(&mut cut).expect_err("a bit is missing").rule,
            Rule::CountTruncated
        );
    }
}

#[test]
fn backspaces_of_every_order_follow_the_definition() {
    for order in 0..=63u8 {
        for n in telling_numbers() {
            let high = format!("{:b}", u128::from(n >> order) + 1);
            let low: String = (0..order)
                .rev()
                .map(|bit| if n >> bit & 1 == 1 { '1' } else { '0' })
                .collect();
            let expected = "0".repeat(high.len() - 1) + &high + &low;
            round_trip(n, BackspaceCode::ExpGolomb { order }, &expected);
        }
    }
}

#[test]
fn backspaces_of_telling_moduli_follow_the_definition() {
    for modulus in [
        1,
        2,
        3,
        4,
        5,
        7,
        8,
        100,
        1 << 32,
        (1 << 32) + 1,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX,
    ] {
        for n in telling_numbers().into_iter().filter(|n| n / modulus < 1000) {
            let wide = u128::from(modulus);
            let width = (128 - (wide - 1).leading_zeros()) as usize;
            let cutoff = (1u128 << width) - wide;
            let remainder = u128::from(n % modulus);
            let mut expected = "0".repeat(usize::try_from(n / modulus).expect("filtered")) + "1";
            if width > 0 && remainder < cutoff {
                if width > 1 {
                    expected += &format!("{remainder:0width$b}", width = width - 1);
                }
            } else if width > 0 {
                expected += &format!("{:0width$b}", remainder + cutoff);
            }
            round_trip(n, BackspaceCode::Golomb { modulus }, &expected);
        }
    }
}

fn round_trip(n: u64, code: BackspaceCode, expected: &str) {
    let mut out = BitString::new();
    golomb::push_backspace(&mut out, n, code);
    assert_eq!(digits(&out), expected, "{n} in {code:?}");
    assert_eq!(golomb::backspace_len_bits(n, code), out.len(), "{n} in {code:?}");
    let mut reader = BitReader::new(out.as_bytes(), 0, out.len());
    assert_eq!(
        golomb::read_backspace(&mut reader, code),
        Ok(n),
        "{n} in {code:?}"
    );
    assert_eq!(reader.remaining(), 0, "{n} in {code:?}");
    let mut cut = BitReader::new(out.as_bytes(), 0, out.len() - 1);
    let error = golomb::read_backspace(&mut cut, code).expect_err("a bit is missing");
    assert_eq!(error.rule, Rule::CountTruncated, "{n} in {code:?}");
}

#[test]
fn codes_above_64_bits_are_refused() {
    let mut out = BitString::new();
    out.push_zeros(64);
    out.push_bits(1, 1);
    out.push_bits(1, 64);
    let mut reader = BitReader::new(out.as_bytes(), 0, out.len());
    assert_eq!(
        golomb::read(&mut reader).expect_err("2^64").rule,
        Rule::CountTooLarge
    );

    let mut out = BitString::new();
    out.push_zeros(65);
    out.push_bits(1, 1);
    out.push_zeros(200);
    let mut reader = BitReader::new(out.as_bytes(), 0, out.len());
    assert_eq!(
        golomb::read(&mut reader).expect_err("65 zeros").rule,
        Rule::CountTooLarge
    );

    let mut out = BitString::new();
    golomb::push(&mut out, 1 << 63);
    out.push_bits(0, 1);
    let mut reader = BitReader::new(out.as_bytes(), 0, out.len());
    let error = golomb::read_backspace(&mut reader, BackspaceCode::ExpGolomb { order: 1 });
    assert_eq!(error.expect_err("2^64").rule, Rule::CountTooLarge);

    let mut out = BitString::new();
    golomb::push_backspace(&mut out, u64::MAX, BackspaceCode::Golomb { modulus: u64::MAX });
    // The same code with one zero more in front: 2 * (2^64 - 1).
    let mut twice = BitString::new();
    twice.push_zeros(1);
    twice.push_str(out.as_str());
    let mut reader = BitReader::new(twice.as_bytes(), 0, twice.len());
    let error = golomb::read_backspace(&mut reader, BackspaceCode::Golomb { modulus: u64::MAX });
    assert_eq!(error.expect_err("above 64 bits").rule, Rule::CountTooLarge);
}

/// Found by fuzzing: the length of the unary code of the largest number overflowed.
#[test]
fn the_length_of_a_code_longer_than_any_memory_is_the_largest() {
    let length = |modulus| super::golomb::backspace_len_bits(u64::MAX, BackspaceCode::Golomb { modulus });
    assert_eq!(length(1), u64::MAX);
    assert_eq!(length(2), u64::MAX / 2 + 2);
}
