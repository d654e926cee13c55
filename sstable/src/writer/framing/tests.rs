//! Frames against the batch encoder.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Assemble, FrameWriter};
use crate::front_coding::encode_batch;
use crate::policy::Policy;
use crate::unit::{Byte, Unit};

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
