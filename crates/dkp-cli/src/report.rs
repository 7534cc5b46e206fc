//! `dkp report`: a model, or a run, as one page.

use crate::failure::run_failed;
use crate::outputs::check_distinct;
use anyhow::Context as _;
use clap::Args;
use dkp::file::write_atomically;
use dkp_fit::{Fitted, report_of_run};
use std::path::{Path, PathBuf};

/// Write a report about a model, or about a run that is still going on, as one HTML file.
#[derive(Args)]
pub struct Arguments {
    /// A model file, or the folder of a run.
    subject: PathBuf,
    /// Where the page goes [default: the model's name with the ending .html].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Says nothing but errors.
    #[arg(long)]
    quiet: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let out = a.out.clone().unwrap_or_else(|| a.subject.with_extension("html"));
    check_distinct("--out", &out, &[&a.subject])?;
    let page = if a.subject.is_dir() { report_of_run(&a.subject)? } else { Fitted::load(&a.subject)?.report()? };
    write(&dkp_report::html(&page), "--out", &out)?;
    if !a.quiet {
        eprintln!("report written to {}", out.display());
    }
    Ok(())
}

/// Writes a page to where a flag says.
pub fn write(page: &str, flag: &str, out: &Path) -> anyhow::Result<()> {
    write_atomically(out, page.as_bytes()).with_context(|| format!("{flag} {}", out.display())).map_err(run_failed)
}
