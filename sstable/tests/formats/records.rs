//! Random records and policies, by seed.
//!
//! Keys are drawn so that neighbours share much: few distinct units, extensions of earlier keys, long runs of 0x00 and
//! 0xFF. The empty key, empty values and keys that are prefixes of each other come up all the time.

use std::num::NonZeroU32;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use tephra_sstable::{BackspaceCode, Policy, Unit, UnitKind, ValueLayout};

/// A string as bytes, with its length in units.
pub(crate) type Text = (Vec<u8>, u64);

/// The string of a text.
pub(crate) fn string<U: Unit>(text: &Text) -> U::Str<'_> {
    U::string_at(&text.0, 0, text.1).expect("a text has its units")
}

/// How wide the values of a case are.
#[derive(Clone, Copy)]
pub(crate) enum Widths {
    All(u64),
    Any,
}

/// A policy with random parameters, and widths of values that fit it.
pub(crate) fn policy<U: Unit>(rng: &mut Xoshiro256PlusPlus) -> (Policy, Widths) {
    const INTERVALS: [u32; 5] = [1, 2, 15, 16, u32::MAX];
    const MODULI: [u64; 7] = [1, 2, 3, 7, 100, 1 << 32, u64::MAX];
    let widths = [
        Widths::All(0),
        Widths::All(8),
        Widths::All(61),
        Widths::Any,
        Widths::Any,
        Widths::Any,
    ][rng.random_range(0..6)];
    let values = match widths {
        Widths::All(width_units) if rng.random() => ValueLayout::Fixed { width_units },
        _ => ValueLayout::Variable,
    };
    let backspace = match U::KIND {
        UnitKind::Byte => BackspaceCode::default(),
        UnitKind::Bit if rng.random() => BackspaceCode::Golomb {
            modulus: MODULI[rng.random_range(0..7)],
        },
        UnitKind::Bit => BackspaceCode::ExpGolomb {
            order: rng.random_range(0..=63),
        },
    };
    let mut interval = || NonZeroU32::new(INTERVALS[rng.random_range(0..5)]).expect("no interval is zero");
    (
        Policy {
            unit: U::KIND,
            values,
            records_per_block: interval(),
            sampling_interval: interval(),
            backspace,
        },
        widths,
    )
}

/// Records with strictly increasing keys.
pub(crate) fn records<U: Unit>(rng: &mut Xoshiro256PlusPlus, widths: Widths) -> Vec<(Text, Text)> {
    let count = [0, 1, 2, 15, 16, 100][rng.random_range(0..6)];
    let len_max: u64 = [3, 20, 70, 400, 6000][rng.random_range(0..5)];
    let mut keys: Vec<Text> = Vec::new();
    for _ in 0..count {
        let mut key = Vec::new();
        if let (true, false) = (rng.random_bool(0.7), keys.is_empty()) {
            key.clone_from(&keys[rng.random_range(0..keys.len())].0);
            let kept = rng.random_range(0..=key.len());
            key.truncate(kept);
        }
        let fresh = rng.random_range(0..=len_max * U::BITS / 8 + 1);
        let run = rng.random_bool(0.5);
        key.extend((0..fresh).map(|_| {
            if run {
                0xff
            } else {
                [0x00, 0x00, 0xff, 0x80, 0x01][rng.random_range(0..5)]
            }
        }));
        let units = key.len() as u64 * 8 / U::BITS;
        let units = units - rng.random_range(0..=units.min(8 / U::BITS));
        keys.push(shortened::<U>(key, units));
    }
    keys.sort_by(|a, b| U::compare(string::<U>(a), string::<U>(b)));
    keys.dedup_by(|a, b| U::compare(string::<U>(a), string::<U>(b)).is_eq());
    keys.into_iter()
        .map(|key| {
            let units = match widths {
                Widths::All(width) => width,
                Widths::Any => {
                    let most = [0, 24, 100, 3000][rng.random_range(0..4)];
                    rng.random_range(0..=most)
                }
            };
            let bytes = (0..(units * U::BITS).div_ceil(8)).map(|_| rng.random()).collect();
            (key, shortened::<U>(bytes, units))
        })
        .collect()
}

/// Cuts bytes to their units. Bits behind the last unit stay as they are: nothing may depend on them.
fn shortened<U: Unit>(mut bytes: Vec<u8>, units: u64) -> Text {
    bytes.truncate(usize::try_from((units * U::BITS).div_ceil(8)).expect("small"));
    (bytes, units)
}
