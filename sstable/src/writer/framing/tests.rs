//! Frames against the batch encoder.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Assemble, Burst, FrameWriter, Readable};
use crate::front_coding::encode_batch;
use crate::policy::Policy;
use crate::unit::{Bit, Byte, Unit};

#[test]
fn frames_of_bytes_are_those_of_the_batch_encoder() {
    for seed in 0..200u64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut records: Vec<(Vec<u8>, Vec<u8>)> = (0..rng.random_range(0..100))
            .map(|_| {
                let key = (0..rng.random_range(0..200))
                    .map(|_| u8::from(rng.random_bool(0.03)))
                    .collect();
                (key, (0..rng.random_range(0..200)).map(|_| rng.random()).collect())
            })
            .collect();
        records.sort();
        records.dedup_by(|a, b| a.0 == b.0);
        let records: Vec<(&[u8], &[u8])> = records
            .iter()
            .map(|(key, value)| (&key[..], &value[..]))
            .collect();
        let batch = encode_batch::<Byte>(Policy::byte_variable(), &records).expect("sorted");
        let mut writer =
            FrameWriter::<Byte>::new(Policy::byte_variable(), batch.meta.common_width).expect("legal");
        let mut previous: &[u8] = &[];
        for &(key, value) in &records {
            let retained = Byte::lcp(previous, key);
            writer
                .append(retained, Byte::suffix(key, retained), value.into())
                .expect("memory");
            previous = key;
        }
        assert_eq!(writer.finish().expect("memory"), batch, "seed {seed}");
    }
}

/// A burst reads without bounds checks, so it must refuse a body that ends before it starts, or behind its bytes.
#[test]
fn bursts_refuse_bodies_outside_of_their_bytes() {
    fn refused<U: Burst + Assemble>(policy: Policy) {
        let bytes = [0x5a; 900];
        let (inside, all) = (Readable::new(&bytes[200..700]), Readable::new(&bytes));
        let len = 500 * 8 / U::BITS;
        let mut writer = FrameWriter::<U>::new(policy, None).expect("legal");
        writer.try_reserve(4_096 * 8 / U::BITS, 100).expect("memory");
        let mut burst = U::burst(&mut writer);
        for (start, end) in [
            (0_u64.wrapping_sub(10), 10),
            (11, 1),
            (u64::MAX - 5, u64::MAX),
            (len - 1, len + 9),
        ] {
            let body = end.wrapping_sub(start);
            assert!(
                !U::append::<false>(&mut burst, 0, body / 2, inside, start, end),
                "{start} {end}"
            );
            assert!(
                !U::append_run(&mut burst, 0, body / 2, inside, start, end),
                "{start} {end}"
            );
        }
        assert!(!U::append_run(&mut burst, u32::MAX, 8, all, 0, 8));
        assert!(
            U::append::<false>(&mut burst, 0, 4, inside, 0, 8),
            "what lies inside is taken"
        );
        U::commit(burst);
        assert_eq!(writer.meta().record_count, 1);
    }
    refused::<Byte>(Policy::byte_variable());
    refused::<Bit>(Policy::bit_variable());
}
