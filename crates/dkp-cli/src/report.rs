//! `dkp report`: a model, or a run, as one page.

use crate::choices::Task;
use crate::failure::run_failed;
use crate::outputs::check_distinct;
use crate::run::{Run, trace};
use crate::trained::{Record, Trained};
use crate::{judge, relevance};
use anyhow::Context as _;
use clap::Args;
use dkp::file::{Tensor, write_atomically};
use dkp_report::{ClassPrediction, Evaluation, Fact, LayerMatrix, Prediction, Report, TracePoint};
use dkp_tape::random::Key;
use faer::{Mat, Side};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Posterior draws whose mean is shown as a layer's Gram matrix.
const DRAWS: usize = 20;

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
    let page = if a.subject.is_dir() { of_run(&a.subject)? } else { of_model(&mut Trained::load(&a.subject)?)? };
    write(&page, &out)?;
    if !a.quiet {
        eprintln!("report written to {}", out.display());
    }
    Ok(())
}

pub fn write(report: &Report, out: &Path) -> anyhow::Result<()> {
    write_atomically(out, dkp_report::html(report).as_bytes())
        .with_context(|| format!("--out {}", out.display()))
        .map_err(run_failed)
}

/// What is known of a run from its folder: its course and its settings.
fn of_run(folder: &Path) -> anyhow::Result<Report> {
    let order = Run::order(folder)?;
    if !Run::is_unfinished(folder) && order.out.exists() {
        return of_model(&mut Trained::load(&order.out)?);
    }
    let name = |path: &Path| path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let target = order.config.table.target.clone().unwrap_or_default();
    let settings = toml::Table::try_from(&order.config.model)?;
    Ok(Report {
        title: format!("{}: a run", name(&order.out)),
        model: "what a run has learned so far".to_string(),
        data: name(&order.data),
        task: format!("prediction of {target}"),
        trace: course(&trace(folder)?, 0.0),
        settings: settings.into_iter().map(|(k, v)| (k, v.to_string())).collect(),
        warnings: vec![
            "This is a run, not a model: its layers and predictions are shown when it is finished.".to_string(),
            "Bounds are those of a target with deviation 1; the finished model's are in the target's units."
                .to_string(),
        ],
        ..Report::default()
    })
}

/// Everything about a model.
pub fn of_model(trained: &mut Trained) -> anyhow::Result<Report> {
    let relevance = relevance::of_columns(trained)?;
    let layers = layers(trained)?;
    let record = &trained.record;
    let unit = record.target_scale().1;
    let evaluation = evaluation(record, &trained.tensors);
    let settings = serde_json::to_value(&record.settings)?;
    let settings = settings.as_object().into_iter().flatten();
    Ok(Report {
        title: format!("{}: {}", record.data, record.task_name()),
        model: record.settings.description(),
        data: record.data.clone(),
        task: record.task_name(),
        rows_trained: record.rows_trained,
        rows_held_out: record.rows_held_out,
        summary: summary(record),
        trace: trained.tensors.get("trace").map_or(Vec::new(), |t| course(t, unit.ln())),
        evaluation,
        layers,
        relevance,
        settings: settings
            .map(|(k, v)| (k.replace('_', " "), v.to_string().trim_matches('"').to_string()))
            .chain(record.notes.iter().map(|n| ("table".to_string(), n.clone())))
            .collect(),
        warnings: warnings(record),
    })
}

fn fact(label: &str, value: String, explanation: &str) -> Fact {
    Fact { label: label.to_string(), value, explanation: explanation.to_string() }
}

fn summary(record: &Record) -> Vec<Fact> {
    let mut facts = Vec::new();
    let metrics = record.evaluation.clone().unwrap_or_default();
    let number = |key: &str| metrics[key].as_f64();
    match record.task {
        Task::Regression => {
            if let Some(v) = number("rmse") {
                facts.push(fact("typical error", format!("{v:.4}"), "Root mean squared error of the predicted mean on rows the model has not seen, in the target's units."));
            }
            if let Some(v) = metrics["coverage"]["90%"].as_f64() {
                facts.push(fact(
                    "inside the 90 % interval",
                    format!("{:.1} %", 100.0 * v),
                    "If the model knows what it does not know, this is close to 90 %.",
                ));
            }
        }
        Task::Classification => {
            if let Some(v) = number("accuracy") {
                facts.push(fact(
                    "accuracy",
                    format!("{:.1} %", 100.0 * v),
                    "The share of unseen rows whose most probable class is right.",
                ));
            }
            if let Some(v) = number("calibration") {
                facts.push(fact(
                    "calibration error",
                    format!("{:.1} %", 100.0 * v),
                    "How far stated probabilities are from frequencies, on average.",
                ));
            }
        }
    }
    if let Some(v) = number("log_likelihood") {
        facts.push(fact("log-likelihood", format!("{v:.3}"), "How probable the unseen values were to the model, in nats a row: the higher the better, for comparing models on the same data."));
    }
    if let Some(bound) = &record.bound {
        facts.push(fact(
            "bound",
            format!("{:.3}", bound.total),
            "What training maximises, in nats a row: fit to the data less what the model had to be told.",
        ));
    }
    facts
}

