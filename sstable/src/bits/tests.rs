//! Bit strings against strings of '0' and '1'.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{BitReader, BitStr, BitString, copy_shifted, order_bits};

/// The plainest form of a bit string.
fn digits(string: BitStr<'_>) -> String {
    (0..string.len())
        .map(|at| if string.get(at) == Some(true) { '1' } else { '0' })
        .collect()
}

/// Random bytes, and a random string within them. Few distinct bytes, so that strings often agree.
fn random_string(rng: &mut Xoshiro256PlusPlus, bytes: &mut Vec<u8>) -> (u64, u64) {
    bytes.clear();
    let len_max = if rng.random() { 12 } else { 150 };
    let len: usize = rng.random_range(0..len_max);
    bytes.extend((0..len).map(|_| if rng.random_bool(0.98) { 0xa5 } else { rng.random() }));
    let bits = len as u64 * 8;
    let start = rng.random_range(0..=bits.min(20));
    (start, rng.random_range(0..=bits - start))
}

#[test]
fn comparison_slices_and_windows_agree_with_strings_of_digits() {
    for seed in 0..4000 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut a_bytes, mut b_bytes) = (Vec::new(), Vec::new());
        let (a_start, a_len) = random_string(&mut rng, &mut a_bytes);
        let (b_start, b_len) = random_string(&mut rng, &mut b_bytes);
        let a = BitStr::new(&a_bytes, a_start, a_len).expect("drawn within the bytes");
        let b = BitStr::new(&b_bytes, b_start, b_len).expect("drawn within the bytes");
        let (a_digits, b_digits) = (digits(a), digits(b));
        assert_eq!(
            a.cmp(&b),
            a_digits.cmp(&b_digits),
            "seed {seed}: {a:?} against {b:?}"
        );
        assert_eq!(a == b, a_digits == b_digits, "seed {seed}");
        let same = a_digits
            .bytes()
            .zip(b_digits.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        assert_eq!(a.lcp(&b), same as u64, "seed {seed}: {a:?} against {b:?}");
        assert_eq!(
            order_bits(a, b),
            (same as u64, a_digits < b_digits),
            "seed {seed}: {a:?} against {b:?}"
        );
        let from = rng.random_range(0..=a_len);
        let to = rng.random_range(from..=a_len);
        let (low, high) = (
            usize::try_from(from).expect("small"),
            usize::try_from(to).expect("small"),
        );
        assert_eq!(digits(a.slice(from, to)), a_digits[low..high], "seed {seed}");
        let window = format!("{:064b}", a.window(from));
        let expected: String = a_digits
            .chars()
            .skip(low)
            .chain(std::iter::repeat('0'))
            .take(64)
            .collect();
        assert_eq!(window, expected, "seed {seed}: window at {from} of {a:?}");
    }
}

#[test]
fn appending_and_truncating_agree_with_strings_of_digits() {
    for seed in 0..500 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut string, mut model) = (BitString::new(), String::new());
        let mut bytes = Vec::new();
        for _ in 0..40 {
            match rng.random_range(0..4) {
                0 => {
                    let width = rng.random_range(0..=64);
                    let value: u64 = rng.random();
                    string.push_bits(value, width);
                    let all = format!("{value:064b}");
                    model.push_str(&all[64 - width as usize..]);
                }
                1 => {
                    let (start, len) = random_string(&mut rng, &mut bytes);
                    let piece = BitStr::new(&bytes, start, len).expect("drawn within the bytes");
                    string.push_str(piece);
                    model.push_str(&digits(piece));
                }
                2 => {
                    let count: usize = rng.random_range(0..100);
                    string.push_zeros(count as u64);
                    model.extend(std::iter::repeat_n('0', count));
                }
                _ => {
                    let len = rng.random_range(0..=model.len());
                    string.truncate(len as u64);
                    model.truncate(len);
                }
            }
            assert_eq!(digits(string.as_str()), model, "seed {seed}");
            assert_eq!(string.as_bytes().len(), model.len().div_ceil(8), "seed {seed}");
            let padding = string.as_bytes().len() * 8 - model.len();
            let zeros = string
                .as_bytes()
                .last()
                .map_or(8, |last| last.trailing_zeros() as usize);
            assert!(zeros >= padding, "seed {seed}: padding of {string:?}");
        }
    }
}

#[test]
fn a_string_outside_its_bytes_is_refused() {
    assert!(BitStr::new(&[0xff], 1, 7).is_some());
    assert!(BitStr::new(&[0xff], 1, 8).is_none());
    assert!(BitStr::new(&[0xff], u64::MAX, 2).is_none());
}

#[test]
fn the_reader_takes_all_or_nothing() {
    let bytes = [0b0000_0001, 0b1010_0000];
    let mut reader = BitReader::new(&bytes, 0, 12);
    assert_eq!(reader.read_unary(), Some(7));
    assert_eq!(reader.read_bits(3), Some(0b101));
    assert_eq!(reader.read_unary(), None, "no one is left before the end");
    assert_eq!(reader.position(), 11);
    assert_eq!(reader.read_bits(2), None, "only one bit is left");
    assert_eq!(reader.read_bits(1), Some(0));
    assert_eq!(reader.remaining(), 0);
}

/// The safe twin of the wide copy: a bit at a time.
#[test]
#[expect(unsafe_code, reason = "the function under test writes through a pointer")]
fn wide_shifted_copies_are_copies() {
    for seed in 0..2000 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let whole: usize = rng.random_range(0..200);
        let start: u64 = rng.random_range(0..24);
        let bytes: Vec<u8> = (0..whole + 4).map(|_| rng.random()).collect();
        let mut copy = vec![0x55; whole + 1];
        // SAFETY: the vector has `whole` bytes.
        unsafe { copy_shifted(copy.as_mut_ptr(), &bytes, start, whole) };
        let string = BitStr::new(&bytes, start, 8 * whole as u64).expect("four bytes more than the copy");
        assert_eq!(
            digits(BitStr::from_bytes(&copy[..whole])),
            digits(string),
            "seed {seed}"
        );
        assert_eq!(copy[whole], 0x55, "seed {seed}: nothing behind is touched");
    }
}
