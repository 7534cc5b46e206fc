//! `dkp demo`: a real table, two models, a comparison and a report, without any data of one's own.

use crate::failure::run_failed;
use crate::progress::Say;
use crate::report;
use crate::train::Watcher;
use anyhow::Context as _;
use clap::Args;
use dkp::file::write_atomically;
use dkp_fit::{Effort, Fit, Fitted, Metrics, ReadOptions, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A quarter of the wines are held out, so that chance decides little.
const HOLDOUT: f64 = 0.25;

/// Try it on a real table: 1599 red wines and how experts graded them.
///
/// Trains a deep inverse Wishart process and the infinitely wide network that is its limit, compares them on wines held out, and writes the
/// table, the model and a report.
#[derive(Args)]
pub struct Arguments {
    /// The folder to write to.
    #[arg(long, value_name = "FOLDER", default_value = "dkp-demo")]
    out: PathBuf,
    /// Steps of training: fewer for a quick look.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    steps: u64,
    /// Says nothing but errors and the comparison.
    #[arg(long)]
    quiet: bool,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    let place = || a.out.display().to_string();
    std::fs::create_dir_all(&a.out).with_context(place).map_err(run_failed)?;
    let data = a.out.join("red-wine.csv");
    write_atomically(&data, wine().as_bytes()).with_context(place).map_err(run_failed)?;
    if !a.quiet {
        eprintln!("1599 red wines and their grades (Cortez et al. 2009) are in {}", data.display());
        eprintln!("as by: dkp train {} --target quality\n", data.display());
    }
    let table = Table::open(&data, &ReadOptions::default())?;
    let mut rows = String::new();
    let mut best = None;
    for (family, name) in [("nngp", "infinitely wide network"), ("diwp", "deep inverse Wishart process")] {
        let fitted = fit(a, &table, family)?;
        let Some(Metrics::Numbers(m)) = &fitted.card.evaluation else { continue };
        let (l, r, coverage) = (m.log_likelihood, m.rmse, 100.0 * m.coverage_of(0.9));
        // writing to a string does not fail
        let _ = writeln!(rows, "{name:<30} {l:>14.4} {r:>8.4} {coverage:>12.1} %");
        best = Some(fitted);
    }
    let fitted = best.context("no model was trained")?;
    let (model, page) = (a.out.join("red-wine.dkp"), a.out.join("red-wine.html"));
    fitted.save(&model)?;
    report::write(&dkp_report::html(&fitted.report()?), "--out", &page)?;
    let held_out = format!("on {} wines held out", fitted.card.rows_held_out);
    let head = format!("{held_out:<30} {:>14} {:>8} {:>14}", "log-likelihood", "RMSE", "in 90 % interval");
    let (model, page) = (model.display(), page.display());
    crate::print::text(&format!("{head}\n{rows}\nmodel:  {model}\nreport: {page}\n"))
}

fn fit(a: &Arguments, table: &Table, family: &str) -> anyhow::Result<Fitted> {
    let mut fit = Fit::new("quality");
    fit.config.table.holdout = Some(HOLDOUT);
    let choices = &mut fit.config.model;
    (choices.family, choices.steps, choices.effort) = (Some(family.to_string()), Some(a.steps), Some(Effort::Quick));
    let prepared = fit.prepare(table, None)?;
    let say = Say { quiet: a.quiet };
    say.line(&prepared.card.settings.description(&fit.registry));
    let mut watcher = Watcher::new(say, &prepared, 0);
    Ok(fit.train(prepared, &mut |moment| watcher.sees(moment))?)
}

/// The table, as CSV.
fn wine() -> String {
    let data = linfa_datasets::winequality();
    let names: Vec<String> =
        data.feature_names().iter().map(|n| n.to_string()).chain(["quality".to_string()]).collect();
    let mut text = names.join(",") + "\n";
    for (row, grade) in data.records().outer_iter().zip(data.targets()) {
        let cells: Vec<String> = row.iter().map(|v| v.to_string()).chain([grade.to_string()]).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}
