//! `dkp demo`: a real table, two models, a comparison and a report, without any data of one's own.

use crate::choices::{Choices, Family, Roles};
use crate::failure::run_failed;
use crate::prepare::prepare;
use crate::progress::Progress;
use crate::trained::Trained;
use crate::{report, train};
use anyhow::Context as _;
use clap::Args;
use dkp::file::write_atomically;
use dkp::train::Trainer;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

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
    let mut rows = String::new();
    let mut best = None;
    for (family, name) in [(Family::Nngp, "infinitely wide network"), (Family::Diwp, "deep inverse Wishart process")] {
        let trained = fit(a, &data, family)?;
        let e = trained.record.evaluation.clone().unwrap_or_default();
        let number = |v: &serde_json::Value| v.as_f64().unwrap_or(f64::NAN);
        let coverage = 100.0 * number(&e["coverage"]["90%"]);
        let (l, r) = (number(&e["log_likelihood"]), number(&e["rmse"]));
        // writing to a string does not fail
        let _ = writeln!(rows, "{name:<30} {l:>14.4} {r:>8.4} {coverage:>12.1} %");
        best = Some(trained);
    }
    let mut trained = best.context("no model was trained")?;
    let (model, page) = (a.out.join("red-wine.dkp"), a.out.join("red-wine.html"));
    trained.save(&model)?;
    report::write(&report::of_model(&mut trained)?, &page)?;
    let head =
        format!("{:<30} {:>14} {:>8} {:>14}", "on 160 wines held out", "log-likelihood", "RMSE", "in 90 % interval");
    crate::print(&format!("{head}\n{rows}\nmodel:  {}\nreport: {}\n", model.display(), page.display()))
}

fn fit(a: &Arguments, data: &std::path::Path, family: Family) -> anyhow::Result<Trained> {
    let roles = Roles { target: Some("quality".to_string()), ..Roles::default() };
    let choices = Choices { family: Some(family), steps: Some(a.steps), draws: Some(4), ..Choices::default() };
    let prepared = prepare(data, &roles, &choices)?;
    let mut model = train::start(&prepared.record, &prepared.train, a.quiet)?;
    let options = prepared.record.settings.options();
    if !a.quiet {
        eprintln!("{}", prepared.record.settings.description());
    }
    let mut progress = Progress::new(a.quiet, 0, options.steps);
    let (unit, mut trace) = (prepared.record.target_scale().1, Vec::new());
    Trainer::new(&mut model, &prepared.train, options)?
        .run(|step| {
            progress.step(step.step + 1, step.bound.as_ref().map(|b| b.total - unit.ln()), step.rate);
            trace.push(step.clone());
            true
        })
        .map_err(run_failed)?;
    progress.finish();
    let tensors = BTreeMap::from([("trace".to_string(), crate::run::trace_of(&trace))]);
    let mut trained = Trained { model, record: prepared.record, tensors };
    train::conclude(&mut trained, &prepared.train, prepared.held_out.as_ref())?;
    Ok(trained)
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
