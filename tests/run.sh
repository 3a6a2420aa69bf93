#!/usr/bin/env bash
# Everything that must hold. Needs Rust (rustup), Go, Python 3 and a C++ compiler; downloads crates, Go modules and
# Python packages. SUNDOWN_FUZZ_SECONDS (60) is how long each fuzz target runs, SUNDOWN_SEED fixes the random vectors.
set -euo pipefail
cd "$(dirname "$0")/.."

need() {
    command -v "$1" >/dev/null || { echo "tests/run.sh: $1 is missing: $2" >&2; exit 1; }
}
need cargo "install Rust with rustup; rust-toolchain.toml names the version"
need go "install Go 1.26 or newer; Kubernetes' own code is asked with it (cargo test alone runs without)"
need python3 "install Python 3 with its venv module; the outputs are validated with it"
need c++ "install a C++ compiler; libFuzzer is built with it"

step() {
    echo "== $1 ($((SECONDS / 60)) min)"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CARGO_INCREMENTAL=0

step "asking Kubernetes' own code"
seed=${SUNDOWN_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (SUNDOWN_SEED=$seed repeats it)"
(cd tests/oracle && test -z "$(gofmt -l .)" && go vet . && go build -o "$scratch/oracle" .)
"$scratch/oracle" generate --seed 1 --count 300 --out "$scratch/recorded" >/dev/null
diff -r tests/vectors "$scratch/recorded" || { echo "tests/vectors is not what Kubernetes answers" >&2; exit 1; }
"$scratch/oracle" generate --seed "$seed" --count 3000 --out "$scratch/fresh"

step "formatting and lints"
cargo fmt --check
# The modules of the rules are declared by a macro, which cargo fmt does not look into.
rustfmt --check --edition 2024 src/rules/*.rs
cargo clippy --quiet --locked --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps

step "tests"
SUNDOWN_VECTORS="$scratch/fresh" cargo test --locked
SUNDOWN_ORACLE="$scratch/oracle" cargo test --locked --test patched -- --ignored

step "outputs, read by their readers"
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -r tests/validate/requirements.txt
mkdir "$scratch/out"
status=0
target/debug/sundown check tests/cases tests/golden examples/shop.yaml --policy tests/cases/000-reference-policy.yaml \
    -o "sarif=$scratch/out/report.sarif" -o "junit=$scratch/out/report.junit.xml" -o "json=$scratch/out/report.json" \
    || status=$?
[ "$status" = 2 ] || { echo "want exit code 2: there is an unreadable case" >&2; exit 1; }
target/debug/sundown policy schema >"$scratch/out/policy.schema.json"
"$scratch/venv/bin/python" tests/validate/validate_outputs.py "$scratch/out" policies
(cd tests/validate && "$scratch/venv/bin/python" -B test_validate_outputs.py)

step "certificates by hand"
sh certs/openssl.sh "$scratch/certs" >/dev/null
openssl verify -x509_strict -purpose sslserver -CAfile "$scratch/certs/ca.crt" "$scratch/certs/tls.crt"

step "fuzzing"
fuzz/run.sh "${SUNDOWN_FUZZ_SECONDS:-60}"

step "what it costs"
SUNDOWN_BENCH_SECONDS=${SUNDOWN_BENCH_SECONDS:-1} cargo bench --quiet --locked --bench webhook
cargo bench --quiet --locked --bench webhook -- memory
cargo bench --quiet --locked --bench check
step "done"
