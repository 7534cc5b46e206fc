//! `dkp compare`: how several models do on the same rows.

use crate::flags::{Judging, Reading};
use crate::outputs::{check_distinct, check_writable};
use crate::print::{by_target, text, warn_of};
use crate::progress::{Say, Status};
use crate::report;
use anyhow::bail;
use clap::Args;
use dkp_fit::{Compared, Comparison, Entrant, Error, Explained, Fitted, Table, compare, on_threads};
use dkp_table::STANDARD;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Judge several models on the same rows of a table with known targets, and tell how far they differ from the first.
///
///     dkp compare houses.dkp nngp.dkp sold.csv --report compared.html
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Two models or more, of the same target; others are compared with the first.
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// The table.
    data: PathBuf,
    /// Also writes a report, as one HTML file.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
}

pub fn run(a: &Arguments) -> anyhow::Result<()> {
    if a.data == Path::new(STANDARD) {
        bail!("DATA -: each model reads the table in its own way, so it must be a file");
    }
    if let Some(out) = &a.report {
        let inputs: Vec<&Path> = a.models.iter().chain([&a.data]).map(PathBuf::as_path).collect();
        check_distinct("--report", out, &inputs)?;
        check_writable("--report", out)?;
    }
    let fitted = a.models.iter().map(|path| Fitted::load(path)).collect::<Result<Vec<Fitted>, _>>()?;
    let open = |f: &Fitted| Ok(Table::open(&a.data, &a.reading.options(f))?);
    let tables = fitted.iter().map(open).collect::<anyhow::Result<Vec<Table>>>()?;
    let names: Vec<String> = a.models.iter().map(|path| path.display().to_string()).collect();
    let entrants: Vec<Entrant<'_>> = names
        .iter()
        .zip(fitted.iter().zip(&tables))
        .map(|(name, (fitted, table))| Entrant { name, fitted, table })
        .collect();
    let mut status = Status::new(Say { quiet: a.judging.json });
    let watch = |place: usize, rows: usize| status.tell(format!("{}: {rows} rows judged", names[place]));
    let comparison =
        on_threads(a.judging.threads, || compare(&entrants, a.judging.draws as usize, a.judging.seed, watch));
    let comparison = comparison.map_err(|error| match error {
        Error::FarRow { .. } => anyhow::Error::from(error).context(a.data.display().to_string()),
        other => other.into(),
    })?;
    drop(status);
    for model in &comparison.models {
        warn_of(&model.unfamiliar);
    }
    if let Some(out) = &a.report {
        report::write(&dkp_report::comparison_html(&comparison.report()), "--report", out)?;
    }
    text(&if a.judging.json { format!("{}\n", json!(comparison)) } else { lines(&comparison) })?;
    if let Some(out) = a.report.as_ref().filter(|_| !a.judging.json) {
        eprintln!("report written to {}", out.display());
    }
    Ok(())
}

/// Least width of a column.
const COLUMN: usize = 10;
/// Width of the names of metrics.
const NAMES: usize = 17;

/// Metrics side by side, then differences with their errors.
fn lines(comparison: &Comparison) -> String {
    let Comparison { rows, data, models, .. } = comparison;
    let measures = comparison.measures();
    let mut out = format!("on {rows} {} of {data}", if *rows == 1 { "row" } else { "rows" });
    let left_out = comparison.left_out();
    out += &if left_out.is_empty() { ":\n".to_string() } else { format!(" ({left_out}):\n") };
    let cells = measures.iter().map(|m| (&m[0], m.iter().map(|e| e.value.clone()).collect()));
    out += &table(models, cells.collect());
    let Some(first) = models.first() else { return out };
    out += &format!("\ndifference to {} ± its standard error:\n", first.name);
    let difference = |m: &Compared, metric: &Explained| {
        m.differences.get(&metric.key()).map_or(String::new(), |d| signed(metric, d.value, d.standard_error))
    };
    let cells = measures.iter().map(|m| (&m[0], models[1..].iter().map(|own| difference(own, &m[0])).collect()));
    out += &table(&models[1..], cells.collect());
    out.extend(models[1..].iter().filter_map(|m| Some(verdict(first, m)? + "\n")));
    out.extend(comparison.warnings.iter().map(|w| format!("{w}\n")));
    out
}

/// Names of models above columns, each as wide as its widest cell.
fn table(models: &[Compared], rows: Vec<(&Explained, Vec<String>)>) -> String {
    let length = |text: &str| text.chars().count();
    let width = |i: usize| {
        let cells = rows.iter().map(|r| length(&r.1[i])).chain([length(&models[i].name), COLUMN]);
        cells.max().unwrap_or(COLUMN)
    };
    let widths: Vec<usize> = (0..models.len()).map(width).collect();
    let line = |name: &str, cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, wide)| format!("  {cell:>wide$}"));
        format!("  {name:<NAMES$}{}\n", cells.collect::<String>()).trim_end().to_string() + "\n"
    };
    let head = line("", models.iter().map(|m| m.name.as_str()).collect());
    let metrics = rows.iter().map(|(m, _)| (*m).clone()).collect();
    let cells = |m: &Explained| rows.iter().find(|(own, _)| own.key() == m.key()).map_or(&[][..], |(_, cells)| cells);
    head + &by_target(metrics, |m| line(&m.name, cells(m).iter().map(String::as_str).collect()))
}

/// `+0.1234 ± 0.0567`
fn signed(metric: &Explained, value: f64, error: Option<f64>) -> String {
    let of = |v: f64| metric.written(v);
    let sign = if value >= 0.0 { "+" } else { "" };
    let error = error.map_or(String::new(), |e| format!(" ± {}", of(e)));
    if value.is_finite() { format!("{sign}{}{error}", of(value)) } else { of(value) }
}

/// What the log-likelihood says of a model; nothing where it has no error.
fn verdict(first: &Compared, model: &Compared) -> Option<String> {
    let found = model.differences.get("log_likelihood")?;
    let error = found.standard_error?;
    Some(match found.value.abs() > 2.0 * error {
        true => format!(
            "{} is {} than {} by the log-likelihood: the difference is {:.1} standard errors",
            model.name,
            if found.value > 0.0 { "better" } else { "worse" },
            first.name,
            found.value.abs() / error
        ),
        false => format!("{} and {} cannot be told apart by the log-likelihood", model.name, first.name),
    })
}
