//! What the native writer refuses, what it leaves behind then, and what it tells its caller.

use std::io;

use tephra_sstable::writer::{DrainingWriter, NativeWriter};
use tephra_sstable::{
    AppendError, BackspaceCode, Bit, BitStr, Byte, EncodedStream, FrameWriter, Policy, PolicyError,
    ValueLayout, encode_batch,
};

fn batch(policy: Policy, records: &[(&[u8], &[u8])]) -> EncodedStream {
    encode_batch::<Byte>(policy, records).expect("sorted")
}

#[test]
fn keys_that_do_not_follow_are_refused_and_change_nothing() {
    let records: [(&[u8], &[u8]); 3] = [(b"", b"0"), (b"car", b"1"), (b"cart", b"22")];
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_variable(), None).expect("a legal policy");
    let refused: [&[&[u8]]; 3] = [
        &[b""],
        &[b"", b"ca", b"caq", b"car", b"bz"],
        &[b"cart", b"car", b"c", b"cars"],
    ];
    for (ordinal, ((key, value), refused)) in (0u64..).zip(records.iter().zip(refused)) {
        writer.append(key, value).expect("sorted");
        for key in refused {
            match writer.append(key, b"x") {
                Err(AppendError::KeyOrder { ordinal: found }) => assert_eq!(found, ordinal + 1),
                other => panic!("{key:?} behind record {ordinal}: {other:?}"),
            }
        }
    }
    assert_eq!(writer.record_count(), 3);
    assert_eq!(writer.last_key(), b"cart");
    assert!(writer.finish().expect("memory") == batch(Policy::byte_variable(), &records));
}

#[test]
fn values_of_another_width_are_refused_and_change_nothing() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_fixed(2), Some(2)).expect("a legal policy");
    writer.append(b"a", b"11").expect("two bytes");
    for value in [&b""[..], b"1", b"111"] {
        match writer.append(b"b", value) {
            Err(AppendError::ValueWidth {
                ordinal: 1,
                expected: 2,
                found,
            }) => assert_eq!(found, value.len() as u64),
            other => panic!("{other:?}"),
        }
    }
    writer.append(b"b", b"22").expect("two bytes");
    assert!(
        writer.finish().expect("memory") == batch(Policy::byte_fixed(2), &[(b"a", b"11"), (b"b", b"22")])
    );
}

#[test]
fn records_beyond_the_longest_extent_are_refused_and_change_nothing() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_variable(), None).expect("a legal policy");
    writer.limit_extent(100);
    writer.append(b"a", &[7; 50]).expect("54 units");
    match writer.append(b"b", &[7; 50]) {
        Err(AppendError::Length {
            ordinal: 1,
            expected: 100,
            found: 105,
        }) => {}
        other => panic!("{other:?}"),
    }
    writer.append(b"b", &[7; 20]).expect("it fits");
    assert!(
        writer.finish().expect("memory")
            == batch(Policy::byte_variable(), &[(b"a", &[7; 50]), (b"b", &[7; 20])])
    );
}

#[test]
fn policies_that_no_stream_can_have_are_refused() {
    let unit = NativeWriter::<Byte>::new(Policy::bit_variable(), None);
    assert!(matches!(unit, Err(AppendError::Unit { .. })), "{unit:?}");
    let width = NativeWriter::<Byte>::new(Policy::byte_fixed(8), None);
    assert!(
        matches!(
            width,
            Err(AppendError::CommonWidth {
                expected: 8,
                found: None
            })
        ),
        "{width:?}"
    );
    let order = Policy {
        backspace: BackspaceCode::ExpGolomb { order: 64 },
        ..Policy::bit_variable()
    };
    let order = NativeWriter::<Bit>::new(order, None);
    assert!(
        matches!(order, Err(AppendError::Policy(PolicyError::Order { found: 64 }))),
        "{order:?}"
    );
    let modulus = Policy {
        backspace: BackspaceCode::Golomb { modulus: 0 },
        ..Policy::bit_variable()
    };
    let modulus = FrameWriter::<Bit>::new(modulus, None);
    assert!(
        matches!(modulus, Err(AppendError::Policy(PolicyError::Modulus))),
        "{modulus:?}"
    );
    let bytes = Policy {
        backspace: BackspaceCode::Golomb { modulus: 3 },
        ..Policy::byte_variable()
    };
    assert!(matches!(bytes.validate(), Err(PolicyError::ByteBackspace { .. })));
    assert_eq!(
        Policy::bit_fixed(13).values,
        ValueLayout::Fixed { width_units: 13 }
    );
}

