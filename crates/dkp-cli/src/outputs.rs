//! What must be so before a file is written.

use crate::failure::run_failed;
use anyhow::Context as _;
use std::path::Path;

/// An output must not be one of the inputs, by whatever names.
pub fn check_distinct(flag: &str, out: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let same = |input: &&&Path| match (out.canonicalize(), input.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    match inputs.iter().find(same) {
        Some(input) => anyhow::bail!("{flag} {}: this is {}, which is read", out.display(), input.display()),
        None => Ok(()),
    }
}

/// Whether a file can be made where a flag says, before hours are spent.
pub fn check_writable(flag: &str, out: &Path) -> anyhow::Result<()> {
    let place = || format!("{flag} {}", out.display());
    if out.is_dir() {
        return Err(run_failed(anyhow::anyhow!("{}: this is a folder", place())));
    }
    let name = format!(".dkp-{}.partial", std::process::id());
    let probe = out.with_file_name(name);
    std::fs::write(&probe, b"").with_context(place).map_err(run_failed)?;
    std::fs::remove_file(&probe).with_context(place).map_err(run_failed)
}
