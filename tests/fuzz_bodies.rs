//! The bodies of the fuzz targets, fed by seeds: the same cases on every machine. `TEPHRA_FUZZ_RUNS` multiplies their number; a build that is
//! not optimised takes a sixth.

#![expect(clippy::unwrap_used, reason = "a test: a surprise here is a failure")]

#[path = "fuzz/bodies/choices.rs"]
mod choices;
#[path = "fuzz/bodies/counts.rs"]
mod counts;
#[path = "fuzz/bodies/histories.rs"]
mod histories;
#[path = "fuzz/bodies/log.rs"]
mod log;
#[path = "fuzz/bodies/manifests.rs"]
mod manifests;
#[path = "fuzz/bodies/merger_inputs.rs"]
mod merger_inputs;
#[path = "fuzz/bodies/tables.rs"]
mod tables;

/// SplitMix64.
fn random_bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend((mixed ^ (mixed >> 31)).to_le_bytes());
    }
    bytes
}

/// Runs a body on the bytes of so many seeds.
fn run(body: fn(&[u8]), seeds: u64, len: usize) {
    let factor = std::env::var("TEPHRA_FUZZ_RUNS").map_or(1, |runs| runs.parse().unwrap());
    let seeds = if cfg!(debug_assertions) { seeds / 6 } else { seeds };
    for seed in 0..seeds * factor {
        let bytes = random_bytes(seed, len);
        let result = std::panic::catch_unwind(|| body(&bytes));
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn merges_judge_inputs_as_a_strict_cursor_does() {
    run(merger_inputs::check, 6_000, 800);
}

#[test]
fn counts_have_one_code() {
    run(counts::check, 50_000, 60);
}

#[test]
fn tables_of_anybody_break_nothing() {
    run(tables::check, 3_000, 900);
}

#[test]
fn logs_of_anybody_break_nothing() {
    run(log::check, 5_000, 400);
}

#[test]
fn manifests_and_batches_of_anybody_break_nothing() {
    run(manifests::check, 2_000, 500);
}

#[test]
fn histories_on_failing_machines_keep_their_promises() {
    run(histories::check, 300, 600);
}