/// Where a block starts, the first `retained + 1` units of its key separate it from the block before.
#[test]
fn appended_records_say_what_a_table_needs_to_know() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_variable(), None).expect("a legal policy");
    let mut separators = Vec::new();
    let mut previous = Vec::new();
    for n in 0..40u32 {
        let key = format!("key{:04}", n * 7).into_bytes();
        let appended = writer.append(&key, &[]).expect("sorted");
        assert_eq!(appended.ordinal, u64::from(n));
        assert_eq!(appended.starts_block, n % 15 == 0);
        if appended.starts_block && n > 0 {
            let shortest = &key[..usize::try_from(appended.retained).expect("short") + 1];
            assert!(previous.as_slice() < shortest && shortest <= &key[..]);
            separators.push(shortest.to_vec());
        }
        previous = key;
    }
    assert_eq!(separators, [b"key01".to_vec(), b"key021".to_vec()]);
    let frames = writer.frames();
    assert_eq!(
        (frames.record_count(), frames.value_units(), frames.key_units()),
        (40, 0, 7)
    );
    // Counted by hand: 7 units for the first key, then the digits that changed.
    let changed = (1..40u32).map(|n| {
        let (a, b) = (format!("{:04}", (n - 1) * 7), format!("{:04}", n * 7));
        4 - a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count() as u64
    });
    assert_eq!(frames.literal_units(), 7 + changed.sum::<u64>());
}

#[test]
fn a_writer_starts_over_behind_a_finished_stream() {
    let mut writer = NativeWriter::<Byte>::new(Policy::byte_variable(), None).expect("a legal policy");
    writer.append(b"z", b"1").expect("the first");
    let first = writer.finish().expect("memory");
    writer.append(b"z", b"1").expect("the first again");
    assert!(writer.finish().expect("memory") == first);
}

/// Takes some bytes, then fails once, then would take everything again.
struct Failing {
    taken: Vec<u8>,
    room: usize,
    failures: usize,
}

impl io::Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room < bytes.len() && self.failures == 0 {
            self.failures += 1;
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"));
        }
        self.room = self.room.saturating_sub(bytes.len());
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_write_poisons_the_writer_for_ever() {
    let out = Failing {
        taken: Vec::new(),
        room: 20,
        failures: 0,
    };
    let mut writer =
        DrainingWriter::<Byte, _>::new(Policy::byte_variable(), None, out, 8).expect("a legal policy");
    let mut poisoned = 0;
    for n in 0..10u8 {
        match writer.append(&[n], &[n; 5]) {
            Ok(_) => assert_eq!(poisoned, 0, "record {n} behind a failure"),
            Err(AppendError::Output { kind, message }) => {
                assert_eq!(
                    (kind, message.as_str()),
                    (io::ErrorKind::StorageFull, "no space left")
                );
                poisoned += 1;
            }
            Err(error) => panic!("record {n}: {error}"),
        }
    }
    assert!(
        poisoned > 1,
        "the writer refuses although the output would take bytes again"
    );
    let finished = writer.finish();
    assert!(
        matches!(finished, Err(AppendError::Output { .. })),
        "a lost stream is not finished"
    );
}

#[test]
fn a_failed_last_write_is_an_error() {
    let out = Failing {
        taken: Vec::new(),
        room: 3,
        failures: 0,
    };
    let mut writer =
        DrainingWriter::<Bit, _>::new(Policy::bit_variable(), None, out, 1 << 20).expect("a legal policy");
    writer
        .append(BitStr::from_bytes(b"key"), BitStr::from_bytes(b"value"))
        .expect("nothing is written yet");
    assert!(matches!(writer.finish(), Err(AppendError::Output { .. })));
}

/// The buffer of a draining writer holds what was not drained, not the stream.
#[test]
fn draining_bounds_the_memory_of_the_output() {
    let drain_len_bytes = 1000;
    let mut writer =
        DrainingWriter::<Byte, _>::new(Policy::byte_variable(), None, Vec::new(), drain_len_bytes)
            .expect("legal");
    for n in 0..2000u32 {
        writer.append(&n.to_be_bytes(), &[1; 50]).expect("sorted");
        assert!(writer.writer().frames().drainable_len_bytes() < drain_len_bytes);
    }
    let (payload, meta, _) = writer.finish().expect("a vector takes all");
    assert_eq!(payload.len() as u64, meta.extent_units);
}
