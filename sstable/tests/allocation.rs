//! Every allocation that an append can reach fails in turn.
//!
//! ```text
//! for every record of a stream (first, interior, block start):
//!     for n = 0, 1, 2, ... until the append succeeds:
//!         let the n-th allocation of the append fail
//!         the append says "no memory"
//!         finish gives the records before it, and nothing of the one that failed
//!         the same append again, and all that follow, give the whole stream
//! ```
//!
//! A clone of a writer has buffers without room, so that every append reaches all allocations it can reach.
//! The allocator counts for the thread that asks alone; other threads of the test process are left in peace.

#[path = "support/failing_allocator.rs"]
mod failing_allocator;

use std::cell::Cell;

use failing_allocator::{BEFORE_FAILURE, with_failure};
use tephra_sstable::writer::NativeWriter;
use tephra_sstable::{AppendError, BackspaceCode, Bit, Byte, EncodedStream, Policy, Unit, encode_batch};

type Records<'a, U> = [(<U as Unit>::Str<'a>, <U as Unit>::Str<'a>)];

/// A writer of unit `U` with some records.
fn written<U: Unit>(policy: Policy, width: Option<u64>, records: &Records<'_, U>) -> NativeWriter<U> {
    let mut writer = NativeWriter::<U>::new(policy, width).expect("a legal policy");
    for &(key, value) in records {
        writer.append(key, value).expect("memory");
    }
    writer
}

fn finished<U: Unit>(mut writer: NativeWriter<U>) -> EncodedStream {
    writer.finish().expect("memory")
}

/// Fails every allocation of every append of a stream. Gives how many failed.
fn fail_everywhere<U: Unit>(policy: Policy, width: Option<u64>, records: &Records<'_, U>) -> u64 {
    let whole = finished(written::<U>(policy, width, records));
    let mut failures = 0;
    for index in 0..records.len() {
        let (before, after) = records.split_at(index);
        let writer = written::<U>(policy, width, before);
        let prefix = finished(writer.clone());
        let (key, value) = after[0];
        for n in 0.. {
            let mut failing = writer.clone();
            let (result, reached) = with_failure(n, || failing.append(key, value));
            if !reached {
                result.expect("no allocation failed");
                break;
            }
            failures += 1;
            assert!(
                matches!(result, Err(AppendError::Memory)),
                "record {index}, allocation {n}: {result:?}"
            );
            assert!(
                finished(failing.clone()) == prefix,
                "record {index}, allocation {n}: prefix"
            );
            for &(key, value) in after {
                failing.append(key, value).expect("memory is back");
            }
            assert!(
                finished(failing) == whole,
                "record {index}, allocation {n}: retry"
            );
        }
    }
    failures
}

/// Keys that grow, shrink, are empty, extend each other, and pass every copy width; in order.
fn keys() -> Vec<Vec<u8>> {
    let mut keys = vec![
        vec![],
        vec![0],
        vec![0; 40],
        vec![0; 300],
        [vec![0; 200], vec![1]].concat(),
        vec![1],
        [vec![1; 100], vec![7; 5000]].concat(),
        vec![2, 2],
        vec![3; 33],
    ];
    keys.extend((4..40u8).map(|n| vec![n; 1 + usize::from(n) * 7 % 90]));
    keys
}

fn fail_all_widths<U: Unit>(variable: Policy, fixed: fn(u64) -> Policy) {
    let keys = keys();
    let value = vec![0xa7u8; 4096];
    for records_per_block in [1, 2, 15] {
        let with_blocks = |policy: Policy| Policy {
            records_per_block: std::num::NonZeroU32::new(records_per_block).expect("not zero"),
            ..policy
        };
        let records = |width: &dyn Fn(usize) -> u64| -> Vec<(U::Str<'_>, U::Str<'_>)> {
            let units = |bytes: &[u8]| bytes.len() as u64 * 8 / U::BITS;
            let key = |key| U::string_at(key, 0, units(key)).expect("whole bytes");
            let value = |index| U::string_at(&value, 0, width(index)).expect("narrow enough");
            keys.iter()
                .enumerate()
                .map(|(index, bytes)| (key(bytes), value(index)))
                .collect()
        };
        let zero = fail_everywhere::<U>(with_blocks(fixed(0)), Some(0), &records(&|_| 0));
        let common = fail_everywhere::<U>(with_blocks(variable), Some(100), &records(&|_| 100));
        let policy_fixed = fail_everywhere::<U>(with_blocks(fixed(9)), Some(9), &records(&|_| 9));
        let varying = fail_everywhere::<U>(
            with_blocks(variable),
            None,
            &records(&|index| index as u64 * 37 % 2000),
        );
        for failures in [zero, common, policy_fixed, varying] {
            // Frames and directory at block starts, frames elsewhere, the key's buffer where it grows.
            assert!(
                failures > keys.len() as u64,
                "{failures} failures: the harness reaches what it should"
            );
        }
    }
}

