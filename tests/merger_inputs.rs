//! The fuzz body over merger inputs, fed by a seed: the same histories on every machine.

#[path = "fuzz/bodies/merger_inputs.rs"]
mod body;

/// SplitMix64.
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = Vec::new();
    while bytes.len() < 800 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((mixed ^ (mixed >> 31)).to_le_bytes());
    }
    bytes
}

#[test]
fn merges_judge_inputs_as_a_strict_cursor_does() {
    for seed in 0..6000 {
        let bytes = random_bytes(seed);
        let result = std::panic::catch_unwind(|| body::check(&bytes));
        assert!(result.is_ok(), "seed {seed}");
    }
}
