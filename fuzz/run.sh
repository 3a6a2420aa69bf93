#!/usr/bin/env bash
# Fuzzes: fuzz/run.sh [SECONDS] [TARGET...]; 60 seconds of each target unless said otherwise. Needs neither nightly
# nor cargo-fuzz: libFuzzer's instrumentation is set by the compiler flags that cargo-fuzz sets. A run is repeatable:
# SUNDOWN_FUZZ_SEED (1) is its seed, and 0 takes a random one.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(json review policy yaml)

platform=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks"
# With a target named, build scripts and macros are not instrumented.
cargo build --quiet --release --target "$platform"

for target in "${targets[@]}"; do
    corpus=$(mktemp -d)
    case $target in
        policy) cp ../policies/*.yaml ../tests/cases/000-reference-policy.yaml "$corpus" ;;
        yaml) cp ../tests/cases/*.yaml "$corpus" ;;
        *) find ../tests/reviews -type f -size -32k -exec cp {} "$corpus" \; ;;
    esac
    echo "fuzzing $target for $seconds s"
    "target/$platform/release/$target" -max_total_time="$seconds" -seed="${SUNDOWN_FUZZ_SEED:-1}" -timeout=10 -max_len=65536 -rss_limit_mb=4096 \
        -print_final_stats=1 "$corpus" 2>"$corpus.log" || { tail -50 "$corpus.log"; exit 1; }
    grep -E '^#[0-9]+.*(INITED|DONE)|number_of_executed_units' "$corpus.log"
    rm -r "$corpus" "$corpus.log"
done
