#!/usr/bin/env bash
# run.sh SECONDS [TARGET...]: each fuzz target for so long, with a stable compiler. Prints executions and coverage reached; a finding ends
# the run and leaves its input under `artifacts/`.
set -euo pipefail
cd "$(dirname "$0")"
seconds=$1
shift
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(counts histories log manifests merger_inputs tables)
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares ${FUZZ_SANITIZER:+-Zsanitizer=$FUZZ_SANITIZER} --cfg fuzzing"
cargo build --release --target "$host"
for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" "artifacts/$target"
  echo "== $target"
  "target/$host/release/$target" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="artifacts/$target/" \
    -max_len=2000 -timeout=20 -rss_limit_mb=1024 "corpus/$target" 2>&1 | tail -n 15
done