#[test]
fn appends_of_bytes_survive_every_failed_allocation() {
    fail_all_widths::<Byte>(Policy::byte_variable(), Policy::byte_fixed);
}

#[test]
fn appends_of_bits_survive_every_failed_allocation() {
    fail_all_widths::<Bit>(Policy::bit_variable(), Policy::bit_fixed);
}

/// Codes whose controls are longer than any other: Golomb quotients in unary, the highest orders.
#[test]
fn appends_of_bits_under_other_backspace_codes_survive_every_failed_allocation() {
    let keys = keys();
    let bits = |bytes: &[u8]| bytes.len() as u64 * 8;
    for backspace in [
        BackspaceCode::Golomb { modulus: 1 },
        BackspaceCode::Golomb { modulus: 7 },
        BackspaceCode::ExpGolomb { order: 3 },
        BackspaceCode::ExpGolomb { order: 63 },
    ] {
        let policy = Policy {
            backspace,
            ..Policy::bit_variable()
        };
        let records: Vec<_> = keys
            .iter()
            .map(|key| {
                let key = Bit::string_at(key, 0, bits(key)).expect("whole bytes");
                (key, Bit::slice(key, 0, Bit::len(key).min(77)))
            })
            .collect();
        let failures = fail_everywhere::<Bit>(policy, None, &records);
        assert!(failures > keys.len() as u64, "{backspace:?}: {failures} failures");
    }
}

#[test]
fn a_failed_finish_leaves_the_writer_as_it_was() {
    let records: Vec<(&[u8], &[u8])> = vec![(b"a", b"1"), (b"ab", b""), (b"b", b"333")];
    let batch = encode_batch::<Byte>(Policy::byte_variable(), &records).expect("sorted");
    let mut writer = written::<Byte>(Policy::byte_variable(), None, &records);
    let mut failures = 0;
    for n in 0.. {
        let (result, reached) = with_failure(n, || writer.finish());
        match result {
            Err(error) => assert!(
                reached && matches!(error, AppendError::Memory),
                "allocation {n}: {error}"
            ),
            Ok(stream) => {
                assert!(!reached && stream == batch, "allocation {n}");
                break;
            }
        }
        failures += 1;
    }
    assert!(failures >= 2, "the directory allocates its words and its samples");
}

/// Input may be scratch that dies with the call.
#[test]
fn keys_and_values_need_only_live_for_the_call() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_variable(), None).expect("a legal policy");
    let mut scratch = Vec::new();
    for key in keys() {
        scratch.clone_from(&key);
        writer.append(&scratch, &scratch).expect("memory");
        scratch.fill(0xee);
    }
    let keys = keys();
    let records: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &key[..])).collect();
    assert!(finished(writer) == encode_batch::<Byte>(Policy::byte_variable(), &records).expect("sorted"));
}

/// Once buffers have grown, appending allocates only for output and directory: never for the key.
#[test]
fn the_previous_key_stays_in_its_buffer() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_fixed(0), Some(0)).expect("a legal policy");
    writer.append(&[0; 4096], &[]).expect("memory");
    writer.try_reserve(1 << 20, 10_000).expect("memory");
    let allocations = 1_000_000;
    let (_, reached) = with_failure(allocations, || {
        for n in 1..10_000u32 {
            let mut key = [1; 64];
            key[..4].copy_from_slice(&(n + (1 << 24)).to_be_bytes());
            writer.append(&key, &[]).expect("memory");
        }
        assert_eq!(
            BEFORE_FAILURE.with(Cell::get),
            Some(allocations),
            "nothing was allocated"
        );
    });
    assert!(!reached);
}
