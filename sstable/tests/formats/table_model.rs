//! Every accessor of a table agrees with a plain sorted vector: both units, all layouts, block lengths, both ways
//! of writing, ordinary and redundant front coding.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use std::num::NonZeroU32;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tephra_sstable::{
    BackspaceCode, Bit, Byte, Policy, Table, TableOptions, TableWriter, Unit, UnitKind, ValueLayout,
    encode_batch, write_encoded_table,
};

/// A key or value: zero-padded bytes, and how many units of them count.
type Units = (Vec<u8>, u64);

fn string<U: Unit>(units: &Units) -> U::Str<'_> {
    U::string_at(&units.0, 0, units.1).unwrap()
}

fn order<U: Unit>(a: &Units, b: &Units) -> std::cmp::Ordering {
    string::<U>(a).cmp(&string::<U>(b))
}

fn random_units(random: &mut Xoshiro256PlusPlus, unit: UnitKind, len: u64, alphabet: u8) -> Units {
    match unit {
        UnitKind::Byte => ((0..len).map(|_| random.random_range(0..alphabet)).collect(), len),
        UnitKind::Bit => {
            let mut bytes: Vec<u8> = (0..len.div_ceil(8)).map(|_| random.random()).collect();
            if alphabet < 3 {
                bytes.iter_mut().for_each(|byte| *byte &= 0x11);
            }
            if let (Some(last), rest @ 1..) = (bytes.last_mut(), len % 8) {
                *last &= !(0xff >> rest);
            }
            (bytes, len)
        }
    }
}

/// Sorted, distinct keys that share prefixes of all lengths.
fn random_keys(random: &mut Xoshiro256PlusPlus, unit: UnitKind, count: usize) -> Vec<Units> {
    let alphabet = [2, 3, 255][random.random_range(0..3)];
    let longest = [3, 12, 40, 200][random.random_range(0..4)];
    let common_len = [0, 0, 9, 64][random.random_range(0..4)];
    let common = random_units(random, unit, common_len, alphabet);
    let mut keys: Vec<Units> = Vec::new();
    for _ in 0..count {
        let base = if keys.is_empty() || random.random_range(0..4) == 0 {
            common.clone()
        } else {
            keys[random.random_range(0..keys.len())].clone()
        };
        let kept = random.random_range(base.1 / 2..=base.1).max(common.1.min(base.1));
        let more = random.random_range(0..=longest);
        let tail = random_units(random, unit, more, alphabet);
        keys.push(join(unit, &base, kept, &tail));
    }
    match unit {
        UnitKind::Byte => keys.sort_by(order::<Byte>),
        UnitKind::Bit => keys.sort_by(order::<Bit>),
    }
    keys.dedup();
    keys
}

fn join(unit: UnitKind, base: &Units, kept: u64, tail: &Units) -> Units {
    fn join<U: Unit>(base: &Units, kept: u64, tail: &Units) -> Units {
        let mut owned = U::Owned::default();
        U::push(&mut owned, U::slice(string::<U>(base), 0, kept));
        U::push(&mut owned, string::<U>(tail));
        let len = U::len(U::as_str(&owned));
        (U::into_bytes(owned), len)
    }
    match unit {
        UnitKind::Byte => join::<Byte>(base, kept, tail),
        UnitKind::Bit => join::<Bit>(base, kept, tail),
    }
}

fn random_policy(random: &mut Xoshiro256PlusPlus, unit: UnitKind) -> Policy {
    Policy {
        unit,
        values: match random.random_range(0..3) {
            0 => ValueLayout::Fixed {
                width_units: [0, 1, 8, 13][random.random_range(0..4)],
            },
            _ => ValueLayout::Variable,
        },
        records_per_block: NonZeroU32::new([1, 2, 3, 15, 16, 300][random.random_range(0..6)]).unwrap(),
        sampling_interval: NonZeroU32::new(15).unwrap(),
        backspace: match (unit, random.random_range(0..3)) {
            (UnitKind::Byte, _) | (_, 0) => BackspaceCode::default(),
            (_, 1) => BackspaceCode::ExpGolomb {
                order: random.random_range(0..5),
            },
            _ => BackspaceCode::Golomb {
                modulus: random.random_range(1..40),
            },
        },
    }
}

/// The table file of some records, by one of the two ways.
fn write<U: Unit>(random: &mut Xoshiro256PlusPlus, policy: Policy, records: &[(Units, Units)]) -> Vec<u8> {
    let mut options = TableOptions::new(policy, 7);
    options.creation = 99;
    if random.random() {
        let strings: Vec<_> = records
            .iter()
            .map(|(key, value)| (string::<U>(key), string::<U>(value)))
            .collect();
        let stream = encode_batch::<U>(policy, &strings).unwrap();
        let (file, summary) = write_encoded_table(stream.view(), &options, Vec::new()).unwrap();
        assert_eq!(summary.file_len_bytes, file.len() as u64);
        return file;
    }
    let widths: Vec<u64> = records.iter().map(|(_, value)| value.1).collect();
    if widths.windows(2).all(|pair| pair[0] == pair[1]) && !widths.is_empty() && random.random() {
        options.common_width = Some(widths[0]);
    }
    let mut writer = TableWriter::<_, U>::new(Vec::new(), options).unwrap();
    for (key, value) in records {
        writer.append(string::<U>(key), string::<U>(value)).unwrap();
        assert!(writer.append(string::<U>(key), string::<U>(value)).is_err());
    }
    let (file, summary) = writer.finish().unwrap();
    assert_eq!(summary.record_count, records.len() as u64);
    assert_eq!(summary.file_len_bytes, file.len() as u64);
    file
}

