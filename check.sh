#!/usr/bin/env bash
# Everything that must pass: format, lints, unit, integration and documentation tests, and the documentation itself.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
# each format of tables is a feature
for features in "" csv json numpy parquet xlsx; do
    cargo clippy -p dkp-table --no-default-features --features "$features" --all-targets -- -D warnings
done
cargo test --workspace
cargo test -p dkp-table --no-default-features --test formats
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