fn warnings(record: &Record) -> Vec<String> {
    let mut warnings = Vec::new();
    if record.rows_held_out > 0 && record.rows_held_out < 30 {
        warnings.push(format!(
            "Only {} rows were held out: what is said of errors and calibration is uncertain.",
            record.rows_held_out
        ));
    }
    warnings
}

/// The course of training, in the target's units.
fn course(trace: &Tensor, log_unit: f64) -> Vec<TracePoint> {
    let [_, width] = *trace.shape.as_slice() else { return Vec::new() };
    let point = |row: &[f64]| match row {
        [step, bound, likelihood, input, output, rate, layers @ ..] => Some(TracePoint {
            step: *step as usize,
            bound: bound - log_unit,
            likelihood: likelihood - log_unit,
            input: *input,
            layers: layers.to_vec(),
            output: *output,
            rate: *rate,
        }),
        _ => None,
    };
    trace.values.chunks(width.max(1)).filter_map(point).collect()
}

/// Held-out predictions as the file keeps them.
fn evaluation(record: &Record, tensors: &BTreeMap<String, Tensor>) -> Option<Evaluation> {
    let of = |name: &str| tensors.get(&format!("held_out.{name}"));
    let metrics = judge::facts(record.evaluation.as_ref()?);
    let metrics = metrics.into_iter().map(|(name, value, meaning)| fact(&name, value, meaning)).collect();
    let (target, observed) = (record.target_name(), &of("observed")?.values);
    if let Some(labels) = record.labels() {
        let probabilities = of("probabilities")?.values.chunks(labels.len().max(1));
        let points = observed.iter().zip(probabilities);
        let points =
            points.map(|(o, p)| ClassPrediction { observed: *o as usize, probabilities: p.to_vec() }).collect();
        return Some(Evaluation::Classification { target, labels: labels.to_vec(), points, metrics });
    }
    let [mean, sd, lower, upper, pit] = ["mean", "sd", "lower", "upper", "pit"].map(|n| of(n).map(|t| &t.values));
    let (mean, sd, lower, upper, pit) = (mean?, sd?, lower?, upper?, pit?);
    let point = |i: usize| Prediction {
        observed: observed[i],
        mean: mean[i],
        sd: sd[i],
        lower: lower[i],
        upper: upper[i],
        pit: pit[i],
    };
    let length = [mean, sd, lower, upper, pit].iter().map(|v| v.len()).fold(observed.len(), usize::min);
    Some(Evaluation::Regression { target, points: (0..length).map(point).collect(), metrics })
}

/// Posterior means of the Gram matrices at the inducing points.
fn layers(trained: &mut Trained) -> anyhow::Result<Vec<LayerMatrix>> {
    let draws = trained.model.posterior_draws(DRAWS, Key::new(0))?;
    let count = draws.first().map_or(0, |d| d.grams.len());
    let layer = |i: usize| {
        let size = draws[0].grams[i].nrows();
        let mut mean = Mat::zeros(size, size);
        draws.iter().for_each(|d| mean += faer::Scale(1.0 / draws.len() as f64) * &d.grams[i]);
        let name = if i == 0 { "input".to_string() } else { format!("layer {i}") };
        let delta = trained.model.parameters().get(&format!("{name}.delta")).ok().and_then(|d| d.first().copied());
        let (spectrum, order) = spectrum(&mean);
        let gram = mean.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect();
        LayerMatrix { name, delta, size, gram, spectrum, order, note: String::new() }
    };
    Ok((0..count).map(layer).collect())
}

/// Eigenvalues, and the order of the points along the second eigenvector, which puts similar points side by side.
fn spectrum(gram: &Mat<f64>) -> (Vec<f64>, Vec<usize>) {
    let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else { return (Vec::new(), Vec::new()) };
    let size = gram.nrows();
    let values: Vec<f64> = (0..size).map(|i| eigen.S()[i]).collect();
    let second = size.saturating_sub(2);
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| eigen.U()[(a, second)].total_cmp(&eigen.U()[(b, second)]));
    (values, order)
}