fn check<U: Unit>(seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let policy = random_policy(&mut random, U::KIND);
    let count = [0, 1, 2, 20, 100, 700][random.random_range(0..6)];
    let common = random.random::<bool>().then(|| random.random_range(0..20));
    let width = policy.fixed_width().or(common);
    let records: Vec<(Units, Units)> = random_keys(&mut random, U::KIND, count)
        .into_iter()
        .map(|key| {
            let len = width.unwrap_or_else(|| match random.random_range(0..50) {
                0 => 9000,
                _ => random.random_range(0..20),
            });
            (key, random_units(&mut random, U::KIND, len, 255))
        })
        .collect();
    let file = write::<U>(&mut random, policy, &records);
    let table = Table::<_, U>::open(file).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    agree(seed, &mut random, &table, &records);
}

fn agree<U: Unit>(
    seed: u64,
    random: &mut Xoshiro256PlusPlus,
    table: &Table<Vec<u8>, U>,
    records: &[(Units, Units)],
) {
    let count = records.len() as u64;
    let same = |found: U::Str<'_>, expected: &Units| {
        let expected = string::<U>(expected);
        U::len(found) == U::len(expected) && U::lcp(found, expected) == U::len(found)
    };
    assert_eq!(table.record_count(), count, "seed {seed}");
    let report = table
        .verify()
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(report.record_count, count);
    if let (Some(first), Some(last)) = (records.first(), records.last()) {
        assert!(
            same(U::as_str(&table.properties().first_key), &first.0),
            "seed {seed}"
        );
        assert!(
            same(U::as_str(&table.properties().last_key), &last.0),
            "seed {seed}"
        );
    }

    // Keys of the table, keys near them, and random ones.
    let mut wanted: Vec<Units> = records.iter().map(|record| record.0.clone()).collect();
    for index in 0..records.len().min(200) {
        let key = &records[index * records.len() / records.len().min(200)].0;
        let tail_len = random.random_range(0..3);
        let tail = random_units(random, U::KIND, tail_len, 2);
        wanted.push(join(U::KIND, key, key.1, &tail));
        let kept = random.random_range(0..=key.1);
        wanted.push(join(U::KIND, key, kept, &random_units(random, U::KIND, 3, 255)));
        wanted.push(join(U::KIND, key, kept, &(vec![], 0)));
    }
    wanted.push((vec![], 0));
    wanted.push((vec![0xff; 9], 72 / U::BITS));
    let mut cursor = table.cursor();
    for key in &wanted {
        let expected = records.partition_point(|record| order::<U>(&record.0, key).is_lt());
        let exact = records.get(expected).is_some_and(|record| record.0 == *key);
        let query = string::<U>(key);
        assert_eq!(
            table.lower_bound(query),
            Ok(expected as u64),
            "seed {seed}, {query:?}"
        );
        let found = table.get(query).unwrap();
        assert_eq!(
            found.as_ref().map(|found| found.ordinal),
            exact.then_some(expected as u64),
            "seed {seed}"
        );
        if let Some(found) = found {
            assert!(same(table.value(&found), &records[expected].1), "seed {seed}");
        }
        assert_eq!(cursor.seek(query), Ok(expected < records.len()), "seed {seed}");
        if let Some(record) = records.get(expected) {
            assert!(
                same(cursor.key(), &record.0) && same(cursor.value(), &record.1),
                "seed {seed}"
            );
        }
    }

    // A random walk.
    let mut at: i64 = -1;
    let mut cursor = table.cursor();
    for step in 0..records.len().min(300) * 4 {
        let stands = match random.random_range(0..20) {
            0 => {
                at = random.random_range(0..=count as i64);
                cursor.seek_ordinal(at as u64)
            }
            1 => {
                at = 0;
                cursor.seek_to_first()
            }
            2 => {
                at = count as i64 - 1;
                cursor.seek_to_last()
            }
            3 => {
                let key = &wanted[random.random_range(0..wanted.len())];
                at = records.partition_point(|record| order::<U>(&record.0, key).is_lt()) as i64;
                cursor.seek(string::<U>(key))
            }
            4..12 => {
                at = (at + 1).min(count as i64);
                cursor.next()
            }
            _ => {
                at = (at - 1).max(-1);
                cursor.prev()
            }
        };
        let expected = usize::try_from(at).ok().and_then(|at| records.get(at));
        assert_eq!(stands, Ok(expected.is_some()), "seed {seed}, step {step}");
        if let Some((key, value)) = expected {
            assert_eq!(cursor.ordinal(), at as u64, "seed {seed}, step {step}");
            assert!(
                same(cursor.key(), key),
                "seed {seed}, step {step}: {:?} for {key:?}",
                cursor.key()
            );
            assert!(same(cursor.value(), value), "seed {seed}, step {step}");
        }
    }

    // Both ways through.
    cursor = table.cursor();
    for record in records {
        assert_eq!(cursor.next(), Ok(true));
        assert!(
            same(cursor.key(), &record.0) && same(cursor.value(), &record.1),
            "seed {seed}"
        );
    }
    assert_eq!(cursor.next(), Ok(false), "seed {seed}");
    for record in records.iter().rev() {
        assert_eq!(cursor.prev(), Ok(true));
        assert!(
            same(cursor.key(), &record.0) && same(cursor.value(), &record.1),
            "seed {seed}"
        );
    }
    assert_eq!(cursor.prev(), Ok(false), "seed {seed}");
}

#[test]
fn byte_tables_agree_with_vectors() {
    (0..250).for_each(check::<Byte>);
}

#[test]
fn bit_tables_agree_with_vectors() {
    (1000..1250).for_each(check::<Bit>);
}
