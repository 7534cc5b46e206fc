#!/usr/bin/env bash
# Everything that must pass: format, lints, unit, integration and documentation tests, and the documentation itself.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
cargo test --workspace
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
