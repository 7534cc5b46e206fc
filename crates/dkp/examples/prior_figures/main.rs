//! Draws figures of the priors as SVG.
//!
//! ```text
//! cargo run --release -p dkp --example prior_figures -- [OUT_DIR]
//! ```
//!
//! OUT_DIR is `figures` unless given, and is made if need be. The figures are
//! - `gram_heatmaps`: Gram and kernel matrices through the layers of a deep Wishart and a deep inverse Wishart process;
//! - `eigenvalues`: the spectra of standard Wishart, residual Wishart and inverse Wishart matrices of 2000 rows;
//! - `function_samples`: functions under one- and two-layer deep inverse Wishart processes and Gaussian processes.
//!
//! All randomness has fixed seeds: on one machine, the same program writes the same bytes.

mod eigenvalues;
mod function_samples;
mod gram_heatmaps;

use dkp_report::chart::Grid;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = arguments.next().map_or_else(|| PathBuf::from("figures"), PathBuf::from);
    if let Some(extra) = arguments.next() {
        return Err(format!("one argument at most, the directory to write to, but there is also {extra:?}").into());
    }
    std::fs::create_dir_all(&directory).map_err(|e| format!("cannot make {}: {e}", directory.display()))?;
    let save = |name: &str, figure: Grid| {
        let path = directory.join(format!("{name}.svg"));
        std::fs::write(&path, figure.svg()).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("{}", path.display());
        Ok::<(), String>(())
    };
    save("gram_heatmaps", gram_heatmaps::figure()?)?;
    save("function_samples", function_samples::figure()?)?;
    save("eigenvalues", eigenvalues::figure()?)?;
    Ok(())
}
