//! What is written to the terminal.

use crate::failure::run_failed;
use anyhow::Context as _;
use dkp_fit::{Card, Explained, Metrics};
use dkp_table::Unfamiliar;
use std::io::Write as _;

/// Text on standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("standard output").map_err(run_failed)
}

/// Metrics of some rows, a line each: name, value, meaning.
pub fn metric_lines(metrics: &Metrics, which: &str) -> String {
    let rows = metrics.rows();
    let head = format!("on {rows} {which}{}:\n", if rows == 1 { "row" } else { "rows" });
    head + &by_target(metrics.explained(), |m| format!("  {:<17} {:>9}  {}\n", m.name, m.value, m.meaning))
}

/// How good a model was on rows that it, or models of other folds, had not learned from; nothing if there were none.
pub fn evaluation_lines(card: &Card) -> String {
    let Some(metrics) = &card.evaluation else { return String::new() };
    let Some(validated) = &card.cross_validation else { return metric_lines(metrics, "held-out ") };
    let line = |m: &Explained| {
        let over_folds = validated.written(m).unwrap_or_default();
        format!("  {:<17} {:>9}  {over_folds:>18}  {}\n", m.name, m.value, m.meaning)
    };
    let head = format!("{}\non {} rows, and the mean of folds ± its standard error:\n", validated.line, metrics.rows());
    head + &by_target(metrics.explained(), line)
}

/// Lines about metrics; those of several targets below the target's name.
pub fn by_target(metrics: Vec<Explained>, line: impl Fn(&Explained) -> String) -> String {
    let mut target = None;
    let mut head = |m: &Explained| match &m.target {
        Some(name) if target.as_ref() != Some(name) => {
            target = Some(name.clone());
            format!("{name}\n")
        }
        _ => String::new(),
    };
    metrics.iter().map(|m| head(m) + &line(m)).collect()
}

/// A line for each column that has values the training rows did not have.
pub fn warn_of(unfamiliar: &Unfamiliar) {
    let values = |n: usize| if n == 1 { "1 value".to_string() } else { format!("{n} values") };
    for (column, n) in &unfamiliar.unseen {
        eprintln!("dkp: column \"{column}\": {} that no training row had, treated as no known level", values(*n));
    }
    for (column, n) in &unfamiliar.missing {
        eprintln!("dkp: column \"{column}\": {} missing, though no training row's was", values(*n));
    }
}
